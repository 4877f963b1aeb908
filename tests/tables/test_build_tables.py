"""Tables that are built from others: rows under each other, columns replaced, arrays as frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from scipy.sparse import csr_array, csr_matrix

from surefoot._tables import as_objects, frame_like, stack_rows, take_rows, with_columns

KINDS = [pd.DataFrame, pl.DataFrame, pa.table]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=["pandas", "polars", "Arrow"])


def test_stacked_arrays():
    stacked = stack_rows([np.array([[1, 2]]), np.array([[0.5, 4]]), [[5, 6]]])
    assert_array_equal(stacked, [[1, 2], [0.5, 4], [5, 6]])
    assert stack_rows([np.array(["a"]), np.array(["longer"])]).tolist() == ["a", "longer"]


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_stacked_sparse_rows(kind):
    stacked = stack_rows([kind([[0, 1]]), kind([[2, 0]])])
    assert isinstance(stacked, kind)
    assert stacked.format == "csr"
    assert_array_equal(stacked.toarray(), [[0, 1], [2, 0]])


@each_kind
def test_stacked_frames(kind):
    parts = [kind({"n": [1, 2], "t": ["nan", "b"]}), kind({"n": [3], "t": ["c"]})]
    stacked = stack_rows(parts)
    assert isinstance(stacked, type(parts[0]))
    assert as_objects(stacked).tolist() == [[1, "nan"], [2, "b"], [3, "c"]]


def test_stacked_pandas_frames_keep_index_and_dtypes():
    frame = pd.DataFrame(
        {
            "Int64": pd.array([1, None, 3], dtype="Int64"),
            "category": pd.Categorical(["b", None, "a"], categories=["c", "b", "a"], ordered=True),
            "string": pd.array(["nan", None, "x"], dtype="string"),
        },
        index=[5, 5, 2],
    )
    assert_frame_equal(stack_rows([frame[:1], frame[1:2], frame[2:]]), frame)


def test_stacked_categories_are_joined():
    parts = [pd.DataFrame([[text, 1]], columns=["a", "a"], index=[8]) for text in "xyx"]
    for part in parts:
        part.isetitem(0, part.iloc[:, 0].astype("category"))
    stacked = stack_rows(parts)
    assert stacked.iloc[:, 0].tolist() == ["x", "y", "x"]
    assert stacked.iloc[:, 0].cat.categories.tolist() == ["x", "y"]
    assert stacked.iloc[:, 1].tolist() == [1, 1, 1]
    assert stacked.index.tolist() == [8, 8, 8]


def test_stacked_categories_without_a_union_are_objects():
    parts = [pd.DataFrame({"a": pd.Categorical([value])}) for value in ("x", 1)]
    assert stack_rows(parts)["a"].tolist() == ["x", 1]


def test_stacked_polars_categories():
    parts = [pl.DataFrame({"a": [text]}, schema={"a": pl.Enum(["x", "y"])}) for text in "xy"]
    stacked = stack_rows(parts)
    assert stacked.schema == {"a": pl.Enum(["x", "y"])}
    assert stacked["a"].to_list() == ["x", "y"]


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


@each_kind
def test_no_columns_to_replace(kind):
    frame = kind({"n": [1, 2]})
    assert as_objects(with_columns(frame, {})).tolist() == [[1], [2]]


def test_replaced_columns_of_pandas_keep_the_rest():
    frame = pd.DataFrame({0: [1, 2], "c": pd.Categorical(["a", "b"])}, index=[4, 4])
    part = take_rows(
        frame, slice(0, 1)
    )  # no warning, and no change to the frame that it is part of
    expected = pd.DataFrame(
        {0: [0.5], "c": pd.Categorical(["a"], categories=["a", "b"])}, index=[4]
    )
    assert_frame_equal(with_columns(part, {0: np.array([0.5])}), expected)
    assert frame[0].tolist() == [1, 2]


def test_replaced_columns_of_arrays():
    for dtype, expected in ((np.int64, np.float64), (np.float32, np.float32), (object, object)):
        table = np.array([[1, 2], [3, 4]], dtype=dtype)
        replaced = with_columns(table, {1: np.array([0.5, 1.5])})
        assert replaced.dtype == expected
        assert replaced.tolist() == [[1, 0.5], [3, 1.5]]
        assert table.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.Table])
@pytest.mark.parametrize("values", [[[1, 2], [3, 4]], [[1, 2]], [[1], [2], [3]]])
def test_frames_of_arrays(kind, values):
    names = np.array(["a", "b"][: len(values[0])], dtype=object)
    frame = frame_like(kind, np.array(values, dtype=np.float64), names)
    assert isinstance(frame, kind)
    expected = {name: [row[i] for row in values] for i, name in enumerate(names)}
    columns = frame.to_dict("list") if kind is pd.DataFrame else as_dict(frame)
    assert columns == expected


def as_dict(frame):
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict(as_series=False)


def test_frames_of_arrays_in_fortran_order():
    values = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    for kind in (pd.DataFrame, pl.DataFrame, pa.Table):
        assert as_objects(frame_like(kind, values, ["a", "b"])).tolist() == [[1, 2], [3, 4]]
