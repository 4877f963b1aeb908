"""Tables are read whatever their form: delimiters, encodings, compression, folders, pipes, odd cells and columns."""

import bz2
import gzip
import io
import os
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from surefoot import _tables
from surefoot._tables import TableFileError, sample_that_fits, table_bytes

N_ROWS = 60
TABLE = pd.DataFrame({"x": [1.5, 2.0, 3.25], "name": ["a, b", "c", "d"], "y": ["no", "yes", "no"]})
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress}


def read_table(path):
    return _tables.read_table(path, print)


@pytest.fixture
def write(tmp_path):
    """Write a file, and say where it is."""

    def call(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return call


@pytest.fixture
def mistake(tmp_path):
    def sentence(path):
        with pytest.raises(TableFileError) as caught:
            read_table(path)
        return str(caught.value).replace(str(tmp_path), "FOLDER")

    return sentence


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


def test_a_letter_far_into_the_file_decides_the_encoding_too(write):
    text = "a,b\n" + "x,1\n" * 300_000 + "é,2\n"
    assert read_table(write(text.encode("latin-1")))["a"].iloc[-1] == "é"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_is_written_is_read_again(write, suffix):
    table = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", "ü"], "c": [True, False]})
    path = write(table_bytes(table, suffix), f"table{suffix}")
    pd.testing.assert_frame_equal(read_table(path), table)


@pytest.mark.parametrize(
    ("lines", "line", "fields"),
    [("a,b\n1,2\n3,4,5\n6,7\n", 3, 3), ('a,b\n"x\ny",2\n3\n', 4, 1), ("a,b\n1,2,3\n4,5,6\n", 2, 3)],
    ids=["too many", "too few", "row names without a header"],
)
def test_a_line_with_another_number_of_fields(write, mistake, lines, line, fields):
    words = "1 field" if fields == 1 else f"{fields} fields"
    assert (
        mistake(write(lines))
        == f"Line {line} of FOLDER/table.csv has {words} where the header has 2."
    )


def test_the_text_nan_is_a_text_among_texts_and_a_gap_among_numbers(write):
    table = read_table(write("bread,price,fresh\nnan,1.5,True\nnaan,nan,\n,2,False\nNA,,True\n"))
    assert table["bread"].fillna("gap").tolist() == ["nan", "naan", "gap", "gap"]
    np.testing.assert_array_equal(table["price"], [1.5, np.nan, 2, np.nan])
    assert table["fresh"].isna().tolist() == [False, True, False, False]
    assert table["fresh"].dropna().tolist() == [True, False, True]


def test_codes_with_a_leading_zero_are_texts(write):
    lines = [f"{i},{code}" for i, code in enumerate(["1", "01", "007", "12"] * 15)]
    table = read_table(write("\n".join(["x,code", *lines])))
    assert table["code"].tolist() == ["1", "01", "007", "12"] * 15
    assert table["x"].dtype.kind == "i"


@pytest.mark.parametrize("header", ["<id>,y", "[a],b", "{x};y", "<5 km\tshare"])
def test_a_name_may_begin_with_a_bracket(write, header):
    delimiter = next(sign for sign in ",;\t" if sign in header)
    table = read_table(write(f"{header}\n1{delimiter}2\n3{delimiter}4\n"))
    assert list(table.columns) == header.split(delimiter)


def test_a_few_texts_among_numbers_are_remarked_on(write, capsys):
    lines = [*(str(i) for i in range(95)), "unknown", "?", "3 kg", "-", "none yet"]
    read_table(write("\n".join(["x,y", *(f"{i},{cell}" for i, cell in enumerate(lines))])))
    assert capsys.readouterr().out == (
        "Column 'y' is read as strings: 5 values of 100, such as 'unknown', are no numbers.\n"
    )


def test_nested_columns_of_parquet_are_left_out_with_a_remark(tmp_path, capsys):
    table = pa.table(
        {
            "x": np.arange(N_ROWS),
            "tags": [["new", "old"]] * N_ROWS,
            "struct": [{"a": 1}] * N_ROWS,
            "bytes": [b"ab"] * N_ROWS,
            "y": ["a", "b"] * 30,
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").columns) == ["x", "y"]
    assert "Left out 'tags', 'struct' and 'bytes'" in capsys.readouterr().out


def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "x,y\n" + "\n".join(f"{i},{i % 3}" for i in range(5000))
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    table = read_table(pipe)
    writer.join(timeout=10)
    assert table["x"].tolist() == list(range(5000))


def test_a_text_of_a_csv_that_a_spreadsheet_would_run_gets_an_apostrophe(tmp_path):
    run = ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\tx"]
    kept = ["-1", "+3.5e2", "a=b"]
    table = pd.DataFrame({"prediction": [*run, *kept], "shift": [-0.5, np.nan] * 4})
    for suffix in (".csv", ".parquet"):
        (tmp_path / f"t{suffix}").write_bytes(table_bytes(table, suffix))
    again = pd.read_csv(tmp_path / "t.csv", dtype={"prediction": str})
    assert again["prediction"].tolist() == [*(f"'{text}" for text in run), *kept]
    np.testing.assert_array_equal(again["shift"], table["shift"])
    assert pd.read_parquet(tmp_path / "t.parquet")["prediction"].tolist() == [*run, *kept]


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_compressed_table_is_read(write, packer, ending):
    delimiter = "\t" if ending == "tsv" else ","
    plain = TABLE.to_csv(index=False, sep=delimiter).encode()
    content = TABLE.to_parquet() if ending == "parquet" else plain
    path = write(PACKERS[packer](content), f"table.{ending}.{packer}")
    pd.testing.assert_frame_equal(read_table(path), TABLE)


def test_a_table_with_tabs_may_hold_any_number_of_commas(write):
    text = "id,a,b\ty,c\n" + "".join(f"{i},{i},{i}\t{i},{i}\n" for i in range(9))
    assert list(read_table(write(text, "t.tsv")).columns) == ["id,a,b", "y,c"]
    assert list(read_table(write(text, "t.csv")).columns) == ["id", "a", "b\ty", "c"]
    assert list(read_table(write("a,b\n1,2\n", "no-tabs.tsv")).columns) == ["a", "b"]


@pytest.mark.parametrize("packer", PACKERS)
def test_a_file_that_is_cut_off_gets_one_sentence(write, mistake, packer):
    whole = PACKERS[packer](TABLE.to_csv().encode() * 50)
    for content in (whole[: len(whole) // 2], whole[:12], whole[:20] + b"damage" + whole[26:]):
        assert mistake(write(content, "t.csv")) == (
            "FOLDER/t.csv is a compressed file that is cut off or damaged."
        )


def test_a_file_that_unpacks_to_far_too_much_is_given_up_with_little_memory(
    write, mistake, monkeypatch
):
    monkeypatch.setattr("surefoot._tables._files.ALWAYS_ALLOWED", 2**22)
    bomb = write(gzip.compress(b"a,b\n" + b"1,2\n" * 2**23), "t.csv.gz")  # 32 MB
    assert bomb.stat().st_size * 200 < 2**25
    tracemalloc.start()
    sentence = mistake(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sentence.startswith("FOLDER/t.csv.gz is not unpacked: more than ")
    assert peak < 2**23


@pytest.fixture
def parts(tmp_path):
    """Write frames into files of a folder, by their relative names."""

    def call(**frames):
        for name, frame in frames.items():
            path = tmp_path / "parts" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            frame.to_parquet(path, index=False)
        return tmp_path / "parts"

    return call


def test_the_files_of_a_folder_are_one_table(parts):
    folder = parts(**{"b.parquet": TABLE.iloc[2:], "a.parquet": TABLE.iloc[:2]})
    (folder / "_SUCCESS").touch()
    (folder / "notes.txt").write_text("no table")
    (folder / "_metadata.parquet").write_text("no table")
    pd.testing.assert_frame_equal(read_table(folder), TABLE)


def test_folders_of_partitions_become_columns(parts):
    names = ["year=2023/zip=007", "year=2024/zip=10115", "year=2024/zip=__HIVE_DEFAULT_PARTITION__"]
    one_row = [TABLE.iloc[[i]] for i in range(3)]
    files = {f"{name}/part-0.parquet": frame for name, frame in zip(names, one_row, strict=True)}
    table = read_table(parts(**files, **{"year=2024/zip=a%2Fb/x.parquet": TABLE.iloc[[0]]}))
    assert table["year"].tolist() == [2023, 2024, 2024, 2024]
    assert table["zip"].fillna("gap").tolist() == ["007", "10115", "gap", "a/b"]
    assert table["x"].tolist() == [1.5, 2.0, 3.25, 1.5]


def test_a_partition_that_is_also_in_the_files_is_one_column(parts):
    frame = TABLE.assign(year=np.array([2023, 2023, 2023]))
    assert read_table(parts(**{"year=2023/a.parquet": frame}))["year"].tolist() == [2023] * 3


@pytest.fixture
def pipe(monkeypatch):
    def call(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return call


@pytest.mark.parametrize("kind", ["csv", "parquet", "csv.gz"])
def test_standard_input_is_read_by_its_content(pipe, kind):
    text = TABLE.to_csv(index=False).encode()
    contents = {"csv": text, "parquet": TABLE.to_parquet(), "csv.gz": gzip.compress(text)}
    pipe(contents[kind])
    pd.testing.assert_frame_equal(read_table(Path("-")), TABLE)


def test_the_sample_that_is_proposed_fits(tmp_path, monkeypatch):
    rows = pd.DataFrame({f"c{i}": np.zeros(100_000) for i in range(4)})
    rows.to_parquet(tmp_path / "t.parquet", row_group_size=10_000)
    needed = 3 * 100_000 * 4 * 8  # copies, rows, columns, bytes
    for free, n_rows in ((2 * needed, 100_000), (2 * needed - 1, 50_000), (needed // 2, 20_000)):
        monkeypatch.setattr("surefoot._tables._files.free_memory", lambda free=free: free)
        assert sample_that_fits(tmp_path / "t.parquet") == n_rows
