"""Number of labels that each query strategy needs, on well-known tables, with wrong answers among the labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from reproduction.data import fetch_table, get_data_home, list_tables
from reproduction.results import LEAST_PAIRS, Floats, Ints, in_parallel, text_table, write_table
from surefoot.active_learning import SimulationResult, simulate
from surefoot.plots import LearningCurveDisplay

# Strategies that are simulated together, the number of repeats, and how many repeats of the first go before one of
# them. "error" fits an error estimator for each question: it has one repeat, without wrong answers.
GROUPS: list[tuple[list[str], int, int]] = [
    (["random", "confidence"], 4, 1),
    (["margin"], 4, 1),
    (["votes", "sensitivity"], 4, 1),
    (["error"], 1, 4),
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
SETTINGS = {"n_initial": 10, "n_labels": 300, "batch_size": 10}
QUICK_SETTINGS = {"n_initial": 10, "n_labels": 20, "batch_size": 10}

GOAL = 0.95
TOLERANCE = 0.07  # the default of ActiveLearner
TOLERANCES = (0.03, 0.05, 0.07, 0.09, 0.11, 0.15)
N_DRAWS = 500

Run = dict[str, Any]
Results = dict[str, SimulationResult]


def run(out: Path, *, quick: bool = False) -> str:
    """Simulate all runs, or those that are missing, write the tables and the curves, and return the tables as text.

    `queries-and-the-oracle.jsonl` has a line for each run: a second call resumes an interrupted one.
    """
    tables = load_tables(quick=quick)
    runs = simulated(out / "queries-and-the-oracle.jsonl", plan(tables, quick=quick), tables)
    slow, n_slow, _ = SLOW_GROUP
    results = results_of([run for run in runs if run["strategies"] != slow])
    first = results_of([run for run in runs if run["wrong"] == 0 and run["repeat"] < n_slow])
    rows = [
        {
            "table": table,
            "wrong": wrong,
            "strategy": name,
            "labels_needed": f"{result.labels_needed(GOAL)[name]:.1f}",
            "full_accuracy": f"{result.full_accuracy.mean():.4f}",
            "labels": labels,
            "accuracy": f"{accuracy:.4f}",
        }
        for wrong, by_table in results.items()
        for table, result in by_table.items()
        for name, curves in result.accuracy.items()
        for labels, accuracy in zip(result.n_labels, curves.mean(axis=0), strict=True)
    ]
    write_table(out / "queries-and-the-oracle.csv", rows)
    draw(out / "queries-and-the-oracle.png", results[0.0])
    return "\n\n".join([describe(results), f'"{slow[0]}" beside the others', describe(first)])


def forest() -> Any:
    """Extremely randomised trees on scaled columns."""
    return make_pipeline(StandardScaler(), ExtraTreesClassifier(N_TREES, random_state=0))


def load_tables(*, quick: bool) -> dict[str, Any]:
    """At most 1,000 rows of each development table on disk; of scikit-learn's if there are none, or to be quick."""
    folder = get_data_home() / "tabular" / "classification"
    names = list_tables("classification", "tabular")
    stored = [] if quick else [name for name in names if any(folder.glob(f"{name}.csv*"))]
    loaded = {name: fetch_table(name) for name in stored}
    for name in () if stored else ("iris", "wine") if quick else BUNDLED:
        loaded[name] = BUNDLED[name](return_X_y=True)
    tables = {}
    for name, (X, y) in loaded.items():
        rows = np.random.RandomState(0).permutation(len(y))[:MOST_ROWS]
        tables[name] = one_hot(X)[rows], y[rows]
    return tables


def one_hot(X: Any) -> Any:
    """Array with a column for each category of a frame; an array is numeric already."""
    if not hasattr(X, "columns"):
        return X
    encode = OneHotEncoder(sparse_output=False)
    texts = make_column_selector(dtype_include="category")
    return make_column_transformer((encode, texts), remainder="passthrough").fit_transform(X)


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


