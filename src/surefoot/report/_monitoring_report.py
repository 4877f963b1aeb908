"""Report on a model in use: whether it is still as good as when it was fitted."""

import time
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_scalar

from surefoot._optional import needed_for
from surefoot._periods import as_times, check_every, period_name, period_starts
from surefoot._tables import count_rows, take_rows
from surefoot._validation import check_share
from surefoot.abstention import Promise
from surefoot.error_estimation import Judgement
from surefoot.monitoring import RowComparison
from surefoot.report._report import model_name
from surefoot.report._shares import loss_interval
from surefoot.report._written_page import WrittenPage
from surefoot.report.monitored import (
    ALL_ROWS,
    PeriodRows,
    describe_audit,
    describe_moved,
    describe_watching,
    give_watch_verdict,
    sizes_for,
)

# Fewest rows that are compared with the held-out rows.
LEAST_COMPARED = 20


class MonitoringReport(WrittenPage):
    """Report on a model in use, without labels: its estimated error by period, and what has changed.

    Rows are added in batches, so that a table of any size can be watched; a sample of bounded size is kept.

    Parameters
    ----------
    sure : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    every : {"day", "week", "month", "quarter", "year"}, default="week"
        Length of the periods. Weeks are those of ISO 8601, from Monday.
    promise : Promise, default=None
        Says which rows are answered. The default is `Promise.from_held_out(sure.held_out_)`.
    limit : float, default=None
        Error that must not be passed: there is an alarm where the lower end of an interval is above it. None compares
        with the error when the model was fitted.
    confidence : float, default=0.95
        Confidence of the intervals.
    audit : result of an audit, default=None
        What :func:`surefoot.monitoring.audit` gives for the same rows once they have labels; shown beside the estimate.
    name, command : str, default=None
        Name of the table on the page, and the command that makes the page again.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.report import MonitoringReport
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> sure = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> report = MonitoringReport(sure).add(X[400:])
    >>> report.summarize()["overall"]["n_rows"]
    169
    """

    def __init__(
        self,
        sure: Any,
        *,
        every: str = "week",
        promise: Promise | None = None,
        limit: float | None = None,
        confidence: float = 0.95,
        audit: Any = None,
        name: str | None = None,
        command: str | None = None,
    ) -> None:
        check_share(confidence, "confidence")
        if limit is not None:
            check_scalar(limit, "limit", (int, float), min_val=0)
        self.sure = sure
        self.every = check_every(every)
        self.promise = Promise.from_held_out(sure.held_out_) if promise is None else promise
        self.limit = limit
        self.confidence = confidence
        self.audit = audit
        self.name = name
        self.command = command
        self._began = time.perf_counter()
        self._all = PeriodRows(sure, self.promise)
        self._periods: dict[Any, PeriodRows] = {}
        self._n_without_time = 0
        self._summary: dict[str, Any] | None = None

    def add(self, X: Any, times: Any = None, judgement: Judgement | None = None) -> Self:
        """Add rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            New rows.
        times : array-like of shape (n_rows,), default=None
            Their times: datetimes, or texts such as "2026-11-16". Rows without one count in no period.
        judgement : Judgement, default=None
            `sure.judge(X)`, if it was computed already.

        Returns
        -------
        self : MonitoringReport
            The report itself.
        """
        n_rows = count_rows(X)
        moments = None if times is None else as_times(times)
        if moments is not None and moments.shape != (n_rows,):
            raise ValueError(f"There are {n_rows} rows, but times has the shape {moments.shape}.")
        if n_rows == 0:
            return self
        judgement = self.sure.judge(X) if judgement is None else judgement
        self._summary = None
        self._all.add(X, judgement)
        if moments is not None:
            self._add_to_periods(X, judgement, period_starts(moments, self.every))
        return self

    def _add_to_periods(self, X: Any, judgement: Judgement, starts: Any) -> None:
        known = np.flatnonzero(~np.isnat(starts))
        self._n_without_time += len(starts) - len(known)
        for start in np.unique(starts[known]):
            places = np.flatnonzero(starts == start)
            rows, judged = X, judgement
            if len(places) < len(starts):
                rows, judged = take_rows(X, places), judgement.take(places)
            self._period(start).add(rows, judged)

    def _period(self, start: Any) -> PeriodRows:
        """Rows of the period that starts on a day; the more periods there are, the fewer rows of each are kept."""
        if start not in self._periods:
            sizes = sizes_for(len(self._periods) + 1, int(getattr(self.sure, "n_features_in_", 1)))
            for period in self._periods.values():
                period.rows.shrink(**sizes)
            self._periods[start] = PeriodRows(self.sure, self.promise, **sizes)
        return self._periods[start]

    def summarize(self) -> dict[str, Any]:
        """Content of the page as a plain dict, which can be written as JSON.

        Returns
        -------
        summary : dict
            `verdict`, with `alarms`, the names of the periods above the limit; `periods` and `overall`, each with
            estimate, low, high and reason; `reference`, the figures when the model was fitted; `moved`; `audit`; `how`.
        """
        if self._all.rows.n_rows == 0:
            raise ValueError("There are no new rows yet: add some.")
        if self._summary is None:
            self._summary = self._describe()
        return self._summary

    def _describe(self) -> dict[str, Any]:
        described = [
            rows.describe(period_name(start, self.every), str(start), self.confidence)
            for start, rows in sorted(self._periods.items())
        ]
        overall = self._all.describe(ALL_ROWS, None, self.confidence)
        reference, audit = self._reference(), describe_audit(self.audit, overall["n_rows"])
        verdict = give_watch_verdict(
            described,
            overall,
            reference,
            self.sure.held_out_.unit.name,
            limit=self.limit,
            audit=audit,
        )
        return {
            "task": "classification" if is_classifier(self.sure) else "regression",
            "unit": self.sure.held_out_.unit.name,
            "model": model_name(self.sure.estimator),
            "confidence": self.confidence,
            "limit": self.limit,
            "every": self.every,
            "data": {
                "name": self.name or "the table",
                "n_rows": overall["n_rows"],
                "n_without_time": self._n_without_time,
            },
            "verdict": verdict,
            "reference": reference,
            "overall": overall,
            "periods": described,
            "moved": self._describe_moved(described, overall),
            "audit": audit,
            "how": self._describe_how(overall["n_rows"], len(described)),
        }

    def _describe_moved(
        self, periods: list[dict[str, Any]], overall: dict[str, Any]
    ) -> dict[str, Any]:
        latest = compared(self._periods[max(self._periods)]) if len(periods) > 1 else None
        return describe_moved(compared(self._all), overall["n_rows"], periods, latest)

    def _reference(self) -> dict[str, Any]:
        """Figures of the held-out rows: the error, the share that is answered, the share of novel rows."""
        held_out, promise = self.sure.held_out_, self.promise
        groups = held_out.groups
        codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
        low, high = loss_interval(
            held_out.losses, codes, self.confidence, are_shares=held_out.unit.is_share
        )
        limits = held_out.unit.describe_limits(promise.max_risk, promise.class_risks)
        return {
            "error": float(held_out.losses.mean()),
            "low": low,
            "high": high,
            "n_rows": len(held_out),
            "novel": float(np.mean(held_out.novel)),
            "coverage": promise.coverage,
            "promise": limits["short"],
            "promise_words": limits["words"],
            "promise_confidence": promise.confidence,
            "promise_kept": promise.kept,
        }

    def _describe_how(self, n_rows: int, n_periods: int) -> dict[str, Any]:
        sizes = {
            "new rows": n_rows,
            "periods": n_periods,
            "held-out rows of fit": len(self.sure.held_out_),
        }
        seconds = time.perf_counter() - self._began
        command = self.command or "MonitoringReport(sure).add(X, times).write_html(...)"
        return describe_watching(sizes, seconds=seconds, command=command)

    def _page(self) -> str:
        """HTML of the page."""
        with needed_for("The page", "report"):
            from surefoot.report.page import render_watch  # noqa: PLC0415 - a summary needs no page

        return render_watch(self.summarize())


def compared(period: PeriodRows) -> RowComparison | None:
    """Comparison of the rows of a period with the held-out rows; None if they are too few for it."""
    return period.rows.compare() if period.rows.n_rows >= LEAST_COMPARED else None
