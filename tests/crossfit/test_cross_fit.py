"""Which model saw which row: recorded, counted, and held against splitters of every kind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from surefoot._crossfit import cross_fit, cross_predict
from surefoot._splits import resolve_cv
from surefoot.indicators import Confidence, NeighborDistance, NeighborError, SecondOpinion
from surefoot.resampling import HoldoutSplit


def rows(n_rows=60):
    return make_classification(n_rows, 4, n_redundant=0, random_state=0)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the rows it was fitted on and asked about: their number is their first column."""

    fitted: list = []  # noqa: RUF012 - of all copies together

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.seen_, self.asked_ = set(X[:, 0].astype(int)), set()
        self.weight_ = sample_weight
        self.fitted.append(self)
        return self

    def decision_function(self, X):
        assert self.seen_.isdisjoint(X[:, 0].astype(int))
        self.asked_ |= set(X[:, 0].astype(int))
        return np.sin(X[:, 0])

    def predict(self, X):
        return self.classes_[(np.sin(X[:, 0]) > 0).astype(int)]


def numbered(n_rows):
    """Rows that are their own number, with both classes everywhere."""
    return np.arange(n_rows)[:, None] * 1.0, np.arange(n_rows) % 2


def record(n_rows=20, indicators=(), *, groups=None, sample_weight=None, **settings):
    Recorder.fitted = []
    given = {"groups": groups, "sample_weight": sample_weight}
    return cross_fit(Recorder(), indicators, *numbered(n_rows), **settings, **given)


PARTIAL = [(np.arange(10, 20), np.arange(5)), (np.arange(15), np.arange(15, 20))]


@pytest.mark.parametrize(
    "cv",
    [
        4,
        KFold(3),
        TimeSeriesSplit(3),
        ShuffleSplit(4, random_state=0),
        HoldoutSplit(4 / 9),
        PARTIAL,
    ],
    ids=["int", "partition", "time", "shuffled", "holdout", "iterable"],
)
def test_no_model_that_speaks_of_a_row_saw_it(cv):
    # The recorder refuses a row that it was fitted on.
    cross = record(20, [NeighborError(n_neighbors=2), Confidence()], cv=cv)
    for fold in cross.folds:
        index = fold.panel.index
        assert not np.isnan(index.held_out_scores[:, 0]).all()
        assert set(fold.test).isdisjoint(index.input.rows[:, 0].astype(int))


@pytest.mark.parametrize(
    "cv", [4, ShuffleSplit(4, random_state=0), HoldoutSplit(4 / 9), TimeSeriesSplit(3)]
)
def test_what_is_said_of_a_neighbour_comes_from_models_without_the_rows_fold(cv):
    cross = record(20, [NeighborError(n_neighbors=2)], cv=cv)
    for fold in cross.folds:
        index = fold.panel.index
        known = fold.train[~np.isnan(index.held_out_scores[:, 0])]
        without = [m for m in Recorder.fitted if m.seen_ < set(fold.train)]
        assert known.size
        assert set(known) <= set().union(*(model.asked_ for model in without))


@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_each_model_is_fitted_once(n_folds):
    record(20, [Confidence()], cv=n_folds)
    assert len(Recorder.fitted) == n_folds + 1
    record(20, [NeighborError(n_neighbors=2)], cv=n_folds)
    # With two folds there is no model without both: each fold is divided anew.
    pairs = n_folds * (n_folds - 1) // 2 if n_folds > 2 else 2 * 5
    assert len(Recorder.fitted) == n_folds + pairs + 1


def test_neighbours_scores_are_those_of_the_models_with_two_folds_left_out():
    X, y = rows(90)
    cv = StratifiedKFold(3)
    splits = list(cv.split(X, y))
    cross = cross_fit(LogisticRegression(), [NeighborError()], X, y, cv=cv)
    for i, (train, test) in enumerate(splits):
        scores = cross.folds[i].panel.index.held_out_scores
        for other in [fold for j, (_, fold) in enumerate(splits) if j != i]:
            rest = np.setdiff1d(train, other)
            expected = LogisticRegression().fit(X[rest], y[rest]).decision_function(X[other])
            assert_allclose(scores[np.isin(train, other), 0], expected)
        assert not np.isin(test, train).any()


def test_a_holdout_leaves_the_model_on_its_part():
    X, y = rows()
    cv = HoldoutSplit(4 / 9, random_state=0)
    [(learned, held_out)] = HoldoutSplit(4 / 9, random_state=0).split(X, y)
    cross = cross_fit(LogisticRegression(), [], X, y, cv=cv)
    assert_array_equal(cross.deployed.train, learned)
    assert_array_equal(cross.held_out.rows, held_out)
    assert_allclose(
        cross.deployed.model.coef_, LogisticRegression().fit(X[learned], y[learned]).coef_
    )
    everything = cross_fit(
        LogisticRegression(), [], X, y, cv=cv, deploy_all=True
    ).deployed.model.coef_
    assert_allclose(everything, LogisticRegression().fit(X, y).coef_)


def test_rows_held_out_more_than_once_belong_together():
    cv = ShuffleSplit(5, test_size=6, random_state=0)
    cross = record(20, cv=cv)
    found = cross.held_out
    times = np.bincount(np.concatenate([test for _, test in cv.split(np.zeros(20))]), minlength=20)
    assert_array_equal(np.bincount(found.rows, minlength=20), times)
    assert (times == 0).any()
    assert (times > 1).any()
    assert_array_equal(cross.units, found.rows)


