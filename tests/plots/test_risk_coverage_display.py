import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression

from surefoot.metrics import augrc_loss
from surefoot.plots import RiskCoverageDisplay

WRONG = np.array([0, 1, 0, 1])
GUESS = np.array([0.1, 0.2, 0.3, 0.4])


class SideClassifier(ClassifierMixin, BaseEstimator):
    """Predicts "left" or "right" of 0, is surest far out, and foresees errors by the second column."""

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] < 0, "left", "right")

    def predict_proba(self, X):
        right = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
        return np.column_stack([1 - right, right])

    def predict_error(self, X):
        return np.asarray(X)[:, 1]


class FirstColumnRegressor(RegressorMixin, BaseEstimator):
    def predict(self, X):
        return np.asarray(X)[:, 0]

    def predict_error(self, X):
        return np.asarray(X)[:, 1]


def risk_at(line, coverage):
    return float(np.interp(coverage, line.get_xdata(), line.get_ydata()))


def test_curves_of_both_estimates_and_of_the_best_order():
    display = RiskCoverageDisplay.from_predictions(WRONG, GUESS, own_error=-GUESS)

    assert [curve[1].tolist() for curve in (display.estimated, display.own, display.oracle)] == [
        pytest.approx([0, 1 / 2, 1 / 3, 1 / 2]),
        pytest.approx([1, 1 / 2, 2 / 3, 1 / 2]),
        pytest.approx([0, 1 / 2]),  # both right rows at once, then both wrong ones
    ]
    assert display.own[2] == augrc_loss(WRONG, -GUESS)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [label.split("  ")[1] for label in labels] == [
        "estimated error",
        "own confidence",
        "best possible order",
    ]
    # (1 - 3/4) / 4 + 1/8: of the 4 pairs, one is in the wrong order.
    assert labels[0].startswith("0.188 ")


def test_line_between_two_groups_is_a_hyperbola():
    display = RiskCoverageDisplay.from_predictions([0, 0, 1, 1], [1, 1, 2, 2], oracle=False)

    # At 3/4 one of three answered rows is wrong; a straight line would say 1/4.
    assert risk_at(display.lines_[0], 0.75) == pytest.approx(1 / 3)
    assert risk_at(display.lines_[0], 0.3) == 0.0
    (line,) = RiskCoverageDisplay.from_predictions(WRONG, [1, 1, 2, 2], oracle=False).lines_
    # Half of the first two are wrong, in any number of them; then half of the other two.
    np.testing.assert_allclose(line.get_ydata(), 0.5)
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (0.0, 1.0)


def test_classifier_is_judged_by_its_errors_and_compared_with_its_probabilities():
    X = np.array([[-3.0, 0.2], [-1.0, 0.9], [0.5, 0.8], [2.0, 0.1]])
    y = pd.Series(["left", "right", "right", "right"], index=[7, 3, 2, 9])  # the second is wrong

    display = RiskCoverageDisplay.from_estimator(SideClassifier(), X, y)

    # predict_error puts it last; the probabilities, by |x|, third.
    np.testing.assert_allclose(display.estimated[1], [0, 0, 0, 1 / 4])
    np.testing.assert_allclose(display.own[1], [0, 0, 1 / 3, 1 / 4])


def test_regressor_is_judged_by_absolute_residuals():
    X = np.array([[1.0, 0.5], [5.0, 0.1]])

    display = RiskCoverageDisplay.from_estimator(FirstColumnRegressor(), X, [4.0, 3.0])

    np.testing.assert_allclose(display.estimated[1], [2, 2.5])
    assert display.own is None
    assert display.ax_.get_ylabel() == "risk (mean |residual|)"


def test_given_axes_are_used_and_the_legend_is_optional():
    _, ax = plt.subplots()

    display = RiskCoverageDisplay.from_predictions(WRONG, GUESS, ax=ax, legend=False)

    assert display.ax_ is ax
    assert ax.get_legend() is None
    assert display.plot().ax_ is not ax


def test_a_model_without_errors_has_a_flat_line_and_a_scale():
    assert RiskCoverageDisplay.from_predictions([0, 2], [1, 2]).risk_name == "risk (mean loss)"
    display = RiskCoverageDisplay.from_predictions(np.zeros(4), GUESS)

    assert display.ax_.get_ylim() == (0.0, 1.0)
    assert set(display.lines_[0].get_ydata()) == {0.0}


def test_what_cannot_be_drawn():
    X = np.array([[1.0, 0.5], [5.0, 0.1]])
    with pytest.raises(TypeError, match="LogisticRegression does not estimate its errors"):
        RiskCoverageDisplay.from_estimator(LogisticRegression(), X, [0, 1])
    with pytest.raises(ValueError, match=r"y has shape \(3,\), the predictions \(2,\)"):
        RiskCoverageDisplay.from_estimator(FirstColumnRegressor(), X, [0, 1, 2])
    with pytest.raises(ValueError, match="errors has values below 0"):
        RiskCoverageDisplay.from_predictions([-1, 0], [1, 2])
