"""Cases that the priors of the error estimators are learned from: the columns of many models on many tables.

A case is one model on one table. Its file has the columns of the held-out training rows and of the test rows, and
which predictions were wrong (or, for regression, the residuals). `python -m reproduction priors` collects those that
the priors are learned from; others:

    python -m reproduction.prior_cases FOLDER --tables glass irish --models forest --sizes 300
"""

import argparse
import time
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from reproduction.data import TABLES, Task, fetch_table, list_tables
from reproduction.results import in_parallel, write_table, write_whole
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor, Judgement
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
MOST_TEST_ROWS = 1500
# With fewer training rows, a class can be absent from what a calibrated model of one fold learns from.
LEAST_ROWS_OF_A_CLASS = 7
# A smaller training size is left out if the next larger one has less than this times as many rows.
LEAST_STEP = 1.5

# Values of a case by name; on disk each is an array.
Arrays = dict[str, Any]


class Case(NamedTuple):
    """A model fitted to `n_train` rows of a table, which `random_state` draws."""

    table: str
    model: str
    n_train: int
    random_state: int

    @property
    def task(self) -> Task:
        """Task of the table."""
        return TABLES.at[self.table, "task"]

    def path(self, folder: Path) -> Path:
        """File of the case."""
        name = f"{self.table}-{self.model}-{self.n_train}-{self.random_state}.npz"
        return folder / self.task / name


class Split(NamedTuple):
    """Training and test rows of a table."""

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]


def planned(task: Task, *, quick: bool = False) -> list[Case]:
    """Cases of a task to collect and to learn from: none of a development table, or of its family."""
    if quick:
        return plan(QUICK_TABLES[task], kinds=QUICK_MODELS[task], sizes=[100])
    return plan(case_tables(task))


def case_tables(task: Task) -> list[str]:
    """Names of the PMLB tables of a task that share no family with a development table."""
    held_back = set(TABLES.family[TABLES.collection == "tabular"])
    return [
        name for name in list_tables(task, "pmlb") if TABLES.at[name, "family"] not in held_back
    ]


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
        for n_train in training_sizes(table, sizes or SIZES[TABLES.at[table, "task"]])
        for kind in models(TABLES.at[table, "task"], 0)
        if kinds is None or kind in kinds
        for random_state in random_states
    ]


