"""What ensembles share: the same classes, the same held-out rows, and answers of the model chosen for each row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._tables import take_rows
from surefoot._typing import Ints


def ask_chosen(models: list[Any], choice: Ints, method: str, X: Any) -> NDArray[Any]:
    """What the model that is chosen for a row says of it, for each row.

    A model that is chosen for no row is not called.
    """
    rows = [np.flatnonzero(choice == number) for number in range(len(models))]
    told = [
        getattr(model, method)(take_rows(X, mine))
        for model, mine in zip(models, rows, strict=True)
        if mine.size
    ]
    return np.concatenate(told)[np.argsort(np.concatenate(rows), kind="stable")]


def check_same_rows(parts: list[Ints]) -> None:
    """Raise one sentence unless the same rows were held out for all models."""
    if not all(np.array_equal(rows, parts[0]) for rows in parts):
        raise ValueError(
            "Other rows were held out for one model than for another: all must have the same cv."
        )


def common_classes(models: list[Any]) -> NDArray[Any]:
    """Classes of models that all know the same ones."""
    classes = models[0].classes_
    for model in models:
        if not np.array_equal(model.classes_, classes):
            raise ValueError(
                f"estimators know different classes, {classes.tolist()} and {model.classes_.tolist()}: "
                "they must know the same."
            )
    return classes
