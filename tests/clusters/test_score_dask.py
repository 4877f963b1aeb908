"""Scores by workers of Dask: the local ones, with their index, also if a worker is killed."""

import os
import time

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.abstention import Promise
from surefoot.scoring import output_schema, score_dask


def judged(sure, rows):
    """Scores without Dask, with the index of the rows."""
    return (
        Promise.from_held_out(sure.held_out_)
        .apply(sure.judge(rows))
        .to_frame()
        .set_index(rows.index)
    )


def assert_alike(scores, expected):
    """Equal labels and decisions, and figures that agree to ten digits."""
    pd.testing.assert_frame_equal(scores, expected, check_dtype=False, rtol=1e-10, atol=0)


def test_a_cluster_gives_the_local_scores(client, sure, rows):
    scores = score_dask(sure, dd.from_pandas(rows, npartitions=5))
    assert_alike(client.compute(scores).result(), judged(sure, rows))


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


def test_a_part_without_rows_has_the_types_of_the_others(sure, rows):
    ddf = dd.from_pandas(rows, npartitions=3)
    scores = score_dask(sure, ddf[ddf["age"] > rows["age"].max()])
    empty = scores.compute(scheduler="sync")
    assert len(empty) == 0
    pd.testing.assert_series_equal(empty.dtypes, scores.dtypes)
    some = score_dask(sure, ddf).compute(scheduler="sync")
    pd.testing.assert_series_equal(some.dtypes, scores.dtypes)


def test_a_frame_is_judged_with_the_kinds_of_fit(sure, rows):
    """Texts of Dask may be texts of Arrow, categories of one partition, or numbers as texts."""
    odd = rows.astype({"plan": "category", "spent": "string"}).assign(note=[object()] * len(rows))
    ddf = dd.from_pandas(odd[::-1], npartitions=3, sort=False)
    scores = score_dask(sure, ddf).compute(scheduler="sync")
    assert_alike(scores, judged(sure, rows)[::-1])


def test_a_model_of_arrays_takes_columns_by_their_place(rows):
    X = rows[["age", "spent"]]
    sure = IndividualErrorRegressor(LinearRegression(), cv=2, random_state=0)
    sure.fit(X.to_numpy(), X["age"] + np.random.default_rng(0).normal(size=len(X)))
    scores = score_dask(sure, dd.from_pandas(X, npartitions=2)).compute(scheduler="sync")
    np.testing.assert_allclose(scores["estimated_error"], sure.predict_error(X.to_numpy()))
    with pytest.raises(ValueError, match=r"fitted on 2 columns, but the table has 3\."):
        score_dask(sure, dd.from_pandas(rows, npartitions=2))


def test_threads_of_one_worker_share_the_model(sure, rows):
    scores = score_dask(sure, dd.from_pandas(rows, npartitions=8))
    assert_alike(scores.compute(scheduler="threads", num_workers=4), judged(sure, rows))


def test_a_promise_of_the_user_decides_which_rows_are_trusted(sure, rows):
    none, ddf = Promise(0.01, 0.95, -np.inf, 0.0, 200), dd.from_pandas(rows, npartitions=2)
    scores = score_dask(sure, ddf, none).compute(scheduler="sync")
    assert not scores["accepted"].any()
    assert judged(sure, rows)["accepted"].any()


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda rows: rows, TypeError, "ddf is a DataFrame: make a Dask frame of it"),
        (
            lambda rows: dd.from_pandas(rows.drop(columns="plan"), npartitions=2),
            ValueError,
            "The table lacks 'plan', which the model was fitted on",
        ),
    ],
    ids=["frame of pandas", "missing column"],
)
def test_what_cannot_be_scored_is_refused_before_anything_runs(sure, rows, make, error, sentence):
    with pytest.raises(error, match=sentence):
        score_dask(sure, make(rows))


def test_a_model_that_is_not_fitted_is_refused(rows):
    with pytest.raises(ValueError, match="not fitted"):
        score_dask(IndividualErrorClassifier(LogisticRegression()), rows)
