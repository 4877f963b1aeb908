"""Draw the pictures: from the code that a page of the guide shows, or from the table that a page of results has.

`make pictures` draws all of them, `python docs/pictures.py abstention watching` those of two pages, and
`… report` the screenshot of the built-in report, which needs chromium.
"""

import doctest
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from PIL import Image

DOCS = Path(__file__).parent
STATIC = DOCS / "_static"
IMAGE = re.compile(r"^\.\. image:: \.\./_static/guide/(\S+)$", re.MULTILINE)
NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?")


def draw_guide(page: Path) -> None:
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
            save(f"guide/{name}")


def save(name: str) -> None:
    """Write the open figure to a file among the static ones."""
    (STATIC / name).parent.mkdir(exist_ok=True)
    plt.gcf().savefig(STATIC / name, dpi=110, metadata={"Software": None})
    plt.close("all")


def photograph_report() -> None:
    """Take a picture of the first screen of the report on the built-in example."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = Path(sys.executable).with_name("surefoot")
        subprocess.run([command, "report", "--out", page], check=True)
        chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium-browser"
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1100,1330"]
        picture = STATIC / "report.png"
        subprocess.run([chromium, *options, f"--screenshot={picture}", page.as_uri()], check=True)
    Image.open(picture).quantize(64).save(picture, optimize=True)  # a third of the size


def table(page: str, header: str) -> list[list[str]]:
    """Cells of the table of a results page whose header begins with these words, without the header."""
    lines = (DOCS / "results" / f"{page}.rst").read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith(header))
    bar = lines[start - 1]
    spans = [match.span() for match in re.finditer("=+", bar)]
    ends = [begin for begin, _ in spans[1:]] + [None]
    rows = []
    for line in lines[start + 2 :]:
        if line == bar:
            return rows
        rows.append([line[a:b].strip() for (a, _), b in zip(spans, ends, strict=True)])
    raise ValueError(f"{header} has no end in {page}")


def value(cell: str) -> float:
    """First number of a cell; NaN if it has none."""
    found = NUMBER.search(cell.replace("**", ""))
    return float(found[0].replace(",", "").replace("−", "-")) if found else np.nan


def line_of(page: str, start: str) -> list[float]:
    """Means in the first line of printed output that begins with these words."""
    lines = (DOCS / "results" / f"{page}.rst").read_text().splitlines()
    line = next(line.strip() for line in lines if line.strip().startswith(start))
    return [
        value(text) for text in re.findall(r"(?<!± )(?<![\w.])[-+]?\d+\.\d+", line[len(start) :])
    ]


def dots(ax: Axes, names: list[str], columns: dict[str, list[float]]) -> None:
    """One line for each name, one kind of dots for each column."""
    for marker, (label, values) in zip("osD^", columns.items(), strict=False):
        ax.plot(values, np.arange(len(names)), marker, label=label)
    ax.set_yticks(np.arange(len(names)), names)
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    ax.legend()


def axes(height: float) -> Axes:
    """Axes of a new figure as wide as the text."""
    return plt.subplots(figsize=(7, height), layout="constrained")[1]


def draw_promises() -> None:
    """Share of draws in which a promise is kept, by two ways of choosing the threshold."""
    rows = [row for row in table("promises", "true error") if row[1] == "4000" and row[5]]
    ax = axes(3.2)
    kept = {
        "surefoot": [value(row[2]) for row in rows],
        "pointwise": [value(row[5]) for row in rows],
    }
    dots(ax, [row[0] for row in rows], kept)
    ax.axvline(0.95, color="gray", linestyle=":")
    ax.set_xlabel("share of draws in which the promise is kept (stated: 0.95)")


def draw_watching() -> None:
    """Estimated and measured error of the streams, relative to that at training."""
    rows = [row for row in table("watching", "stream") if not np.isnan(value(row[3]))]
    ax = axes(5)
    relative = {
        name: [value(row[column]) / value(row[2]) for row in rows]
        for name, column in (("estimated from the inputs", 3), ("measured with labels", 4))
    }
    dots(ax, [row[0] for row in rows], relative)
    ax.axvline(1, color="gray", linestyle=":")
    ax.set_xlabel("error of the last period / error at training")


def draw_acting() -> None:
    """Mean and worst gain over the best single model."""
    rows = table("acting", "method")
    ax = axes(3.2)
    gains = {
        "mean": [value(row[1]) for row in rows],
        "worst of 24 cases": [value(row[3]) for row in rows],
    }
    dots(ax, [row[0].strip("*") for row in rows], gains)
    ax.axvline(0, color="gray", linestyle=":")
    ax.set_xlabel("points of accuracy above the best single model")


def draw_time() -> None:
    """Rows per second of models alone and with their error estimator."""
    rows = table("time-and-memory", "model")
    ax = axes(2.4)
    names = [row[0].replace("`", "").partition(",")[0] for row in rows]
    dots(
        ax,
        names,
        {
            "predict_proba": [value(row[1]) for row in rows],
            "surefoot score": [value(row[2]) for row in rows],
        },
    )
    ax.set(xscale="log", xlabel="rows per processor second")


def draw_priors() -> None:
    """Mean and worst ratio to the model's own probability, by the number of errors to learn from."""
    rows = table("priors", "errors in training rows")
    ax = axes(2.2)
    dots(
        ax,
        [row[0] for row in rows],
        {
            "geometric mean": [value(row[2]) for row in rows],
            "worst": [value(row[4]) for row in rows],
        },
    )
    ax.axvline(1, color="gray", linestyle=":")
    ax.set_xlabel("AUGRC / AUGRC of the model's own probability")


