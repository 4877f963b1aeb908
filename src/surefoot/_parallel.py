"""Batches of rows within scikit-learn's `working_memory`, and models that many tasks share."""

import pickle
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import numpy as np
from joblib import effective_n_jobs, wrap_non_picklable_objects
from sklearn import get_config

# Several temporary arrays of a batch's size exist at once, and the model makes copies of its own.
SHARE_OF_WORKING_MEMORY = 1 / 8


def row_batches(n_rows: int, bytes_per_row: int, most_rows: int | None = None) -> Iterator[slice]:
    """Consecutive slices of `n_rows` rows whose temporary arrays fit the working memory."""
    allowed = get_config()["working_memory"] * 2**20 * SHARE_OF_WORKING_MEMORY
    size = max(1, int(min(allowed // max(1, bytes_per_row), most_rows or n_rows)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


class Stored:
    """Model as bytes in one array, an argument of many tasks: joblib hands an array to other processes once.

    As an argument itself, the model would be pickled for every task, and each time joblib would store its large
    arrays anew.

    Parameters
    ----------
    model : object
        The model.
    """

    _loaded: dict[str, Any] = {}  # noqa: RUF012 - the last model that this process has loaded, for all tasks

    def __init__(self, model: Any) -> None:
        # Also what is defined in a script or inside a function, as joblib itself does.
        content = pickle.dumps(wrap_non_picklable_objects(model, keep_wrapper=False))
        self.content: Any = np.frombuffer(content, dtype=np.uint8)
        self.key = uuid4().hex

    def load(self) -> Any:
        """Model; its bytes, which this run has written, are read by the first task of a process only."""
        if self.key not in self._loaded:
            self._loaded.clear()
            self._loaded[self.key] = pickle.loads(self.content)  # noqa: S301
        return self._loaded[self.key]


def shared_model(model: Any, n_jobs: int | None) -> Any:
    """Model as an argument of many tasks; `model_of` makes the model of it again."""
    return model if effective_n_jobs(n_jobs) == 1 else Stored(model)


def model_of(shared: Any) -> Any:
    """Model from what `shared_model` returned."""
    return shared.load() if isinstance(shared, Stored) else shared
