import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from reproduction import regressors
from reproduction.regressors import (
    LocallyWeightedRegressor,
    RBFNetworkRegressor,
    todays_models,
    weka_models,
)


@parametrize_with_checks([RBFNetworkRegressor(), LocallyWeightedRegressor()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def test_a_centre_on_every_row_interpolates():
    X, y = np.array([[0.0], [5.0], [9.0]]), np.array([1.0, -2.0, 7.0])

    network = RBFNetworkRegressor(10, alpha=0, random_state=0).fit(X, y)

    assert len(network.centers_) == 3
    np.testing.assert_allclose(network.predict(X), y, atol=1e-6)


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
