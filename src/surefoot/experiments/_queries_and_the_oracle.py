"""Number of labels that each query strategy needs, on well-known tables, with wrong answers among the labels."""

import json
from collections.abc import Iterator
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

from surefoot._typing import Floats
from surefoot.active_learning import DEFAULT_STRATEGY, SimulationResult, simulate
from surefoot.datasets import fetch_tabular, list_tabular
from surefoot.experiments._oracle_tables import describe, write_table
from surefoot.experiments._progress import Progress, silent

# Strategies that are simulated together, the number of repeats, and how many repeats of the first go before one of
# them. "error" fits an error estimator for each question: it has few repeats, without wrong answers.
GROUPS: list[tuple[list[str], int, int]] = [
    (["random", "confidence"], 20, 1),
    ([DEFAULT_STRATEGY], 20, 1),
    (["votes", "sensitivity"], 20, 3),
    (["error"], 2, 10),
]
SLOW_GROUP = GROUPS[-1]
SHARES_WRONG = (0.0, 0.05, 0.1)
BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
MOST_ROWS, N_TREES = 1000, 30
SETTINGS: dict[str, Any] = {"n_initial": 10, "n_labels": 300, "batch_size": 10}
QUICK_SETTINGS: dict[str, Any] = {"n_initial": 10, "n_labels": 20, "batch_size": 10}

Run = dict[str, Any]


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
        tables[name] = few_rows(one_hot(X), np.asarray(y))
    if tables:
        return tables
    chosen = ("iris", "wine") if quick else tuple(BUNDLED)
    return {name: few_rows(*BUNDLED[name](return_X_y=True)) for name in chosen}


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


def plan(tables: dict[str, Any], *, quick: bool) -> list[Run]:
    """Every run to make, in an order in which those made so far treat all tables alike."""
    settings = QUICK_SETTINGS if quick else SETTINGS
    runs = []
    for group in GROUPS:
        strategies, n_repeats, pace = group
        for repeat in range(1 if quick else n_repeats):
            for wrong in SHARES_WRONG[:1] if group is SLOW_GROUP else SHARES_WRONG[:: 1 + quick]:
                what = {"repeat": repeat, "wrong": wrong, "strategies": strategies, **settings}
                runs += [(pace * (repeat + 1), {"table": table, **what}) for table in tables]
    return [run for _, run in sorted(runs, key=lambda paced: paced[0])]


def simulate_run(run: Run, X: Any, y: Any) -> Run:
    """Run with its learning curves, in values that JSON can store."""
    options = {name: run[name] for name in ("wrong", *SETTINGS)}
    result = simulate(
        forest(), X, y, run["strategies"], n_repeats=1, random_state=run["repeat"], **options
    )
    return {
        **run,
        "labels": result.n_labels.tolist(),
        "full": float(result.full_accuracy[0]),
        "accuracy": {name: curves[0].tolist() for name, curves in result.accuracy.items()},
        "changed": {name: rows[0].round(4).tolist() for name, rows in result.changed.items()},
    }


def finished_runs(path: Path, planned: list[Run]) -> dict[str, Run]:
    """Runs in a file of an earlier call, by what was planned; a line that was cut off is left out."""
    names, keys = list(planned[0]), {key_of(run) for run in planned}
    finished = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            run = json.loads(line)
        except json.JSONDecodeError:
            continue
        key = key_of({name: run.get(name) for name in names})
        if key in keys:
            finished[key] = run
    return finished


def key_of(run: Run) -> str:
    """Text by which a planned run is found again."""
    return json.dumps(run, sort_keys=True)


def make_runs(path: Path, planned: list[Run], tables: dict[str, Any]) -> Iterator[Run]:
    """All planned runs; those not in the file yet are simulated, and added to it one by one."""
    finished = finished_runs(path, planned)
    missing = [run for run in planned if key_of(run) not in finished]
    simulated = Parallel(return_as="generator")(
        delayed(simulate_run)(run, *tables[run["table"]]) for run in missing
    )
    for run in planned:
        if key_of(run) in finished:
            yield finished[key_of(run)]
            continue
        made = next(simulated)
        with path.open("a") as file:
            file.write("\n" + json.dumps(made) + "\n")  # the first ends a line that was cut off
        yield made


def results_of(runs: list[Run]) -> dict[float, dict[str, SimulationResult]]:
    """Results by share of wrong answers and by table, of runs that have all strategies in every repeat."""
    results: dict[float, dict[str, SimulationResult]] = {}
    for wrong, table in dict.fromkeys((run["wrong"], run["table"]) for run in runs):
        own = [run for run in runs if (run["wrong"], run["table"]) == (wrong, table)]
        full = {run["repeat"]: run["full"] for run in own}
        results.setdefault(wrong, {})[table] = SimulationResult(
            n_labels=np.array(own[0]["labels"]),
            accuracy=by_strategy(own, "accuracy"),
            full_accuracy=np.array(list(full.values())),
            changed=by_strategy(own, "changed"),
        )
    return results


def by_strategy(runs: list[Run], what: str) -> dict[str, Floats]:
    """Curves of all runs, for each strategy."""
    names = dict.fromkeys(name for run in runs for name in run[what])
    return {
        name: np.array([run[what][name] for run in runs if name in run[what]]) for name in names
    }


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Run it all, or what is left of it, write the tables and the curves, and return the tables as text."""
    tables = load_tables(quick=quick)
    planned = plan(tables, quick=quick)
    path = out / "queries-and-the-oracle.jsonl"
    runs = list(progress(make_runs(path, planned, tables), total=len(planned), label="runs"))
    slow, n_slow, _ = SLOW_GROUP
    results = results_of([run for run in runs if run["strategies"] != slow])
    first = results_of([run for run in runs if run["wrong"] == 0 and run["repeat"] < n_slow])
    table = out / "queries-and-the-oracle.csv"
    write_table(table, results)
    written = [path, table, *_draw(out / "queries-and-the-oracle.png", results[0.0])]
    parts = [describe(results), f'"{slow[0]}" beside the others', describe(first)]
    return "\n\n".join([*parts, f"Written to {', '.join(map(str, written))}"])


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
