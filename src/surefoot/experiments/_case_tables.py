"""Tables on which cases are collected: their families, and their training and test rows."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from surefoot.datasets import describe_pmlb, fetch_pmlb, fetch_tabular, list_pmlb, list_tabular

Task = Literal["classification", "regression"]

MOST_TEST_ROWS = 1500
# With fewer training rows, a class can be absent from what a calibrated model of one fold learns from.
LEAST_ROWS_OF_A_CLASS = 7
# A smaller training size is left out if the next larger one has less than this times as many rows.
LEAST_STEP = 1.5
# Families of development tables that have kin in PMLB; the other development tables are families of their own.
DEVELOPMENT_FAMILIES = {"splice": "splice", "waveform_40": "waveform", "house_8L": "house"}


class Split(NamedTuple):
    """Training and test rows of a table."""

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]


def case_tables(task: Task, *, development: bool = False) -> list[str]:
    """Names of the PMLB tables that are no kin of a development table; or of all tables, with `development`."""
    if development:
        return [*list_pmlb(task), *list_tabular(task)]
    held_back = {table_family(name) for name in list_tabular()}
    return [name for name in list_pmlb(task) if table_family(name) not in held_back]


def table_family(name: str) -> str:
    """Family of a table: what is learned on one of its tables is not tested on another."""
    if name in list_tabular():
        return DEVELOPMENT_FAMILIES.get(name, name)
    return str(describe_pmlb(name).family)


def table_task(name: str) -> Task:
    """Task of a table."""
    known = list_tabular("classification") + list_pmlb("classification")
    return "classification" if name in known else "regression"


@lru_cache(maxsize=1)
def load(name: str) -> tuple[Any, NDArray[Any]]:
    """Rows and targets of a table."""
    fetch = fetch_tabular if name in list_tabular() else fetch_pmlb
    X, y = fetch(name, return_X_y=True)
    return X, np.asarray(y)


def training_sizes(name: str, sizes: Iterable[int]) -> list[int]:
    """Numbers of training rows, ascending: at most half of the table, and none nearly as large as the next."""
    n_rows = len(load(name)[1]) if name in list_tabular() else describe_pmlb(name).n_rows
    possible = sorted({min(size, n_rows // 2) for size in sizes})
    return [
        size
        for size, larger in zip(possible, [*possible[1:], None], strict=True)
        if larger is None or larger >= LEAST_STEP * size
    ]


def split(name: str, n_train: int, random_state: int) -> Split:
    """Training rows and up to 1500 test rows, shuffled.

    Classes have their shares of the whole table; those with under 7 training rows are left out of both parts.
    """
    X, y = load(name)
    is_classification = table_task(name) == "classification"
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=n_train,
        test_size=min(MOST_TEST_ROWS, len(y) - n_train),
        random_state=random_state,
        stratify=y if is_classification else None,
    )
    if is_classification:
        classes, counts = np.unique(y[train], return_counts=True)
        common = classes[counts >= LEAST_ROWS_OF_A_CLASS]
        train, test = (rows[np.isin(y[rows], common)] for rows in (train, test))
    return Split(take(X, train), y[train], take(X, test), y[test])


def take(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of an array or a frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
