"""Script with Vega, Vega-Lite and Vega-Embed, which is put together once and then kept in the user's cache."""

import os
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import vl_convert

from surefoot._files import write_whole

SNIPPET = "window.vegaEmbed = vegaEmbed;"


def vega_script() -> str:
    """Script that sets `window.vegaEmbed`; from the cache if it is there and whole."""
    path = cache_folder() / f"vega-{version('vl-convert-python')}.js"
    return _kept(path) or _made(path)


def cache_folder() -> Path:
    """Folder for what can be made again."""
    base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(base) / "surefoot"


def _kept(path: Path) -> str | None:
    """Script in a file whose first line is its digest; None if there is no such file, or it was damaged."""
    try:
        digest, _, script = path.read_text("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return script if digest == f"// {sha256(script.encode()).hexdigest()}" else None


def _made(path: Path) -> str:
    """Script put together anew, and kept where a file can be written."""
    script = vl_convert.javascript_bundle(SNIPPET)
    text = f"// {sha256(script.encode()).hexdigest()}\n{script}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError:  # a home that cannot be written costs a second each time
        return script
    return script
