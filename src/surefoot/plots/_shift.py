"""Columns that differ between new rows and those that a model was fitted on."""

from typing import Any, Self

from surefoot.monitoring import RowComparison, compare_rows
from surefoot.plots._display import GREY, VERMILION, Axes, LegendDisplay


class ShiftDisplay(LegendDisplay):
    """Bars of how far each column has moved, from 0 (not at all) to 1, the largest first.

    Use `from_result` or `from_estimator` to make a display.

    Parameters
    ----------
    comparison : RowComparison
        Result of :func:`surefoot.monitoring.compare_rows`.
    max_columns : int, default=15
        Most columns to draw, those with the largest effect.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure.
    figure_ : matplotlib Figure
        Figure that contains them.
    bars_ : matplotlib BarContainer
        The bars, the largest effect first.

    See Also
    --------
    surefoot.monitoring.compare_rows : The numbers alone.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.plots import ShiftDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:300], y[:300])
    >>> smaller = X[300:].assign(**{"mean area": X["mean area"][300:] / 2})
    >>> display = ShiftDisplay.from_estimator(error_estimator, smaller, max_columns=3)
    >>> display.ax_.get_yticklabels()[0].get_text()
    'mean area'
    """

    def __init__(self, *, comparison: RowComparison, max_columns: int = 15) -> None:
        self.comparison = comparison
        self.max_columns = max_columns

    @classmethod
    def from_result(
        cls,
        comparison: RowComparison,
        *,
        max_columns: int = 15,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw a comparison that was computed before.

        Parameters
        ----------
        comparison : RowComparison
            Result of :func:`surefoot.monitoring.compare_rows`.
        max_columns : int, default=15
            Most columns to draw.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : ShiftDisplay
            The display, drawn.
        """
        return cls(comparison=comparison, max_columns=max_columns).plot(ax, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        max_columns: int = 15,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Compare new rows with the held-out rows of a fitted error estimator, and draw what moved.

        Parameters
        ----------
        estimator : IndividualErrorClassifier or IndividualErrorRegressor
            Fitted error estimator.
        X : array-like or frame of shape (n_rows, n_columns)
            New rows.
        max_columns : int, default=15
            Most columns to draw.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : ShiftDisplay
            The display, drawn.
        """
        comparison = compare_rows(estimator, X)
        return cls.from_result(comparison, max_columns=max_columns, ax=ax, legend=legend)

    def _draw(self) -> None:
        by_effect = sorted(self.comparison.columns, key=lambda column: -column.effect)
        columns = by_effect[: self.max_columns]
        self.bars_ = self.ax_.barh(
            range(len(columns)),
            [column.effect for column in columns],
            color=[VERMILION if column.moved else GREY for column in columns],
        )
        self.ax_.set_yticks(range(len(columns)), [str(column.name) for column in columns])
        self.ax_.invert_yaxis()
        self.ax_.set(xlabel="difference between the distributions, from 0 to 1")

    def _draw_legend(self) -> None:
        for color, name in ((VERMILION, "moved"), (GREY, "no more than chance allows")):
            self.ax_.bar([], [], color=color, label=name)
        title = f"new against old rows: AUC {self.comparison.auc:.2f}"
        self.ax_.legend(title=title, frameon=False, loc="lower right")
