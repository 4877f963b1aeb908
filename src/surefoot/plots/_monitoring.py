"""Displays of a model in use: its estimated error, period by period, and the columns that moved."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from surefoot._periods import are_alone, as_times, check_every, period_starts
from surefoot._tables import take_rows
from surefoot._typing import Floats
from surefoot.monitoring import (
    AuditResult,
    PerformanceEstimate,
    RowComparison,
    compare_rows,
    estimate_performance,
)
from surefoot.plots._display import BLUE, GREY, INK, ORANGE, VERMILION, Axes, LegendDisplay


class PerformanceOverTimeDisplay(LegendDisplay):
    """Estimated error of a model by period, lower better, with the band of its interval; NaN is not drawn.

    Use `from_estimates` or `from_estimator` to make a display; the parameters are stored as attributes.

    Parameters
    ----------
    starts : ndarray of datetime64 of shape (n_periods,)
        First day of each period, ascending.
    estimates : ndarray of shape (n_periods,)
        Estimated error of the rows of each period; NaN where it cannot be estimated.
    intervals : ndarray of shape (n_periods, 2)
        Lower and upper end of the interval of each estimate.
    reference : float, default=None
        Error when the model was fitted, on held-out rows.
    limit : float, default=None
        Error that must not be passed.
    audits : ndarray of shape (n_periods, 3), default=None
        Error that an audit measured with labels, and the ends of its interval; NaN for periods without one.
    error_name : str, default="error"
        Label of the y axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure.
    figure_ : matplotlib Figure
        Figure that contains them.
    line_ : matplotlib Line2D
        The estimates.
    band_ : matplotlib PolyCollection
        Their intervals.

    See Also
    --------
    surefoot.monitoring.estimate_performance : The estimate of one set of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.plots import PerformanceOverTimeDisplay
    >>> starts = np.array(["2026-11-02", "2026-11-09", "2026-11-16"], dtype="datetime64[D]")
    >>> display = PerformanceOverTimeDisplay(
    ...     starts=starts,
    ...     estimates=np.array([0.08, 0.09, 0.12]),
    ...     intervals=np.array([[0.06, 0.10], [0.07, 0.11], [0.09, 0.15]]),
    ...     reference=0.08,
    ... ).plot()
    >>> display.line_.get_ydata()
    array([0.08, 0.09, 0.12])
    """

    def __init__(
        self,
        *,
        starts: NDArray[Any],
        estimates: Floats,
        intervals: Floats,
        reference: float | None = None,
        limit: float | None = None,
        audits: Floats | None = None,
        error_name: str = "error",
    ) -> None:
        self.starts = starts
        self.estimates = estimates
        self.intervals = intervals
        self.reference = reference
        self.limit = limit
        self.audits = audits
        self.error_name = error_name

    @classmethod
    def from_estimates(
        cls,
        starts: Any,
        estimates: Sequence[PerformanceEstimate],
        *,
        limit: float | None = None,
        audits: Sequence[AuditResult | None] | None = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw estimates that were computed before, one for each period.

        Parameters
        ----------
        starts : array-like of datetime64 of shape (n_periods,)
            First day of each period, ascending.
        estimates : sequence of PerformanceEstimate
            Results of :func:`surefoot.monitoring.estimate_performance`, all of the same metric.
        limit : float, default=None
            Error that must not be passed.
        audits : sequence of AuditResult or None, default=None
            What an audit measured in each period; None for a period without one.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : PerformanceOverTimeDisplay
            The display, drawn.
        """
        if not len(estimates) or len(estimates) != len(starts):
            raise ValueError(
                f"There are {len(starts)} starts and {len(estimates)} estimates: each period has one of each."
            )
        return cls(
            starts=as_times(starts),
            estimates=np.array([each.estimate for each in estimates]),
            intervals=np.array([each.interval for each in estimates]),
            reference=estimates[0].baseline,
            limit=limit,
            audits=None
            if audits is None
            else np.array(
                [
                    [np.nan] * 3 if each is None else [each.estimate, *each.interval]
                    for each in audits
                ]
            ),
            error_name=f"estimated {estimates[0].metric.replace('_', ' ')}",
        ).plot(ax, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        times: Any,
        *,
        every: str = "week",
        metric: str | None = None,
        confidence: float = 0.95,
        limit: float | None = None,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Estimate the error of a fitted error estimator on new rows without labels, and draw it by period.

        Parameters
        ----------
        estimator : IndividualErrorClassifier or IndividualErrorRegressor
            Fitted error estimator.
        X : array-like or frame of shape (n_rows, n_columns)
            New rows.
        times : array-like of shape (n_rows,)
            Their times: datetimes, or strings such as "2026-11-16". Rows without one are left out.
        every : {"day", "week", "month", "quarter", "year"}, default="week"
            Length of the periods. Weeks are those of ISO 8601.
        metric : str, default=None
            Measure to estimate; by default "error", for a regressor "mean_absolute_error".
        confidence : float, default=0.95
            Confidence of each interval.
        limit : float, default=None
            Error that must not be passed.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : PerformanceOverTimeDisplay
            The display, drawn.
        """
        starts = period_starts(as_times(times), check_every(every))
        periods = np.unique(starts[~np.isnat(starts)])
        if metric is None:
            metric = "error" if is_classifier(estimator) else "mean_absolute_error"
        estimates = [
            estimate_performance(
                estimator,
                take_rows(X, np.flatnonzero(starts == start)),
                metric=metric,
                confidence=confidence,
            )
            for start in periods
        ]
        return cls.from_estimates(periods, estimates, limit=limit, ax=ax, legend=legend)

    def _draw(self) -> None:
        ax, starts = self.ax_, np.asarray(self.starts)
        low, high = np.asarray(self.intervals, dtype=np.float64).T
        self.band_ = ax.fill_between(
            starts, low, high, color=BLUE, alpha=0.18, linewidth=0, label="its interval"
        )
        self.line_ = ax.plot(
            starts, self.estimates, color=BLUE, marker="o", markersize=4, label="estimated"
        )[0]
        # A band has no width for a period without a neighbour.
        alone = are_alone(np.isfinite(np.asarray(self.estimates, dtype=np.float64)))
        ax.vlines(starts[alone], low[alone], high[alone], color=BLUE, alpha=0.4, linewidth=3)
        for level, color, dashes, name in (
            (self.reference, INK, (4, 2), "when it was fitted"),
            (self.limit, VERMILION, (1, 1), "limit"),
        ):
            if level is not None:
                ax.axhline(level, color=color, dashes=dashes, linewidth=1.2, label=name)
        if self.audits is not None:
            audited, low, high = np.asarray(self.audits, dtype=np.float64).T
            ax.errorbar(
                starts,
                audited,
                yerr=np.vstack([audited - low, high - audited]),
                color=ORANGE,
                fmt="s",
                markersize=5,
                capsize=3,
                label="audited, with labels",
            )
        ax.set(ylabel=self.error_name)
        ax.set_ylim(bottom=0)
        ax.tick_params(axis="x", rotation=30)


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
        columns = self.comparison.columns[: self.max_columns]
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
