"""What stands behind an estimated error: held-out answers, neighbours, stability, reasons."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import (
    Confidence,
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
)

QUICK = [Confidence(), NeighborDisagreement(n_neighbors=5, space="scaled")]


def labelled(n_rows=200):
    return make_classification(n_rows, 4, n_redundant=0, flip_y=0.2, random_state=0)


def waves(n_rows=300, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.uniform(-1, 1, size=(n_rows, 2))
    return X, X[:, 0] + np.where(X[:, 1] > 0, 0.5, 0.05) * draw.normal(size=n_rows)


def test_held_out_scores_and_probabilities_are_those_of_cross_validation():
    X, y = labelled()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = IndividualErrorClassifier(LogisticRegression(), indicators=QUICK, cv=folds)
    held_out = model.fit(X, y).held_out_
    for method, found in [
        ("predict_proba", held_out.probabilities),
        ("decision_function", held_out.scores[:, 0]),
    ]:
        assert_allclose(
            found, cross_val_predict(LogisticRegression(), X, y, cv=folds, method=method)
        )


def test_a_model_without_probabilities_has_none_held_out():
    X, y = labelled()
    model = IndividualErrorClassifier(LinearSVC(), indicators=QUICK, random_state=0).fit(X, y)
    assert model.held_out_.probabilities is None


def test_neighbors_are_the_nearest_training_rows():
    X, y = labelled()
    X /= X[:150].std(axis=0)  # the space is then the table itself
    model = IndividualErrorClassifier(LogisticRegression(), indicators=QUICK, random_state=0)
    distances, rows = model.fit(X[:150], y[:150]).kneighbors(X[150:], n_neighbors=3)
    every = pairwise_distances(X[150:], X[:150])
    assert_array_equal(rows, every.argsort(axis=1)[:, :3])
    assert_allclose(distances, np.sort(every, axis=1)[:, :3])


def test_neighbors_among_a_sample_of_the_rows_are_named_by_their_place_in_the_table():
    X, y = labelled()
    model = IndividualErrorClassifier(
        LogisticRegression(), indicators=QUICK, max_reference_rows=50, random_state=0
    ).fit(X, y)
    assert len(model.reference_rows_) == 50
    distances, rows = model.kneighbors(X[model.reference_rows_], n_neighbors=1)
    assert_array_equal(rows[:, 0], model.reference_rows_)  # each is its own nearest
    assert_allclose(distances, 0, atol=1e-6)


def test_more_neighbors_than_were_searched_is_one_sentence():
    X, y = labelled()
    model = IndividualErrorClassifier(LogisticRegression(), indicators=QUICK).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors == 400, must be <= 16"):
        model.kneighbors(X[:2], n_neighbors=400)


@pytest.mark.parametrize("indicators", ["auto", QUICK])
def test_stability_is_that_of_local_sensitivity(indicators):
    X, y = labelled()
    model = IndividualErrorClassifier(LogisticRegression(), indicators=indicators, random_state=0)
    alone = LocalSensitivity(
        FrozenEstimator(LogisticRegression().fit(X, y)), n_neighbors=10, space="scaled"
    )
    expected = alone.fit(X, y).transform(X[:20])
    judgement = model.fit(X, y).judge(X[:20])
    assert_allclose(np.column_stack([judgement.shift, judgement.spread]), expected[:, :2])


def test_a_line_is_as_steep_everywhere():
    X, _ = waves()
    y = 3 * X[:, 0]
    model = IndividualErrorRegressor(LinearRegression(), random_state=0).fit(X, y)
    judgement = model.judge(X[:30])
    shift, spread = judgement.shift, judgement.spread
    near = model.kneighbors(X[:30], n_neighbors=10)[1]
    # Samples lie no further than half way to a neighbour, and the line changes by 3 a step.
    reach = 1.5 * np.abs(X[near, 0] - X[:30, :1]).max(axis=1)
    assert (np.abs(shift) + spread <= 2 * reach + 1e-9).all()
    assert (spread > 0).all()


def test_reasons_of_a_single_indicator_are_its_distance_from_typical():
    X, y = labelled()
    model = IndividualErrorClassifier(
        LogisticRegression(), indicators=[NeighborDistance(space="scaled")], random_state=0
    ).fit(X, y)
    column = model.held_out_.columns["NeighborDistance"]
    typical = np.median(column, axis=0, keepdims=True)
    learned = model.error_estimator_.predict_proba
    assert_allclose(model.explain_error()[:, 0], learned(column)[:, 1] - learned(typical)[:, 1])


def test_the_indicator_that_knows_is_the_reason():
    X, y = waves(600)
    model = IndividualErrorRegressor(LinearRegression(), random_state=0).fit(X, y)
    names = model.get_indicator_names().tolist()
    assert names == ["Row", "NeighborDisagreement", "NeighborDistance", "SecondOpinion"]
    noisy = model.explain_error(np.array([[0.0, 0.6]]))[0]
    quiet = model.explain_error(np.array([[0.0, -0.6]]))[0]
    assert noisy.max() > 0 > quiet.min()
    assert noisy.sum() > quiet.sum()


def test_reasons_of_new_rows_need_no_held_out_ones():
    X, y = labelled()
    model = IndividualErrorClassifier(LogisticRegression(), indicators=QUICK, random_state=0)
    model.fit(X[:150], y[:150])
    effects = model.explain_error(X[150:])
    assert effects.shape == (50, 2)
    assert_allclose(
        effects, np.vstack([model.explain_error(X[i : i + 1]) for i in range(150, 200)])
    )


@pytest.mark.parametrize(
    "cv",
    [5, KFold(4, shuffle=True, random_state=0), ShuffleSplit(1, test_size=0.4, random_state=0)],
)
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_held_out_intervals_hold_the_truth_as_often_as_promised(cv, loss):
    X, y = waves(1500)
    model = IndividualErrorRegressor(
        DecisionTreeRegressor(max_leaf_nodes=10, random_state=0),
        indicators=[NeighborDistance(space="scaled")],
        passthrough=True,
        cv=cv,
        loss=loss,
        random_state=0,
    ).fit(X, y)
    low, high = model.held_out_intervals(0.8).T
    truth = y[model.held_out_.rows]
    # Three standard errors of a share of 450 rows at least.
    assert abs(np.mean((low <= truth) & (truth <= high)) - 0.8) < 0.06
    assert (low < model.held_out_.prediction).all()
    assert np.mean(high - low) < np.mean(np.diff(model.held_out_intervals(0.95)))


def test_coordinates_are_the_scaled_columns():
    X, y = labelled()
    X *= [1, 10, 100, 1000]
    model = IndividualErrorClassifier(LogisticRegression(), indicators=QUICK, random_state=0)
    assert_allclose(model.fit(X, y).coordinates(X[:7]), X[:7] / X.std(axis=0))
