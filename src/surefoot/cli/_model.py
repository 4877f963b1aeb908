"""Model of a command: a pipeline built from its name, or a file that the user or `surefoot fit` saved."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from surefoot._error_estimators import ErrorEstimator
from surefoot._words import listed, plural
from surefoot.abstention import Promise
from surefoot.cli._console import Mistake, one_sentence_of, remark, working
from surefoot.cli._options import MODELS, limits_for
from surefoot.cli._rows import Rows
from surefoot.model_files import load_model

# Endings of files that other libraries write, and which those are.
FOREIGN = {".txt": "LightGBM", ".json": "XGBoost", ".ubj": "XGBoost", ".cbm": "CatBoost"}
PICKLED = (".pkl", ".pickle", ".joblib")

# With fewer rows, the threads of gradient boosting spend more time waiting than working.
FEW_ROWS = 20_000


def given_model(estimator: str, task: str) -> tuple[Any, str, dict[str, Any] | None]:
    """Model of a skops file, without an error estimator around it, its task, and the form of its table, if known.

    The model is None for the name of one.
    """
    path = model_file(estimator)
    if path is None:
        check_name(estimator)
        return None, task, None
    model = load_model(path)
    form = getattr(model, "input_form_", None)
    if isinstance(model, ErrorEstimator):
        model = model.estimator_ if is_fitted(model) else model.estimator
    if not hasattr(model, "__sklearn_tags__") or not (is_classifier(model) or is_regressor(model)):
        raise Mistake(
            f"{path} holds a {type(model).__name__}, which is neither a classifier nor a regressor."
        )
    model_task = "classification" if is_classifier(model) else "regression"
    if task not in ("auto", model_task):
        raise Mistake(f"{path} holds a model for {model_task}, not for {task}.")
    return model, model_task, form


def model_file(estimator: str) -> Path | None:
    """File that --estimator names; None for the name of a model."""
    return Path(estimator) if estimator.endswith(".skops") else None


def check_name(name: str) -> None:
    """Raise one sentence unless there is a model of that name."""
    ending = Path(name).suffix.lower()
    if name in MODELS:
        return
    if ending in PICKLED:
        raise Mistake(
            f"{name} is a pickle, and loading a pickle runs any code in it: save the model with skops.io.dump."
        )
    if ending in FOREIGN:
        raise Mistake(
            f"{name} is not loaded, as surefoot cannot check what the parser of {FOREIGN[ending]} does with a "
            "harmful file: load the model in Python, and pass it to surefoot.report.ReliabilityReport."
        )
    raise Mistake(f"--estimator {name} is not known: pass {', '.join(MODELS)}, or a .skops file.")


def load_error_estimator(path: Path) -> ErrorEstimator:
    """A model that `surefoot fit` saved; one sentence for any other."""
    model = load_model(path)
    if not isinstance(model, ErrorEstimator):
        raise Mistake(f"{path} holds a {type(model).__name__}, not what `surefoot fit` saves.")
    if not is_fitted(model):
        raise Mistake(f"{path} holds a {type(model).__name__} that is not fitted.")
    return model


def is_fitted(model: Any) -> bool:
    """True if a model is fitted already."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def model_for(rows: Rows, given: Any, estimator: str, random_state: int) -> tuple[Rows, Any]:
    """Rows and model of a task: built by name, or `given`, which if fitted is frozen and gets the columns it knows."""
    if given is None:
        is_single = rows.task == "classification" and np.unique_counts(rows.y).counts.min() == 1
        return rows, build_model(estimator, rows.task, random_state, early_stopping=not is_single)
    if not is_fitted(given):
        return rows, given
    X = known_columns(given, rows.X, rows.name)
    if rows.task == "classification":
        known = np.asarray(given.classes_).tolist()
        if strange := sorted(set(rows.y.tolist()) - set(known), key=str):
            raise Mistake(
                f"{estimator} knows the classes {listed(known)}, but {rows.target!r} also has {listed(strange)}."
            )
    with one_sentence_of(f"{estimator} cannot predict the rows of {rows.name}"):
        given.predict(X.head(20))
    remark(
        f"{estimator} is already fitted and is not fitted again: the rows of {rows.name} must be new to it."
    )
    unlabelled = None if rows.unlabelled is None else rows.unlabelled[X.columns]
    return rows._replace(X=X, unlabelled=unlabelled), FrozenEstimator(given)


def build_model(name: str, task: str, random_state: int, *, early_stopping: bool = True) -> Any:
    """Unfitted pipeline that accepts any table: numbers, texts, categories, dates, missing values.

    Boosting that stops early, as it does by default on large tables, cannot learn a class with one row.
    """
    from skrub import tabular_pipeline  # takes a second or more to import

    check_name(name)
    package, _, kind = MODELS[name][task == "regression"].rpartition(".")
    settings: dict[str, Any] = {"max_iter": 1000} if kind == "LogisticRegression" else {}
    if kind == "HistGradientBoostingClassifier" and not early_stopping:
        settings["early_stopping"] = False
    model = tabular_pipeline(getattr(import_module(package), kind)(**settings))
    seeded = [step for step in model.get_params() if step.endswith("random_state")]
    return model.set_params(**dict.fromkeys(seeded, random_state))


def known_columns(model: Any, table: Any, name: str) -> Any:
    """Columns that a fitted model knows, in its order; a `Mistake` that names missing ones."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        expected = getattr(model, "n_features_in_", table.shape[1])
        if table.shape[1] != expected:
            raise Mistake(
                f"The model was fitted on {plural(expected, 'column')}, but {name} has {table.shape[1]}."
            )
        return table
    missing = [column for column in names if column not in table.columns]
    if missing:
        raise Mistake(f"{name} lacks {listed(missing)}, which the model was fitted on.")
    extra = [column for column in table.columns if column not in set(names)]
    if extra:
        remark(f"Left out {listed(extra)}: unknown to the model.")
    return table[list(names)]


def load_with_promise(
    path: Path, max_risk: Sequence[str] | None, confidence: float
) -> tuple[ErrorEstimator, Promise]:
    """Error estimator of a file, and its promise for `max_risk`, else an automatic one; a remark if none holds."""
    with working(f"Reading {path}"):
        error_estimator = load_error_estimator(path)
        held_out, classes = error_estimator.held_out_, getattr(error_estimator, "classes_", None)
        risk = limits_for(
            max_risk,
            "regression" if classes is None else "classification",
            [] if classes is None else classes.tolist(),
            costs=held_out.costs is not None,
        )
    promise = Promise.from_held_out(held_out, risk, confidence)
    if not promise.kept:
        units = "row" if held_out.groups is None else "group"
        n_units = len(held_out) if held_out.groups is None else len(np.unique(held_out.groups))
        limits = held_out.unit.describe_limits(promise.max_risk, promise.class_risks)
        remark(
            f"No row is trusted: {plural(n_units, f'held-out {units}')} cannot promise {limits['short']} with a "
            f"confidence of {confidence:g}.{f' {promise.reason}' if promise.reason else ''}"
        )
    return error_estimator, promise


def unit_of(error_estimator: ErrorEstimator) -> str:
    """Unit of an error estimator's loss."""
    if error_estimator.held_out_.costs is not None:
        return "cost"
    return "classification" if is_classifier(error_estimator) else "regression"


def threads_for(n_rows: int) -> Any:
    """Context that limits a fit on few rows to one thread: more threads are slower, above all on a busy machine."""
    return threadpool_limits(limits=1 if n_rows < FEW_ROWS else None, user_api="openmp")
