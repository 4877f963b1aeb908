import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from reproduction import regressors
from reproduction.regressors import (
    LocallyWeightedRegressor,
    RBFNetworkRegressor,
    below_cuts,
    cluster_widths,
    shares,
    todays_models,
    weka_models,
)


@parametrize_with_checks([RBFNetworkRegressor(), LocallyWeightedRegressor()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def test_shares_are_gaussians_over_their_sum():
    X, centers, widths = (
        np.array([[0.0, 1.0]]),
        np.array([[0.0, 0.0], [3.0, 1.0]]),
        np.array([1, 2]),
    )

    gaussians = np.exp([-1 / 2, -9 / 8])  # squared distances 1 and 9, twice the variances 2 and 8
    np.testing.assert_allclose(shares(X, centers, widths), [gaussians / gaussians.sum()])


def test_shares_far_from_every_centre_still_sum_to_one():
    near = shares(np.array([[1e4]]), np.array([[0.0], [1.0]]), np.array([1.0, 1.0]))

    np.testing.assert_allclose(near, [[0, 1]], atol=1e-12)


def test_width_is_the_root_mean_squared_distance():
    X = np.array([[0.0, 0.0], [6.0, 8.0], [20.0, 20.0], [20.0, 20.0]])
    centers = np.array([[3.0, 4.0], [20.0, 20.0]])

    # Five from the first centre each; the other cluster has no width but a hundredth of the widest.
    np.testing.assert_allclose(cluster_widths(X, centers, np.array([0, 0, 1, 1])), [5, 0.05])


def test_a_centre_on_every_row_interpolates():
    X, y = np.array([[0.0], [5.0], [9.0]]), np.array([1.0, -2.0, 7.0])

    network = RBFNetworkRegressor(10, alpha=0, random_state=0).fit(X, y)

    assert len(network.centers_) == 3
    np.testing.assert_allclose(network.predict(X), y, atol=1e-6)


def test_a_strong_penalty_gives_the_mean():
    X = np.random.RandomState(0).normal(size=(60, 3))
    y = X[:, 0] ** 2

    strong = RBFNetworkRegressor(5, alpha=1e12, random_state=0).fit(X, y)

    np.testing.assert_allclose(strong.predict(X), y.mean(), atol=1e-6)


def test_chosen_penalty_beats_none_on_noise():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(120, 8)), random.normal(size=120)
    X_test, y_test = random.normal(size=(2000, 8)), random.normal(size=2000)

    errors = [
        np.mean(
            (RBFNetworkRegressor(alpha=alpha, random_state=0).fit(X, y).predict(X_test) - y_test)
            ** 2
        )
        for alpha in (None, 0)
    ]

    assert errors[0] < 1.1 < errors[1]


def test_cuts_belong_to_the_left():
    below = below_cuts(np.array([[1.0, 5.0]]), np.array([[1.0, 4.0], [2.0, 9.0]]))

    assert below.tolist() == [[True, False, True, True]]  # first cuts of both columns, then second


def test_every_row_gets_the_weighted_stump_of_a_decision_tree(monkeypatch):
    monkeypatch.setattr(regressors, "BATCH_SIZE", 7)  # rows in several batches
    random = np.random.RandomState(0)
    # Whole numbers, so that more cuts than rows find every gap between two values.
    monkeypatch.setattr(regressors, "N_CUTS", 400)
    X, X_test = random.randint(20, size=(40, 3)) * 1.0, random.randint(20, size=(15, 3)) * 1.0
    y = 3.0 * (X[:, 1] > 9) + random.normal(size=40)

    predicted = LocallyWeightedRegressor().fit(X, y).predict(X_test)

    for row, prediction in zip(X_test, predicted, strict=True):
        distances = np.sqrt(((X - row) ** 2).sum(axis=1))
        weights = 1.0001 - distances / distances.max()
        stump = DecisionTreeRegressor(max_depth=1).fit(X, y, sample_weight=weights)
        assert prediction == pytest.approx(stump.predict([row])[0])


def test_without_a_cut_the_weighted_mean_remains():
    X, y = np.zeros((4, 2)), [1.0, 2.0, 3.0, 6.0]

    assert LocallyWeightedRegressor().fit(X, y).predict([[0, 0]]) == pytest.approx([3.0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make_models", [todays_models, weka_models])
def test_every_model_learns_a_line_through_missing_cells(make_models):
    X = np.random.RandomState(0).normal(size=(300, 4))
    y = 1000 + 50 * X[:, 0]
    X[5, 1] = np.nan

    scores = {name: model.fit(X, y).score(X, y) for name, model in make_models(4).items()}

    assert len(scores) == 11
    # Two centres are two steps at most, in any direction.
    weak = {"RBF network"} if make_models is weka_models else set()
    assert all(score > 0.4 for name, score in scores.items() if name not in weak), scores


def test_weka_s_defaults_are_those_three():
    ours, wekas = todays_models(5), weka_models(5)

    different = [name for name in ours if repr(ours[name]) != repr(wekas[name])]
    assert list(ours) == list(wekas)
    assert different == ["kNN", "RBF network", "SVM"]
