"""Model of a command: built from its name, or loaded from a file that the user saved."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot._words import listed, plural
from surefoot.cli._console import remark
from surefoot.cli._mistakes import Mistake, one_sentence_of
from surefoot.cli._models import build_model, check_name
from surefoot.cli._roles import Rows
from surefoot.model_files import ModelFileError, load_model


def rows_and_model(
    find_rows: Callable[..., Rows], estimator: str, task: str, random_state: int
) -> tuple[Rows, Any]:
    """Rows for the task, and the model with the name or file `estimator`."""
    if not estimator.endswith(".skops"):
        check_name(estimator)
        rows = find_rows(task)
        has_single = rows.task == "classification" and np.unique_counts(rows.y).counts.min() == 1
        return rows, build_model(estimator, rows.task, random_state, early_stopping=not has_single)
    path = Path(estimator)
    model, task = load_given(path, task)
    return match_rows(model, find_rows(task, every=is_fitted(model)), path)


def model_file(estimator: str) -> Path | None:
    """File that --estimator names; None for the name of a model."""
    return Path(estimator) if estimator.endswith(".skops") else None


def load_file(path: Path) -> Any:
    """Model from a skops file; a `Mistake` if the file cannot be loaded."""
    try:
        return load_model(path)
    except ModelFileError as error:
        raise Mistake(str(error)) from error


def load_given(path: Path, task: str) -> tuple[Any, str]:
    """Model from a skops file, without surefoot's error estimator around it, and its task."""
    model = load_file(path)
    if isinstance(model, (IndividualErrorClassifier, IndividualErrorRegressor)):
        model = model.estimator_ if is_fitted(model) else model.estimator
    if not hasattr(model, "__sklearn_tags__") or not (is_classifier(model) or is_regressor(model)):
        raise Mistake(
            f"{path} holds a {type(model).__name__}, which is neither a classifier nor a regressor."
        )
    model_task = "classification" if is_classifier(model) else "regression"
    if task not in ("auto", model_task):
        raise Mistake(f"{path} holds a model for {model_task}, not for {task}.")
    return model, model_task


def match_rows(model: Any, rows: Rows, path: Path) -> tuple[Rows, Any]:
    """Rows with the columns that a fitted model knows, and the frozen model; a `Mistake` if they do not match."""
    if not is_fitted(model):
        return rows, model
    X = known_columns(model, rows.X, rows.name)
    if rows.task == "classification":
        check_classes(model, rows, path)
    first = X.head(20)
    with one_sentence_of(f"{path} cannot predict the rows of {rows.name}"):
        model.predict(first)
    remark(
        f"{path} is already fitted and is not fitted again: the rows of {rows.name} must be new to it."
    )
    unlabelled = None if rows.unlabelled is None else rows.unlabelled[X.columns]
    return rows._replace(X=X, unlabelled=unlabelled), FrozenEstimator(model)


def check_classes(model: Any, rows: Rows, path: Path) -> None:
    """Raise a `Mistake` if the table has classes that a fitted model does not know."""
    strange = sorted(set(rows.y.tolist()) - set(np.asarray(model.classes_).tolist()), key=str)
    if strange:
        known = listed(model.classes_.tolist())
        raise Mistake(
            f"{path} knows the classes {known}, but {rows.target!r} also has {listed(strange)}."
        )


def is_fitted(model: Any) -> bool:
    """True if a model is fitted already."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


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
