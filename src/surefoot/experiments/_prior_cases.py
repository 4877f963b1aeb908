"""Cases that the prior of the error estimators learns from: the columns of many models on many tables.

A case is one model on one table. Its file has the columns of the held-out training rows and of the test rows, and
which predictions were wrong (or, for regression, the residuals). All of them, or some:

    surefoot reproduce prior-cases --out FOLDER
    python -m surefoot.experiments._prior_cases FOLDER --tables glass irish --models forest --sizes 300
"""

import argparse
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor, Judgement
from surefoot.experiments._case_models import encoded, models
from surefoot.experiments._case_store import Arrays, Case, read_case, write_case
from surefoot.experiments._case_tables import (
    Split,
    Task,
    case_tables,
    split,
    table_family,
    table_task,
    training_sizes,
)
from surefoot.experiments._csv_tables import write_table
from surefoot.experiments._progress import Progress, T, silent
from surefoot.metrics import augrc_loss, interval_coverage_score, interval_width

SIZES: dict[Task, tuple[int, ...]] = {
    "classification": (300, 1000),
    "regression": (120, 350, 1000),
}
QUICK_TABLES: dict[Task, list[str]] = {
    "classification": ["prnn_crabs", "haberman"],
    "regression": ["712_chscase_geyser1"],
}
QUICK_MODELS: dict[Task, list[str]] = {
    "classification": ["logistic", "tree"],
    "regression": ["ridge"],
}


def plan(
    tables: Iterable[str],
    *,
    kinds: Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
    random_states: Sequence[int] = (0,),
) -> list[Case]:
    """Cases of the tables, in order; None stands for all models or sizes of a table's task."""
    return [
        Case(table, kind, n_train, random_state)
        for table in tables
        for n_train in training_sizes(table, sizes or SIZES[table_task(table)])
        for kind in models(table_task(table), 0)
        if kinds is None or kind in kinds
        for random_state in random_states
    ]


def collect(case: Case, folder: Path) -> float:
    """Processor seconds that the case took; 0 if its file was there already."""
    path = case.path(folder)
    if path.exists():
        return 0.0
    start = time.process_time()
    write_case(path, measure(case))
    return time.process_time() - start


