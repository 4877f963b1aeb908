"""What is drawn is what was computed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from surefoot.active_learning import SimulationResult
from surefoot.ensemble import BoostingClassifier
from surefoot.plots import BiasVarianceDisplay, BoostingDisplay, LearningCurveDisplay
from surefoot.resampling import bias_variance


def rows(n_rows=120):
    return make_classification(n_rows, 4, n_redundant=0, flip_y=0.2, random_state=0)


def heights(area):
    """Lowest and highest point of a filled area."""
    corners = area.get_paths()[0].vertices[:, 1]
    return corners.min(), corners.max()


def test_terms_are_stacked_up_to_the_error():
    X = np.linspace(0, 1, 30)[:, None]
    display = BiasVarianceDisplay.from_estimator(
        LinearRegression(), None, None, X, truth=X[:, 0] ** 2, noise=0.01, n_resamples=30,
        sampler=lambda random: (X, X[:, 0] ** 2 + random.normal(0, 0.1, 30)), random_state=0,
    )  # fmt: skip
    result = display.result
    assert list(display.areas_) == ["bias²", "variance", "noise"]
    assert_allclose(display.line_.get_xydata(), np.column_stack([X[:, 0], result.error]))
    assert heights(display.areas_["noise"])[1] == pytest.approx(result.error.max())
    assert display.ax_.get_xlabel() == "x"
    assert display.ax_.get_ylabel() == "squared error"
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[-1] == f"error, mean {result.mean_error:.3g}"


def test_helpful_variance_is_below_zero_and_points_stand_by_error():
    X, y = rows()
    display = BiasVarianceDisplay.from_estimator(
        DecisionTreeClassifier(max_depth=2), X[:60], y[:60], X[60:], y[60:], loss="zero_one",
        n_resamples=20, random_state=0,
    )  # fmt: skip
    assert (display.result.net_variance < 0).any()
    assert display.ax_.get_ylim()[0] < 0
    assert (np.diff(display.line_.get_ydata()) >= 0).all()
    assert display.ax_.get_xlabel() == "test points, by error"


def test_places_that_do_not_fit_get_one_sentence():
    X, y = rows(20)
    result = bias_variance(DummyClassifier(), X, y, X, y, loss="zero_one", n_resamples=2)
    with pytest.raises(ValueError, match="one value for each"):
        BiasVarianceDisplay.from_result(result, [1.0, 2.0])


def test_errors_by_round():
    X, y = rows()
    model = BoostingClassifier(n_estimators=15).fit(X[:60], y[:60])
    display = BoostingDisplay.from_estimator(model, X[:60], y[:60], X[60:], y[60:])
    bound, train, test = (line.get_ydata() for line in display.lines_)
    assert_allclose(bound, model.training_error_bound_)
    assert_allclose(train[-1], 1 - model.score(X[:60], y[:60]))
    assert_allclose(test[-1], 1 - model.score(X[60:], y[60:]))
    assert list(display.lines_[0].get_xdata()) == list(range(1, 16))


def test_learning_curves_have_bands_and_say_what_they_need():
    result = SimulationResult(
        n_labels=np.array([10, 20]),
        accuracy={
            "random": np.array([[0.5, 0.6], [0.5, 0.8]]),
            "votes": np.array([[0.5, 0.8], [0.5, 0.8]]),
        },
        full_accuracy=np.array([0.8, 0.8]),
    )
    display = LearningCurveDisplay.from_result(result)
    assert_allclose(display.lines_["random"].get_ydata(), [0.5, 0.7])
    low, high = heights(display.bands_["random"])
    assert high == pytest.approx(0.7 + 0.1 * np.sqrt(2) / np.sqrt(2))
    assert low == pytest.approx(0.5)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["random: never", "votes: 19"]
