"""Tables in memory of every kind: their form, columns, rows, values, and tables that are built from others."""

import sys
from collections import Counter
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal, assert_series_equal
from scipy.sparse import coo_array, csc_array, csc_matrix, csr_array, csr_matrix, issparse
from sklearn.ensemble import HistGradientBoostingClassifier

from surefoot._tables import (
    as_floats,
    as_numbers,
    as_objects,
    as_table,
    as_values,
    column_names,
    count_rows,
    input_form,
    is_frame,
    is_missing,
    kind_of,
    missing_mask,
    named_values,
    split_columns,
    stack_rows,
    take_column,
    take_rows,
    with_columns,
    without_infinities,
)
from surefoot.report import ReliabilityReport

DATA = {"n": [1, 2, 3], "t": ["x", "nan", None]}
OF_DATA = {"pandas": pd.DataFrame(DATA), "polars": pl.DataFrame(DATA), "Arrow": pa.table(DATA)}
each_frame = pytest.mark.parametrize("frame", OF_DATA.values(), ids=OF_DATA.keys())


@each_frame
def test_frames(frame):
    assert is_frame(type(frame))
    assert as_table(frame) is frame
    assert count_rows(frame) == 3


def test_the_library_of_a_table_is_asked_for_once_per_type():
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"age": draw.normal(size=80), "n": draw.integers(0, 9, 80)})
    X = X.assign(plan=pd.Categorical(draw.choice(["free", "paid"], 80)))
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
    report = ReliabilityReport(model, X, np.where(X["age"] > 0, "yes", "no"), quick=True)
    asked = Counter()

    def note(frame, event, _):
        if event == "call" and frame.f_globals.get("__name__", "").startswith("surefoot"):
            asked[frame.f_code.co_name] += 1

    earlier = sys.getprofile()
    sys.setprofile(note)
    try:
        report.summarize()
    finally:
        sys.setprofile(earlier)
    assert asked["take_rows"] > 20
    assert asked["is_frame"] + asked["is_pandas"] <= 20


@each_frame
def test_columns_of_frames(frame):
    assert column_names(frame) == ["n", "t"]
    assert as_objects(take_column(frame, "t")).tolist() == ["x", "nan", None]
    assert [as_objects(column).tolist() for column in split_columns(frame)] == list(DATA.values())


def test_arrays_and_csr_stay_as_they_are_and_others_become_such():
    for table in (np.eye(2), np.array(["a text"]), csr_array(np.eye(2)), csr_matrix(np.eye(2))):
        assert as_table(table) is table
    for kind in (coo_array, csc_matrix):
        table = as_table(kind([[0, 5], [6, 0]]))
        assert table.format == "csr"
        assert_array_equal(table.toarray(), [[0, 5], [6, 0]])
    assert_array_equal(as_table([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]]), strict=True)
    assert as_table(["a text", "nan"]).tolist() == ["a text", "nan"]


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
        as_table(frame)


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
    assert (kind_of(column) in "biuf") is numeric
    assert (kind_of(column) in "biu") is whole


# Rows

# The same four rows in every kind of table; rows 3, 0 and 0 hold 40, 10 and 10.
NUMBERS = np.array([[10, 0], [20, 2], [30, 0], [40, 4]])

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


TEXTS_AND_NUMBERS = {"n": [1, None, 3, 4], "t": ["x", "nan", None, "y"]}
TABLES = {
    **{str(dtype): NUMBERS.astype(dtype) for dtype in ("f4", "i8", "O", "U5", "M8[s]")},
    "column": NUMBERS[:, 0],
    "three dimensions": NUMBERS[:, None, :],
    **{kind.__name__: kind(NUMBERS) for kind in (csr_array, csc_array, csr_matrix)},
    "polars": pl.DataFrame(TEXTS_AND_NUMBERS).with_columns(c=pl.col("t").cast(pl.Categorical)),
    "polars column": pl.Series(TEXTS_AND_NUMBERS["t"]),
    "Arrow": pa.table(TEXTS_AND_NUMBERS),
    "list": list("abcd"),
}


def as_list(table):
    """Rows in Python's own types."""
    if issparse(table):
        return table.toarray().tolist()
    for method in ("tolist", "rows", "to_pylist", "to_list"):
        if hasattr(table, method):
            return getattr(table, method)()
    return table