def simulated(path: Path, planned: list[Run], tables: dict[str, Any]) -> list[Run]:
    """All planned runs; those that are not in the file yet are simulated, and added to it one by one."""
    finished = finished_runs(path, planned)
    missing = [run for run in planned if key_of(run) not in finished]
    jobs = [(run, *tables[run["table"]]) for run in missing]
    for run, made in zip(missing, in_parallel(simulate_run, jobs, "runs"), strict=True):
        with path.open("a") as file:
            file.write("\n" + json.dumps(made) + "\n")  # the first ends a line that was cut off
        finished[key_of(run)] = made
    return [finished[key_of(run)] for run in planned]


def finished_runs(path: Path, planned: list[Run]) -> dict[str, Run]:
    """Runs in a file of an earlier call, by what was planned; a line that was cut off is left out."""
    finished = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            run = json.loads(line)
        except json.JSONDecodeError:
            continue
        finished[key_of({name: run.get(name) for name in planned[0]})] = run
    return finished


def key_of(run: Run) -> str:
    """Text that identifies a planned run."""
    return json.dumps(run, sort_keys=True)


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


def results_of(runs: list[Run]) -> dict[float, Results]:
    """Results by share of wrong answers and by table, of runs that have all strategies in every repeat."""
    results: dict[float, Results] = {}
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


def describe(results: dict[float, Results]) -> str:
    """All tables as text, by the share of wrong answers."""
    parts = []
    for wrong, tables in results.items():
        n_repeats = min(len(result.full_accuracy) for result in tables.values())
        title = (
            f"{wrong:.0%} wrong answers, at least {n_repeats} repeats: labels until the mean accuracy reaches "
            f"{GOAL:.0%} of that with all labels (– is never)"
        )
        parts.append(f"{title}\n{text_table(needed_rows(tables))}")
        parts += ["\n".join(ratio_lines(tables)), text_table(spread_rows(tables))]
        parts.append(text_table(stop_rows(tables)))
    return "\n\n".join(parts)


def needed_rows(tables: Results) -> list[list[str]]:
    """Accuracy with all labels, and labels needed by each strategy, for each table."""
    rows = [["", "all labels", *strategies_of(tables)]]
    for table, result in tables.items():
        needed = result.labels_needed(GOAL)
        cells = [f"{number:.0f}" if np.isfinite(number) else "–" for number in needed.values()]
        rows.append([table, f"{result.full_accuracy.mean():.3f}", *cells])
    return rows


def ratio_lines(tables: Results) -> list[str]:
    """Means, where never counts as all that were asked for, and ratios with 90 % intervals if there are five tables."""
    names = strategies_of(tables)
    needed = needed_labels(tables)
    means, draws = needed.mean(axis=0), resampled(tables).mean(axis=1)

    def ratio(ours: int, other: int) -> str:
        low, high = np.quantile(draws[:, ours] / draws[:, other], [0.05, 0.95])
        return f" ({low:.2f} to {high:.2f})" if len(tables) >= LEAST_PAIRS else ""

    lines = []
    for place, name in enumerate(names):
        geometric = np.exp(np.log(needed[:, place] / needed[:, 0]).mean())
        lines.append(
            f"{name:<13} mean {means[place]:6.1f} labels; {means[place] / means[0]:.2f} of random's"
            f"{ratio(place, 0)}; geometric mean {geometric:.2f}; fewer on "
            f"{(needed[:, place] < needed[:, 0]).sum()} and more on "
            f"{(needed[:, place] > needed[:, 0]).sum()} of {len(tables)} tables"
        )
    if {"confidence", "margin"} <= set(names):
        ours, other = names.index("margin"), names.index("confidence")
        share = means[ours] / means[other]
        lines.append(f"margin / confidence: {share:.2f}{ratio(ours, other)}")
    return lines


