"""Tables that are broken, or are not one table: one sentence that names the file, before or behind finished parts."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from joblib import parallel_config

from surefoot.scoring import score_table


@pytest.fixture
def refusal(classifier, tmp_path):
    """Sentence that a table gets, without the folder of the test."""

    def call(source, **options):
        with pytest.raises(ValueError, match=r"\.$") as caught:
            score_table(classifier, source, tmp_path / "out", **options)
        sentence = str(caught.value).replace(str(tmp_path), "FOLDER")
        assert "\n" not in sentence
        return sentence

    return call


@pytest.fixture
def folder(tmp_path, rows):
    """Three files of 100 rows each."""
    folder = tmp_path / "big"
    folder.mkdir()
    for i, name in enumerate("abc"):
        rows[100 * i :][:100].to_parquet(folder / f"{name}.parquet", index=False)
    return folder


def test_a_file_whose_end_is_cut_off_is_named_before_the_work(refusal, folder, tmp_path):
    content = (folder / "c.parquet").read_bytes()
    (folder / "c.parquet").write_bytes(content[: len(content) // 2])
    assert refusal(folder) == "FOLDER/big/c.parquet is a broken Parquet file."
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_damaged_inside_is_named_and_finished_parts_stay(
    refusal, folder, rows, tmp_path, classifier
):
    table = pa.Table.from_pandas(rows[200:], preserve_index=False)
    pq.write_table(table, folder / "c.parquet", write_page_checksum=True, compression="none")
    content = bytearray((folder / "c.parquet").read_bytes())
    content[200] ^= 255
    (folder / "c.parquet").write_bytes(content)
    for n_jobs in (1, 2):  # the second run finds the parts of the first
        with parallel_config("threading", n_jobs=n_jobs):
            sentence = refusal(folder, rows_per_part=60)
        assert sentence == "FOLDER/big/c.parquet is a broken Parquet file."
        scores = pd.read_parquet(tmp_path / "out")
        assert scores["row"].tolist() == list(range(180))
        np.testing.assert_allclose(scores["estimated_error"], classifier.predict_error(rows[:180]))


def test_a_column_that_one_file_lacks(refusal, folder, rows):
    rows[100:200].drop(columns="age").to_parquet(folder / "b.parquet", index=False)
    assert refusal(folder) == ("FOLDER/big/b.parquet lacks 'age', which the model was fitted on.")
    assert refusal(folder / "b.parquet") == "b.parquet lacks 'age', which the model was fitted on."


def test_a_column_of_another_kind_in_one_file(refusal, folder, rows):
    rows[100:200].astype({"age": str}).to_parquet(folder / "b.parquet", index=False)
    assert refusal(folder) == (
        "FOLDER/big/b.parquet has strings in the column 'age', and FOLDER/big/a.parquet has numbers."
    )


def test_columns_that_no_model_takes(refusal, rows, tmp_path):
    path = tmp_path / "t.parquet"
    rows.assign(age=[[1, 2]] * 300).to_parquet(path)
    assert refusal(path) == (
        "FOLDER/t.parquet has lists, structures or bytes in 'age', which no model here takes."
    )
    rows.assign(age=pd.Timestamp("2024-01-01")).to_parquet(path)
    assert refusal(path) == (
        "Column 'age' of FOLDER/t.parquet holds times where the model knows numbers."
    )


def test_a_cell_that_does_not_fit_is_named_with_its_line(refusal, rows, tmp_path):
    table = rows.assign(note="two\nlines", age=rows["age"].astype(object))
    table.loc[17, "age"] = "old"
    table.to_csv(tmp_path / "t.csv", index=False)
    assert refusal(tmp_path / "t.csv", rows_per_part=10) == (
        "Line 36 of FOLDER/t.csv has 'old' in the column 'age', where the model knows numbers."
    )
    assert len(pd.read_parquet(tmp_path / "out")) == 10


def test_a_text_of_parquet_that_is_no_number_is_named_with_its_row(refusal, folder, rows, tmp_path):
    for name in "abc":
        rows[:100].assign(age="41").to_parquet(folder / f"{name}.parquet", index=False)
    texts = ["41"] * 99 + ["old"]
    rows[100:200].assign(age=texts).to_parquet(folder / "b.parquet", index=False)
    assert refusal(folder) == (
        "Row 99 of FOLDER/big/b.parquet has 'old' in the column 'age', where the model knows numbers."
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty."),
        ("age,spent,visits,plan\n", "has column names but no rows."),
        ("age,age,visits,plan\n1,2,3,free\n", "has more than one column 'age': names must differ."),
        ("\x89PNG", "is not a table but an image: surefoot reads CSV and Parquet."),
    ],
    ids=["empty", "header", "twice", "image"],
)
def test_files_that_are_no_table_to_score(refusal, tmp_path, content, sentence):
    (tmp_path / "t.csv").write_bytes(content.encode("latin-1"))
    assert refusal(tmp_path / "t.csv") == f"FOLDER/t.csv {sentence}"


def test_a_broken_line_is_named(refusal, rows, tmp_path):
    lines = rows.to_csv(index=False).splitlines()
    lines[150] += ",more"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert refusal(tmp_path / "t.csv") == (
        "Line 151 of FOLDER/t.csv has 5 fields where the header has 4."
    )
    lines[150] = '1,"2,3,free'
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert refusal(tmp_path / "t.csv") == (
        "Line 151 of FOLDER/t.csv cannot be read: a quote that is never closed."
    )


def test_what_is_no_table_at_all(refusal, tmp_path):
    assert refusal(tmp_path / "no") == "FOLDER/no cannot be read: no such file or directory."
    assert refusal(tmp_path) == (
        "FOLDER is a folder without Parquet files: name a table in CSV or Parquet."
    )
    (tmp_path / "t.csv.gz").write_bytes(b"\x1f\x8b more")
    assert refusal(tmp_path / "t.csv.gz") == (
        "FOLDER/t.csv.gz is a compressed file that is cut off or damaged."
    )


def test_columns_to_keep_that_are_not_there_or_would_be_twice(refusal, folder):
    assert refusal(folder, keep=["id"]) == "FOLDER/big/a.parquet lacks 'id', which is to be kept."
    for name in ("row", "novel"):
        assert refusal(folder, keep=[name]).endswith(
            "the name of a column that is written: rename it."
        )


def test_parts_have_at_least_one_row(classifier, folder, tmp_path):
    with pytest.raises(ValueError, match="rows_per_part == 0, must be >= 1"):
        score_table(classifier, folder, tmp_path / "out", rows_per_part=0)
