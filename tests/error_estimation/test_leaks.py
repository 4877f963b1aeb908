"""On random labels nothing can be known of an error: every column must be worthless on meta-training rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from surefoot._crossfit import build_panel, cross_fit
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import (
    Confidence,
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
    NeighborError,
    SecondOpinion,
    TrustScore,
)
from surefoot.resampling import HoldoutSplit

OPINIONS = [("bayes", GaussianNB()), ("trees", ExtraTreesClassifier(10, random_state=0))]
EVERY = [
    Confidence(),
    LocalSensitivity(n_neighbors=5, space="scaled"),
    NeighborDisagreement(n_neighbors=(3, 10), space="scaled"),
    NeighborDistance(space="scaled"),
    NeighborError(n_neighbors=(3, 10), space="scaled"),
    TrustScore(space="scaled"),
    SecondOpinion(opinions=OPINIONS, space="scaled"),
]


def random_labels(seed, n_rows=1000):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 3)), rng.integers(0, 2, n_rows)


def mean_aurocs(draw, n_seeds):
    """Mean over seeds of each column's AUROC for the error."""
    found = []
    for seed in range(n_seeds):
        columns, wrong = draw(seed)
        found.append([roc_auc_score(wrong, column) for column in columns.T])
    return np.mean(found, axis=0)


@pytest.mark.parametrize(
    "model",
    [DecisionTreeClassifier(random_state=0), KNeighborsClassifier(3), LogisticRegression()],
    ids=["tree", "neighbours", "logistic"],
)
def test_every_column_of_every_indicator_is_worthless(model):
    def draw(seed):
        X, y = random_labels(seed)
        cross = cross_fit(model, EVERY, X, y, cv=5, methods=["predict"])
        wrong = cross.held_out.answers["predict"] != cross.truth
        return np.hstack(list(cross.held_out.columns.values())), wrong

    # A thousand rows, half of them wrong: 0.018 a seed, 0.008 for the mean of five.
    assert_allclose(mean_aurocs(draw, 5), 0.5, atol=0.03)


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(4, test_size=0.3, random_state=0),
        HoldoutSplit(0.5, random_state=0),
        TimeSeriesSplit(3),
    ],
    ids=["shuffled", "holdout", "time"],
)
def test_the_errors_of_neighbours_are_worthless_however_rows_are_held_out(cv):
    def draw(seed):
        X, y = random_labels(seed, 1500)
        indicators, model = [NeighborError(n_neighbors=(1, 10))], KNeighborsClassifier(3)
        cross = cross_fit(model, indicators, X, y, cv=cv, methods=["predict"])
        wrong = cross.held_out.answers["predict"] != cross.truth
        return next(iter(cross.held_out.columns.values())), wrong

    assert_allclose(mean_aurocs(draw, 6), 0.5, atol=0.03)


def test_the_default_is_worthless_where_neighbours_are_searched_in_a_sample():
    def draw(seed):
        X, y = random_labels(seed)
        tree = DecisionTreeClassifier(random_state=0)
        model = IndividualErrorClassifier(tree, max_reference_rows=100, random_state=0).fit(X, y)
        return np.hstack(list(model.held_out_.columns.values())), model.held_out_.losses

    assert_allclose(mean_aurocs(draw, 5), 0.5, atol=0.03)


def test_errors_from_models_that_saw_the_row_would_be_found_out():
    def draw(seed):
        X, y = random_labels(seed)
        cross = cross_fit(KNeighborsClassifier(3), [], X, y, cv=5, methods=["predict"])
        scores = cross.held_out.scores  # by models that saw the other folds
        columns = np.empty((len(y), 2))
        for fold in cross.folds:
            panel = build_panel(
                {"errors": NeighborError()},
                model=fold.model,
                X=X[fold.train],
                y=y[fold.train],
                held_out_scores=scores[fold.train],
            )
            columns[fold.test] = next(iter(panel(X[fold.test]).columns.values()))
        return columns, cross.held_out.answers["predict"] != y

    assert (np.abs(mean_aurocs(draw, 3) - 0.5) > 0.06).all()


