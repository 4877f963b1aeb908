"""Tables of many batches, types that are inferred from cells, and samples."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from surefoot._tables import TableFileError, as_fitted, infer, open_table, read_table


@pytest.fixture
def coded(tmp_path):
    """35,000 rows in four row groups, whose categories are not the same in each."""
    values = np.where(np.arange(35_000) < 20_000, "a", np.resize(["b", "c"], 35_000))
    table = pd.DataFrame({"x": np.arange(35_000), "c": pd.Categorical(values, list("zcba"), True)})
    table.to_parquet(tmp_path / "t.parquet", row_group_size=9000, index=False)
    return tmp_path / "t.parquet", table


def test_categories_are_those_of_the_file_whatever_its_row_groups(coded):
    path, table = coded
    pd.testing.assert_frame_equal(read_table(path, print), table)


def test_a_sample_is_drawn_at_random_from_all_rows(coded, capsys):
    path, table = coded
    counts = np.zeros(7)
    for seed in range(20):
        sample = read_table(path, print, n_rows=700, random_state=seed)
        assert sample["x"].is_monotonic_increasing
        assert sample["x"].is_unique
        assert sample["c"].tolist() == table["c"][sample["x"]].tolist()
        counts += np.histogram(sample["x"], bins=7, range=(0, 35_000))[0]
    assert capsys.readouterr().out.startswith("700 of the 35,000 rows of t.parquet are used")
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)
    pd.testing.assert_frame_equal(read_table(path, print, n_rows=35_000), table)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2"], pa.array([1, -2])),
        (["1", None], pa.array([1.0, None])),
        (["1", "2.5 ", "1e3", "nan"], pa.array([1, 2.5, 1000, float("nan")])),
        (["True", None, "false"], pa.array([True, None, False])),
        (["True", "1"], None),
        (["007", "1"], None),
        (["0x1A"], None),
        (["12345678901234567890"], pa.array([12345678901234567890.0])),
        ([None, None], pa.array([None, None], pa.float64())),
        (["2024-01-01"], None),
    ],
)
def test_types_are_inferred_from_all_cells(cells, expected):
    column = pa.array(cells, pa.string())
    inferred = infer(column)
    if expected is None:
        assert inferred.equals(column)
    else:
        assert inferred.type == expected.type
        np.testing.assert_array_equal(
            inferred.to_numpy(zero_copy_only=False), expected.to_numpy(zero_copy_only=False)
        )


def test_blanks_around_cells_of_a_csv_are_no_part_of_them(tmp_path):
    (tmp_path / "t.csv").write_text('x,y\n1 , yes\n2,yes  \n3,"yes "\n4,NA \n')
    table = read_table(tmp_path / "t.csv", print)
    assert table["x"].tolist() == [1, 2, 3, 4]
    assert table["y"].tolist()[:3] == ["yes"] * 3
    assert table["y"].isna().tolist() == [False, False, False, True]


@pytest.mark.parametrize(("kind", "expected"), [("i", pa.int64()), ("f", pa.float64())])
def test_booleans_of_a_csv_are_numbers_where_the_model_has_numbers(tmp_path, kind, expected):
    (tmp_path / "t.csv").write_text("x,y\nTrue,1\nfalse,2\n,3\n")
    form = {"library": "pandas", "kinds": {"x": kind}, "categories": {}}
    with open_table(tmp_path / "t.csv", form) as table:
        (batch,) = table.batches(["x"])
    rows, _ = as_fitted(pa.table(batch), ["x"], form)
    assert pa.Table.from_pandas(rows[:2])["x"].type in (expected, pa.float64())
    np.testing.assert_array_equal(rows["x"], [1, 0, np.nan])


LISTS = {
    "a": pa.nulls(2),
    "b": pa.array([[1.0, 2.0, 3.0]] * 2, pa.list_(pa.float32(), 3)),
    "c": pa.array([[1, 2, 4], None], pa.large_list(pa.int64())),
}


def write_lists(folder, lists):
    for name, column in lists.items():
        table = pa.table({"x": range(len(column)), "e": column})
        parquet.write_table(table, folder / f"{name}.parquet")


def test_lists_of_several_files_and_types_are_the_same_columns(tmp_path):
    write_lists(tmp_path, LISTS)
    with open_table(tmp_path) as table:
        assert table.names == ["x", "e_0", "e_1", "e_2"]
        (last, missing) = list(table.batches(["e_2"], start=3))
    assert last.to_pydict() == {"e_2": [3.0]}
    assert missing.to_pydict() == {"e_2": [4.0, None]}


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (
            pa.array([1.0, 2.0]),
            "has numbers in the column 'e', and .*b.parquet has lists of numbers",
        ),
        (pa.array([["a"], ["b"]]), "has lists, structures or bytes in the column 'e'"),
        (pa.array([[1, 2, 3], [1, 2]]), "^Row 1 of .*d.parquet has a list of 2 numbers in 'e'"),
    ],
)
def test_files_whose_lists_differ_are_no_table(column, words, tmp_path):
    write_lists(tmp_path, {**LISTS, "d": column})
    with open_table(tmp_path) as table, pytest.raises(TableFileError, match=words):
        list(table.batches(table.names))


def test_a_list_that_would_be_named_like_another_column_is_refused(tmp_path):
    table = pa.table({"e": [[1.0, 2.0]], "e_1": [3.0]})
    parquet.write_table(table, tmp_path / "t.parquet")
    with (
        pytest.raises(TableFileError, match="has more than one column 'e_1'"),
        open_table(tmp_path / "t.parquet"),
    ):
        pass
