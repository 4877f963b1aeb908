"""Draw the pictures of the guide: run the examples of each page, and save the figure where the page shows it.

`make pictures` runs all pages, `python docs/pictures.py abstention metrics` two of them, and `… report` the
screenshot of the built-in report, which needs chromium.
"""

import doctest
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

GUIDE = Path(__file__).parent / "guide"
STATIC = Path(__file__).parent / "_static"
IMAGE = re.compile(r"^\.\. image:: \.\./_static/guide/(\S+)$", re.MULTILINE)


def draw(page: Path) -> None:
    """Run the examples of a page up to its last picture, and save the figure that is open at each picture."""
    parts = doctest.DocTestParser().parse(page.read_text(), str(page))
    names: dict[str, object] = {}
    np.random.seed(0)  # noqa: NPY002 (as the tests do)
    plt.close("all")
    last = max(i for i, part in enumerate(parts) if isinstance(part, str) and IMAGE.search(part))
    for part in parts[: last + 1]:
        if isinstance(part, doctest.Example):
            exec(compile(part.source, str(page), "single"), names)  # noqa: S102 (the page's own code)
            continue
        for name in IMAGE.findall(part):
            plt.gcf().savefig(STATIC / "guide" / name, dpi=110, metadata={"Software": None})
            plt.close("all")


def photograph_report() -> None:
    """Take a picture of the first screen of the report on the built-in example."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = Path(sys.executable).with_name("surefoot")
        subprocess.run([command, "report", "--out", page], check=True)
        chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium-browser"
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1100,760"]
        picture = f"--screenshot={STATIC / 'report.png'}"
        subprocess.run([chromium, *options, picture, page.as_uri()], check=True)


def main(wanted: list[str]) -> None:
    """Draw the pictures of the named pages, or of all pages that have one."""
    if "report" in wanted:
        photograph_report()
    for page in sorted(GUIDE.glob("*.rst")):
        if IMAGE.search(page.read_text()) and (not wanted or page.stem in wanted):
            print(page.stem, flush=True)
            draw(page)


if __name__ == "__main__":
    main(sys.argv[1:])