def test_what_is_estimated_of_the_meta_training_rows_is_worthless():
    def draw(seed):
        X, y = random_labels(seed)
        indicators = [Confidence(), NeighborDisagreement(), NeighborError()]
        model = IndividualErrorClassifier(
            KNeighborsClassifier(3), indicators=indicators, passthrough=True, random_state=0
        ).fit(X, y)
        return model.held_out_.error[:, None], model.held_out_.losses

    assert_allclose(mean_aurocs(draw, 5), 0.5, atol=0.03)


def test_groups_that_share_a_label_are_not_recognised():
    # Rows of a group are copies with one random label: a fold that splits a group knows all.
    def draw(seed):
        X, y = random_labels(seed, 250)
        groups = np.repeat(np.arange(250), 6)
        rows = np.repeat(X, 6, axis=0) + np.random.default_rng(seed).normal(size=(1500, 3)) * 0.01
        model = IndividualErrorClassifier(
            KNeighborsClassifier(3), indicators=[Confidence(), NeighborError()], random_state=0
        ).fit(rows, y[groups], groups=groups)
        return np.array([[model.held_out_.losses.mean(), model.held_out_.error.mean()]])

    shares = np.mean([draw(seed)[0] for seed in range(5)], axis=0)
    assert_allclose(shares, 0.5, atol=0.06)  # 250 groups count: 0.032 a seed, 0.014 for five


@pytest.mark.parametrize(
    "model", [GaussianNB(), KNeighborsClassifier(3)], ids=["bayes", "neighbours"]
)
def test_the_estimate_that_starts_from_the_prior_is_worthless_too(model):
    def draw(seed):
        error_estimator = IndividualErrorClassifier(model, random_state=seed).fit(
            *random_labels(seed)
        )
        assert error_estimator.prior_ is not None
        held_out, prior = error_estimator.held_out_, error_estimator.prior_
        columns = np.hstack(list(held_out.columns.values()))
        from_prior = (columns - columns.mean(axis=0)) / columns.std(axis=0) @ prior.mean
        return np.column_stack([columns, from_prior, held_out.wrong]), held_out.losses

    assert_allclose(mean_aurocs(draw, 5), 0.5, atol=0.03)


@pytest.mark.parametrize(
    "model",
    [DecisionTreeRegressor(random_state=0), KNeighborsRegressor(3), Ridge()],
    ids=["tree", "neighbours", "line"],
)
def test_nothing_of_a_regressor_knows_random_targets(model):
    # Every column is uncorrelated with a target that is drawn at random. Means of folds are taken off: where that of a
    # fold is high, those of the others are low.
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(1000, 3)), rng.normal(size=1000)
        error_estimator = IndividualErrorRegressor(model, random_state=seed).fit(X, y)
        held_out, names = error_estimator.held_out_, error_estimator.get_column_names()
        table = np.hstack(list(held_out.columns.values()))
        within = y - np.array([y[held_out.splits == fold].mean() for fold in held_out.splits])
        found.append([np.corrcoef(column, within)[0, 1] for column in table.T])
    assert "SecondOpinion__boosting_gap" in names
    assert "SecondOpinion__trees_spread" in names
    # A thousand rows: 0.032 a seed, 0.014 for the mean of five.
    assert_allclose(np.mean(found, axis=0), 0, atol=0.045)


def test_estimated_residuals_do_not_explain_random_targets():
    # The models of other folds know the target of a row, and residuals are learned from the errors of these models:
    # unless they are shrunk, the estimates seem to explain a part of what was drawn at random.
    explained = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(150, 3)), rng.normal(size=150)
        held_out = IndividualErrorRegressor(Ridge(), random_state=seed).fit(X, y).held_out_
        within = y - np.array([y[held_out.splits == fold].mean() for fold in held_out.splits])
        explained.append(held_out.residual @ within / (within @ within))
    assert abs(np.mean(explained)) < 0.01  # not shrunk: 0.03
