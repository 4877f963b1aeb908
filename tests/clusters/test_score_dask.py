"""Scores by workers of Dask: those of one process, byte for byte, also if a worker is killed or the cluster is lost."""

import os
import time
from threading import Thread

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from skops.io import dump

from surefoot import IndividualErrorClassifier, assess_predictions
from surefoot.abstention import Promise
from surefoot.cli import main
from surefoot.scoring import output_schema, score_dask, score_table


def judged(sure, rows):
    """Scores without Dask, with the index of the rows."""
    frame = Promise.from_held_out(sure.held_out_).apply(sure.judge(rows)).to_frame()
    return frame.set_index(rows.index)


def assert_alike(scores, expected):
    """Equal labels and decisions, and figures that agree to ten digits."""
    pd.testing.assert_frame_equal(scores, expected, check_dtype=False, rtol=1e-10, atol=0)


def test_a_cluster_gives_the_local_scores(client, sure, rows):
    scores = score_dask(sure, dd.from_pandas(rows, npartitions=5))
    assert_alike(client.compute(scores).result(), judged(sure, rows))


@pytest.mark.slow
def test_nothing_is_lost_or_twice_if_a_worker_is_killed(cluster, client, sure, rows, tmp_path):
    def slowly(part, folder):
        (folder / f"{os.getpid()}-{part.index[0]}").touch()
        time.sleep(0.05)
        return part

    def n_begun(process):
        return len(list(tmp_path.glob(f"{process}-*")))

    ddf = dd.from_pandas(rows, npartitions=24)
    slow = ddf.map_partitions(slowly, tmp_path, meta=ddf)
    victim = cluster.workers[0].pid
    future = client.compute(score_dask(sure, slow))
    cluster.wait_until(lambda: n_begun(victim) >= 2, "a worker to begin")
    assert cluster.kill_worker() == victim
    assert n_begun("*") < 24
    assert_alike(future.result(), judged(sure, rows))
    assert n_begun("*") >= 24


def test_partitions_index_and_divisions_are_kept(sure, rows):
    ddf = dd.from_pandas(rows, npartitions=4)
    scores = score_dask(sure, ddf)
    assert scores.divisions == ddf.divisions
    assert list(scores.columns) == output_schema(sure).names
    second = scores.partitions[1].compute(scheduler="sync")
    assert_alike(second, judged(sure, ddf.partitions[1].compute(scheduler="sync")))


def test_a_frame_is_judged_with_the_kinds_of_fit(sure, rows):
    """Texts of Dask may be texts of Arrow, categories of one partition, or numbers as texts."""
    odd = rows.astype({"plan": "category", "spent": "string"}).assign(note=[object()] * len(rows))
    ddf = dd.from_pandas(odd[::-1], npartitions=3, sort=False)
    scores = score_dask(sure, ddf).compute(scheduler="sync")
    assert_alike(scores, judged(sure, rows)[::-1])


def test_what_cannot_be_scored_is_refused_before_anything_runs(sure, rows):
    with pytest.raises(TypeError, match="ddf is a DataFrame: make a Dask frame of it"):
        score_dask(sure, rows)
    with pytest.raises(ValueError, match="The table lacks 'plan', which the model was fitted on"):
        score_dask(sure, dd.from_pandas(rows.drop(columns="plan"), npartitions=2))
    with pytest.raises(ValueError, match="not fitted"):
        score_dask(IndividualErrorClassifier(LogisticRegression()), rows)


# Tables in files


@pytest.fixture
def table(rows, tmp_path):
    path = tmp_path / "rows.parquet"
    rows.to_parquet(path)
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


@pytest.mark.slow
def test_a_killed_worker_changes_no_byte(cluster, client, sure, table, tmp_path):
    seen = []

    def kill_in_the_middle(share, words, seconds):
        seen.append(share)
        if len(seen) == 4:
            cluster.kill_worker()

    local, spread = tmp_path / "local", tmp_path / "spread"
    expected = score_table(sure, table, local, rows_per_part=50)
    summary = score_table(
        sure, table, spread, rows_per_part=50, client=client, progress=kill_in_the_middle
    )
    assert summary == expected
    assert len(contents(local)) == 12
    assert contents(spread) == contents(local)
    assert 0 < seen[3] < 1


def test_a_cell_that_does_not_fit_is_named_with_its_line(client, sure, rows, tmp_path):
    odd = rows.reset_index(drop=True).astype({"age": object})
    odd.loc[250, "age"] = "old"
    odd.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match=r"Line 252 of .*rows\.csv has 'old' in the column 'age'"):
        score_table(sure, tmp_path / "rows.csv", tmp_path / "out", rows_per_part=100, client=client)
    finished = pd.concat(
        [pd.read_parquet(path) for path in sorted((tmp_path / "out").glob("*.parquet"))]
    )
    assert finished["row"].tolist() == list(range(200))


def test_the_model_is_sent_once_whatever_the_number_of_parts(
    client, sure, rows, table, tmp_path, monkeypatch
):
    packed, pack = [], type(sure).__getstate__
    monkeypatch.setattr(type(sure), "__getstate__", lambda self: packed.append(1) or pack(self))
    counts = []
    for n_parts in (2, 12):
        size = len(rows) // n_parts
        score_table(sure, table, tmp_path / f"{n_parts}", rows_per_part=size, client=client)
        counts.append(len(packed))
        client.compute(score_dask(sure, dd.from_pandas(rows, npartitions=n_parts))).result()
        counts.append(len(packed))
    assert 0 < counts[0] < counts[1]
    assert counts[2:] == [counts[1] + counts[0], 2 * counts[1]]


