"""Tables are read whatever their delimiter and encoding; what is none is told in one sentence."""

import numpy as np
import pandas as pd
import pytest

from surefoot import _tables
from surefoot._tables import TableFileError, table_bytes


def read_table(path):
    return _tables.read_table(path, print)


def mistake(path):
    with pytest.raises(TableFileError) as caught:
        read_table(path)
    return str(caught.value).replace(str(path), "FILE")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(write, delimiter):
    lines = [["name", "price, net", "n"], ["a", "1,5 kg", "1"], ["b", "2,5 kg", "2"]]
    text = "\n".join(delimiter.join(f'"{field}"' for field in line) for line in lines)
    table = read_table(write(text))
    assert table.to_dict("list") == {
        "name": ["a", "b"],
        "price, net": ["1,5 kg", "2,5 kg"],
        "n": [1, 2],
    }


def test_decimal_commas_are_no_delimiters(write):
    table = read_table(write("name;price;weight;size\na;1,5;2,5;1,2 m\nb;-2;;2 m\n"))
    assert table["price"].tolist() == [1.5, -2]
    assert table["weight"].isna().tolist() == [False, True]
    assert table["size"].tolist() == ["1,2 m", "2 m"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_the_encoding_is_found(write, encoding):
    table = read_table(write("straße,größe\nÄäß,1\n".encode(encoding)))
    assert table.to_dict("list") == {"straße": ["Ääß"], "größe": [1]}


def test_a_letter_far_into_the_file_decides_the_encoding_too(write):
    text = "a,b\n" + "x,1\n" * 300_000 + "é,2\n"
    assert read_table(write(text.encode("latin-1")))["a"].iloc[-1] == "é"


def test_quoted_line_ends_and_blank_lines_are_no_records(write):
    table = read_table(write('a,b\n"two\nlines",1\n\n\nx,2\n'))
    assert table.to_dict("list") == {"a": ["two\nlines", "x"], "b": [1, 2]}


def test_columns_without_a_name_are_read(write):
    assert read_table(write(",a,,\n0,x,1,\n1,y,2,\n")).shape == (2, 4)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_is_written_is_read_again(write, suffix):
    table = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", "ü"], "c": [True, False]})
    path = write(table_bytes(table, suffix), f"table{suffix}")
    pd.testing.assert_frame_equal(read_table(path), table)


def test_a_named_index_of_parquet_is_a_column(write):
    table = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="id"))
    assert list(read_table(write(table.to_parquet(), "t.parquet")).columns) == ["id", "a"]


def test_no_such_file(tmp_path):
    assert mistake(tmp_path / "no.csv") == "FILE cannot be read: no such file or directory."


def test_a_folder(tmp_path):
    assert mistake(tmp_path) == (
        "FILE is a folder without Parquet files: name a table in CSV or Parquet."
    )


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file(write, content):
    assert mistake(write(content)) == "FILE is empty."


def test_only_a_header(write):
    assert mistake(write("a,b\n")) == "FILE has column names but no rows."


def test_a_parquet_file_without_rows(write):
    empty = pd.DataFrame({"a": [1.0]}).iloc[:0]
    assert mistake(write(empty.to_parquet(), "t.parquet")) == "FILE has column names but no rows."


@pytest.mark.parametrize(
    ("lines", "line", "fields"),
    [("a,b\n1,2\n3,4,5\n6,7\n", 3, 3), ('a,b\n"x\ny",2\n3\n', 4, 1), ("a,b\n1,2,3\n4,5,6\n", 2, 3)],
    ids=["too many", "too few", "row names without a header"],
)
def test_a_line_with_another_number_of_fields(write, lines, line, fields):
    words = "1 field" if fields == 1 else f"{fields} fields"
    assert mistake(write(lines)) == f"Line {line} of FILE has {words} where the header has 2."


def test_a_quote_that_is_never_closed(write):
    text = 'a,b\n1,2\n3,"4\n5,6\n'
    assert mistake(write(text)) == "Line 3 of FILE cannot be read: a quote that is never closed."


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "an image"),
        (b'{"a": [1, 2], "b": [3, 4]}', "JSON"),
        (b'\n[{"a": 1, "b": 2}]', "JSON"),
        (b"PK\x03\x04\x14\x00", "an archive or a workbook"),
        (b"<html><body>a,b</body></html>", "a web page or XML"),
        (b"ab,cd\n\x00\x01,\x02\n", "a binary file"),
    ],
    ids=["png", "json", "json-lines", "xlsx", "html", "binary"],
)
def test_a_file_that_is_no_table(write, content, kind):
    expected = f"FILE is not a table but {kind}: surefoot reads CSV and Parquet."
    assert mistake(write(content)) == expected


def test_prose_is_no_table(write):
    assert mistake(write("Dear all\nhello\n")).startswith("FILE is not a table with columns")


def test_a_broken_parquet_file(write):
    whole = pd.DataFrame({"a": range(100)}).to_parquet()
    assert mistake(write(whole[:-20], "t.parquet")) == "FILE is a broken Parquet file."


def test_two_columns_of_one_name(write):
    expected = "FILE has more than one column 'a' and 'c': names must differ."
    assert mistake(write("a,b,c,a,c\n1,2,3,4,5\n")) == expected


def test_the_text_nan_is_a_text_among_texts_and_a_gap_among_numbers(write):
    table = read_table(write("bread,price,fresh\nnan,1.5,True\nnaan,nan,\n,2,False\nNA,,True\n"))
    assert table["bread"].fillna("gap").tolist() == ["nan", "naan", "gap", "gap"]
    np.testing.assert_array_equal(table["price"], [1.5, np.nan, 2, np.nan])
    assert table["fresh"].isna().tolist() == [False, True, False, False]
    assert table["fresh"].dropna().tolist() == [True, False, True]
