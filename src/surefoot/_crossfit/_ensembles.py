"""Functions that ensembles share: checks of classes and held-out rows, and predictions by the chosen models."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._tables import take_rows
from surefoot._typing import Ints


def ask_chosen(models: list[Any], choice: Ints, method: str, X: Any) -> NDArray[Any]:
    """Output of `method` for each row, by the model that is chosen for that row.

    `choice` holds positions in `models`. A model that is chosen for no row is not called.
    """
    rows_of_models = [np.flatnonzero(choice == number) for number in range(len(models))]
    outputs = [
        getattr(model, method)(take_rows(X, rows))
        for model, rows in zip(models, rows_of_models, strict=True)
        if rows.size
    ]
    return np.concatenate(outputs)[np.argsort(np.concatenate(rows_of_models), kind="stable")]


def check_same_rows(parts: list[Ints]) -> None:
    """Raise a ValueError unless the same rows were held out for all models."""
    if not all(np.array_equal(rows, parts[0]) for rows in parts):
        raise ValueError(
            "Other rows were held out for one model than for another: all must have the same cv."
        )


def common_classes(models: list[Any]) -> NDArray[Any]:
    """Classes that all models know; raises if a model knows others."""
    classes = models[0].classes_
    for model in models:
        if not np.array_equal(model.classes_, classes):
            raise ValueError(
                f"estimators know different classes, {classes.tolist()} and {model.classes_.tolist()}: "
                "they must know the same."
            )
    return classes
