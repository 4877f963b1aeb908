"""Answers of several models, each asked about its own rows only."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing


def ask_chosen(models: list[Any], choice: NDArray[np.int64], method: str, X: Any) -> NDArray[Any]:
    """What the model that is chosen for a row says of it, for each row.

    A model that is chosen for no row is not called.
    """
    rows = [np.flatnonzero(choice == number) for number in range(len(models))]
    told = [
        getattr(model, method)(_safe_indexing(X, mine))
        for model, mine in zip(models, rows, strict=True)
        if mine.size
    ]
    return np.concatenate(told)[np.argsort(np.concatenate(rows), kind="stable")]
