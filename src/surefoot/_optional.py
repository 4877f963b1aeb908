"""Packages of surefoot's extras: imported where they are used, with a sentence on what to install."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit
from urllib.request import url2pathname


class MissingPackageError(ModuleNotFoundError):
    """Error of an import whose message names the missing package, the extra that has it, and a command."""


@contextmanager
def needed_for(user: str, extra: str) -> Iterator[None]:
    """Name the extra to install, and how, if an import within the block finds no such package."""
    try:
        yield
    except MissingPackageError:
        raise
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "surefoot"):
            raise
        command = install_command(extra, direct_url())
        sentence = f"{user} needs {package}, which the extra {extra!r} has: {command}."
        raise MissingPackageError(sentence, name=error.name) from error


def direct_url() -> str | None:
    """Record of the place that surefoot was installed from (PEP 610); None if that was an index, or is unknown."""
    try:
        return distribution("surefoot").read_text("direct_url.json")
    except PackageNotFoundError:  # found through PYTHONPATH
        return None


def install_command(extra: str, record: str | None) -> str:
    """Command that installs an extra from the place where surefoot itself came from.

    >>> install_command("report", None)
    "pip install 'surefoot[report]'"
    """
    origin = json.loads(record) if record else {}
    url = str(origin.get("url", ""))
    if "dir_info" in origin:
        folder = Path(url2pathname(urlsplit(url).path))
        editable = "--editable " if origin["dir_info"].get("editable") else ""
        if (folder / "pyproject.toml").is_file():
            return f"pip install {editable}{quote(f'{folder}[{extra}]')}"
    elif url:
        version = origin.get("vcs_info", {})
        kind = f"{version['vcs']}+" if version else ""
        commit = f"@{version['commit_id']}" if version else ""
        return f"pip install {quote(f'surefoot[{extra}] @ {kind}{url}{commit}')}"
    return f"pip install 'surefoot[{extra}]'"