def draw_bennett() -> None:
    """Errors of the three methods on five problems, here and in the paper."""
    methods = ("kNN", "Recalibrated", "Sensitivity Recal.")
    _, parts = plt.subplots(1, 3, figsize=(8, 3), sharey=True, layout="constrained")
    for ax, method in zip(parts, methods, strict=True):
        problems = np.arange(1, 6)
        ax.plot(problems, line_of("bennett", f"{method}  "), "o", label="here")
        ax.plot(problems, line_of("bennett", f"the paper's {method}"), "x", label="the paper")
        ax.set(title=method, xlabel="problem")
        ax.grid(axis="y", alpha=0.3)
    parts[0].set_ylabel("error in %")
    parts[0].legend()


def draw_buza() -> None:
    """Mean gain in accuracy over one neighbour and over the best number of them."""
    _, parts = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for ax, other in zip(parts, ("1-NN-DTW", "k-NN-DTW"), strict=True):
        for name in ("local", "literal, smallest", "literal, largest", "literal, best overall"):
            gains = line_of("buza-and-duda", f"{name}: mean gain on {other}, points")[:4]
            ax.plot([0, 1, 5, 10], gains, "o-", label=name)
        ax.axhline(0, color="gray", linestyle=":")
        ax.set(xlabel="% of hubs mislabelled", title=f"against {other}")
    parts[0].set_ylabel("mean gain, points")
    parts[0].legend()


RESULTS: dict[str, Callable[[], None]] = {
    "promises": draw_promises,
    "watching": draw_watching,
    "acting": draw_acting,
    "time-and-memory": draw_time,
    "priors": draw_priors,
    "bennett": draw_bennett,
    "buza-and-duda": draw_buza,
}


def main(wanted: list[str]) -> None:
    """Draw the pictures of the named pages, or of all pages that have one."""
    if "report" in wanted:
        photograph_report()
    for name, draw in RESULTS.items():
        if not wanted or name in wanted:
            print(name, flush=True)
            draw()
            save(f"results/{name}.png")
    for page in sorted((DOCS / "guide").glob("*.rst")):
        if IMAGE.search(page.read_text()) and (not wanted or page.stem in wanted):
            print(page.stem, flush=True)
            draw_guide(page)


if __name__ == "__main__":
    main(sys.argv[1:])
