"""Tables in files: parts, types and names; scores equal those of the rows in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from surefoot import IndividualErrorClassifier
from surefoot.abstention import Promise
from surefoot.scoring import score_table


@pytest.fixture
def big(tmp_path, rows):
    """300 rows in three files, of which one is empty and one has many row groups."""
    folder = tmp_path / "big"
    folder.mkdir()
    rows[:100].to_parquet(folder / "a.parquet", index=False, row_group_size=7)
    rows[:0].to_parquet(folder / "b.parquet", index=False)
    rows[100:].to_parquet(folder / "c.parquet", index=False)
    return folder


def read(folder):
    return pd.read_parquet(folder)


def contents(folder):
    """Bytes of every file of a folder, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def expected(sure, rows):
    return Promise.from_held_out(sure.held_out_).apply(sure.judge(rows)).to_frame()


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_the_scores_of_a_folder_are_those_of_its_rows(kind, big, rows, tmp_path, request):
    sure = request.getfixturevalue(kind)
    summary = score_table(sure, big, tmp_path / "out", rows_per_part=80)
    scores, judged = read(tmp_path / "out"), expected(sure, rows)
    assert scores["row"].tolist() == list(range(300))
    pd.testing.assert_frame_equal(scores[list(judged)], judged, check_dtype=False, rtol=1e-10)
    parts = sorted(path.name for path in (tmp_path / "out").glob("*.parquet"))
    assert parts == [f"part-00000{i}.parquet" for i in range(4)]
    assert summary == {
        "n_rows": 300,
        "n_accepted": judged["accepted"].sum(),
        "n_novel": judged["novel"].sum(),
        "n_known": judged["known"].sum(),
        "n_infinite": 0,
        "estimated_error": pytest.approx(judged["estimated_error"].mean()),
        "n_parts": 4,
        "n_earlier": 0,
    }


