"""Embeddings as lists of numbers in Parquet, in every command: like numbered columns, or refused in one sentence."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from surefoot import assess_predictions
from surefoot.model_files import save

N_KNOWN, WIDTH = 200, 64
NAMES = np.array(["billing", "login", "other"])
ROLES = ("--target", "truth", "--prediction", "said")


def make_tickets(n_rows=320):
    """Embeddings around three topics, the true topics, and labels of which those of "other" are often wrong."""
    draw = np.random.default_rng(0)
    topic = draw.integers(0, 3, n_rows)
    vectors = draw.normal(size=(3, WIDTH))[topic] + 1.5 * draw.normal(size=(n_rows, WIDTH))
    wrong = draw.random(n_rows) < np.where(topic == 2, 0.6, 0.05)
    said = NAMES[np.where(wrong, (topic + 1) % 3, topic)]
    return vectors.astype(np.float32), {"truth": NAMES[topic], "said": said}


VECTORS, COLUMNS = make_tickets()


def as_lists(vectors, kind):
    """Arrow's lists of a kind."""
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(pa.array(np.ravel(vectors)), WIDTH)
    return pa.array(list(vectors), pa.list_(pa.float32()))


def write_tickets(folder, kind):
    """Known and new rows in Parquet with one list in each row."""
    table = pa.table({"vector": as_lists(VECTORS, kind), **COLUMNS})
    parquet.write_table(table.slice(0, N_KNOWN), folder / "known.parquet")
    parquet.write_table(table.slice(N_KNOWN), folder / "new.parquet")


@pytest.fixture(scope="module", params=["fixed", "variable"])
def files(request, tmp_path_factory, command):
    """Tables with lists, and the errors that are learned from the known rows."""
    folder = tmp_path_factory.mktemp(request.param)
    write_tickets(folder, request.param)
    command("fit", folder / "known.parquet", *ROLES, "--out", folder / "trust.skops")
    return folder


def test_lists_are_judged_like_numbered_columns(files, run, tmp_path):
    out = tmp_path / "scores.csv"
    done = run("score", files / "trust.skops", files / "new.parquet", "--out", out)
    assert done.code == 0
    numbered = (
        pd.DataFrame(VECTORS.astype(float)).add_prefix("vector_").assign(said=COLUMNS["said"])
    )
    error_estimator = assess_predictions(
        numbered[:N_KNOWN], COLUMNS["truth"][:N_KNOWN], "said", random_state=0, n_jobs=1
    )
    expected = error_estimator.predict_error(numbered[N_KNOWN:])
    assert pd.read_csv(out)["estimated_error"].to_numpy() == pytest.approx(expected, abs=1e-6)


def test_every_command_takes_lists(files, run, tmp_path):
    new = {name: values[N_KNOWN:] for name, values in COLUMNS.items()}
    done = run("watch", files / "trust.skops", files / "new.parquet", "--json")
    measured = json.loads(done.out)["overall"]["measured"]["value"]
    assert measured == pytest.approx(np.mean(new["said"] != new["truth"]))

    ask = tmp_path / "ask.csv"
    model, data = files / "trust.skops", files / "new.parquet"
    assert run("audit", model, data, "--labels", "40", "--out", ask).code == 0
    asked = pd.read_csv(ask)
    assert set(asked.columns) == {"draw", "row", "audit", "answers", "label", "truth"}
    asked["label"] = new["truth"][asked["row"]]
    asked.to_csv(ask, index=False)
    result = json.loads(run("audit", model, data, "--answers", ask, "--json").out)
    assert result["low"] <= np.mean(new["said"] != new["truth"]) <= result["high"]

    done = run("report", files / "known.parquet", *ROLES, "--json", "--quick")
    known = {name: values[:N_KNOWN] for name, values in COLUMNS.items()}
    error = json.loads(done.out)["numbers"]["error"]
    assert error == pytest.approx(np.mean(known["said"] != known["truth"]))


def test_a_model_learns_from_lists(run, tmp_path):
    write_tickets(tmp_path, "fixed")
    model, scores = tmp_path / "model.skops", tmp_path / "scores.csv"
    options = ("--target", "truth", "--drop", "said", "--estimator", "logistic", "--out", model)
    assert run("fit", tmp_path / "known.parquet", *options).code == 0
    assert run("score", model, tmp_path / "new.parquet", "--out", scores).code == 0
    predicted = pd.read_csv(scores)["prediction"].to_numpy()
    assert np.mean(predicted == COLUMNS["truth"][N_KNOWN:]) > 0.9  # of three topics that lie apart


def test_what_python_learned_from_a_column_of_lists_scores_a_file(run, tmp_path):
    write_tickets(tmp_path, "variable")
    table = pd.DataFrame({"vector": list(VECTORS), "said": COLUMNS["said"]})
    error_estimator = assess_predictions(
        table[:N_KNOWN], COLUMNS["truth"][:N_KNOWN], "said", random_state=0
    )
    save(error_estimator, tmp_path / "trust.skops")
    out = tmp_path / "scores.csv"
    assert run("score", tmp_path / "trust.skops", tmp_path / "new.parquet", "--out", out).code == 0
    expected = error_estimator.predict_error(table[N_KNOWN:])
    assert pd.read_csv(out)["estimated_error"].to_numpy() == pytest.approx(expected, abs=1e-6)


