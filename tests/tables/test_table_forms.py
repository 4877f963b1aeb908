"""What a table is, and what its columns hold."""

import subprocess
import sys
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix

from surefoot._tables import (
    as_objects,
    as_table,
    column_names,
    count_rows,
    is_frame,
    is_numeric,
    is_whole,
    row_index,
    split_columns,
    take_column,
)

DATA = {"n": [1, 2, 3], "t": ["x", "nan", None]}
FRAMES = {"pandas": pd.DataFrame(DATA), "polars": pl.DataFrame(DATA), "Arrow": pa.table(DATA)}
each_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())


@each_frame
def test_frames(frame):
    assert is_frame(frame)
    assert as_table(frame) is frame
    assert count_rows(frame) == 3


@each_frame
def test_columns_of_frames(frame):
    assert column_names(frame) == ["n", "t"]
    assert as_objects(take_column(frame, "t")).tolist() == ["x", "nan", None]
    assert [as_objects(column).tolist() for column in split_columns(frame)] == list(DATA.values())


@pytest.mark.parametrize(
    "other",
    [np.eye(2), csr_array(np.eye(2)), [[1.0, 2.0]], pd.Series([1]), pl.Series([1]), {"columns": 1}],
)
def test_what_is_no_frame(other):
    assert not is_frame(other)


def test_arrays_and_csr_stay_as_they_are():
    for table in (np.eye(2), np.array(["a text"]), csr_array(np.eye(2)), csr_matrix(np.eye(2))):
        assert as_table(table) is table


@pytest.mark.parametrize("kind", [coo_array, csc_matrix])
def test_other_sparse_formats_become_csr(kind):
    table = as_table(kind([[0, 5], [6, 0]]))
    assert table.format == "csr"
    assert_array_equal(table.toarray(), [[0, 5], [6, 0]])


def test_lists_become_arrays():
    assert_array_equal(as_table([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]]), strict=True)
    assert as_table(["a text", "nan"]).tolist() == ["a text", "nan"]


def test_a_gap_beside_texts_stays_a_gap():
    table = as_table([["nan", 1.5], ["b", float("nan")]])
    assert as_objects(table).tolist() == [["nan", 1.5], ["b", None]]


@pytest.mark.parametrize("values", [5, [1, 2], np.zeros((2, 2, 2))])
def test_only_texts_may_have_another_dimension(values):
    with pytest.raises(ValueError, match=f"Expected 2D array, got {np.ndim(values)}D"):
        as_table(values)


def test_count_rows():
    tables = [
        np.zeros((3, 2)),
        csr_array(np.zeros((3, 2))),
        [[1], [2, 3], []],
        pl.Series([1, 2, 3]),
    ]
    assert [count_rows(table) for table in tables] == [3, 3, 3, 3]


class OnlyAnArray:
    """What can be made an array, and nothing else."""

    def __array__(self, dtype=None, copy=None):
        return np.zeros((2, 1))


def test_count_rows_of_what_can_be_an_array():
    assert count_rows(OnlyAnArray()) == 2
    for single in (5, np.float64(5), np.array(5)):
        with pytest.raises(TypeError):
            count_rows(single)


def test_row_index():
    assert_array_equal(row_index(pd.DataFrame({"a": [1, 2]}, index=[7, 3])), [7, 3])
    assert row_index(np.eye(2)) is None
    assert row_index(pl.DataFrame({"a": [1]})) is None
    assert row_index([1, 2]) is None


def test_columns_of_arrays():
    table = np.array([[0, 5], [6, 0]])
    for kind in (np.asarray, csr_array, csr_matrix):
        assert column_names(kind(table)) == [0, 1]
        assert_array_equal(take_column(kind(table), 1), [5, 0])
        assert_array_equal(np.column_stack(split_columns(kind(table))), table)
    assert column_names(np.array(["a text"])) == []


def test_names_that_stand_twice():
    frame = pd.DataFrame([[1, "x", 2]], columns=["a", "b", "a"])
    assert column_names(frame) == ["a", "b", "a"]
    assert [list(column) for column in split_columns(frame)] == [[1], ["x"], [2]]
    assert take_column(frame, "b").tolist() == ["x"]
    with pytest.raises(ValueError, match="more than one column with the name 'a'"):
        take_column(frame, "a")


def test_names_that_are_no_texts():
    frame = pd.DataFrame([[1, 2, 3]], columns=[0, ("a", "b"), None])
    assert column_names(frame)[:2] == [0, ("a", "b")]
    assert take_column(frame, 0).tolist() == [1]
    levels = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert column_names(levels) == [("a", 1), ("a", 2)]
    assert take_column(levels, ("a", 2)).tolist() == [2]


WHOLE = [
    np.array([1]),
    np.array([True]),
    pd.Series([1, None], dtype="UInt8"),
    pd.Series([True, None], dtype="boolean"),
    pd.Series([1, None], dtype="int32[pyarrow]"),
    pl.Series([1, None]),
    pl.Series([True, None]),
    pa.chunked_array([[1, None]]),
    pa.chunked_array([[True]]),
]
FLOATS = [
    np.array([1.5], dtype=np.float32),
    pd.Series([1.5]),
    pd.Series([1.5, None], dtype="Float32"),
    pd.Series([1.5], dtype="Sparse[float64]"),
    pl.Series([1.5, None]),
    pa.chunked_array([[1.5]]),
]
OTHERS = [
    np.array(["1"]),
    np.array([1], dtype=object),
    np.array(["2024-01-01"], dtype="datetime64[D]"),
    pd.Series([1], dtype=object),
    pd.Series([1], dtype="category"),
    pd.Series(["1"], dtype="string"),
    pd.Series(pd.to_datetime(["2024-01-01"])),
    pd.Series(pd.to_timedelta(["1 day"])),
    pl.Series(["1"]),
    pl.Series(["1"], dtype=pl.Categorical),
    pl.Series([date(2024, 1, 1)]),
    pl.Series([None]),
    pa.chunked_array([["1"]]),
    pa.chunked_array([pa.nulls(1)]),
]


@pytest.mark.parametrize(
    ("column", "numeric", "whole"),
    [(column, True, True) for column in WHOLE]
    + [(column, True, False) for column in FLOATS]
    + [(column, False, False) for column in OTHERS],
)
def test_what_a_column_is(column, numeric, whole):
    assert is_numeric(column) is numeric
    assert is_whole(column) is whole


def test_importing_the_adapter_imports_no_frame_library():
    names = "{'pandas', 'polars', 'pyarrow', 'sklearn'}"
    loaded = (
        f"import sys; from surefoot._tables import take_rows; print({names} & {{*sys.modules}})"
    )
    done = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
