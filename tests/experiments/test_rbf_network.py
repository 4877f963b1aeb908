import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from surefoot.experiments._rbf_network import RBFNetworkRegressor, cluster_widths, shares


@parametrize_with_checks([RBFNetworkRegressor()])
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


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [({"n_centers": 0}, "n_centers == 0"), ({"alpha": -1}, "alpha == -1")],
)
def test_refuses_impossible_parameters(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        RBFNetworkRegressor(**parameters).fit([[0], [1]], [0, 1])