def test_a_list_is_left_out_by_its_name(run, tmp_path):
    write_tickets(tmp_path, "variable")
    data, out = tmp_path / "known.parquet", tmp_path / "trust.skops"
    told = run("fit", data, *ROLES, "--drop", "vector", "--out", out).sentence
    assert told == "known.parquet has no column that a model can use."


@pytest.mark.parametrize("kind", [pa.list_(pa.float32(), WIDTH), pa.large_list(pa.float64())])
def test_a_missing_list_is_a_missing_value(kind, files, run, tmp_path):
    lists = [None, *VECTORS[N_KNOWN + 1 :].tolist()]
    table = {"vector": pa.array(lists, kind), "said": COLUMNS["said"][N_KNOWN:]}
    parquet.write_table(pa.table(table), tmp_path / "new.parquet")
    out = tmp_path / "scores.csv"
    assert run("score", files / "trust.skops", tmp_path / "new.parquet", "--out", out).code == 0
    whole = tmp_path / "whole.csv"
    run("score", files / "trust.skops", files / "new.parquet", "--out", whole)
    some, all_rows = pd.read_csv(out), pd.read_csv(whole)
    assert some["estimated_error"][1:].to_numpy() == pytest.approx(all_rows["estimated_error"][1:])


def changed(row, value):
    lists = VECTORS.tolist()
    lists[row] = value
    return pa.array(lists)


LACKING = [None, *[0.5] * (WIDTH - 1)]
BAD_LISTS = {
    "ragged": (
        changed(7, [0.5] * 3),
        "Row 7 of {} has a list of 3 numbers in 'vector', and the first list has 64.",
    ),
    "empty among others": (changed(5, []), "Row 5 of {} has a list of 0 numbers in 'vector'"),
    "a number is missing": (changed(9, LACKING), "Row 9 of {} has a list in 'vector' that lacks a"),
    "a number is missing behind a missing list": (
        pa.array([None, LACKING, *VECTORS[2:].tolist()], pa.list_(pa.float32(), WIDTH)),
        "Row 1 of {} has a list in 'vector' that lacks a number.",
    ),
    "strings": (
        pa.array([["0.5"] * 8] * len(VECTORS)),
        "'vector' of bad.parquet holds lists without numbers",
    ),
    "lists of lists": (pa.array([[[0.5]]] * len(VECTORS)), "holds lists without numbers"),
    "all empty": (pa.array([[]] * len(VECTORS), pa.list_(pa.float64())), "lists without numbers"),
    "all missing": (pa.nulls(len(VECTORS), pa.list_(pa.float64())), "lists without numbers"),
}


@pytest.mark.parametrize("what", BAD_LISTS)
@pytest.mark.parametrize("command_name", ["report", "fit"])
def test_bad_lists_get_one_sentence_and_nothing_is_written(what, command_name, run, tmp_path):
    lists, sentence = BAD_LISTS[what]
    path = tmp_path / "bad.parquet"
    parquet.write_table(pa.table({"vector": lists, "x": np.arange(320) % 7, **COLUMNS}), path)
    out = tmp_path / ("page.html" if command_name == "report" else "trust.skops")
    assert sentence.format(path) in run(command_name, path, *ROLES, "--out", out).sentence
    assert not out.exists()


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        (BAD_LISTS["ragged"][0], "Row 7 of {} has a list of 3 numbers in 'vector'"),
        (BAD_LISTS["a number is missing"][0], "Row 9 of {} has a list in 'vector' that lacks a"),
        (BAD_LISTS["strings"][0], "lacks 'vector_0', 'vector_1'"),
        (
            pa.array(np.hstack([VECTORS, VECTORS]).tolist()),
            "{} has lists of 128 numbers in 'vector', and the model knows 64.",
        ),
        (pa.array(VECTORS[:, :60].tolist()), "lacks 'vector_60', 'vector_61', 'vector_62'"),
    ],
)
def test_bad_new_lists_get_one_sentence_and_nothing_is_written(
    lists, sentence, files, run, tmp_path
):
    path, model = tmp_path / "bad.parquet", files / "trust.skops"
    parquet.write_table(pa.table({"vector": lists, "said": COLUMNS["said"]}), path)
    for command_name, out in (
        ("score", "scores.csv"),
        ("audit", "ask.csv"),
        ("watch", "page.html"),
    ):
        done = run(command_name, model, path, "--out", tmp_path / out)
        assert (done.code, done.out) == (2, "")
        assert (
            sentence.format(path) in done.err.splitlines()[-1]
        )  # `audit` says first what it left out
        assert not (tmp_path / out).exists()


def test_an_embedding_may_be_wide_where_no_model_is_fitted(run, tmp_path):
    wide = np.tile(VECTORS[:60], (1, 35))  # 2,240 numbers: a model would take hours
    table = pa.table({"vector": list(wide), **{name: each[:60] for name, each in COLUMNS.items()}})
    data, out = tmp_path / "wide.parquet", tmp_path / "trust.skops"
    parquet.write_table(table, data)
    done = run("fit", data, *ROLES, "--out", out)
    assert done.code == 0
    assert "skrub" not in done.err
    told = run("fit", data, "--target", "truth", "--drop", "said", "--out", out).err
    assert "wide.parquet has 2,240 input columns, and more than 2,000 would take hours" in told