def test_the_bytes_do_not_depend_on_processes_or_on_how_the_table_is_stored(
    classifier, big, rows, tmp_path
):
    score_table(classifier, big, tmp_path / "one", rows_per_part=70)
    score_table(classifier, big, tmp_path / "two", rows_per_part=70, n_jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    rows.to_parquet(tmp_path / "whole.parquet", index=False, row_group_size=33)
    score_table(classifier, tmp_path / "whole.parquet", tmp_path / "three", rows_per_part=70)
    (tmp_path / "one" / "_manifest.jsonl").unlink()  # it names the files that were read
    (tmp_path / "three" / "_manifest.jsonl").unlink()
    assert contents(tmp_path / "one") == contents(tmp_path / "three")


class Counted(LogisticRegression):
    """Model that counts how often it is pickled."""

    n_pickled = 0

    def __getstate__(self):
        Counted.n_pickled += 1
        return super().__getstate__()


@pytest.mark.slow
def test_other_processes_get_the_model_once_and_not_with_every_part(rows, tmp_path):
    X = rows[["age", "spent"]]
    sure = IndividualErrorClassifier(Counted(), cv=2, random_state=0).fit(X, X["spent"] > 0)
    X.to_parquet(tmp_path / "t.parquet")
    counts = []
    for size in (150, 30):
        Counted.n_pickled = 0
        out = tmp_path / f"out-{size}"
        score_table(sure, tmp_path / "t.parquet", out, rows_per_part=size, n_jobs=2)
        counts.append(Counted.n_pickled)
    assert counts[0] == counts[1] > 0
    np.testing.assert_allclose(read(out)["estimated_error"], sure.predict_error(X))


def test_an_error_in_another_process_is_told_as_in_this_one(classifier, rows, tmp_path):
    rows.astype({"age": object}).replace({"age": {rows["age"][3]: "old"}}).to_csv(
        tmp_path / "t.csv", index=False
    )
    with pytest.raises(
        ValueError, match=r"^Line 5 of .*t\.csv has 'old' in the column 'age', where"
    ):
        score_table(classifier, tmp_path / "t.csv", tmp_path / "out", n_jobs=2)


def test_the_names_of_folders_are_columns(rows, tmp_path):
    X = rows.assign(year=np.where(rows["age"] > 40, 2023, 2024))
    sure = IndividualErrorClassifier(LogisticRegression(), cv=2, random_state=0)
    sure.fit(X[["age", "year"]], X["spent"] > 0)
    X.to_parquet(tmp_path / "by", partition_cols=["year", "plan"], index=False)
    score_table(sure, tmp_path / "by", tmp_path / "out", keep=["age", "plan", "year"])
    scores = read(tmp_path / "out").sort_values("age", ignore_index=True)
    X = X.sort_values("age", ignore_index=True)
    np.testing.assert_allclose(scores["estimated_error"], sure.predict_error(X[["age", "year"]]))
    assert scores["year"].tolist() == X["year"].tolist()
    assert scores["plan"].tolist() == X["plan"].tolist()


def test_numbers_with_gaps_dictionaries_and_mixed_widths_are_one_table(rows, tmp_path):
    X = rows.drop(columns="plan").astype("float64")
    X.loc[::3, "visits"] = np.nan
    model = IndividualErrorClassifier(make_imputing(), cv=2, random_state=0, indicators="auto").fit(
        X, X["spent"] > 0
    )
    folder = tmp_path / "mixed"
    folder.mkdir()
    table = pa.Table.from_pandas(X, preserve_index=False)
    whole = table["visits"].cast(pa.int32())
    pq.write_table(
        table.slice(0, 90).set_column(2, "visits", whole.slice(0, 90)), folder / "a.parquet"
    )
    coded = whole.slice(90, 110).cast(pa.int64()).dictionary_encode()
    pq.write_table(table.slice(90, 110).set_column(2, "visits", coded), folder / "b.parquet")
    pq.write_table(table.slice(200), folder / "c.parquet")
    score_table(model, folder, tmp_path / "out", rows_per_part=64, keep=["visits"])
    scores = read(tmp_path / "out")
    np.testing.assert_allclose(scores["estimated_error"], model.predict_error(X))
    np.testing.assert_array_equal(scores["visits"], X["visits"])


def make_imputing():
    return HistGradientBoostingClassifier(max_iter=5, random_state=0)


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
def test_one_file_has_the_scores_of_a_folder(classifier, rows, tmp_path, name):
    rows.assign(code="007").to_csv(tmp_path / "t.csv", index=False)
    keep = ["visits", "code"]
    parts = score_table(classifier, tmp_path / "t.csv", tmp_path / "out", keep=keep)
    one = score_table(classifier, tmp_path / "t.csv", tmp_path / name, keep=keep)
    assert parts == {**one, "n_parts": 1, "n_earlier": 0}
    is_csv = name.endswith("csv")
    scores = pd.read_csv(tmp_path / name, dtype={"code": str}) if is_csv else read(tmp_path / name)
    assert scores["visits"].tolist() == rows["visits"].tolist()
    pd.testing.assert_frame_equal(scores, read(tmp_path / "out"), check_dtype=False)


KEPT = {
    "id": ("7", None, pa.int64()),  # a whole number stays one beside missing ones
    "share": ("0,25", "1", pa.float64()),  # decimal commas
    "code": ("007", "12", pa.string()),
    "is_new": ("True", "false", pa.bool_()),
    "size": ("3", "small", pa.string()),
}


@pytest.mark.parametrize("name", ["out", "out.parquet", "out.csv"])
def test_kept_columns_of_a_csv_have_the_types_of_all_their_cells(classifier, rows, tmp_path, name):
    first = {each: cells[0] for each, cells in KEPT.items()}
    table = rows[:20].assign(**first)
    table.loc[19, list(KEPT)] = [cells[1] for cells in KEPT.values()]
    for one in ("age", "spent"):
        table[one] = table[one].astype(str).str.replace(".", ",")
    table.to_csv(tmp_path / "t.csv", index=False, sep=";")
    score_table(classifier, tmp_path / "t.csv", tmp_path / name, keep=[*KEPT], rows_per_part=10)
    if name == "out.csv":
        lines = (tmp_path / name).read_text().splitlines()
        assert lines[1].startswith("0,7,0.25,007,True,3,")
        assert lines[20].startswith("19,,1.0,12,False,small,")
        return
    kept = pq.read_table(tmp_path / name, columns=[*KEPT])
    assert {field.name: field.type for field in kept.schema} == {
        each: kind for each, (_, _, kind) in KEPT.items()
    }
    assert kept.take([0, 19]).to_pylist() == [
        {"id": 7, "share": 0.25, "code": "007", "is_new": True, "size": "3"},
        {"id": None, "share": 1.0, "code": "12", "is_new": False, "size": "small"},
    ]


@pytest.mark.parametrize("name", ["big", "t.csv"])
def test_progress_tells_the_share_the_speed_and_the_time_left(
    classifier, big, rows, tmp_path, name
):
    rows.to_csv(tmp_path / "t.csv", index=False)
    shown = []
    score_table(
        classifier,
        tmp_path / name,
        tmp_path / "out",
        rows_per_part=100,
        progress=lambda *step: shown.append(step),
    )
    shares, words, seconds = zip(*shown, strict=True)
    np.testing.assert_allclose(shares, [0, 1 / 3, 2 / 3, 1], atol=0.02)
    assert words[1].endswith(" rows per second")
    assert seconds[0] is None
    assert seconds[1] > seconds[3]
    assert seconds[3] < 0.05


def test_a_wide_table_has_fewer_rows_in_a_part(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 101)), columns=[f"c{i}" for i in range(101)])
    sure = IndividualErrorClassifier(LogisticRegression(), cv=2, random_state=0).fit(X, X["c0"] > 0)
    X.to_parquet(tmp_path / "t.parquet")
    score_table(sure, tmp_path / "t.parquet", tmp_path / "out")
    head = (tmp_path / "out" / "_manifest.jsonl").read_text().splitlines()[0]
    assert f'"rows_per_part": {10_000_000 // 101}' in head


def test_a_table_is_not_scored_into_the_folder_that_it_is_in(classifier, rows, tmp_path):
    folder = tmp_path / "scores"
    folder.mkdir()
    source = folder / "part-000000.parquet"
    rows.to_parquet(source)
    content = source.read_bytes()
    with pytest.raises(ValueError, match="which is read, is in"):
        score_table(classifier, source, folder)
    assert source.read_bytes() == content