def training_sizes(name: str, sizes: Iterable[int]) -> list[int]:
    """Numbers of training rows, ascending: at most half of the table, and none nearly as large as the next."""
    possible = sorted({min(size, int(TABLES.at[name, "n_rows"]) // 2) for size in sizes})
    return [
        size
        for size, larger in zip(possible, [*possible[1:], np.inf], strict=True)
        if larger >= LEAST_STEP * size
    ]


def models(task: Task, random_state: int) -> dict[str, Any]:
    """Models of a task by name; those of a neural network and a tree have settings that keep them small."""
    small: dict[str, Any] = {"hidden_layer_sizes": (50,), "batch_size": 50, "max_iter": 50}
    seed = {"random_state": random_state}
    if task == "regression":
        scaled = partial(TransformedTargetRegressor, transformer=StandardScaler())
        return {
            "ridge": Ridge(),
            "forest": RandomForestRegressor(**seed),
            "boosting": HistGradientBoostingRegressor(**seed),
            "knn": KNeighborsRegressor(),
            "svr": scaled(SVR()),
            "mlp": scaled(MLPRegressor(**small, **seed)),
        }
    return {
        "logistic": LogisticRegression(max_iter=2000),
        "forest": RandomForestClassifier(**seed),
        "boosting": HistGradientBoostingClassifier(**seed),
        "svm": CalibratedClassifierCV(SVC(), ensemble=False),
        "knn": KNeighborsClassifier(),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(min_samples_leaf=5, **seed),
        "mlp": MLPClassifier(**small, **seed),
    }


def encoded(model: Any, X: Any) -> Any:
    """Pipeline of the model behind what encodes the categories of X, fills missing cells and scales numbers."""
    if hasattr(X, "columns"):
        categories = make_column_selector(dtype_include="category")
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        columns = make_column_transformer((encoder, categories), remainder=StandardScaler())
        return make_pipeline(columns, model)
    imputers = [SimpleImputer(strategy="median")] if np.isnan(X).any() else []
    return make_pipeline(*imputers, StandardScaler(), model)


# The cases of one table follow each other.
load = lru_cache(maxsize=1)(fetch_table)


def split(case: Case) -> Split:
    """Training rows of a case and up to 1500 test rows, shuffled.

    Classes have their shares of the whole table; those with under 7 training rows are left out of both parts.
    """
    X, y = load(case.table)
    is_classification = case.task == "classification"
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=case.n_train,
        test_size=min(MOST_TEST_ROWS, len(y) - case.n_train),
        random_state=case.random_state,
        stratify=y if is_classification else None,
    )
    if is_classification:
        classes, counts = np.unique(y[train], return_counts=True)
        common = classes[counts >= LEAST_ROWS_OF_A_CLASS]
        train, test = (rows[np.isin(y[rows], common)] for rows in (train, test))
    rows_of = getattr(X, "iloc", X)
    return Split(rows_of[train], y[train], rows_of[test], y[test])


def collect_all(cases: Sequence[Case], out: Path) -> str:
    """Collect the cases of one task that are not on disk, write their results, and return a line about them."""
    task = cases[0].task
    seconds = list(in_parallel(collect, [(case, out) for case in cases], f"cases of {task}"))
    write_table(
        out / f"prior_cases_{task}.csv", [figures(read_case(case.path(out))) for case in cases]
    )
    n_new = sum(second > 0 for second in seconds)
    return (
        f"{task}: {len(cases)} cases of {len({case.table for case in cases})} tables, {n_new} of them new, in "
        f"{sum(seconds):.0f} processor seconds"
    )


def collect(case: Case, folder: Path) -> float:
    """Processor seconds that the case took; 0 if its file was there already."""
    path = case.path(folder)
    if path.exists():
        return 0.0
    start = time.process_time()
    content = BytesIO()
    np.savez_compressed(content, **measure(case))
    write_whole(path, content.getvalue())
    return time.process_time() - start


def read_case(path: Path) -> Arrays:
    """Arrays of a case by name; what is one value (names, sizes) is a plain value."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return {name: array.item() if array.ndim == 0 else array for name, array in arrays.items()}


def measure(case: Case, model: Any = None) -> Arrays:
    """Fit the model and its error estimator, judge the test rows, and return what both know of their rows.

    The model is that of the case's name, or the one that is given.
    """
    rows = split(case)
    named = models(case.task, case.random_state).get(case.model)
    model = encoded(named if model is None else model, rows.X)
    is_classification = case.task == "classification"
    # A prior has seen these tables: without one the estimates of a case are those of its own rows.
    error_estimator: Any = (
        IndividualErrorClassifier(model, prior=None, random_state=case.random_state)
        if is_classification
        else IndividualErrorRegressor(model, random_state=case.random_state)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a network of few rounds is meant
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        start = time.process_time()
        error_estimator.fit(rows.X, rows.y)
        fitted = time.process_time()
        judgement = error_estimator.judge(rows.X_test)
    held_out = error_estimator.held_out_
    facts = {
        **case._asdict(),
        "task": case.task,
        "family": TABLES.at[case.table, "family"],
        "n_inputs": rows.X.shape[1],
        "n_test": len(rows.y_test),
        "column_names": error_estimator.get_column_names().astype(str),
        "rows": held_out.rows,
        "splits": held_out.splits,
        "fit_seconds": fitted - start,
        "judge_seconds": time.process_time() - fitted,
        "columns": np.hstack(list(held_out.columns.values())),
        "error": held_out.error,
        "test_columns": np.hstack(list(judgement.columns.values())),
        "test_error": judgement.error,
        "test_known": judgement.known,
    }
    outcome = classified if is_classification else regressed
    facts |= outcome(error_estimator, judgement, rows.y_test)
    return {name: np.asarray(value) for name, value in facts.items()}


def classified(error_estimator: Any, judgement: Judgement, y_test: NDArray[Any]) -> Arrays:
    """Probabilities, predictions and truth of a classifier's held-out rows and test rows."""
    held_out, probabilities = error_estimator.held_out_, np.asarray(judgement.probabilities)
    codes = partial(np.searchsorted, error_estimator.classes_)
    return {
        "n_classes": len(error_estimator.classes_),
        "probabilities": held_out.probabilities,
        "prediction": codes(held_out.prediction),
        "truth": codes(held_out.truth),
        "wrong": held_out.losses.astype(np.int64),
        "test_probabilities": probabilities,
        "test_confidence": probabilities.max(axis=1),
        "test_prediction": codes(judgement.prediction),
        "test_truth": codes(y_test),
        "test_wrong": (judgement.prediction != y_test).astype(np.int64),
    }


def regressed(error_estimator: Any, judgement: Judgement, y_test: NDArray[Any]) -> Arrays:
    """Predictions, residuals and intervals of a regressor's held-out rows and test rows."""
    held_out = error_estimator.held_out_
    return {
        "prediction": held_out.prediction,
        "residuals": held_out.truth - held_out.prediction,
        "test_prediction": judgement.prediction,
        "test_residuals": y_test - judgement.prediction,
        "test_interval": judgement.interval,
    }


def figures(case: Arrays) -> dict[str, Any]:
    """Line of the table of cases: sizes, errors, and how well the errors of the test rows are estimated."""
    names = ("table", "family", "model", "n_train", "n_test", "n_inputs", "random_state")
    line = {name: case[name] for name in names}
    if case["task"] == "classification":
        wrong = case["test_wrong"]
        return line | {
            "n_classes": case["n_classes"],
            "held_out_errors": int(case["wrong"].sum()),
            "test_errors": int(wrong.sum()),
            "augrc_of_confidence": f"{augrc_loss(wrong, 1 - case['test_confidence']):.5g}",
            "augrc": f"{augrc_loss(wrong, case['test_error']):.5g}",
        }
    size, interval = np.abs(case["test_residuals"]), case["test_interval"]
    truth = case["test_prediction"] + case["test_residuals"]
    estimates_differ = np.ptp(case["test_error"]) > 0
    return line | {
        "mean_absolute_error": f"{size.mean():.5g}",
        "held_out_mean_absolute_error": f"{np.abs(case['residuals']).mean():.5g}",
        "rank_correlation": f"{spearmanr(size, case['test_error']).statistic:.4f}"
        if estimates_differ
        else "",
        "coverage": f"{interval_coverage_score(truth, interval):.4f}",
        "width": f"{interval_width(interval):.5g}",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect the cases that the arguments, or those of the command line, name."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the cases are, and new ones are written")
    parser.add_argument("--tables", nargs="+", required=True, choices=list_tables(), metavar="NAME")
    parser.add_argument("--models", nargs="+", help="default: all of a table's task")
    parser.add_argument("--sizes", nargs="+", type=int, help="training rows")
    parser.add_argument("--random-states", nargs="+", type=int, default=[0])
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for task in get_args(Task):
        tables = [name for name in options.tables if TABLES.at[name, "task"] == task]
        cases = plan(
            tables, kinds=options.models, sizes=options.sizes, random_states=options.random_states
        )
        if cases:
            print(collect_all(cases, options.folder))


if __name__ == "__main__":
    main()
