"""The model of a name, or one that the user saved: fitted elsewhere and used as it is, or fitted here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot._model_files import ModelFileError, load_model
from surefoot._words import listed, plural
from surefoot.cli._console import remark
from surefoot.cli._mistakes import Mistake, one_sentence_of
from surefoot.cli._models import build_model, check_name
from surefoot.cli._rows import Rows


def rows_and_model(
    find_rows: Callable[[str], Rows], estimator: str, task: str, random_state: int
) -> tuple[Rows, Any]:
    """The rows for a task, and a model of that name or from that file."""
    if not estimator.endswith(".skops"):
        check_name(estimator)
        rows = find_rows(task)
        return rows, build_model(estimator, rows.task, random_state)
    path = Path(estimator)
    model, task = load_given(path, task)
    return match_rows(model, find_rows(task), path)


def load_file(path: Path) -> Any:
    """Model from a skops file; what is wrong with the file is the user's to put right."""
    try:
        return load_model(path)
    except ModelFileError as error:
        raise Mistake(str(error)) from error


def load_given(path: Path, task: str) -> tuple[Any, str]:
    """The model of a skops file, without surefoot's own around it, and its task."""
    model = load_file(path)
    if isinstance(model, (IndividualErrorClassifier, IndividualErrorRegressor)):
        model = model.estimator_
    if not (is_classifier(model) or is_regressor(model)):
        raise Mistake(
            f"{path} holds a {type(model).__name__}, which is neither a classifier nor a regressor."
        )
    found = "classification" if is_classifier(model) else "regression"
    if task not in ("auto", found):
        raise Mistake(f"{path} holds a model for {found}, not for {task}.")
    return model, found


def match_rows(model: Any, rows: Rows, path: Path) -> tuple[Rows, Any]:
    """Freeze a fitted model, and give it the columns it knows; one sentence if it does not fit the table."""
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
    """Raise one sentence if the table has classes that a fitted model does not know."""
    strange = sorted(set(rows.y.tolist()) - set(np.asarray(model.classes_).tolist()), key=str)
    if strange:
        known = listed(model.classes_.tolist())
        raise Mistake(
            f"{path} knows the classes {known}, but {rows.target!r} also has {listed(strange)}."
        )


def is_fitted(model: Any) -> bool:
    """Whether a model can predict already."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def known_columns(model: Any, table: Any, name: str) -> Any:
    """The columns that a fitted model knows, in its order; one sentence that names those that are missing."""
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
