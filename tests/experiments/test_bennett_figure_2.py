"""Figure 2 counts by hand, and in small on Reuters."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics import f1_score
from sklearn.utils import Bunch

from surefoot.experiments import _text_corpora, run_experiment
from surefoot.experiments._bennett_figure_2 import (
    STACK,
    STRIVE,
    SVM,
    Outcome,
    changes_of,
    significance,
)
from surefoot.experiments._text_corpora import Corpus, newsgroups, rcv1, weighted_terms
from surefoot.experiments._text_decisions import topic_threshold
from surefoot.experiments._text_models import BernoulliLogOdds, MultinomialLogOdds, TermCount

HOME = Path(os.environ.get("SUREFOOT_DATA", "")) / "reuters21578" / "reuters21578.tar.gz"


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def small_outcome():
    truth = np.array([[1, 0], [1, 1], [0, 1], [0, 0]], dtype=bool)
    svm = np.array([[1, 1], [0, 0], [1, 1], [0, 0]], dtype=bool)  # 2 false, 2 missed, 2 right
    stack = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)  # 1 false, 1 missed, 3 right
    assigned = {}
    for objective in ("f1", "error"):
        assigned |= {(objective, SVM): svm, (objective, STACK): stack, (objective, STRIVE): truth}
    return Outcome("small", truth, assigned)


def test_counts_by_hand():
    outcome = small_outcome()
    assert_array_equal(outcome.counts("f1", SVM), [2, 2, 2])
    assert_array_equal(outcome.counts("f1", STACK), [1, 1, 3])
    assert_allclose(changes_of(outcome, "f1", STACK), [-0.5, -0.5, 0.5])
    assert outcome.error_reduction("error", STACK) == 0.5
    assert outcome.error_reduction("error", STRIVE, STACK) == 1.0
    expected = f1_score(outcome.truth, outcome.assigned["f1", SVM], average="micro")
    assert_allclose(outcome.f1("f1", SVM), expected)
    # One of two found and one too many, in the first topic as in the second: 2/4 each.
    assert outcome.macro_f1("f1", SVM) == 0.5


def test_some_topics_alone():
    second = small_outcome().only(np.array([1]), "second")
    assert_array_equal(second.counts("f1", SVM), [1, 1, 1])
    assert second.name == "second"


def test_each_pair_is_tested_three_times():
    p_values = significance(small_outcome(), "error")
    assert {(first, second) for first, second, *_ in p_values} == {
        (STRIVE, SVM),
        (STRIVE, STACK),
        (STACK, SVM),
    }
    # STRIVE-S is right on all four decisions that the SVM has wrong: two of 2⁴ ways.
    assert p_values[0] == (STRIVE, SVM, "micro sign", pytest.approx(2 / 16))


def test_a_topic_that_no_held_out_document_has_is_never_assigned():
    scores = np.array([1.0, 2.0, np.nan])
    assert topic_threshold(scores, np.array([0, 0, 1]), "f1") == np.inf
    assert topic_threshold(scores, np.array([0, 1, 1]), "error") == 1.5


@pytest.mark.parametrize("model", [BernoulliLogOdds(), MultinomialLogOdds()])
def test_log_odds_of_naive_bayes_are_those_of_its_probabilities(model):
    rng = np.random.default_rng(0)
    X, y = csr_array(rng.poisson(0.5, (60, 8))), rng.integers(0, 2, 60)
    chance = model.fit(X, y).predict_proba(X)
    assert_allclose(model.decision_function(X), np.log(chance[:, 1] / chance[:, 0]))


@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_terms_are_counted(kind):
    X, y = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]), [0, 1]
    counted = TermCount(MultinomialLogOdds()).fit(kind(X), y)
    assert_allclose(counted.transform(kind(X)), [[np.log(3)], [0.0]])
    assert_allclose(counted.score_samples(kind(X)), [np.log(3), 0.0])


def test_test_documents_have_no_say_in_the_terms():
    train, test = weighted_terms(["oil gas", "oil coal gas"], ["oil zinc zinc", "zinc"])
    assert train.shape == (2, 2)  # coal is in one only, zinc in none
    assert_allclose(test.toarray(), [[0.0, 1.0], [0.0, 0.0]])


def test_largest_topics_and_every_tenth_document():
    rng = np.random.default_rng(0)
    y = (rng.random((100, 7)) < np.array([0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.5])).astype(int)
    corpus = Corpus("some", csr_array(np.eye(100)), y, csr_array(np.eye(100)), y)
    assert_array_equal(corpus.largest(3), [1, 3, 5])
    few = corpus.thinned(10).only(corpus.largest(5))
    assert few.X_train.shape == (10, 100)
    assert_array_equal(few.y_test, y[::10][:, [1, 3, 4, 5, 6]])


def fake_news(*, subset, **_):
    texts = [f"oil word{i} gas" for i in range(6)] if subset == "train" else ["oil", "gas"]
    targets = [0, 1, 2, 0, 1, 2] if subset == "train" else [2, 0]
    return Bunch(data=texts, target=np.array(targets), target_names=["a", "b", "c"])


def fake_rcv1(*, subset, **_):
    n_rows = 20 if subset == "train" else 40
    topics = np.zeros((n_rows, 3), dtype=np.uint8)
    topics[::2, 0] = 1
    topics[1, 1] = 1  # of the test documents that are kept none has the second topic
    return Bunch(data=csr_array(np.eye(n_rows, 5)), target=csr_array(topics))


def test_further_corpora_as_scikit_learn_has_them(monkeypatch):
    monkeypatch.setattr(_text_corpora, "fetch_20newsgroups", fake_news)
    monkeypatch.setattr(_text_corpora, "fetch_rcv1", fake_rcv1)
    news = newsgroups()
    assert_array_equal(news.y_train, np.tile(np.eye(3), (2, 1)))
    assert_array_equal(news.y_test, [[0, 0, 1], [1, 0, 0]])
    assert news.X_train.shape == (6, 2)
    stories = rcv1()
    assert stories.X_test.shape == (3, 5)  # every sixteenth of forty
    assert stories.y_train.shape == (20, 1)


def test_corpora_that_are_not_at_hand_are_named(monkeypatch):
    def absent(**_):
        raise OSError

    monkeypatch.setattr(_text_corpora, "reuters", lambda **_: "Reuters")
    monkeypatch.setattr(_text_corpora, "fetch_20newsgroups", absent)
    monkeypatch.setattr(_text_corpora, "fetch_rcv1", absent)
    corpora, skipped = _text_corpora.find_corpora(quick=False)
    assert corpora == ["Reuters"]
    assert [sentence.split(" skipped")[0] for sentence in skipped] == ["RCV1", "20 newsgroups"]


@pytest.mark.data
@pytest.mark.skipif(not HOME.exists(), reason="Reuters-21578 is not in $SUREFOOT_DATA")
def test_figure_2_in_small(tmp_path):
    text = run_experiment("bennett-figure-2", tmp_path, quick=True)
    rows = read(tmp_path / "bennett-figure-2.csv")
    assert len(rows) == 10  # two objectives, five systems
    for row in rows:
        parts = [
            float(row[name]) for name in ("false_positives", "false_negatives", "correct_positives")
        ]
        assert_allclose(
            float(row["f1"]), 2 * parts[2] / (2 * parts[2] + parts[0] + parts[1]), atol=1e-4
        )
    f1 = {(row["objective"], row["system"]): float(row["f1"]) for row in rows}
    assert f1["f1", STACK] > f1["f1", SVM]
    assert f1["f1", STRIVE] > f1["f1", SVM]
    assert len(read(tmp_path / "bennett-figure-2-tests.csv")) == 18
    assert len(read(tmp_path / "bennett-figure-2-selection.csv")) == 5
    assert "the paper: 4 to 18 %" in text


@pytest.mark.data
@pytest.mark.skipif(not HOME.exists(), reason="Reuters-21578 is not in $SUREFOOT_DATA")
def test_ways_of_sampling_text_in_small(tmp_path):
    text = run_experiment("bennett-cell-text", tmp_path, quick=True)
    rows = read(tmp_path / "bennett-cell-text.csv")
    assert [row["sampling"] for row in rows] == ["none", "voronoi", "midpoint", "uniform", "axis"]
    # Other samples, other columns, other decisions.
    assert len({(row["held_out_errors"], row["test_errors"]) for row in rows}) > 1
    assert "of the midpoints are outside the cell" in text
