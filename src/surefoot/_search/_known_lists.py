"""Neighbour lists of a whole table, searched once: searches among parts of its rows take them from there."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import ref

import numpy as np

from surefoot._search._lists import drop_own, restrict_lists
from surefoot._typing import Floats, Ints


class KnownLists:
    """Distances and indices of the nearest rows of each row of a table, itself among them, nearest first.

    Rows are recognised by their values, so that whoever searches need not know where a row comes from; no two rows of
    the table may be equal.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        The table.
    distances, indices : ndarrays of shape (n_rows, length)
        The lists.
    setting : object
        What the distances depend on besides the rows: only a search with an equal one may use them.
    """

    def __init__(self, rows: Floats, distances: Floats, indices: Ints, setting: Any) -> None:
        self.distances, self.indices, self.setting = distances, indices, setting
        self._places = {key: place for place, key in enumerate(row_keys(rows))}

    def places(self, rows: Any) -> Ints | None:
        """Place of each row in the table; None if one of them is not there."""
        if not isinstance(rows, np.ndarray) or rows.dtype != np.float64 or rows.ndim != 2:
            return None
        places = [self._places.get(key, -1) for key in row_keys(rows)]
        return None if -1 in places else np.array(places, dtype=np.int64)


class KnownPart:
    """Lists of a table restricted to some of its rows, and numbered like these, for as long as the table's lists live.

    Parameters
    ----------
    lists : KnownLists
        Lists of the table.
    places : ndarray of shape (n_rows,)
        Places of the rows in the table, ascending.
    """

    def __init__(self, lists: KnownLists, places: Ints) -> None:
        self._lists, self._places = ref(lists), places

    def nearest(self, rows: Any, n_neighbors: int) -> tuple[Floats, Ints, Ints] | None:
        """Distances and numbers of the nearest rows of the part, and which of `rows` have too few in their list.

        `rows` of None are those of the part, each without itself. None if the lists are of no use for them.
        """
        lists = self._lists()
        if lists is None:
            return None
        places = self._places if rows is None else lists.places(rows)
        length = n_neighbors + (rows is None)
        if places is None or length > lists.indices.shape[1]:
            return None
        numbers = np.full(len(lists.indices), -1)
        numbers[self._places] = np.arange(len(self._places))
        given = lists.distances[places], lists.indices[places]
        distances, indices, short = restrict_lists(*given, numbers >= 0, length)
        indices = numbers[indices]
        if rows is None:
            distances, indices = drop_own(distances, indices, np.arange(len(places)))
        return distances, indices, short


_KNOWN: ContextVar[KnownLists | None] = ContextVar("known neighbour lists", default=None)


@contextmanager
def knowing(lists: KnownLists | None) -> Iterator[None]:
    """Context in which searches among rows of a table take the lists of that table, where they can."""
    token = _KNOWN.set(lists)
    try:
        yield
    finally:
        _KNOWN.reset(token)


def known_part(rows: Any, setting: Any) -> KnownPart | None:
    """Lists of the table in whose context this is called, for these of its rows; None if there are none."""
    lists = _KNOWN.get()
    places = None if lists is None or lists.setting != setting else lists.places(rows)
    if lists is None or places is None or (np.diff(places) <= 0).any():
        return None
    return KnownPart(lists, places)


def row_keys(rows: Floats) -> list[bytes]:
    """Key of each row, the same for equal rows only."""
    return [row.tobytes() for row in np.ascontiguousarray(rows)]
