"""Where the error comes from at each point: bias, variance and noise, one upon the other."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from surefoot._typing import Floats
from surefoot.plots._display import BLUE, GREY, INK, ORANGE, Axes, LegendDisplay
from surefoot.resampling import bias_variance


class BiasVarianceDisplay(LegendDisplay):
    """Bias, variance and noise of each test point, stacked up to its error; lower is better.

    For 0-1 loss variance may take from the error: it is then drawn below zero, and the line of the
    error runs below the top of the stack. Use `from_result` or `from_estimator` to make a display.

    Parameters
    ----------
    result : object
        Result of :func:`surefoot.resampling.bias_variance`.
    x : ndarray of shape (n_test,), default=None
        Position of each point; None puts the points in the order of their error.
    xlabel : str, default=None
        Label of the x axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure.
    figure_ : matplotlib Figure
        Figure that contains them.
    areas_ : dict of str to matplotlib PolyCollection
        "bias²", "variance" and "noise", those that are not zero.
    line_ : matplotlib Line2D
        The error.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from surefoot.plots import BiasVarianceDisplay
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> display = BiasVarianceDisplay.from_estimator(
    ...     DecisionTreeRegressor(max_depth=2), X, y, X, y, n_resamples=20, random_state=0)
    >>> sorted(display.areas_)
    ['bias²', 'variance']
    """

    def __init__(self, *, result: Any, x: Floats | None = None, xlabel: str | None = None) -> None:
        self.result = result
        self.x = x
        self.xlabel = xlabel

    @classmethod
    def from_result(
        cls,
        result: Any,
        x: ArrayLike | None = None,
        *,
        xlabel: str | None = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw a decomposition that was computed before.

        Parameters
        ----------
        result : object
            Result of :func:`surefoot.resampling.bias_variance`.
        x : array-like of shape (n_test,), default=None
            Position of each point; None puts the points in the order of their error.
        xlabel : str, default=None
            Label of the x axis.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : BiasVarianceDisplay
            The display, drawn.
        """
        places = None if x is None else np.asarray(x, dtype=np.float64)
        if places is not None and places.shape != result.error.shape:
            raise ValueError(
                f"x has shape {places.shape} for {len(result.error)} points: it must have one value for each."
            )
        return cls(result=result, x=places, xlabel=xlabel).plot(ax, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any,
        y_test: Any = None,
        *,
        ax: Axes | None = None,
        legend: bool = True,
        **options: Any,
    ) -> Self:
        """Split the error of a model and draw it, against the column if `X_test` has only one.

        Parameters
        ----------
        estimator : estimator
            The model.
        X, y : training rows and targets
            Rows that training sets are drawn from.
        X_test, y_test : rows and targets
            Points whose error is split into bias, variance and noise.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.
        **options : dict
            Passed on to :func:`surefoot.resampling.bias_variance`.

        Returns
        -------
        display : BiasVarianceDisplay
            The display, drawn.
        """
        result = bias_variance(estimator, X, y, X_test, y_test, **options)
        table = np.asarray(X_test)
        is_line = table.ndim == 2 and table.shape[1] == 1
        names = [str(name) for name in getattr(X_test, "columns", [])]
        xlabel = (names or ["x"])[0] if is_line else None
        return cls.from_result(
            result, table[:, 0] if is_line else None, xlabel=xlabel, ax=ax, legend=legend
        )

    def _draw(self) -> None:
        result = self.result
        places = self.x if self.x is not None else np.argsort(np.argsort(result.error)) + 1.0
        order = np.argsort(places, kind="stable")
        base, below = np.zeros(len(order)), np.zeros(len(order))
        self.areas_ = {}
        terms = [
            ("bias²", result.bias2, BLUE),
            ("variance", result.net_variance, ORANGE),
            ("noise", result.net_noise, GREY),
        ]
        for (
            name,
            values,
            color,
        ) in terms:  # positive parts upwards from zero, negative ones downwards
            if np.abs(values).max() == 0:
                continue
            up, down = np.maximum(values[order], 0), np.minimum(values[order], 0)
            style: dict[str, Any] = {"color": color, "linewidth": 0.0, "alpha": 0.85}
            self.areas_[name] = self.ax_.fill_between(
                places[order], base, base + up, label=f"{name}, mean {values.mean():.3g}", **style
            )
            if (down < 0).any():
                self.ax_.fill_between(places[order], below, below + down, **style)
            base, below = base + up, below + down
        self.line_ = self.ax_.plot(
            places[order],
            result.error[order],
            color=INK,
            label=f"error, mean {result.mean_error:.3g}",
        )[0]
        ylabel = "squared error" if result.loss == "squared" else "probability of an error"
        xlabel = self.xlabel or ("test points, by error" if self.x is None else None)
        self.ax_.set(xlabel=xlabel, ylabel=ylabel)
        self.ax_.margins(x=0)