def spread_rows(tables: Results) -> list[list[str]]:
    """Quartiles over repeats of the labels that single runs needed."""
    names = [name for name in ("random", "margin") if name in strategies_of(tables)]
    rows = [["single runs", *(f"{name}: quartiles" for name in names)]]
    for table, result in tables.items():
        quartiles = [np.quantile(single_runs(result, name), [0.25, 0.5, 0.75]) for name in names]
        rows.append([table, *(" ".join(f"{q:.0f}" for q in each) for each in quartiles)])
    return rows


def stop_rows(tables: Results) -> list[list[str]]:
    """How the stops of each strategy compare with the labels needed, and those of the default by tolerance."""
    shares = ("after 95 %", "share of full accuracy", "before twice", "stop / needed", "never")
    rows = [["the rule says stop", *shares]]
    settings = [(name, name, TOLERANCE) for name in strategies_of(tables)]
    settings += [(f"margin, tolerance {limit:.0%}", "margin", limit) for limit in TOLERANCES]
    for title, name, tolerance in settings:
        stop, needed, share, never = stops_of(tables, name, tolerance).T
        cells = [f"{(stop >= needed).mean():.0%}", f"{share.mean():.1%}"]
        cells += [f"{(stop <= 2 * needed).mean():.0%}", f"{np.median(stop / needed):.2f}"]
        if never.all():
            cells = ["–"] * len(cells)
        rows.append([title, *cells, f"{never.mean():.0%}"])
    return rows


def strategies_of(tables: Results) -> list[str]:
    """Names of the strategies."""
    return list(next(iter(tables.values())).accuracy)


def needed_labels(tables: Results) -> Floats:
    """Labels needed, a row for each table and a column for each strategy; never counts as the most."""
    needed = [
        np.minimum(list(result.labels_needed(GOAL).values()), result.n_labels[-1])
        for result in tables.values()
    ]
    return np.array(needed)


def resampled(tables: Results) -> Floats:
    """`needed_labels` of tables and repeats drawn anew, shape (draws, tables, strategies)."""
    random = np.random.RandomState(0)
    drawn = []
    results = list(tables.values())
    for _ in range(N_DRAWS):
        parts = {}
        for place, which in enumerate(random.randint(len(results), size=len(results))):
            n_repeats = len(results[which].full_accuracy)
            repeats = random.randint(n_repeats, size=n_repeats)
            parts[str(place)] = part_of(results[which], repeats)
        drawn.append(needed_labels(parts))
    return np.array(drawn)


def part_of(result: SimulationResult, repeats: Ints) -> SimulationResult:
    """Some of the repeats of a result."""
    return SimulationResult(
        n_labels=result.n_labels,
        accuracy={name: curves[repeats] for name, curves in result.accuracy.items()},
        full_accuracy=result.full_accuracy[repeats],
        changed={name: shares[repeats] for name, shares in result.changed.items()},
    )


def single_runs(result: SimulationResult, name: str) -> Floats:
    """Labels that each repeat needed by itself; never counts as the most."""
    repeats = np.arange(len(result.full_accuracy))
    needed = [part_of(result, repeats[[i]]).labels_needed(GOAL)[name] for i in repeats]
    return np.minimum(needed, result.n_labels[-1])


def stops_of(tables: Results, name: str, tolerance: float) -> Floats:
    """Of each run: labels at the stop, labels needed, share of the full accuracy at the stop, and if it never stopped.

    A run that never stopped, or never had the accuracy, counts with all its labels. Labels needed are counted in
    whole steps here, as stops are.
    """
    rows = []
    for result in tables.values():
        stops = result.labels_at_stop(tolerance)[name]
        for curve, full, stop in zip(
            result.accuracy[name], result.full_accuracy, stops, strict=True
        ):
            reached = np.flatnonzero(curve >= GOAL * full)
            needed = result.n_labels[reached[0]] if len(reached) else result.n_labels[-1]
            step = int(np.searchsorted(result.n_labels, min(stop, result.n_labels[-1])))
            rows.append([result.n_labels[step], needed, curve[step] / full, np.isinf(stop)])
    return np.array(rows, dtype=np.float64)


def draw(path: Path, results: Results) -> None:
    """Draw the curves of all tables."""
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