def measure(case: Case) -> Arrays:
    """Fit the model and its error estimator, judge the test rows, and return what both know of their rows."""
    task, rows = table_task(case.table), split(case.table, case.n_train, case.random_state)
    model = encoded(models(task, case.random_state)[case.model], rows.X)
    # A prior has seen these tables: without one the figures of a case are those of its own rows.
    estimator: Any = (
        partial(IndividualErrorClassifier, prior=None)
        if task == "classification"
        else IndividualErrorRegressor
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a network of few rounds is meant
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        start = time.process_time()
        sure = estimator(model, random_state=case.random_state).fit(rows.X, rows.y)
        fitted = time.process_time()
        judgement = sure.judge(rows.X_test)
    seconds = {"fit_seconds": fitted - start, "judge_seconds": time.process_time() - fitted}
    facts = {
        **case._asdict(),
        "task": task,
        "family": table_family(case.table),
        "n_inputs": rows.X.shape[1],
        "n_test": len(rows.y_test),
        "column_names": sure.get_column_names().astype(str),
        "rows": sure.held_out_.rows,
        "splits": sure.held_out_.splits,
        **seconds,
    }
    outcome = (
        classified(sure, judgement, rows)
        if task == "classification"
        else regressed(sure, judgement, rows)
    )
    return {name: np.asarray(value) for name, value in (facts | outcome).items()}


def classified(sure: Any, judgement: Judgement, rows: Split) -> dict[str, Any]:
    """Columns, probabilities, estimates and truth of a classifier's held-out rows and test rows."""
    held_out, probabilities = sure.held_out_, np.asarray(judgement.probabilities)
    return {
        "n_classes": len(sure.classes_),
        "columns": np.hstack(list(held_out.columns.values())),
        "probabilities": held_out.probabilities,
        "error": held_out.error,
        "prediction": np.searchsorted(sure.classes_, held_out.prediction),
        "truth": np.searchsorted(sure.classes_, held_out.truth),
        "wrong": held_out.losses.astype(np.int64),
        "test_columns": np.hstack(list(judgement.columns.values())),
        "test_probabilities": probabilities,
        "test_confidence": probabilities.max(axis=1),
        "test_error": judgement.error,
        "test_prediction": np.searchsorted(sure.classes_, judgement.prediction),
        "test_truth": np.searchsorted(sure.classes_, rows.y_test),
        "test_wrong": (judgement.prediction != rows.y_test).astype(np.int64),
    }


def regressed(sure: Any, judgement: Judgement, rows: Split) -> dict[str, Any]:
    """Columns, predictions, estimates and residuals of a regressor's held-out rows and test rows."""
    held_out = sure.held_out_
    return {
        "columns": np.hstack(list(held_out.columns.values())),
        "prediction": held_out.prediction,
        "error": held_out.error,
        "residuals": held_out.truth - held_out.prediction,
        "test_columns": np.hstack(list(judgement.columns.values())),
        "test_prediction": judgement.prediction,
        "test_error": judgement.error,
        "test_residuals": rows.y_test - judgement.prediction,
        "test_interval": judgement.interval,
    }


def figures(case: Arrays) -> dict[str, Any]:
    """Line of the table of cases: sizes, errors, and how well the errors of the test rows are estimated."""
    line = {
        name: case[name]
        for name in ("table", "family", "model", "n_train", "n_test", "n_inputs", "random_state")
    }
    if case["task"] == "classification":
        wrong = case["test_wrong"]
        return line | {
            "n_classes": case["n_classes"],
            "held_out_errors": int(case["wrong"].sum()),
            "test_errors": int(wrong.sum()),
            "augrc_of_confidence": f"{augrc_loss(wrong, 1 - case['test_confidence']):.5g}",
            "augrc": f"{augrc_loss(wrong, case['test_error']):.5g}",
        }
    size, low_high = np.abs(case["test_residuals"]), case["test_interval"]
    truth = case["test_prediction"] + case["test_residuals"]
    return line | {
        "mean_absolute_error": f"{size.mean():.5g}",
        "held_out_mean_absolute_error": f"{np.abs(case['residuals']).mean():.5g}",
        "rank_correlation": f"{spearmanr(size, case['test_error']).statistic:.4f}",
        "coverage": f"{interval_coverage_score(truth, low_high):.4f}",
        "width": f"{interval_width(low_high):.5g}",
    }


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Collect the cases of both tasks, write `prior_cases_<task>.csv`, and return what was collected as text."""
    tasks: tuple[Task, ...] = ("classification", "regression")
    lines = []
    for task in tasks:
        cases = (
            plan(QUICK_TABLES[task], kinds=QUICK_MODELS[task], sizes=[100])
            if quick
            else plan(case_tables(task))
        )
        lines.append(collect_all(cases, out, task, progress))
    return "\n".join(lines)


def collect_all(cases: Sequence[Case], out: Path, task: Task, progress: Progress) -> str:
    """Collect the cases of a task that are not on disk, write their figures, and return a line about them."""
    finished = Parallel(return_as="generator")(delayed(collect)(case, out) for case in cases)
    seconds = list(progress(finished, total=len(cases), label=f"cases of {task}"))
    path = out / f"prior_cases_{task}.csv"
    write_table(path, [figures(read_case(case.path(out))) for case in cases])
    n_new = sum(second > 0 for second in seconds)
    return (
        f"{task}: {len(cases)} cases of {len({case.table for case in cases})} tables, {n_new} of them new, in "
        f"{sum(seconds):.0f} processor seconds. Written to {path}"
    )


def printed(items: Iterable[T], *, total: int, label: str) -> Iterator[T]:
    """Pass the items on, and print now and then how many are done and how long the rest may take."""
    start = last = time.monotonic()
    for number, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= 10 or number == total:
            left = (now - start) / number * (total - number) / 60
            print(f"{number} of {total} {label}, about {left:.0f} minutes left", flush=True)  # noqa: T201
            last = now


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect the cases that the arguments, or those of the command line, name."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the cases are, and new ones are written")
    parser.add_argument("--task", choices=list(SIZES), default="classification")
    parser.add_argument(
        "--tables", nargs="+", help="default: PMLB without kin of development tables"
    )
    parser.add_argument(
        "--development", action="store_true", help="all tables of PMLB, and the development tables"
    )
    parser.add_argument(
        "--models", nargs="+", choices=[*models("classification", 0), *models("regression", 0)]
    )
    parser.add_argument("--sizes", nargs="+", type=int, help="training rows")
    parser.add_argument("--random-states", nargs="+", type=int, default=[0])
    options = parser.parse_args(arguments)
    tables = options.tables or case_tables(options.task, development=options.development)
    cases = plan(
        tables, kinds=options.models, sizes=options.sizes, random_states=options.random_states
    )
    options.folder.mkdir(parents=True, exist_ok=True)
    print(collect_all(cases, options.folder, options.task, printed))  # noqa: T201


if __name__ == "__main__":
    main()
