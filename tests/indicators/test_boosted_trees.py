"""Second opinions that are written here: boosted symmetric trees for classes and numbers, and a kernel for numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import train_test_split

from surefoot.indicators import _opinions

BoostedTrees = _opinions.BoostedTrees
BoostedTreesRegressor = _opinions.BoostedTreesRegressor
KernelRegressor = _opinions.KernelRegressor


def most_probable(model, X):
    """Most probable class of each row."""
    return model.classes_[model.predict_proba(X).argmax(axis=1)]


def test_an_interaction_without_a_trend():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (900, 4))
    y = np.where((X[:, 1] > 0) == (X[:, 3] > 0), "same", "other")
    model = BoostedTrees(random_state=0).fit(X[:600], y[:600])
    assert (most_probable(model, X[600:]) == y[600:]).mean() > 0.95
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_as_good_as_scikit_learn_on_a_small_table(n_classes):
    X, y = make_classification(
        900, 24, n_informative=8, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    X, X_test, y, y_test = train_test_split(X, y, train_size=500, random_state=0)
    peer = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(X, y)
    own = clone(BoostedTrees(random_state=0)).fit(X, y)
    losses = [log_loss(y_test, model.predict_proba(X_test)) for model in (own, peer)]
    assert losses[0] < 1.1 * losses[1]


def test_rows_of_weight_zero_have_no_effect():
    X, y = make_classification(300, 5, flip_y=0, random_state=1)
    counts = np.arange(300) < 200
    models = [
        BoostedTrees(5).fit(X, labels, sample_weight=counts.astype(float))
        for labels in (y, np.where(counts, y, 1 - y))
    ]
    first, second = (model.predict_proba(X) for model in models)
    assert_allclose(first, second)


def test_many_rows_are_drawn_from_and_the_seed_repeats_them():
    X, y = make_classification(9_000, 20, n_informative=6, flip_y=0, random_state=0)
    models = [BoostedTrees(10, random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    first, again, other = (model.predict_proba(X[:50])[:, 1] for model in models)
    assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_a_column_with_few_values_beside_constant_ones():
    X = np.column_stack([np.zeros(60), np.arange(60) % 3, np.full(60, 7.0)])
    y = (X[:, 1] > 0).astype(int)
    model = BoostedTrees(80).fit(X, y)
    assert_array_equal(most_probable(model, X), y)
    used = model.columns_ >= 0
    assert_array_equal(model.columns_[used], 1)
    assert set(model.thresholds_[used]) <= {0.5, 1.5}


def test_a_regression_as_good_as_scikit_learn_on_a_small_table():
    X, y = make_friedman1(900, 8, noise=1.0, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, train_size=500, random_state=0)
    peer = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    own = clone(BoostedTreesRegressor(random_state=0)).fit(X, y)
    losses = [mean_squared_error(y_test, model.predict(X_test)) for model in (own, peer)]
    assert losses[0] < 1.1 * losses[1]


def test_a_regression_has_the_unit_of_its_target():
    X, y = make_friedman1(200, 5, random_state=0)
    first, second = (BoostedTreesRegressor(20).fit(X, t).predict(X) for t in (y, 1e6 * y - 3e7))
    assert_allclose(second, 1e6 * first - 3e7, rtol=1e-6)
    constant = BoostedTreesRegressor(3).fit(X, np.full(200, 4.0))
    assert_allclose(constant.predict(X), 4)


def by_ridge_regression(X, y, kernel, gamma):
    """Leave-one-out error of kernel ridge regression, and its function, by scikit-learn's ridge regression."""
    sizes, vectors = np.linalg.eigh(kernel(X, gamma=gamma) + 1e-6 * np.eye(len(X)))
    model = RidgeCV(np.logspace(-3, 2, 11)).fit(
        kernel(X, gamma=gamma) @ vectors / np.sqrt(sizes), y
    )
    return -model.best_score_, lambda rows: model.predict(
        kernel(rows, X, gamma=gamma) @ vectors / np.sqrt(sizes)
    )


def column_weights(function, X, weight):
    """Weights of the columns by the derivatives of a function of weighted rows, as differences of its values."""
    steps = 1e-4 * np.eye(X.shape[1])
    changes = [function((X + step) * weight) - function((X - step) * weight) for step in steps]
    squares = (np.array(changes) ** 2).mean(axis=1)
    return np.sqrt((squares / squares.mean() + 0.05) / 1.05)


@pytest.mark.parametrize("shape", ["smooth", "steps"])
def test_a_kernel_machine_is_ridge_regression_with_the_best_kernel(shape):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (150, 3)) * [1, 10, 1e3]
    y = X[:, 0] * X[:, 1] if shape == "smooth" else np.sign(X[:, 0]) + np.sign(X[:, 1])
    y += 0.1 * random.normal(size=150) + 50
    scaled = (X - X[:100].mean(axis=0)) / X[:100].std(axis=0)
    weight, fits = np.ones(3), []
    for kernel, gamma in [(rbf_kernel, 0.3 / 3), (rbf_kernel, 0.5 / 3), (laplacian_kernel, 1 / 3)]:
        error, function = by_ridge_regression(scaled[:100] * weight, y[:100], kernel, gamma)
        fits.append((error, function(scaled[100:] * weight)))
        weight = column_weights(function, scaled[:100], weight)
    found = clone(KernelRegressor(0)).fit(X[:100], y[:100])
    assert_allclose(found.predict(X[100:]), min(fits, key=lambda fit: fit[0])[1], atol=1e-3)
    assert (found.kernel_ == 2) == (shape == "steps")


def test_a_kernel_machine_gives_little_weight_to_columns_without_effect():
    X, y = make_friedman1(1_000, 20, noise=0.5, random_state=0)
    found = KernelRegressor(0).fit(X[:400], y[:400])
    weight = 1 / (found.scale_ / X[:400].std(axis=0))
    assert weight[:4].min() > 2 * weight[5:].max()
    _, alone = by_ridge_regression(X[:400], y[:400], rbf_kernel, 0.3 / 20 / X.var())
    errors = [((function(X[400:]) - y[400:]) ** 2).mean() for function in (found.predict, alone)]
    assert errors[0] < 0.5 * errors[1]


def test_a_kernel_machine_on_many_rows_equal_rows_and_constant_columns():
    X, y = make_friedman1(3_000, 5, noise=0.5, random_state=0)
    many = KernelRegressor(0).fit(X[:2_000], y[:2_000])
    assert many.landmarks_.shape == (300, 5)
    assert np.corrcoef(many.predict(X[2_000:]), y[2_000:])[0, 1] > 0.97
    equal = np.column_stack([np.arange(60) % 2, np.zeros(60)])
    assert_allclose(
        KernelRegressor(0).fit(equal, equal[:, 0]).predict(equal), equal[:, 0], atol=0.1
    )
