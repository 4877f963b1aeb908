"""Values and gaps of every kind of column."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from surefoot._tables import (
    as_floats,
    as_numbers,
    as_objects,
    as_values,
    is_missing,
    missing_mask,
    take_rows,
)

# Texts that look like gaps.
TEXTS = ["nan", "NaT", "<NA>", "None", "null", "", "NaN"]

# Columns with the values 1, a gap and 0.
NUMBERS_WITH_A_GAP = {
    "array": np.array([1, np.nan, 0]),
    "objects": np.array([1, None, 0.0], dtype=object),
    "objects with NA": np.array([True, pd.NA, 0], dtype=object),
    "list": [1, float("nan"), 0],
    "pandas float32": pd.Series([1, None, 0], dtype="float32"),
    "pandas Int64": pd.Series([1, None, 0], dtype="Int64", index=[4, 4, 2]),
    "pandas Float64": pd.Series([1, None, 0], dtype="Float64"),
    "pandas boolean": pd.Series([True, None, False], dtype="boolean"),
    "pandas on Arrow": pd.Series([1, None, 0], dtype="int64[pyarrow]"),
    "pandas sparse": pd.Series([1, None, 0], dtype="Sparse[float64]"),
    "pandas categories": pd.Series([1, None, 0], dtype="category"),
    "pandas objects": pd.Series([Decimal(1), pd.NaT, 0], dtype=object),
    "polars": pl.Series([1, None, 0], dtype=pl.UInt8),
    "polars NaN": pl.Series([1.0, float("nan"), 0.0]),
    "polars Boolean": pl.Series([True, None, False]),
    "polars Decimal": pl.Series([Decimal(1), None, Decimal(0)]),
    "Arrow": pa.chunked_array([[1], [None, 0]]),
    "Arrow bool": pa.chunked_array([[True, None, False]]),
    "Arrow decimal": pa.chunked_array([[Decimal(1), None, Decimal(0)]]),
}

# Columns with a text that looks like a gap, a gap, and another text.
TEXTS_WITH_A_GAP = {
    "objects": lambda text: np.array([text, None, "x"], dtype=object),
    "list": lambda text: [text, float("nan"), "x"],
    "pandas object": lambda text: pd.Series([text, np.nan, "x"], dtype=object),
    "pandas string": lambda text: pd.Series([text, pd.NA, "x"], dtype="string"),
    "pandas default": lambda text: pd.Series([text, None, "x"]),
    "pandas category": lambda text: pd.Series([text, None, "x"], dtype="category"),
    "polars": lambda text: pl.Series([text, None, "x"]),
    "polars category": lambda text: pl.Series([text, None, "x"], dtype=pl.Categorical),
    "Arrow": lambda text: pa.chunked_array([[text, None, "x"]]),
    "Arrow dictionary": lambda text: pa.chunked_array(
        [pa.array([text, None, "x"]).dictionary_encode()]
    ),
}

# Columns with the second of January 1970 and a gap.
DATES = {
    "array": np.array(["1970-01-02", "NaT"], dtype="datetime64[ns]"),
    "pandas": pd.Series(pd.to_datetime(["1970-01-02", None])),
    "pandas with a zone": pd.Series(pd.to_datetime(["1970-01-02", None], utc=True)),
    "polars": pl.Series([date(1970, 1, 2), None]),
    "polars Datetime": pl.Series([datetime(1970, 1, 2), None]),  # noqa: DTZ001 - naive on purpose
    "Arrow": pa.chunked_array([[date(1970, 1, 2), None]]),
}


def by_name(columns):
    return pytest.mark.parametrize("column", columns.values(), ids=columns.keys())


@by_name(NUMBERS_WITH_A_GAP)
def test_numbers_become_floats_and_every_gap_nan(column):
    floats = as_floats(column)
    assert floats.dtype == np.float64
    assert_array_equal(floats, [1, np.nan, 0])


@by_name(NUMBERS_WITH_A_GAP)
def test_gaps_among_numbers(column):
    assert_array_equal(missing_mask(column), [False, True, False])
    assert as_objects(column).tolist() == [1, None, 0]


@by_name(TEXTS_WITH_A_GAP)
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_a_text(column, text):
    assert_array_equal(missing_mask(column(text)), [False, True, False])
    assert as_objects(column(text)).tolist() == [text, None, "x"]


@by_name(TEXTS_WITH_A_GAP)
def test_texts_are_no_numbers(column):
    for text in ["nan", "x"]:
        with pytest.raises(ValueError, match=f"could not convert string to float: '{text}'"):
            as_floats(take_rows(column(text), [0, 1]))


def test_texts_of_numpy_are_no_gaps():
    for texts in (np.array(TEXTS), np.array(TEXTS, dtype=np.dtypes.StringDType())):
        assert not missing_mask(texts).any()
        assert as_objects(texts).tolist() == TEXTS


def test_the_text_nan_among_numbers_in_texts():
    texts = np.array(["1", "nan", "2"], dtype=object)
    with pytest.raises(ValueError, match="'nan'"):
        as_floats(texts)
    assert as_numbers(texts[:, None], complete=False) is None
    assert as_values(texts).tolist() == ["1", "nan", "2"]
    assert_array_equal(
        as_floats(texts[[0, 2]]), [1, 2]
    )  # as scikit-learn reads an array of objects


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        np.float32("nan"),
        pd.NaT,
        pd.NA,
        np.datetime64("NaT", "ns"),
        Decimal("NaN"),
    ],
    ids=repr,
)
def test_missing_values(value):
    assert is_missing(value)
    column = np.fromiter([value, 0], dtype=object)
    assert_array_equal(missing_mask(column), [True, False])
    assert as_objects(column).tolist() == [None, 0]


@pytest.mark.parametrize("value", [*TEXTS, 0, False, np.inf, (), np.array([np.nan, 1]), [None]])
def test_values_that_are_not_missing(value):
    assert not is_missing(value)


@by_name(DATES)
def test_dates(column):
    assert_array_equal(missing_mask(column), [False, True])
    values = as_values(column)
    assert values.dtype == "datetime64[us]"
    assert_array_equal(values, np.array(["1970-01-02", "NaT"], dtype="datetime64[us]"))
    first, gap = as_objects(column)
    assert (first.year, first.month, first.day, gap) == (1970, 1, 2, None)


def test_a_zone_stays_with_objects():
    column = pd.Series(pd.to_datetime(["2024-05-01 12:00"], utc=True))
    assert as_objects(column)[0] == datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (np.array([True, False]), [True, False]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (pl.Series([True, None]), [True, None]),
        (np.array(["a", "nan"]), ["a", "nan"]),
        (pd.Series([1, "a"]), [1, "a"]),
        (pd.Series([1, 2], dtype=object), [1, 2]),
        (pd.Series([1, None], dtype="category"), [1, None]),
        (pa.chunked_array([["a", None]]), ["a", None]),
        (pl.Series([None, None]), [None, None]),
    ],
)
def test_values_that_are_neither_numbers_nor_dates(column, expected):
    values = as_values(column)
    assert values.dtype == object
    assert values.tolist() == expected


@pytest.mark.parametrize(
    "column",
    [
        np.array([2, None], dtype=object),
        np.array([2, np.nan], dtype=np.float32),
        pd.Series([2, None], dtype="Int64"),
        pl.Series([2, None]),
        pa.chunked_array([[2, None]]),
    ],
    ids=["objects", "array", "pandas", "polars", "Arrow"],
)
def test_values_that_are_numbers(column):
    values = as_values(column)
    assert values.dtype == np.float64
    assert_array_equal(values, [2, np.nan])


FRAMES = {
    "array": np.array([[1, 0.5], [2, np.nan]]),
    "objects": np.array([[1, 0.5], [2, None]], dtype=object),
    "pandas": pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]}),
    "nullable": pd.DataFrame({"a": [1, 2], "b": [0.5, None]}).convert_dtypes(),
    "same name": pd.DataFrame([[1, 0.5], [2, np.nan]], columns=["a", "a"]),
    "number names": pd.DataFrame([[1, 0.5], [2, np.nan]]),
    "polars": pl.DataFrame({"a": [1, 2], "b": [0.5, None]}),
    "Arrow": pa.table({"a": [1, 2], "b": [0.5, None]}),
}


@by_name(FRAMES)
def test_tables_of_numbers(column):
    assert_array_equal(as_floats(column), [[1, 0.5], [2, np.nan]])
    assert_array_equal(as_numbers(column, complete=False), [[1, 0.5], [2, np.nan]])
    assert as_numbers(column) is None
    assert_array_equal(missing_mask(column), [[False, False], [False, True]])
    assert as_objects(column).tolist() == [[1, 0.5], [2, None]]


@pytest.mark.parametrize(
    "table",
    [
        np.array([["nan", "1"]], dtype=object),
        np.array([["nan", "1"]]),
        np.array([[1j]]),
        np.array([["2024-01-01"]], dtype="datetime64[D]"),
        pd.DataFrame({"a": [1], "b": ["nan"]}),
        pd.DataFrame({"a": [1]}, dtype=object),
        pd.DataFrame({"a": [1]}, dtype="category"),
        pl.DataFrame({"a": [1], "b": ["nan"]}),
        pa.table({"a": [1], "b": ["nan"]}),
        np.array(["a text", "nan"]),
    ],
)
def test_tables_that_are_no_numbers(table):
    assert as_numbers(table, complete=False) is None


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_without_rows_or_columns(kind):
    empty = take_rows(kind({"a": [1], "t": ["x"]}), [])
    assert as_objects(empty).shape == missing_mask(empty).shape == (0, 2)
    assert as_floats(take_rows(kind({"a": [1]}), slice(0, 0))).shape == (0, 1)
    assert as_numbers(kind({})).shape == (0, 0)


def test_infinity_is_a_number_that_is_not_complete():
    for table in (np.array([[1, np.inf]]), csr_array([[1, np.inf]])):
        assert as_numbers(table) is None
        assert as_numbers(table, complete=False).sum() == np.inf


def test_numbers_are_not_copied_without_need():
    array, sparse = np.ones((2, 2)), csr_array(np.eye(2))
    assert as_numbers(array) is array
    assert np.shares_memory(as_numbers(sparse).data, sparse.data)


def test_truth_values_are_numbers_in_every_frame():
    for kind in (pd.DataFrame, pl.DataFrame, pa.table):
        assert_array_equal(as_numbers(kind({"a": [True, False]})), [[1], [0]])


def test_objects_are_a_copy():
    array, series = (
        np.array([None, 1.5, np.nan], dtype=object),
        pd.Series(["a", np.nan], dtype=object),
    )
    as_objects(array)[1] = as_objects(series)[0] = 0
    assert array[1] == 1.5
    assert np.isnan(array[2])
    assert series[0] == "a"
    assert np.isnan(series[1])


def test_a_cell_may_hold_a_list():
    for column in (pd.Series([[1, 2], [3, 4]]), pl.Series([[1, 2], [3, 4]])):
        assert [list(cell) for cell in as_objects(column)] == [[1, 2], [3, 4]]
        assert not missing_mask(column).any()


@given(st.lists(st.none() | st.text(max_size=5) | st.integers() | st.floats() | st.booleans()))
def test_a_mask_marks_each_gap_and_nothing_else(values):
    expected = [v is None or (isinstance(v, float) and np.isnan(v)) for v in values]
    column = np.fromiter(values, dtype=object, count=len(values))
    assert missing_mask(column).tolist() == missing_mask(values).tolist() == expected
    assert missing_mask(pd.Series(column, dtype=object)).tolist() == expected
    assert [v is None for v in as_objects(column)] == expected
