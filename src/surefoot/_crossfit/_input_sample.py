"""Sample of the held-out rows' inputs, with which rows in use are compared."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from surefoot._tables import PlainColumn, plain_columns, take_rows
from surefoot._typing import Ints

# Most rows of the sample, most cells of it, and the rows that it has however wide they are.
MOST_ROWS = 5_000
MOST_CELLS = 2_000_000
LEAST_ROWS = 500


@dataclass(frozen=True, eq=False)
class InputSample:
    """Uniform sample of the held-out rows, kept by `fit`.

    Attributes
    ----------
    places : ndarray of shape (n_sampled,)
        Positions of the rows in `held_out_`, ascending.
    coordinates : ndarray or CSR of shape (n_sampled, n_coordinates)
        The rows in the neighbour space.
    columns : list of PlainColumn
        The columns of the table; empty for sparse rows and for lists of texts.
    """

    places: Ints
    coordinates: Any
    columns: list[PlainColumn] = field(repr=False)

    def read(self, table: Any) -> list[PlainColumn]:
        """Columns of other rows, with the categories of these."""
        return plain_columns(table, self.columns)


def sample_inputs(
    X: Any, rows: Ints, coordinates: Callable[[Any], Any], random_state: int
) -> InputSample:
    """Uniform sample of held-out rows; `rows` are their positions in X, `coordinates` their map to the space."""
    n_columns = X.shape[1] if len(X.shape) > 1 else 1
    most = int(np.clip(MOST_CELLS // max(n_columns, 1), LEAST_ROWS, MOST_ROWS))
    places = np.arange(len(rows))
    if len(places) > most:
        draw = np.random.RandomState(random_state)
        places = np.sort(draw.choice(len(rows), most, replace=False))
    table = take_rows(X, rows[places])
    at = coordinates(table)
    return InputSample(
        places, at if issparse(at) else np.asarray(at, dtype=np.float32), plain_columns(table)
    )