@pytest.mark.parametrize(("rows", "expected"), PICKED)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_rows_of_every_kind(rows, expected, table):
    taken = take_rows(table, rows)
    assert type(taken) is type(table)
    for what in ("dtype", "schema"):
        assert getattr(taken, what, None) == getattr(table, what, None)
    assert as_list(taken) == [as_list(table)[i] for i in expected]


@pytest.mark.parametrize(("rows", "expected"), PICKED)
def test_rows_of_pandas_keep_index_and_dtypes(rows, expected):
    frame = pd.DataFrame(
        {
            "float": [1.5, np.nan, 3.5, 4.5],
            "Int64": pd.array([1, None, 3, 4], dtype="Int64"),
            "boolean": pd.array([True, None, False, True], dtype="boolean"),
            "category": pd.Categorical(["b", "a", None, "b"], categories=["c", "b", "a"]),
            "string": pd.array(["x", None, "nan", "y"], dtype="string"),
            "object": ["x", 1, None, (2, 3)],
            "date": pd.to_datetime(["2024-01-01", None, "2024-01-03", "2024-01-04"]),
        },
        index=[7, 7, 5, 1],
    ).rename(columns={"float": "date"})  # a name that stands twice
    assert_frame_equal(take_rows(frame, rows), frame.iloc[expected])
    column = frame["category"]
    assert_series_equal(take_rows(column, rows), column.iloc[expected])


def test_a_sparse_format_without_rows_becomes_csr():
    taken = take_rows(coo_array(NUMBERS), [2, 1])
    assert taken.format == "csr"
    assert_array_equal(taken.toarray(), [[30, 0], [20, 2]])


# Values

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
def test_missing_values_among_numbers(column):
    assert_array_equal(as_floats(column), np.array([1, np.nan, 0]), strict=True)
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


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_names_and_values_of_columns(kind):
    numbers, mixed = {"a": [1, 2], "b": [0.5, float("nan")]}, {"a": [1, 2], "t": ["x", None]}
    for data, expected in (
        (numbers, [[1.0, 2.0], [0.5, None]]),
        (mixed, [[1.0, 2.0], ["x", None]]),
    ):
        columns = dict(named_values(kind(data)))
        assert list(columns) == list(data)
        assert [as_objects(values).tolist() for values in columns.values()] == expected
        assert columns["a"].dtype == np.float64
    assert [name for name, _ in named_values(np.eye(3))] == [0, 1, 2]
    assert named_values(csr_array(np.eye(2))) == named_values(np.array(["a text"])) == []


def test_the_text_nan_among_numbers_in_texts():
    texts = np.array(["1", "nan", "2"], dtype=object)
    with pytest.raises(ValueError, match="'nan'"):
        as_floats(texts)
    assert as_numbers(texts[:, None], complete=False) is None
    assert as_values(texts).tolist() == ["1", "nan", "2"]
    assert_array_equal(as_floats(texts[[0, 2]]), [1, 2])  # as scikit-learn reads objects


@pytest.mark.parametrize(
    "value",
    [None, float("nan"), np.float32("nan"), pd.NaT, pd.NA, np.datetime64("NaT"), Decimal("NaN")],
    ids=repr,
)
def test_missing_values(value):
    assert is_missing(value)
    column = np.fromiter([value, 0], dtype=object)
    assert_array_equal(missing_mask(column), [True, False])
    assert as_objects(column).tolist() == [None, 0]


@by_name(DATES)
def test_dates(column):
    assert_array_equal(missing_mask(column), [False, True])
    values = as_values(column)
    assert values.dtype == "datetime64[us]"
    assert_array_equal(values, np.array(["1970-01-02", "NaT"], dtype="datetime64[us]"))
    first, gap = as_objects(column)
    assert (first.year, first.month, first.day, gap) == (1970, 1, 2, None)


OF_NUMBERS = {
    "array": np.array([[1, 0.5], [2, np.nan]]),
    "objects": np.array([[1, 0.5], [2, None]], dtype=object),
    "pandas": pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]}),
    "nullable": pd.DataFrame({"a": [1, 2], "b": [0.5, None]}).convert_dtypes(),
    "same name": pd.DataFrame([[1, 0.5], [2, np.nan]], columns=["a", "a"]),
    "number names": pd.DataFrame([[1, 0.5], [2, np.nan]]),
    "polars": pl.DataFrame({"a": [1, 2], "b": [0.5, None]}),
    "Arrow": pa.table({"a": [1, 2], "b": [0.5, None]}),
}


