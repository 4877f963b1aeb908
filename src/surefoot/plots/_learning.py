"""Displays of learning: errors of a booster by round, and accuracy by number of labels for each query strategy."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._typing import Floats
from surefoot.active_learning import SimulationResult, simulate
from surefoot.plots._display import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PINK,
    SKY,
    VERMILION,
    Axes,
    LegendDisplay,
)

COLORS = (BLUE, VERMILION, GREEN, ORANGE, PINK, SKY)


class BoostingDisplay(LegendDisplay):
    """Training error, its bound and test error by round; lower is better for each.

    Use `from_estimator` to make a display; the parameters are stored as attributes.

    Parameters
    ----------
    train_error : ndarray of shape (n_rounds,)
        Share of the training rows that are wrong after each round.
    test_error : ndarray of shape (n_rounds,), default=None
        Share of the test rows that are wrong after each round.
    bound : ndarray of shape (n_rounds,), default=None
        Upper bound of the training error after each round.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure.
    figure_ : matplotlib Figure
        Figure that contains them.
    lines_ : list of matplotlib Line2D
        The curves.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot.ensemble import BoostingClassifier
    >>> from surefoot.plots import BoostingDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostingClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> display = BoostingDisplay.from_estimator(model, X[::2], y[::2], X[1::2], y[1::2])
    >>> bool((display.train_error <= display.bound).all())
    True
    """

    def __init__(
        self,
        *,
        train_error: Floats,
        test_error: Floats | None = None,
        bound: Floats | None = None,
    ) -> None:
        self.train_error = train_error
        self.test_error = test_error
        self.bound = bound

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw the errors of a fitted booster, which may be scikit-learn's too.

        Parameters
        ----------
        estimator : classifier
            Fitted, with `staged_predict`; the bound is drawn where it has `training_error_bound_`.
        X, y : training rows and labels
            The rows that it was fitted to.
        X_test, y_test : rows and labels, default=None
            Rows that it has not seen.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : BoostingDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "staged_predict"):
            raise TypeError(
                f"{type(estimator).__name__} has no staged_predict: estimator may be a fitted booster."
            )
        return cls(
            train_error=staged_errors(estimator, X, y),
            test_error=None if X_test is None else staged_errors(estimator, X_test, y_test),
            bound=getattr(estimator, "training_error_bound_", None),
        ).plot(ax, legend=legend)

    def _draw(self) -> None:
        kinds: list[tuple[Floats | None, str, dict[str, Any]]] = [
            (self.bound, "bound of the training error", {"color": GREY, "linestyle": (0, (4, 2))}),
            (self.train_error, "training error", {"color": BLUE}),
            (self.test_error, "test error", {"color": VERMILION, "linewidth": 2.2}),
        ]
        self.lines_ = [
            self.ax_.plot(np.arange(1, len(values) + 1), values, label=name, **style)[0]
            for values, name, style in kinds
            if values is not None
        ]
        self.ax_.set(xlabel="round", ylabel="share of rows that are wrong")
        self.ax_.set_ylim(bottom=0)
        self.ax_.margins(x=0.01)


def staged_errors(estimator: Any, X: Any, y: Any) -> Floats:
    """Share of rows that are wrong after each round."""
    labels = np.asarray(y)
    return np.array([(predicted != labels).mean() for predicted in estimator.staged_predict(X)])


class LearningCurveDisplay(LegendDisplay):
    """Mean test accuracy by number of labels, with a band for each strategy; higher is better.

    The band is one standard error of the mean over repeats to either side. The dotted line is the share of the accuracy
    with all labels that is aimed at. Use `from_result` or `from_estimator` to make a display.

    Parameters
    ----------
    result : SimulationResult
        Result of :func:`surefoot.active_learning.simulate`.
    share : float, default=0.95
        Share of the accuracy with all labels that is aimed at.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure.
    figure_ : matplotlib Figure
        Figure that contains them.
    lines_ : dict of str to matplotlib Line2D
        The curve of each strategy.
    bands_ : dict of str to matplotlib PolyCollection
        Its band.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.plots import LearningCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = LearningCurveDisplay.from_estimator(
    ...     GaussianNB(), X, y, ["random", "confidence"], n_labels=20, n_repeats=2, random_state=0)
    >>> list(display.lines_)
    ['random', 'confidence']
    """

    def __init__(self, *, result: SimulationResult, share: float = 0.95) -> None:
        self.result = result
        self.share = share

    @classmethod
    def from_result(
        cls,
        result: SimulationResult,
        *,
        share: float = 0.95,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw a simulation that was run before.

        Parameters
        ----------
        result : SimulationResult
            Result of :func:`surefoot.active_learning.simulate`.
        share : float, default=0.95
            Share of the accuracy with all labels that is aimed at.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend, with the number of labels that each strategy needs.

        Returns
        -------
        display : LearningCurveDisplay
            The display, drawn.
        """
        return cls(result=result, share=share).plot(ax, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        strategies: Any = ("random", "margin"),
        *,
        share: float = 0.95,
        ax: Axes | None = None,
        legend: bool = True,
        **options: Any,
    ) -> Self:
        """Simulate an oracle and draw the accuracy of each strategy.

        Parameters
        ----------
        estimator : classifier
            The model.
        X, y : rows and labels
            Rows and the labels that the oracle gives them.
        strategies : sequence or mapping, default=("random", "margin")
            Strategies to compare.
        share : float, default=0.95
            Share of the accuracy with all labels that is aimed at.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.
        **options : dict
            Passed on to :func:`surefoot.active_learning.simulate`.

        Returns
        -------
        display : LearningCurveDisplay
            The display, drawn.
        """
        result = simulate(estimator, X, y, strategies, **options)
        return cls.from_result(result, share=share, ax=ax, legend=legend)

    def _draw(self) -> None:
        result, needed = self.result, self.result.labels_needed(self.share)
        self.lines_, self.bands_ = {}, {}
        colors = iter(COLORS * (1 + len(result.accuracy) // len(COLORS)))
        for name, curves in result.accuracy.items():
            color = GREY if name == "random" else next(colors)
            mean = curves.mean(axis=0)
            error = curves.std(axis=0, ddof=1) / np.sqrt(len(curves)) if len(curves) > 1 else 0.0
            labels = f"{needed[name]:.0f}" if np.isfinite(needed[name]) else "never"
            self.bands_[name] = self.ax_.fill_between(
                result.n_labels, mean - error, mean + error, color=color, alpha=0.18, linewidth=0
            )
            self.lines_[name] = self.ax_.plot(
                result.n_labels, mean, color=color, label=f"{name}: {labels}"
            )[0]
        full = result.full_accuracy.mean()
        self.ax_.axhline(self.share * full, color=INK, linestyle=":", linewidth=1)
        self.ax_.set(xlabel="labels", ylabel="test accuracy")
        self.ax_.margins(x=0)

    def _draw_legend(self) -> None:
        title = f"labels to {self.share:.0%} of full accuracy"
        self.ax_.legend(title=title, fontsize="small", title_fontsize="small", frameon=False)
