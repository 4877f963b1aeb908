"""Compressed tables, tables with tabs, folders of Parquet files and standard input are read as plain files are."""

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surefoot import _tables
from surefoot._tables import TableFileError


def read_table(path):
    return _tables.read_table(path, print)


TABLE = pd.DataFrame({"x": [1.5, 2.0, 3.25], "name": ["a, b", "c", "d"], "y": ["no", "yes", "no"]})
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress}


@pytest.fixture
def mistake(tmp_path):
    def sentence(path):
        with pytest.raises(TableFileError) as caught:
            read_table(path)
        return str(caught.value).replace(str(tmp_path), "FOLDER")

    return sentence


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_compressed_table_is_read(write, packer, ending):
    delimiter = "\t" if ending == "tsv" else ","
    plain = TABLE.to_csv(index=False, sep=delimiter).encode()
    content = TABLE.to_parquet() if ending == "parquet" else plain
    path = write(PACKERS[packer](content), f"table.{ending}.{packer}")
    pd.testing.assert_frame_equal(read_table(path), TABLE)


def test_parts_that_were_packed_one_by_one_are_one_table(write):
    lines = TABLE.to_csv(index=False).splitlines(keepends=True)
    packed = b"".join(gzip.compress(line.encode()) for line in lines)
    pd.testing.assert_frame_equal(read_table(write(packed, "t.csv.gz")), TABLE)


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


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (lzma.compress(b"a,b\n1,2\n"), "a file compressed by xz"),
        (
            gzip.compress(gzip.compress(b"a,b\n1,2\n", mtime=0), mtime=0),
            "a file that is compressed twice",
        ),
        (gzip.compress(b"PK\x03\x04rest", mtime=0), "an archive or a workbook"),
    ],
)
def test_what_cannot_be_unpacked_is_named(write, mistake, content, kind):
    assert mistake(write(content, "t.csv.gz")) == (
        f"FOLDER/t.csv.gz is not a table but {kind}: surefoot reads CSV and Parquet."
    )


def test_an_empty_compressed_file(write, mistake):
    assert mistake(write(gzip.compress(b" \n"), "t.csv.gz")) == "FOLDER/t.csv.gz is empty."


# Folders


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


def test_what_pandas_partitioned_is_read_again(tmp_path):
    folder = tmp_path / "by-y"
    TABLE.to_parquet(folder, partition_cols=["y"])
    table = read_table(folder).sort_values("x", ignore_index=True)
    pd.testing.assert_frame_equal(table[list(TABLE.columns)], TABLE, check_dtype=False)


def test_a_folder_without_a_table_gets_one_sentence(tmp_path, mistake):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert mistake(tmp_path) == (
        "FOLDER is a folder without Parquet files: name a table in CSV or Parquet."
    )


def test_a_broken_file_of_a_folder_is_named(parts, mistake):
    folder = parts(**{"a.parquet": TABLE})
    (folder / "b.parquet").write_bytes(b"PAR1")
    assert mistake(folder) == "FOLDER/parts/b.parquet is a broken Parquet file."


def test_files_that_are_no_one_table_get_one_sentence(parts, mistake):
    folder = parts(**{"a.parquet": TABLE, "b.parquet": TABLE.assign(x=["1", "2", "3"])})
    assert mistake(folder) == (
        "FOLDER/parts/b.parquet has strings in the column 'x', and FOLDER/parts/a.parquet has numbers."
    )


def test_nothing_is_written_into_a_folder_that_is_read(run, parts):
    folder = parts(**{"a.parquet": TABLE})
    result = run("report", folder, "--target", "y", "--scores", folder / "new.parquet")
    assert result.sentence == (
        f"{folder / 'new.parquet'} is in the folder {folder}, which is read: write it elsewhere."
    )


# Standard input


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


def test_every_command_reads_standard_input(run, pipe, customers, tmp_path):
    content = customers[["age", "spent", "leaves"]].to_csv(index=False).encode()
    model, scores = tmp_path / "m.skops", tmp_path / "s.csv"
    pipe(content)
    fitted = run("fit", "-", "--target", "leaves", "--estimator", "logistic", "--out", model)
    assert fitted.code == 0
    pipe(content)
    assert run("score", model, "-", "--out", scores).code == 0
    assert len(pd.read_csv(scores)) == len(customers)
    pipe(content)
    reported = run("report", "-", "--target", "leave")
    assert reported.sentence == "standard input has no column 'leave': is it 'leaves'?"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "standard input is empty."),
        (b"a,b\n", "standard input has column names but no rows."),
        (b"a,b\n1,2,3\n", "Line 2 of standard input has 3 fields where the header has 2."),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "standard input is a compressed file that is cut off or damaged."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_standard_input_is_told(run, pipe, content, sentence):
    pipe(content)
    assert run("report", "-", "--target", "b").sentence == sentence


def test_standard_input_that_is_closed(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    result = run("report", "-", "--target", "b")
    assert result.sentence == "Standard input is closed: name a table instead of -."
