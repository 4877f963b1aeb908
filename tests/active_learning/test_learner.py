"""Ask, teach, fit: and only then is the model another."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from surefoot.active_learning import ActiveLearner


def rows(n_rows=200):
    return make_classification(n_rows, 4, n_redundant=0, class_sep=2.0, random_state=0)


def test_the_first_rows_are_random_and_later_ones_doubtful():
    X, y = rows()
    learner = ActiveLearner(GaussianNB(), "confidence", random_state=0)
    first = learner.query(X, 10)
    assert len(np.unique(first)) == 10
    learner.teach(X[first], y[first]).fit()
    second = learner.query(X, 1)
    shares = GaussianNB().fit(X[first], y[first]).predict_proba(X)[:, 1]
    assert second[0] == np.abs(shares - 0.5).argmin()


def test_the_model_changes_only_when_asked():
    X, y = rows()
    learner = ActiveLearner(GaussianNB(), random_state=0).fit(X[:20], y[:20])
    before = learner.estimator_
    learner.teach(X[20:40], y[20:40])
    assert learner.n_labels_ == 40
    assert learner.estimator_ is before
    assert_array_equal(learner.predict(X), GaussianNB().fit(X[:20], y[:20]).predict(X))
    learner.fit()
    assert_array_equal(learner.predict(X), GaussianNB().fit(X[:40], y[:40]).predict(X))
    assert learner.fit(X[:15], y[:15]).n_labels_ == 15


def test_a_new_class_may_be_taught():
    X, y = load_iris(return_X_y=True)
    learner = ActiveLearner(GaussianNB()).fit(X[:100:4], y[:100:4])
    assert_array_equal(learner.classes_, [0, 1])
    assert_array_equal(learner.teach(X[100::4], y[100::4]).fit().classes_, [0, 1, 2])


def polars(X):
    return pl.DataFrame(X, schema=list("abcd"))


@pytest.mark.parametrize("make", [np.asarray, csr_array, pd.DataFrame, polars])
def test_tables_of_any_kind_are_stacked(make):
    X, y = rows(60)
    model = LogisticRegression() if make is csr_array else make_pipeline(StandardScaler(), SVC())
    learner = ActiveLearner(model, "confidence", random_state=0).fit(make(X[:20]), y[:20])
    for start in (20, 30):
        assert len(learner.query(make(X[40:]), 2)) == 2
        learner.teach(make(X[start : start + 10]), y[start : start + 10]).fit()
    assert learner.n_labels_ == 40
    assert learner.score(make(X[40:]), y[40:]) > 0.5


def test_it_stops_in_words_when_predictions_have_settled():
    X, y = rows(400)
    learner = ActiveLearner(GaussianNB(), "random", tolerance=0.05, random_state=0)
    learner.fit(X[:20], y[:20])
    assert not learner.should_stop_
    assert learner.stop_reason_ == "Continue: no pool was queried yet."
    left, reasons = np.arange(100, 400), []
    while not learner.should_stop_:
        asked = left[learner.query(X[left], 10)]
        learner.teach(X[asked], y[asked]).fit()
        left = np.setdiff1d(left, asked)
        reasons.append(learner.stop_reason_)
    assert reasons[0] == "Go on: the number of labels has not doubled since the first model."
    assert learner.stop_reason_.startswith("Stop: the last ")
    # The rows labelled from the pool are not among those compared.
    assert f"of {320 - learner.n_labels_} predictions" in learner.stop_reason_
    assert learner.expected_gain_ <= 0.05


@pytest.mark.parametrize(
    ("act", "error", "sentence"),
    [
        (lambda new, X, y: new.fit(), ValueError, "There is nothing to fit yet"),
        (lambda new, X, y: new.fit(X), ValueError, "requires y to be passed"),
        (lambda new, X, y: new.fit(X, 0 * y), ValueError, "one class only so far, 0"),
        (lambda new, X, y: new.fit(X, y).teach(X[:, :2], y), ValueError, "X has 2 features"),
        (lambda new, X, y: new.set_params(strategy="best").query(X), ValueError, "'best' is not"),
        (lambda new, X, y: new.set_params(tolerance=2).fit(X, y), ValueError, "tolerance == 2"),
        (lambda new, X, y: new.set_params(estimator=Ridge()).fit(X, y), TypeError, "classifier"),
    ],
)
def test_what_cannot_be_done_gets_one_sentence(act, error, sentence):
    X, y = rows(60)
    with pytest.raises(error, match=sentence):
        act(ActiveLearner(GaussianNB()), X, y)
