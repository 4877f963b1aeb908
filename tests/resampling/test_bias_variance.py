"""The terms add up at every point, and are those of a brute-force count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from surefoot.resampling import bias_variance, boundary_bias


class Recited(ClassifierMixin, BaseEstimator):
    """Predicts what its training targets say, one for each test row."""

    def fit(self, X, y):
        self.classes_, self.told_ = np.unique(y), np.asarray(y)
        return self

    def predict(self, X):
        return self.told_[: len(X)]


class RecitedNumbers(RegressorMixin, Recited):
    """Predicts the numbers that its training targets are."""


def recite(predictions):
    """A sampler whose i-th training set makes `Recited` predict row i."""
    rows = iter(predictions)
    return lambda random: (np.zeros((np.shape(predictions)[1], 1)), next(rows))


def split(predictions, **target):
    n_sets, n_test = np.shape(predictions)
    options = {"sampler": recite(predictions), "n_resamples": n_sets, **target}
    return bias_variance(Recited(), None, options.pop("y", None), np.zeros((n_test, 1)), **options)


def cubic(random):
    X = random.uniform(-1, 1, size=(12, 1))
    return X, X[:, 0] ** 3 + random.normal(0, 0.3, size=12)


def test_squared_terms_add_up_at_every_point():
    grid = np.linspace(-1, 1, 40)[:, None]
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    truth = {"truth": lambda X: X[:, 0] ** 3, "noise": 0.09}
    found = bias_variance(
        tree, None, None, grid, sampler=cubic, n_resamples=50, random_state=0, **truth
    )
    assert_allclose(found.bias2 + found.variance + found.noise, found.error, atol=1e-10)
    assert found.mean_noise == pytest.approx(0.09)
    random = np.random.RandomState(0)
    predictions = [tree.fit(*cubic(random)).predict(grid) for _ in range(50)]
    assert_allclose(found.variance, np.var(predictions, axis=0), atol=1e-12)
    expected = ((np.array(predictions) - grid[:, 0] ** 3) ** 2).mean(axis=0) + 0.09
    assert_allclose(found.error, expected)


def test_two_classes_by_hand():
    # Point 0: right 3 of 4 times. Point 1: wrong 3 of 4 times. Point 2: always right.
    predictions = [[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0]]
    found = split(predictions, truth=[1, 1, 0], loss="zero_one")
    assert_array_equal(found.main_prediction, [1, 0, 0])
    assert_allclose(found.bias2, [0, 1, 0])
    assert_allclose(found.variance, [0.25, 0.25, 0])
    assert_allclose(found.net_variance, [0.25, -0.25, 0])
    assert_allclose(found.unbiased_variance, [0.25, 0, 0])
    assert_allclose(found.biased_variance, [0, 0.25, 0])
    assert_allclose(found.error, [0.25, 0.75, 0])


def test_three_classes_and_noise_by_hand():
    # The main prediction 0 is wrong; of the two others one is right: variance 2/4 helps by 1/4 only.
    found = split([[0], [0], [1], [2]], truth=[1], loss="zero_one")
    assert (found.bias2[0], found.variance[0], found.net_variance[0]) == (1, 0.5, -0.25)
    assert found.error[0] == 0.75
    # Right 3 of 4 times, and the label is the other one 1 time in 5: 3/4·1/5 + 1/4·4/5.
    found = split([[1], [1], [1], [0]], truth=[1], noise=0.2, loss="zero_one")
    assert_allclose(found.error, 0.35)
    assert_allclose(found.noise, 0.2)
    assert_allclose(found.net_noise, (2 * 0.75 - 1) * 0.2)  # Domingos' c1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans())
def test_zero_one_terms_add_up_for_any_number_of_classes(seed, n_classes, noisy):
    rng = np.random.default_rng(seed)
    predictions = rng.integers(0, n_classes, size=(7, 6))
    truth = rng.dirichlet(np.ones(n_classes), size=6) if noisy else rng.integers(0, n_classes, 6)
    found = split(predictions, truth=truth, y=np.arange(n_classes), loss="zero_one")
    total = found.bias2 + found.net_variance + found.net_noise
    assert_allclose(total, found.error, atol=1e-10)
    likely = truth if noisy else np.eye(n_classes)[truth]
    wrong = [[1 - likely[i, row[i]] for i in range(6)] for row in predictions]
    assert_allclose(found.error, np.mean(wrong, axis=0), atol=1e-12)


def test_parallel_frames_and_frozen_models_give_the_same():
    frame, y = load_iris(return_X_y=True, as_frame=True)
    model = DecisionTreeClassifier(random_state=0)
    options = {"loss": "zero_one", "n_resamples": 10, "random_state": 0}
    plain = bias_variance(model, frame.to_numpy(), y.to_numpy(), frame.to_numpy(), y, **options)
    frozen = FrozenEstimator(model.fit(frame, y))
    for chosen, n_jobs in ((model, 2), (frozen, None)):
        with parallel_config("threading"):
            found = bias_variance(chosen, frame, y, frame, y, n_jobs=n_jobs, **options)
        assert_allclose(found.error, plain.error)
    assert plain.variance.sum() > 0


def test_a_subsample_has_no_row_twice():
    sizes = []

    class Watching(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            sizes.append((len(X), len(np.unique(X))))
            return self

        def predict(self, X):
            return np.zeros(len(X))

    X = np.arange(10.0)[:, None]
    for size in (None, 3, 0.7):
        bias_variance(
            Watching(), X, X[:, 0], X, X[:, 0], sampler="subsample", max_samples=size, n_resamples=1
        )
    assert sizes == [(5, 5), (3, 3), (7, 7)]


X3, Y3 = [[0.0], [1.0], [2.0]], [0, 1, 1]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"y_test": None}, "Either y_test or truth"),
        ({"truth": Y3}, "Either y_test or truth"),
        ({"noise": 0.1}, "noise needs truth"),
        ({"y_test": None, "truth": Y3, "noise": -1.0}, "noise must be 0 or more"),
        ({"y_test": [1]}, "y_test has shape"),
        ({"loss": "hinge"}, "loss='hinge' is not known"),
        ({"sampler": "jackknife"}, "sampler='jackknife' is not known"),
        ({"X": [], "y": []}, "no rows"),
        ({"X_test": np.empty((0, 1)), "y_test": []}, "X_test has no rows"),
        ({"y": None}, "draws from X and y"),
        ({"max_samples": 7}, "max_samples=7 is not possible"),
        ({"max_samples": 1.5}, "max_samples=1.5 is not possible"),
        ({"n_resamples": 0}, "n_resamples == 0"),
        (
            {"y_test": None, "truth": [[0.5, 0.6]] * 3, "loss": "zero_one"},
            "probabilities that add up to 1",
        ),
        (
            {"y_test": None, "truth": [[1.0]] * 3, "loss": "zero_one"},
            "truth has 1 columns for 2 classes",
        ),
        (
            {"y": [0, 1, 2], "y_test": None, "truth": Y3, "noise": 0.1, "loss": "zero_one"},
            "noise of 3 classes is not enough",
        ),
    ],
)
def test_wrong_input_gets_one_sentence(changed, sentence):
    with pytest.raises(TypeError, match="is no model"):
        bias_variance(DummyRegressor, X3, Y3, X3, Y3)
    options = {"X": X3, "y": Y3, "X_test": X3, "y_test": Y3, "n_resamples": 2, **changed}
    model = DummyClassifier() if options.get("loss") == "zero_one" else DummyRegressor()
    with pytest.raises(ValueError, match=sentence):
        bias_variance(model, options.pop("X"), options.pop("y"), **options)


def test_boundary_bias_predicts_what_is_observed():
    """Two Gaussians: g is near enough to Gaussian for the upper tail to be right."""

    def draw(random):
        y = random.permutation([0, 1] * 30)
        return random.normal(2.0 * y)[:, None], y

    points = np.array([[-0.5], [0.5], [0.9], [1.1], [1.8]])
    truth = 1 / (1 + np.exp(-2 * (points[:, 0] - 1)))
    found = boundary_bias(
        LinearDiscriminantAnalysis(), None, None, points, truth=truth, sampler=draw, n_resamples=400,
        random_state=0,
    )  # fmt: skip
    assert (found.boundary_bias > 0).all()
    assert_allclose(found.disagreement, found.observed_disagreement, atol=0.05)
    assert found.disagreement[2] > 0.2 > found.disagreement[1] > found.disagreement[0]
    best = np.minimum(truth, 1 - truth)
    assert_allclose(found.error, best + found.disagreement * (1 - 2 * best))


@pytest.mark.parametrize(
    ("mean", "variance", "truth", "bias", "disagreement", "error"),
    [
        (0.6, 0.01, 0.8, 0.1, norm.sf(1.0), 0.2 + norm.sf(1.0) * 0.6),  # upper tail
        (0.4, 0.01, 0.8, -0.1, norm.cdf(1.0), 0.2 + norm.cdf(1.0) * 0.6),
        (0.4, 0.01, 0.2, 0.1, norm.sf(1.0), 0.2 + norm.sf(1.0) * 0.6),
        (0.6, 0.0, 0.8, 0.1, 0.0, 0.2),  # agrees always: min[F, 1 − F]
        (0.4, 0.0, 0.8, -0.1, 1.0, 0.8),  # never: max[F, 1 − F]
        (0.5, 0.0, 0.8, 0.0, 0.5, 0.5),
        (0.9, 0.04, 0.5, 0.0, 0.5, 0.5),  # F = ½: either decision is as good
        (0.9, 0.0, 0.5, 0.0, 0.5, 0.5),
        (0.9, 0.0, 0.7 - 0.2, 0.0, 0.5, 0.5),  # 0.49999999999999994
    ],
)
def test_boundary_terms_by_hand(mean, variance, truth, bias, disagreement, error):
    sampler = recite([[mean - np.sqrt(variance)], [mean + np.sqrt(variance)]])
    found = boundary_bias(
        RecitedNumbers(), None, None, [[0.0]], truth=[truth], sampler=sampler, n_resamples=2
    )
    assert_allclose(found.boundary_bias, bias, atol=1e-12)
    assert_allclose(found.disagreement, disagreement, atol=1e-12)
    assert_allclose(found.error, error, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "y", "truth", "error", "sentence"),
    [
        (GaussianNB(), [0, 1, 2], [0.5] * 3, ValueError, "boundary bias is defined for two"),
        (GaussianNB(), [1, 1, 1], [0.5] * 3, ValueError, "boundary bias is defined for two"),
        (SVC(), [0, 1, 1], [0.5] * 3, TypeError, "has no predict_proba"),
        (LogisticRegression(), [0, 1, 1], [0.5], ValueError, "one probability for each"),
        (LogisticRegression(), [0, 1, 1], [0.5, 0.5, 2], ValueError, "one probability for each"),
    ],
)
def test_boundary_bias_of_what_has_none_gets_one_sentence(model, y, truth, error, sentence):
    with pytest.raises(error, match=sentence):
        boundary_bias(model, X3, y, X3, truth=truth, sampler=lambda random: (X3, y), n_resamples=2)
