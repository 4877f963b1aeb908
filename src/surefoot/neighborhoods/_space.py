"""Neighbour space: the coordinates in which distances between rows are measured."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

from surefoot._models import ModelInput
from surefoot._tables import as_numbers
from surefoot._typing import Floats

# Largest coordinate: indicators hand coordinates to trees, which take numbers of 32 bits.
LARGEST = 1e38


class NeighborSpace:
    """Transformer of rows into the coordinates of the neighbour search, dense or CSR float64.

    Whatever depends on the rows alone (divisors, medians, the vectoriser) is that of the space `like`, if it is
    given: the folds of a table and its new rows are then compared in one space. A transformer that the user gave is
    fitted for each fold, as it may look at the targets.
    """

    def __init__(
        self,
        space: Any,
        model_input: ModelInput,
        X: Any,
        y: Any,
        *,
        names: Sequence[Any],
        like: "NeighborSpace | None" = None,
    ) -> None:
        self.own = isinstance(space, str)
        if (isinstance(space, str) and space not in ("auto", "scaled")) or (
            not self.own and not hasattr(space, "transform")
        ):
            raise ValueError(
                f"space={space!r} is not known: it may be 'auto', 'scaled' or a transformer."
            )
        self.names = list(names)
        self.transformer: Any = None
        self.width: Floats | None = None
        self.typical: Floats | None = None
        if not self.own:
            self.transformer = clone(space).fit(X, y)
        elif like is not None and like.names == self.names:
            self.transformer, self.width, self.typical = like.transformer, like.width, like.typical
        elif (vectorizer := model_input.vectorizer()) is not None:
            self.transformer = vectorizer.fit(model_input.rows)
        elif not issparse(model_input.rows):
            if space == "scaled" and not model_input.keeps_scale:
                self.width = column_widths(model_input.rows, self.names, like)
            if model_input.takes_missing:  # imputed in new rows, for the search only
                self.typical = np.median(model_input.rows, axis=0)
        # Whether the coordinates are the unchanged input of the model.
        self.is_model_input = self.transformer is None and self.width is None
        self.rows = self._coordinates(X, model_input.rows)
        largest = float(abs(self.rows).max()) if self.rows.shape[1] else 0.0
        if not largest < LARGEST:
            raise ValueError(
                f"X has values that are too far apart, {largest:.0e} in the space of its neighbours where "
                f"{LARGEST:.0e} is the most: scale its columns, or leave out what is far off."
            )

    def __call__(self, X: Any, inputs: Any) -> Any:
        """Coordinates of the rows X, which the model sees as `inputs`, cut off at the largest that trees take."""
        rows = self._coordinates(X, inputs)
        return rows if issparse(rows) else np.clip(rows, -LARGEST, LARGEST)

    def _coordinates(self, X: Any, inputs: Any) -> Any:
        if self.transformer is None:
            rows = inputs
            if not issparse(rows) and not np.isfinite(rows).all():  # imputed by medians
                rows = np.where(np.isfinite(rows), rows, self.typical)
            return rows if self.width is None else rows / self.width
        table = self.transformer.transform(inputs if self.own else X)
        numbers = as_numbers(table)
        if numbers is None:
            raise ValueError("space must give numeric coordinates without missing values.")
        return csr_array(numbers) if issparse(numbers) else numbers


def column_widths(
    rows: Floats, names: Sequence[Any] = (), like: NeighborSpace | None = None
) -> Floats | None:
    """Divisor of each column: its standard deviation, or √2 times the difference if it has two values.

    None if the columns are scaled already: the neighbour space is then the model's own input. With the space `like`
    of the whole table, it decides whether they are, and its columns keep their divisors.
    """
    if like is not None and like.width is None:
        return None
    spread = rows.std(axis=0)
    low, high = rows.min(axis=0), rows.max(axis=0)
    two_valued = ((rows == low) | (rows == high)).all(axis=0)
    is_scaled = (np.abs(spread - 1) < 0.01) | (two_valued & (high - low <= 1))
    if like is None and np.all(is_scaled):
        return None
    width = np.where(two_valued, (high - low) * np.sqrt(2), spread)
    width = np.where(width > 0, width, 1.0)
    if like is None or like.width is None:
        return width
    known = dict(zip(like.names, like.width, strict=True))
    return np.array([known.get(name, own) for name, own in zip(names, width, strict=True)])
