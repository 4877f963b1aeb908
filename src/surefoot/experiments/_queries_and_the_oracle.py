"""Number of labels that each query strategy needs, on well-known tables."""

import csv
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from surefoot.active_learning import SimulationResult, simulate
from surefoot.datasets import fetch_tabular, list_tabular
from surefoot.experiments._progress import Progress, silent

STRATEGIES = ("random", "confidence", "votes", "error", "sensitivity")
BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
MOST_ROWS, N_TREES = 1000, 30
SETTINGS: dict[str, Any] = {"n_initial": 10, "n_labels": 120, "batch_size": 10, "n_repeats": 3}
QUICK_SETTINGS: dict[str, Any] = {"n_initial": 10, "n_labels": 20, "batch_size": 10, "n_repeats": 1}


def forest() -> Any:
    """Extremely randomised trees on scaled columns."""
    return make_pipeline(StandardScaler(), ExtraTreesClassifier(N_TREES, random_state=0))


def load_tables(*, quick: bool) -> dict[str, Any]:
    """The development tables on disk; without them, or in a hurry, what scikit-learn brings along."""
    tables: dict[str, Any] = {}
    for name in [] if quick else list_tabular("classification"):
        try:
            X, y = fetch_tabular(name, download=False, return_X_y=True)
        except FileNotFoundError:
            continue
        tables[name] = one_hot(X), np.asarray(y)
    if tables:
        return tables
    chosen = ("iris", "wine") if quick else tuple(BUNDLED)
    return {name: BUNDLED[name](return_X_y=True) for name in chosen}


def one_hot(X: Any) -> Any:
    """Frame with a column for each category; an array is numeric already."""
    if not hasattr(X, "columns"):
        return X
    texts = make_column_selector(dtype_include=["category", "object"])
    encode = OneHotEncoder(sparse_output=False)
    return make_column_transformer((encode, texts), remainder="passthrough").fit_transform(X)


def few_rows(X: Any, y: Any) -> tuple[Any, Any]:
    """At most some of the rows, drawn once."""
    rows = np.random.RandomState(0).permutation(len(y))[:MOST_ROWS]
    return X[rows], y[rows]


def run_table(X: Any, y: Any, settings: dict[str, Any]) -> SimulationResult:
    """All strategies on one table."""
    return simulate(forest(), *few_rows(X, y), STRATEGIES, random_state=0, **settings)


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Run it all, write the table and the curves, and return the table as text."""
    settings = QUICK_SETTINGS if quick else SETTINGS
    tables = load_tables(quick=quick)
    finished = Parallel(return_as="generator")(
        delayed(run_table)(X, y, settings) for X, y in tables.values()
    )
    simulated = progress(finished, total=len(tables), label="tables")
    results = dict(zip(tables, simulated, strict=True))
    path = out / "queries-and-the-oracle.csv"
    _write(path, results)
    written = [path, *_draw(out / "queries-and-the-oracle.png", results)]
    return "\n".join(
        [
            "Labels until the mean accuracy reaches 95 % of that with all labels (– is never)",
            *_table(results),
            "",
            *_summary(results, settings["n_labels"]),
            "",
            f"Written to {', '.join(map(str, written))}",
        ]
    )


def _table(results: dict[str, SimulationResult]) -> list[str]:
    lines = [f"{'':<16}{'all labels':>11}" + "".join(f"{name:>13}" for name in STRATEGIES)]
    for table, result in results.items():
        needed = result.labels_needed()
        cells = [f"{n:.0f}" if np.isfinite(n) else "–" for n in needed.values()]
        lines.append(
            f"{table:<16}{result.full_accuracy.mean():>11.3f}" + "".join(f"{c:>13}" for c in cells)
        )
    return lines


def _summary(results: dict[str, SimulationResult], most: int) -> list[str]:
    """Means, where never counts as all that were asked for, and how often random is beaten."""
    needed = {
        name: np.array([result.labels_needed()[name] for result in results.values()])
        for name in STRATEGIES
    }
    capped = {name: np.minimum(values, most) for name, values in needed.items()}
    area = {
        name: np.mean([result.accuracy[name].mean() for result in results.values()])
        for name in STRATEGIES
    }
    return [
        f"{name:<13} mean {capped[name].mean():6.1f} labels; fewer than random on "
        f"{int((needed[name] < needed['random']).sum())} of {len(results)} tables; mean accuracy along "
        f"the curve {area[name]:.4f}"
        for name in STRATEGIES
    ]


def _write(path: Path, results: dict[str, SimulationResult]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["table", "strategy", "labels_needed", "full_accuracy", "labels", "accuracy"]
        )
        for table, result in results.items():
            needed = result.labels_needed()
            for name, curves in result.accuracy.items():
                full = f"{result.full_accuracy.mean():.4f}"
                for labels, accuracy in zip(result.n_labels, curves.mean(axis=0), strict=True):
                    row = [table, name, f"{needed[name]:.1f}", full, labels, f"{accuracy:.4f}"]
                    writer.writerow(row)


def _draw(path: Path, results: dict[str, SimulationResult]) -> list[Path]:
    """The curves of all tables, where matplotlib is installed."""
    if find_spec("matplotlib") is None:
        return []
    from matplotlib.figure import Figure  # noqa: PLC0415 - only this figure needs it

    from surefoot.plots import LearningCurveDisplay  # noqa: PLC0415

    n_columns = min(4, len(results))
    n_lines = -(-len(results) // n_columns)
    figure = Figure(figsize=(4.2 * n_columns, 3.4 * n_lines), layout="constrained")
    axes = np.atleast_1d(figure.subplots(n_lines, n_columns)).ravel()
    for ax, (name, result) in zip(axes, results.items(), strict=False):
        LearningCurveDisplay.from_result(result, ax=ax)
        ax.set_title(name)
    for ax in axes[len(results) :]:
        ax.set_axis_off()
    figure.savefig(path, dpi=110)
    return [path]
