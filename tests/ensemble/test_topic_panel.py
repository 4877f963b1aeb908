"""Many models around one search, against a cross-fit of each alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot._crossfit import CrossFitter, named
from surefoot.ensemble._topic_models import TopicCrossFitter, TopicModels
from surefoot.ensemble._topic_panel import TopicPanel
from surefoot.indicators import Confidence, LocalSensitivity, NeighborDisagreement, NeighborError
from surefoot.neighborhoods import KernelKNeighborsClassifier, NeighborhoodIndex


def cross_fit(indicators, model, X, y, *, cv):
    return CrossFitter(indicators, model, cv=cv).fit(X, y).held_out


def documents(n_rows=120, n_topics=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 20)) * (rng.random((n_rows, 20)) < 0.25)
    leaning = X @ rng.normal(size=(20, n_topics)) + 0.2 * rng.normal(size=(n_rows, n_topics))
    return csr_array(X), (leaning > 0.3).astype(int)


KINDS = [
    KernelKNeighborsClassifier(7, kernel="cosine"),
    LinearSVC(random_state=0),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    BernoulliNB(),
    MultinomialNB(),
    make_pipeline(MaxAbsScaler(), LogisticRegression()),
]
INDICATORS = [
    LocalSensitivity(per_class=True),
    LocalSensitivity(n_neighbors=5),
    NeighborDisagreement(n_neighbors=4),
    Confidence(),
    NeighborError(n_neighbors=4),
]


def grid(kinds=KINDS, indicators=INDICATORS):
    owners = [kind for kind in range(len(kinds)) for _ in indicators]
    return list(indicators) * len(kinds), TopicModels(list(kinds), owners)


def held_out(kinds, indicators, X, y):
    fitter = TopicCrossFitter([indicators] * len(kinds), kinds, cv=folds(len(y)))
    return fitter.fit(X, y).held_out


def folds(n_rows, n_folds=3):
    return [
        (np.flatnonzero(np.arange(n_rows) % n_folds != f), np.arange(f, n_rows, n_folds))
        for f in range(n_folds)
    ]


@pytest.mark.parametrize("as_dense", [False, True])
def test_every_model_of_every_topic_gets_the_columns_it_would_get_alone(as_dense):
    X, y = documents()
    X = X.toarray() if as_dense else X
    found = held_out(KINDS, INDICATORS, X, y)
    assert found.scores.shape == (120, len(KINDS) * 3)
    for kind, estimator in enumerate(KINDS):
        for topic in range(3):
            alone = cross_fit(INDICATORS, estimator, X, y[:, topic], cv=folds(120))
            assert_allclose(found.scores[:, kind * 3 + topic], alone.scores[:, 0], atol=1e-10)
            for place, block in enumerate(alone.columns.values()):
                shared = list(found.columns.values())[kind * len(INDICATORS) + place].reshape(
                    120, 3, -1
                )
                assert_allclose(shared[:, topic], block, atol=1e-10)


def test_all_models_in_the_rows_own_space_share_one_search(monkeypatch):
    built = []
    original = NeighborhoodIndex._index_rows

    def count(self, *args):
        built.append(type(self.predictor).__name__)
        return original(self, *args)

    monkeypatch.setattr(NeighborhoodIndex, "_index_rows", count)
    X, y = documents()
    asked, models = grid(KINDS[:5], INDICATORS[:3])
    TopicPanel(named(asked), models.fit(X, y), X, y)
    assert built == ["KernelKNeighborsClassifier"]  # for 15 models


def test_the_neighbours_vote_without_a_search_of_their_own(monkeypatch):
    X, y = documents()
    panel = TopicPanel({}, TopicModels([KINDS[0]], []).fit(X, y), X, y)
    expected = [KINDS[0].fit(X, topic).decision_function(X) for topic in y.T]
    monkeypatch.setattr(KernelKNeighborsClassifier, "_most_similar", None)
    assert_allclose(panel(X).scores, np.column_stack(expected), atol=1e-12)


def test_a_topic_that_nobody_has_gets_no_model_and_no_number():
    X, y = documents()
    y[:, 1] = 0
    asked, models = grid(KINDS[:2], INDICATORS[:1])
    panel = TopicPanel(named(asked), models.fit(X, y), X, y)
    scores, columns, *_ = panel(X)
    assert_array_equal(np.isnan(scores).all(axis=0), [False, True, False] * 2)
    assert_array_equal(np.isnan(scores).any(axis=0), [False, True, False] * 2)
    assert_array_equal(
        np.isnan(columns["LocalSensitivity"]).all(axis=0), [False, False, True, True, False, False]
    )
    assert [list(names) for names in panel.column_names()] == [["shift_1", "spread_1"]] * 2


def test_indicators_with_settings_of_their_own_are_heard_alone():
    X, y = documents()
    own = [LocalSensitivity(metric="euclidean", response="predict_proba"), Confidence()]
    found = held_out([BernoulliNB()], own, X, y)
    alone = cross_fit(own, BernoulliNB(), X, y[:, 2], cv=folds(120))
    assert_allclose(
        found.columns["LocalSensitivity"].reshape(120, 3, -1)[:, 2],
        alone.columns["LocalSensitivity"],
        atol=1e-10,
    )


def test_rows_with_gaps_are_each_models_own():
    X, y = documents()
    rows = np.where(X.toarray() > 0.9, np.nan, X.toarray())
    tree, asked = KINDS[2], INDICATORS[:1]
    found = held_out([tree, tree], asked, rows, y)
    alone = cross_fit(asked, tree, rows, y[:, 0], cv=folds(120))
    second, [expected] = found.columns["LocalSensitivity_2"], alone.columns.values()
    assert_allclose(second.reshape(120, 3, -1)[:, 0], expected, atol=1e-10)


def test_a_fold_without_a_class_gets_one_sentence():
    X, y = documents(n_topics=1)
    y[:] = 0
    y[:3] = 1
    with pytest.raises(ValueError, match="training fold with one class only"):
        TopicCrossFitter([[]], [BernoulliNB()], cv=[(np.arange(3, 120), np.arange(3))]).fit(X, y)