# `surefoot score --dask`


@pytest.fixture
def files(sure, rows, tmp_path):
    """Model and table."""
    dump(sure, tmp_path / "model.skops")
    rows.reset_index(drop=True).to_parquet(tmp_path / "rows.parquet")
    return tmp_path / "model.skops", tmp_path / "rows.parquet"


def score(capsys, files, out, *options):
    """Exit code, and what is printed on stderr."""
    with pytest.raises(SystemExit) as left:
        main(["score", *map(str, files), "--out", str(out), "--json", *options])
    return left.value.code, capsys.readouterr().err


def test_the_command_writes_the_bytes_of_a_local_run(capsys, cluster, files, tmp_path):
    local, spread = tmp_path / "local", tmp_path / "spread"
    assert not score(capsys, files, local)[0]
    assert not score(capsys, files, spread, "--dask", cluster.address)[0]
    assert contents(local)
    assert contents(spread) == contents(local)


@pytest.mark.parametrize(
    ("address", "out", "sentence"),
    [
        (
            "tcp://127.0.0.1:1",
            "scores",
            "No scheduler of Dask answers at tcp://127.0.0.1:1 within ",
        ),
        ("nonsense", "scores", "'nonsense' is no address of a scheduler of Dask: "),
        ("tcp://127.0.0.1:1", "scores.csv", "--dask writes parts: name a folder instead of "),
    ],
    ids=["nobody answers", "no address", "file"],
)
def test_a_cluster_that_is_not_there(capsys, files, tmp_path, address, out, sentence):
    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        code, printed = score(capsys, files, tmp_path / out, "--dask", address)
    assert code == 2
    assert printed.startswith(sentence)
    assert printed.count("\n") == 1
    assert not (tmp_path / out).exists()


@pytest.mark.slow
def test_a_run_whose_cluster_is_lost_can_go_on(capsys, monkeypatch, own_cluster, files, tmp_path):
    whole, scores = tmp_path / "whole", tmp_path / "scores"
    monkeypatch.setattr("surefoot.scoring._table.ROWS_PER_PART", 10)
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        code, printed = score(capsys, files, scores, "--dask", own_cluster.address)
    assert (code, printed.count("\n")) == (2, 1)
    assert "has no worker: start one with dask worker tcp://127.0.0.1" in printed

    def end_in_the_middle():
        own_cluster.wait_until(lambda: contents(scores), "the first part")
        own_cluster.processes[0].kill()

    own_cluster.start_worker()
    ending = Thread(target=end_in_the_middle)
    ending.start()
    code, printed = score(capsys, files, scores, "--dask", own_cluster.address)
    ending.join()
    assert code == 2
    assert "was lost. Finished parts stay" in printed.splitlines()[-1]
    finished = contents(scores)
    assert not score(capsys, files, scores)[0]
    assert not score(capsys, files, whole)[0]
    assert contents(scores) == contents(whole)
    assert 0 < len(finished) < len(contents(whole))


@pytest.fixture(scope="module")
def given(sure, rows):
    """Rows with predictions that were made elsewhere, with probabilities and without, and what was learned of them."""
    table = rows.assign(said=sure.predict(rows), p_yes=sure.predict_proba(rows)[:, 1])
    truth = np.where(
        rows["spent"] + np.random.default_rng(4).normal(size=len(rows)) > 0, "yes", "no"
    )
    known = slice(0, 200)
    return table, {
        probabilities: assess_predictions(
            table[known],
            truth[known],
            "said",
            probabilities and {"yes": probabilities},
            random_state=0,
        )
        for probabilities in (None, "p_yes")
    }


@pytest.mark.parametrize("probabilities", [None, "p_yes"])
def test_a_cluster_judges_given_predictions(probabilities, client, given, tmp_path):
    table, error_estimators = given
    error_estimator = error_estimators[probabilities]
    ddf = dd.from_pandas(table, npartitions=5)
    scores = client.compute(score_dask(error_estimator, ddf)).result()
    assert_alike(scores, judged(error_estimator, table))
    assert (scores["prediction"] == table["said"]).all()
    table.to_parquet(tmp_path / "rows.parquet", index=False)
    for where in ("cluster", "alone"):
        spread = {"client": client} if where == "cluster" else {}
        score_table(
            error_estimator,
            tmp_path / "rows.parquet",
            tmp_path / where,
            rows_per_part=150,
            **spread,
        )
    parts = [sorted((tmp_path / where).glob("*.parquet")) for where in ("cluster", "alone")]
    assert len(parts[0]) == 4
    for one, other in zip(*parts, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_partition_without_a_prediction_is_an_error_that_names_the_fault(given):
    table, error_estimators = given
    lacking = table.assign(said=table["said"].where(table.index != table.index[450]))
    scores = score_dask(error_estimators[None], dd.from_pandas(lacking, npartitions=5))
    with pytest.raises(ValueError, match="has no prediction"):
        scores.compute(scheduler="sync")
