"""Rows with unusual missing inputs are novel, wherever imputation puts them; rows like the training rows are not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from surefoot import AbstainingClassifier, IndividualErrorClassifier, load, save
from surefoot._tables import MissingInputs
from surefoot.abstention import Promise


def table(rng, n_rows, n_columns, share=0.0):
    X = rng.normal(size=(n_rows, n_columns))
    X[rng.random(X.shape) < share] = np.nan
    return X


@pytest.mark.parametrize("n_rows", [200, 2_000])
@pytest.mark.parametrize("n_columns", [10, 40])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_at_most_two_percent_of_unchanged_rows_are_unusual(share, n_columns, n_rows):
    rng = np.random.default_rng(0)
    marked = [
        MissingInputs.of(table(rng, n_rows, n_columns, share))
        .are_unusual(table(rng, 2_000, n_columns, share))
        .mean()
        for _ in range(20)
    ]
    assert np.mean(marked) <= 0.02


@pytest.mark.parametrize("joint", [False, True])
def test_columns_that_are_rarely_missing(joint):
    """40 columns, each missing in 3 of 1,000 rows: 11 % of the rows lack one, or 0.3 % lack all."""
    rng = np.random.default_rng(0)

    def drawn(n_rows):
        X = rng.normal(size=(n_rows, 40))
        X[rng.random((n_rows, 1) if joint else X.shape).repeat(40 if joint else 1, 1) < 0.003] = (
            np.nan
        )
        return X

    marked = [MissingInputs.of(drawn(1_000)).are_unusual(drawn(5_000)).mean() for _ in range(20)]
    assert np.mean(marked) <= 0.02


def test_the_rule_by_hand():
    X = np.zeros((200, 3))
    X[:100, 0] = (
        np.nan
    )  # half of the rows lack the first column, one row the second, none the third
    X[150, 1] = np.nan
    rule = MissingInputs.of(X)
    nan = np.nan
    new = [[0, 0, 0], [nan, 0, 0], [0, nan, 0], [0, 0, nan], [nan, 0, nan], [nan, nan, nan]]
    assert rule.are_unusual(np.array(new)).tolist() == [False, False, True, True, True, True]


@pytest.mark.parametrize("kind", ["pandas", "polars", "objects"])
def test_every_kind_of_table(kind):
    values = {"a": [1.0, None, 3.0] * 40, "b": ["x", "y", None] * 40, "c": [1, 2, 3] * 40}
    frame = pd.DataFrame(values)
    X = {"pandas": frame, "polars": pl.DataFrame(values), "objects": frame.to_numpy(object)}[kind]
    rule = MissingInputs.of(X)
    assert rule.required.tolist() == [False, False, True]
    assert not rule.are_unusual(X).any()


def test_empty_cells_of_sparse_rows_are_zeros():
    X = np.eye(4)[np.arange(200) % 4]
    X[:50, 0] = np.nan
    new = [[0, 0, 0, 0], [np.nan, 0, 0, 0], [0, np.nan, 0, 0], [np.nan] * 4]
    for kind in (np.array, csr_array, csr_matrix):
        rule = MissingInputs.of(kind(X))
        assert rule.are_unusual(kind(new)).tolist() == [False, False, True, True]


def test_a_list_of_texts_is_one_column():
    texts = np.array(["one", "two", None] * 40, dtype=object)
    assert not MissingInputs.of(texts).are_unusual(texts[:3]).any()
    assert MissingInputs.of(texts[:2]).are_unusual(texts[:3]).tolist() == [False, False, True]


@pytest.fixture(scope="module")
def complete():
    rng = np.random.default_rng(0)
    X = table(rng, 600, 6)
    y = (X[:, 0] + 0.5 * rng.normal(size=600) > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=20)
    return IndividualErrorClassifier(model, random_state=0).fit(X, y), X, y


def test_a_row_without_inputs_is_novel_and_not_accepted(complete, tmp_path):
    estimator, X, _ = complete
    new = X[:40] + 1e-3
    new[:20] = np.nan
    judgement = Promise.from_held_out(estimator.held_out_).apply(estimator.judge(new))
    assert judgement.novel[:20].all()
    assert judgement.novel[20:].mean() < 0.2
    assert not judgement.accepted[:20].any()
    assert judgement.accepted[20:].any()
    assert_array_equal(estimator.predict_novelty(new), judgement.novel)
    save(estimator, tmp_path / "model.skops")
    assert_array_equal(load(tmp_path / "model.skops").judge(new).novel, judgement.novel)


def test_sparse_rows_without_inputs_are_novel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6)) * (rng.random((400, 6)) < 0.4)
    model = make_pipeline(SimpleImputer(), LogisticRegression())
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    estimator = IndividualErrorClassifier(model, random_state=0).fit(csr_array(X), y)
    new = np.vstack([np.full((3, 6), np.nan), np.zeros((1, 6))])
    assert estimator.judge(csr_array(new)).novel.tolist() == [True, True, True, False]


def test_with_missing_values_in_training_rows():
    rng = np.random.default_rng(1)
    X = table(rng, 1_200, 12, 0.1)
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=1_200) > 0).astype(int)
    model = make_pipeline(SimpleImputer(), LogisticRegression())
    estimator = IndividualErrorClassifier(model, random_state=0).fit(X[:600], y[:600])
    assert estimator.judge(X[600:]).novel.mean() <= 0.04  # 1 % by the distance, 2 % by the rule
    assert estimator.predict_novelty(np.full((3, 12), np.nan)).all()


@pytest.mark.parametrize("frozen", [False, True])
def test_abstaining_classifiers_do_not_answer_such_rows(complete, frozen):
    _, X, y = complete
    model = HistGradientBoostingClassifier(max_iter=20)
    model = FrozenEstimator(model.fit(X[:300], y[:300])) if frozen else model
    abstaining = AbstainingClassifier(model, coverage=0.9, random_state=0).fit(X[300:], y[300:])
    new = X[:20].copy()
    assert abstaining.predict_accepted(new).mean() > 0.5
    new[:] = np.nan
    assert not abstaining.predict_accepted(new).any()
