"""Rows of every kind of table, against what the table's own library takes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal, assert_series_equal
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from surefoot._tables import take_rows

# The same four rows in every kind of table; rows 3, 0 and 0 hold 40, 10 and 10.
NUMBERS = np.array([[10, 0], [20, 2], [30, 0], [40, 4]])
INDEX = [7, 7, 5, 1]

PICKED = [
    pytest.param([3, 0, 0], [3, 0, 0], id="list"),
    pytest.param((3, 0), [3, 0], id="tuple"),
    pytest.param(np.array([3, 0], dtype=np.int32), [3, 0], id="positions"),
    pytest.param([-1, 1], [3, 1], id="from the end"),
    pytest.param(np.array([True, False, False, True]), [0, 3], id="mask"),
    pytest.param([False, True, False, False], [1], id="mask in a list"),
    pytest.param([], [], id="none"),
    pytest.param(slice(1, 3), [1, 2], id="slice"),
    pytest.param(slice(0, 0), [], id="empty slice"),
    pytest.param(slice(-1, None), [3], id="slice from the end"),
    pytest.param(slice(2, 99), [2, 3], id="slice past the end"),
    pytest.param(slice(None, None, -2), [3, 1], id="slice with a step"),
]


def pandas_frame():
    """Every dtype of pandas that a table may have, with gaps and an index that is no range."""
    return pd.DataFrame(
        {
            "float": [1.5, np.nan, 3.5, 4.5],
            "whole": [1, 2, 3, 4],
            "Int64": pd.array([1, None, 3, 4], dtype="Int64"),
            "boolean": pd.array([True, None, False, True], dtype="boolean"),
            "category": pd.Categorical(["b", "a", None, "b"], categories=["c", "b", "a"]),
            "string": pd.array(["x", None, "nan", "y"], dtype="string"),
            "object": ["x", 1, None, (2, 3)],
            "date": pd.to_datetime(["2024-01-01", None, "2024-01-03", "2024-01-04"]),
        },
        index=INDEX,
    )


@pytest.mark.parametrize(("rows", "expected"), PICKED)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, object, "U5", "datetime64[s]"])
def test_arrays(rows, expected, dtype):
    table = NUMBERS.astype(dtype)
    taken = take_rows(table, rows)
    assert taken.dtype == table.dtype
    assert_array_equal(taken, np.array([table[i] for i in expected]).reshape(-1, 2))


@pytest.mark.parametrize(("rows", "expected"), PICKED)
@pytest.mark.parametrize("shape", [(4,), (4, 1, 2)])
def test_arrays_of_other_dimensions(rows, expected, shape):
    table = np.arange(np.prod(shape)).reshape(shape)
    taken = take_rows(table, rows)
    assert taken.shape == (len(expected), *shape[1:])
    assert taken.tolist() == [table.tolist()[i] for i in expected]


@pytest.mark.parametrize(("rows", "expected"), PICKED)
@pytest.mark.parametrize("kind", [csr_array, csc_array, csr_matrix])
def test_sparse_rows(rows, expected, kind):
    taken = take_rows(kind(NUMBERS), rows)
    assert isinstance(taken, kind)
    assert_array_equal(taken.toarray(), NUMBERS[expected])


def test_a_sparse_format_without_rows_becomes_csr():
    taken = take_rows(coo_array(NUMBERS), [2, 1])
    assert taken.format == "csr"
    assert_array_equal(taken.toarray(), [[30, 0], [20, 2]])


@pytest.mark.parametrize(("rows", "expected"), PICKED)
def test_pandas_frames_keep_index_and_dtypes(rows, expected):
    frame = pandas_frame()
    assert_frame_equal(take_rows(frame, rows), frame.iloc[expected])


@pytest.mark.parametrize(("rows", "expected"), PICKED)
@pytest.mark.parametrize("name", ["Int64", "category", "string", "object"])
def test_pandas_columns_keep_index_and_dtype(rows, expected, name):
    column = pandas_frame()[name]
    assert_series_equal(take_rows(column, rows), column.iloc[expected])


def test_pandas_names_may_stand_twice_or_be_numbers():
    frame = pd.DataFrame(NUMBERS, columns=["a", "a"])
    assert_frame_equal(
        take_rows(frame, [1]), pd.DataFrame([[20, 2]], columns=["a", "a"], index=[1])
    )
    assert take_rows(pd.DataFrame(NUMBERS), [3])[1].tolist() == [4]


@pytest.mark.parametrize(("rows", "expected"), PICKED)
def test_polars_frames_and_columns(rows, expected):
    frame = pl.DataFrame({"n": [1, None, 3, 4], "t": ["x", "nan", None, "y"]})
    frame = frame.with_columns(pl.col("t").cast(pl.Categorical).alias("c"))
    taken = take_rows(frame, rows)
    assert taken.schema == frame.schema
    assert taken.rows() == [frame.rows()[i] for i in expected]
    column = take_rows(frame["t"], rows)
    assert isinstance(column, pl.Series)
    assert column.to_list() == [frame["t"][i] for i in expected]


@pytest.mark.parametrize(("rows", "expected"), PICKED)
def test_arrow_tables(rows, expected):
    table = pa.table({"n": [1, None, 3, 4], "t": ["x", "nan", None, "y"]})
    taken = take_rows(table, rows)
    assert taken.schema == table.schema
    assert taken.to_pylist() == [table.to_pylist()[i] for i in expected]


@pytest.mark.parametrize(("rows", "expected"), PICKED)
def test_lists(rows, expected):
    assert take_rows(["a", "b", "c", "d"], rows) == ["abcd"[i] for i in expected]


@pytest.mark.parametrize(
    "table",
    [NUMBERS, csr_array(NUMBERS), pd.DataFrame(NUMBERS), pl.DataFrame(NUMBERS), [1, 2, 3, 4]],
    ids=["array", "csr", "pandas", "polars", "list"],
)
def test_a_mask_of_another_length_is_refused(table):
    with pytest.raises(IndexError):
        take_rows(table, np.array([True, False]))


def test_slices_share_memory():
    array, frame = np.zeros((4, 2)), pd.DataFrame(np.zeros((4, 2)))
    assert np.shares_memory(take_rows(array, slice(1, 3)), array)
    assert np.shares_memory(take_rows(frame, slice(1, 3)).to_numpy(), frame.to_numpy())


@given(
    values=st.lists(st.integers(-9, 9), min_size=1, max_size=12),
    data=st.data(),
)
def test_all_kinds_agree(values, data):
    place = st.integers(-len(values), len(values) - 1)
    rows = data.draw(
        st.lists(place)
        | st.lists(st.booleans(), min_size=len(values), max_size=len(values))
        | st.slices(len(values))
    )
    column = np.array(values)[:, None]
    expected = column[rows if isinstance(rows, slice) or rows else np.empty(0, int)]
    assert_array_equal(take_rows(column, rows), expected)
    assert_array_equal(take_rows(csr_array(column), rows).toarray(), expected)
    assert_array_equal(take_rows(pd.DataFrame({"a": values}), rows), expected)
    assert_array_equal(take_rows(pl.DataFrame({"a": values}), rows), expected)
    assert take_rows(pa.table({"a": values}), rows)["a"].to_pylist() == expected[:, 0].tolist()
    assert take_rows(values, rows) == expected[:, 0].tolist()
