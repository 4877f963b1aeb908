"""Errors of a booster by round: training error, its bound, and test error."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._typing import Floats
from surefoot.plots._display import BLUE, GREY, VERMILION, Axes, LegendDisplay


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
