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


def test_a_cell_that_does_not_fit_is_named_with_its_line(refusal, rows, tmp_path):
    table = rows.assign(note="two\nlines", age=rows["age"].astype(object))
    table.loc[17, "age"] = "old"
    table.to_csv(tmp_path / "t.csv", index=False)
    assert refusal(tmp_path / "t.csv", rows_per_part=10) == (
        "Line 36 of FOLDER/t.csv has 'old' in the column 'age', where the model expects numbers."
    )
    assert len(pd.read_parquet(tmp_path / "out")) == 10


def test_columns_to_keep_that_are_not_there_or_would_be_twice(refusal, folder):
    assert refusal(folder, keep=["id"]) == "FOLDER/big/a.parquet lacks 'id', which is to be kept."
    for name in ("row", "novel"):
        assert refusal(folder, keep=[name]).endswith(
            "the name of a column that is written: rename it."
        )


def test_parts_have_at_least_one_row(classifier, folder, tmp_path):
    with pytest.raises(ValueError, match="rows_per_part == 0, must be >= 1"):
        score_table(classifier, folder, tmp_path / "out", rows_per_part=0)