def test_predictions_are_those_of_the_model_without_the_row():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "bb", "ccc"])[y]
    cv = ShuffleSplit(4, test_size=0.4, random_state=1)
    classifier = LogisticRegression(max_iter=1000)
    found = cross_fit(classifier, [], X, names, cv=cv, methods=["predict"]).held_out
    _, rows, told = cross_predict(classifier, X, names, cv=cv)
    assert_array_equal(rows, found.rows)
    assert_array_equal(told, found.answers["predict"])
    for i, (train, test) in enumerate(cv.split(X)):
        model = LogisticRegression(max_iter=1000).fit(X[np.sort(train)], names[np.sort(train)])
        here = found.splits == i
        assert_array_equal(found.rows[here], np.sort(test))
        assert_array_equal(told[here], model.predict(X[np.sort(test)]))


def test_a_row_drawn_twice_gets_its_own_score():
    bootstrap = np.sort(np.random.default_rng(0).integers(0, 20, 20))
    left = np.setdiff1d(np.arange(20), bootstrap)
    splits = [(bootstrap, left), (left, np.unique(bootstrap))]
    cross = record(20, [NeighborError(n_neighbors=1)], cv=splits)
    scores = cross.folds[0].panel.index.held_out_scores
    assert_allclose(scores[:, 0], np.sin(bootstrap))


def test_groups_are_together_in_fresh_folds():
    groups = np.repeat(np.arange(8), 5)
    splits = [(np.arange(30), np.arange(30, 40))]
    record(40, [NeighborError(n_neighbors=2)], cv=splits, groups=groups)
    assert len(Recorder.fitted) == 1 + 5
    for model in Recorder.fitted:
        assert set(groups[sorted(model.seen_)]).isdisjoint(groups[sorted(model.asked_)])


def test_the_reference_is_bounded_but_the_model_is_not():
    cross = record(40, [NeighborError(n_neighbors=2)], cv=4, max_reference_rows=7, random_state=0)
    index = cross.deployed.panel.index
    reference = index.input.rows[:, 0]
    assert len(np.unique(reference)) == 7
    assert len(cross.deployed.model.seen_) == 40
    assert_allclose(index.held_out_scores[:, 0], np.sin(reference))


def test_other_models_learn_from_all_rows_of_a_part_and_limit_log_odds_by_the_number_of_all_rows():
    X, y = make_classification(200, 4, class_sep=3.0, random_state=0)
    opinion = SecondOpinion(opinions=[("bayes", GaussianNB())])
    expected = np.empty(200)
    for train, test in KFold(4).split(X):
        predicted = LogisticRegression().fit(X[train], y[train]).predict(X[test])
        chances = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
        expected[test] = chances[np.arange(50), predicted]
    limit = 1 / (2 * 200 + 2)  # of all 200 rows, although 150 are in training
    assert (expected > 1 - limit).any()
    cross = cross_fit(LogisticRegression(), [opinion], X, y, cv=KFold(4), max_reference_rows=9)
    found = cross.held_out.columns["SecondOpinion"][:, 0]
    assert_allclose(found, logit(np.clip(expected, limit, 1 - limit)))


def test_a_frozen_model_judges_every_row_as_it_is():
    X, y = rows()
    model = LogisticRegression().fit(*make_classification(50, 4, random_state=1))
    cross = cross_fit(FrozenEstimator(model), [NeighborError()], X, y, cv=5)
    assert_allclose(cross.held_out.scores[:, 0], model.decision_function(X))
    assert_array_equal(cross_predict(FrozenEstimator(model), X, y, cv=5)[2], model.predict(X))
    scores = cross.deployed.panel.index.held_out_scores[:, 0]
    assert_allclose(scores, model.decision_function(X))


def test_folds_are_no_more_than_the_rarest_class_has_rows_or_groups():
    y = np.array([0] * 40 + [1] * 3)
    assert resolve_cv(10, y, stratified=True, random_state=0).get_n_splits() == 3
    groups = np.arange(43) // 2  # the rare rows are in two groups
    assert resolve_cv(10, y, stratified=True, random_state=0, groups=groups).get_n_splits() == 2
    assert resolve_cv(10, y, stratified=False, random_state=0, groups=groups).get_n_splits() == 10
    assert resolve_cv(50, y, stratified=False, random_state=0, groups=groups).get_n_splits() == 22


def test_a_class_that_a_fold_does_not_know_gets_one_sentence():
    X = np.zeros((20, 1))
    y = np.array(["a"] * 15 + ["rare"] * 5)
    with pytest.raises(ValueError, match="cv leaves a training fold without class 'rare'"):
        cross_fit(LogisticRegression(), [], X, y, cv=KFold(4))
    with pytest.raises(ValueError, match="groups leave fewer than two classes to hold out"):
        cross_fit(LogisticRegression(), [], X, y, cv=4, groups=np.arange(20) // 5)


def test_the_rows_of_a_fold_are_held_out_once_more_where_that_is_asked_for():
    X, y = rows(90)
    splits = list(KFold(3).split(X))
    names = ["NeighborDistance"]
    indicators = [NeighborDistance(), Confidence()]
    cross = cross_fit(LogisticRegression(), indicators, X, y, cv=splits, inner=names, twice=True)
    for (train, _), fold in zip(splits, cross.folds, strict=True):
        assert_array_equal(fold.inner.rows, train)
        assert list(fold.inner.columns) == names
        for _, other in splits:
            rest = np.setdiff1d(train, other)
            if len(rest) == len(train):
                continue
            expected = LogisticRegression().fit(X[rest], y[rest]).decision_function(X[other])
            assert_allclose(fold.inner.scores[np.isin(train, other), 0], expected)