@by_name(OF_NUMBERS)
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


@settings(max_examples=25)
@given(st.lists(st.none() | st.text(max_size=5) | st.integers() | st.floats() | st.booleans()))
def test_a_mask_marks_each_gap_and_nothing_else(values):
    expected = [v is None or (isinstance(v, float) and np.isnan(v)) for v in values]
    column = np.fromiter(values, dtype=object, count=len(values))
    assert missing_mask(column).tolist() == missing_mask(values).tolist() == expected
    assert missing_mask(pd.Series(column, dtype=object)).tolist() == expected
    assert [v is None for v in as_objects(column)] == expected


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, np.array])
def test_infinite_and_too_large_numbers_become_missing(kind):
    columns = {"a": [1.0, np.inf, -1e39, np.nan], "b": [3e38, 0.5, -np.inf, 2.0]}
    table = np.array(list(columns.values())).T if kind is np.array else kind(columns)
    replaced, n_replaced = without_infinities(table)
    assert n_replaced == 3
    assert type(replaced) is type(table)
    nan = np.nan
    assert_array_equal(as_floats(replaced), [[1, 3e38], [nan, 0.5], [nan, nan], [nan, 2]])
    assert without_infinities(replaced)[0] is replaced


def test_the_form_of_a_table():
    frame = pd.DataFrame(
        {
            "n": [1, 2],
            "b": [True, None],
            "d": pd.to_datetime(["2024-01-01", None]),
            "c": pd.Categorical(["x", "y"], ["y", "x"], ordered=True),
        }
    )
    assert input_form(frame) == {
        "library": "pandas",
        "kinds": {"n": "i", "b": "b", "d": "M", "c": "O"},
        "categories": {"c": {"values": ["y", "x"], "ordered": True}},
    }
    polars = input_form(pl.DataFrame({"n": [0.5], "t": ["x"]}))
    assert polars == {"library": "polars", "kinds": {"n": "f", "t": "O"}, "categories": {}}
    assert input_form(np.eye(2)) == {"library": "numpy", "kind": "f"}
    assert input_form(np.array([["a"]])) == {"library": "numpy", "kind": "O"}


# Tables that are built from others

KINDS = [pd.DataFrame, pl.DataFrame, pa.table]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=["pandas", "polars", "Arrow"])


def test_stacked_categories_are_joined():
    parts = [pd.DataFrame([[text, 1]], columns=["a", "a"], index=[8]) for text in "xyx"]
    for part in parts:
        part.isetitem(0, part.iloc[:, 0].astype("category"))
    stacked = stack_rows(parts)
    assert stacked.iloc[:, 0].tolist() == ["x", "y", "x"]
    assert stacked.iloc[:, 0].cat.categories.tolist() == ["x", "y"]
    assert stacked.iloc[:, 1].tolist() == [1, 1, 1]
    assert stacked.index.tolist() == [8, 8, 8]


@settings(max_examples=15)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.data())
def test_stacking_undoes_taking(values, data):
    cut = data.draw(st.integers(1, len(values) - 1))
    frame = pd.DataFrame({"n": values, "c": pd.Categorical(values)})
    for table in (
        np.array([values]).T,
        frame,
        pl.DataFrame({"n": values}),
        pa.table({"n": values}),
    ):
        parts = [take_rows(table, slice(0, cut)), take_rows(table, slice(cut, None))]
        assert type(stack_rows(parts)) is type(table)
        assert_array_equal(as_objects(stack_rows(parts)), as_objects(table))
    assert_frame_equal(stack_rows([frame[:cut], frame[cut:]]), frame)


@each_kind
def test_replaced_columns_of_frames(kind):
    frame = kind({"n": [1, 2], "b": [True, False], "t": ["nan", "x"]})
    replaced = with_columns(frame, {"n": np.array([0.5, np.nan]), "b": np.array([0.25, 1])})
    assert isinstance(replaced, type(frame))
    assert as_objects(replaced).tolist() == [[0.5, 0.25, "nan"], [None, 1, "x"]]
    assert as_objects(frame).tolist() == [[1, True, "nan"], [2, False, "x"]]
