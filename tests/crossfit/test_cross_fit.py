"""Which model saw which row: recorded, counted, and held against splitters of every kind."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from surefoot._crossfit import CrossFitter
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


def record(n_rows=20, indicators=(), **settings):
    Recorder.fitted = []
    return CrossFitter(indicators, Recorder(), *numbered(n_rows), **settings)


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
    folds = record(20, [NeighborError(n_neighbors=2), Confidence()], cv=cv)
    folds.held_out()  # the recorder refuses a row that it was fitted on
    for train, test in folds.splits:
        part = folds.panel(train)
        known = np.flatnonzero(~np.isnan(part.indexes[0].held_out_scores[:, 0]))
        assert len(known) > 0
        assert set(test).isdisjoint(part.indexes[0].input.rows[:, 0].astype(int))


@pytest.mark.parametrize(
    "cv", [4, ShuffleSplit(4, random_state=0), HoldoutSplit(4 / 9), TimeSeriesSplit(3)]
)
def test_what_is_said_of_a_neighbour_comes_from_models_without_the_rows_fold(cv):
    folds = record(20, [NeighborError(n_neighbors=2)], cv=cv)
    for train, test in folds.splits:
        n_before = len(Recorder.fitted)
        folds._models.clear()
        scores = folds.held_out_scores(train)
        asked = [model for model in Recorder.fitted[n_before:] if model.asked_]
        assert asked
        assert all(model.seen_.isdisjoint(test) for model in asked)
        told = set().union(*(model.asked_ for model in asked))
        assert_array_equal(sorted(told), train[~np.isnan(scores[:, 0])])


@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_each_model_is_fitted_once(n_folds):
    folds = record(20, [Confidence()], cv=n_folds)
    folds.held_out()
    folds.held_out_predictions()
    folds.panel()
    assert len(Recorder.fitted) == n_folds + 1
    folds = record(20, [NeighborError(n_neighbors=2)], cv=n_folds)
    folds.held_out()
    folds.held_out_predictions()
    folds.panel()
    # With two folds there is no model without both: each fold is divided anew.
    pairs = n_folds * (n_folds - 1) // 2 if n_folds > 2 else 2 * 5
    assert len(Recorder.fitted) == n_folds + pairs + 1


def test_neighbours_scores_are_those_of_the_models_with_two_folds_left_out():
    X, y = rows(90)
    cv = StratifiedKFold(3)
    splits = list(cv.split(X, y))
    folds = CrossFitter([NeighborError()], LogisticRegression(), X, y, cv=cv)
    for i, (train, test) in enumerate(splits):
        scores = folds.held_out_scores(train)
        for other in [fold for j, (_, fold) in enumerate(splits) if j != i]:
            rest = np.setdiff1d(train, other)
            expected = LogisticRegression().fit(X[rest], y[rest]).decision_function(X[other])
            assert_allclose(scores[np.isin(train, other), 0], expected)
        assert not np.isin(test, train).any()


def test_a_holdout_leaves_the_model_on_its_part():
    X, y = rows()
    folds = CrossFitter([], LogisticRegression(), X, y, cv=HoldoutSplit(4 / 9, random_state=0))
    [(learned, held_out)] = HoldoutSplit(4 / 9, random_state=0).split(X, y)
    assert_array_equal(folds.deployed, learned)
    assert_array_equal(folds.held_out().rows, held_out)
    expected = LogisticRegression().fit(X[learned], y[learned]).coef_
    assert_allclose(folds.model(folds.deployed).coef_, expected)


def test_rows_held_out_more_than_once_belong_together():
    cv = ShuffleSplit(5, test_size=6, random_state=0)
    folds = record(20, cv=cv)
    found = folds.held_out()
    times = np.bincount(np.concatenate([test for _, test in cv.split(np.zeros(20))]), minlength=20)
    assert_array_equal(np.bincount(found.rows, minlength=20), times)
    assert (times == 0).any()
    assert (times > 1).any()
    assert_array_equal(folds.units(found.rows), found.rows)


def test_rows_of_a_group_belong_together():
    groups = np.arange(20) // 4
    folds = record(20, cv=5, groups=groups)
    assert_array_equal(folds.units(folds.held_out().rows), groups)
    for cv in (5, HoldoutSplit(0.4)):
        folds = record(20, cv=cv)
        assert folds.units(folds.held_out().rows) is None


def test_time_runs_one_way():
    folds = record(30, [NeighborError(n_neighbors=2)], cv=TimeSeriesSplit(4))
    found = folds.held_out()
    assert_array_equal(found.rows, np.arange(6, 30))
    for train, test in folds.splits:
        assert max(folds.model(train).seen_) < test.min()
        assert_array_equal(np.flatnonzero(np.isin(found.rows, test)) + 6, test)


def test_predictions_are_those_of_the_model_without_the_row():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "bb", "ccc"])[y]
    cv = ShuffleSplit(4, test_size=0.4, random_state=1)
    folds = CrossFitter([], LogisticRegression(max_iter=1000), X, names, cv=cv)
    found = folds.held_out()
    told = folds.held_out_predictions()[1]
    for i, (train, test) in enumerate(cv.split(X)):
        model = LogisticRegression(max_iter=1000).fit(X[np.sort(train)], names[np.sort(train)])
        here = found.splits == i
        assert_array_equal(found.rows[here], np.sort(test))
        assert_array_equal(told[here], model.predict(X[np.sort(test)]))


def test_a_row_drawn_twice_gets_its_own_score():
    bootstrap = np.sort(np.random.default_rng(0).integers(0, 20, 20))
    left = np.setdiff1d(np.arange(20), bootstrap)
    folds = record(20, cv=[(bootstrap, left), (left, np.unique(bootstrap))])
    scores = folds.held_out_scores(bootstrap)
    assert_allclose(scores[:, 0], np.sin(bootstrap))
    assert all(model.asked_.isdisjoint(left) for model in Recorder.fitted)


def test_groups_are_together_in_every_model():
    groups = np.repeat(np.arange(8), 5)
    folds = record(40, [NeighborError(n_neighbors=2)], cv=4, groups=groups)
    folds.held_out()
    folds.panel()
    assert len(Recorder.fitted) == 4 + 6 + 1
    for model in Recorder.fitted:
        seen = groups[sorted(model.seen_)]
        asked = groups[sorted(model.asked_)]
        assert set(seen).isdisjoint(asked)


def test_groups_are_together_in_fresh_folds():
    groups = np.repeat(np.arange(8), 5)
    splits = [(np.arange(30), np.arange(30, 40))]
    folds = record(40, [NeighborError(n_neighbors=2)], cv=splits, groups=groups)
    folds.held_out()
    assert len(Recorder.fitted) == 1 + 5
    for model in Recorder.fitted:
        assert set(groups[sorted(model.seen_)]).isdisjoint(groups[sorted(model.asked_)])


def test_the_reference_is_bounded_but_the_model_is_not():
    folds = record(40, [NeighborError(n_neighbors=2)], cv=4, max_reference_rows=7, random_state=0)
    folds.held_out()
    panel = folds.panel()
    reference = panel.indexes[0].input.rows[:, 0]
    assert len(np.unique(reference)) == 7
    assert len(folds.model(folds.everything).seen_) == 40
    assert_allclose(panel.indexes[0].held_out_scores[:, 0], np.sin(reference))


def test_other_models_learn_from_all_rows_of_a_part_and_limit_log_odds_by_the_number_of_all_rows():
    X, y = make_classification(200, 4, class_sep=3.0, random_state=0)
    opinion = SecondOpinion(opinions=[("bayes", GaussianNB())])
    folds = CrossFitter([opinion], LogisticRegression(), X, y, cv=KFold(4), max_reference_rows=9)
    expected = np.empty(200)
    for train, test in KFold(4).split(X):
        predicted = LogisticRegression().fit(X[train], y[train]).predict(X[test])
        chances = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
        expected[test] = chances[np.arange(50), predicted]
    limit = 1 / (2 * 200 + 2)  # of all 200 rows, although 150 are in training
    assert (expected > 1 - limit).any()
    found = folds.held_out().columns["SecondOpinion"][:, 0]
    assert_allclose(found, logit(np.clip(expected, limit, 1 - limit)))


def test_other_models_learn_from_fifty_thousand_rows_at_most():
    X = np.random.default_rng(0).normal(size=(60_000, 1))
    y = (X[:, 0] > 0).astype(int)
    opinion = SecondOpinion(opinions=[("bayes", GaussianNB())])
    folds = CrossFitter([opinion], GaussianNB(), X, y, cv=2, max_reference_rows=9)
    (_, bayes), *_ = folds.panel().indicators["SecondOpinion"].opinions_
    assert bayes.class_count_.sum() == 50_000
    assert_allclose(bayes.class_prior_, np.bincount(y) / len(y), atol=0.01)  # of any place in X


def test_a_frozen_model_judges_every_row_as_it_is():
    X, y = rows()
    model = LogisticRegression().fit(*make_classification(50, 4, random_state=1))
    folds = CrossFitter([NeighborError()], FrozenEstimator(model), X, y, cv=5)
    found = folds.held_out()
    assert_allclose(found.scores[:, 0], model.decision_function(X))
    assert_array_equal(folds.held_out_predictions()[1], model.predict(X))
    assert_allclose(folds.held_out_scores(folds.everything)[:, 0], model.decision_function(X))


def test_weights_are_those_of_the_rows_of_a_part():
    folds = record(20, cv=4, sample_weight=np.arange(20.0))
    folds.held_out()
    for model in Recorder.fitted:
        assert_array_equal(model.weight_, sorted(model.seen_))


def test_parallel_folds_say_the_same():
    X, y = rows()
    indicators = [NeighborError(), NeighborDistance()]
    with parallel_config(backend="threading"):
        one, two = (
            CrossFitter(indicators, LogisticRegression(), X, y, cv=3, n_jobs=n_jobs).held_out()
            for n_jobs in (None, 2)
        )
    for ours, theirs in zip(one.columns.values(), two.columns.values(), strict=True):
        assert_allclose(ours, theirs)


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
    folds = CrossFitter([], LogisticRegression(), X, y, cv=KFold(4))
    with pytest.raises(ValueError, match="cv leaves a training fold without class 'rare'"):
        folds.held_out()
    with pytest.raises(ValueError, match="groups leave fewer than two classes to hold out"):
        CrossFitter([], LogisticRegression(), X, y, cv=4, groups=np.arange(20) // 5)


def test_an_inner_fold_without_a_class_says_nothing_of_its_rows():
    y = np.array([0, 1] * 8 + [0, 2] * 2)
    X = np.arange(20.0)[:, None]
    folds = CrossFitter([NeighborError()], LogisticRegression(), X, y, cv=StratifiedKFold(2))
    found = folds.held_out()
    assert np.isfinite(next(iter(found.columns.values()))).all()


def test_one_group_gets_one_sentence():
    for model in (LinearRegression(), LogisticRegression()):
        with pytest.raises(ValueError, match="groups has one group only"):
            CrossFitter([], model, *rows(), cv=3, groups=np.zeros(60))
