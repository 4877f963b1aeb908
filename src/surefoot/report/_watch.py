"""Report on a model in use: whether it is still as good as when it was fitted."""

import time
from typing import Any, Self

import numpy as np
from sklearn.utils import check_scalar

from surefoot._periods import as_times, check_every, period_name, period_starts
from surefoot._tables import count_rows, take_rows
from surefoot._validation import check_share
from surefoot._words import UNITS, LossUnit, enumerated, number, percent, plural
from surefoot.abstention import Promise
from surefoot.error_estimation import HeldOut, Judgement
from surefoot.monitoring import AuditResult, NewRows, RowComparison
from surefoot.report._how import describe_run
from surefoot.report._report import WrittenPage, model_name
from surefoot.report._statistics import finite, loss_interval

# Fewest rows that are compared with the held-out rows.
LEAST_COMPARED = 20

# Judgements, and cells of inputs, that are kept of all periods together, and the least for each.
ALL_JUDGED, ALL_CELLS = 250_000, 1_000_000
LEAST_JUDGED, LEAST_INPUTS = 2_000, 500

# Name of all rows together, where a period is named.
ALL_ROWS = "all rows"

# Metric that the estimated error of a row is a part of, by the unit of losses.
METRICS = {"share": "error", "cost": "cost", "size": "mean_absolute_error"}

# Periods, and columns, that one sentence names.
MOST_PERIODS, MOST_COLUMNS = 4, 5

UNSEEN = (
    "The estimate needs no labels, and assumes that rows with the same inputs still have the same targets (P(y|x) "
    "unchanged). It does not see a change of that kind: only labels show it."
)
CAVEATS = """
Every figure of new rows is estimated without labels: the estimated errors of the rows, corrected for how their inputs \
differ from the held-out rows that the model was fitted with. An interval covers both what the new rows and what the \
held-out rows leave open.
The estimate assumes that rows with the same inputs still have the same targets (P(y|x) unchanged). The interval of an \
audit assumes nothing of the kind.
The error when the model was fitted is measured on held-out rows, which the model that predicted them had not seen.
A promised risk holds for new rows from the same source as those that the model was fitted on. Where rows have moved, \
it may be broken, and only an audit can tell.
Each interval holds alone, with the confidence that is named. Of many periods, some lie outside theirs by chance.
A column is said to have moved if its p value, adjusted for the number of columns (Benjamini and Hochberg), is at most \
0.05. The effect is the largest difference between the shares of rows up to some value (Kolmogorov and Smirnov), or \
half the sum of the differences between the shares of categories.
"""


class MonitoringReport(WrittenPage):
    """Report on a model in use, without labels: its estimated error by period, and what has changed.

    Rows are added in batches, so that a table of any size can be watched; a sample of bounded size is kept.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    every : {"day", "week", "month", "quarter", "year"}, default="week"
        Length of the periods. Weeks are those of ISO 8601, from Monday.
    promise : Promise, default=None
        Says which rows are answered. The default is `Promise.from_held_out(error_estimator.held_out_)`.
    max_error : float, default=None
        Largest error that is tolerated: there is an alarm where the lower end of an interval is above it. None compares
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
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0)
    >>> report = MonitoringReport(error_estimator.fit(X[:400], y[:400])).add(X[400:])
    >>> report.summarize()["overall"]["n_rows"]
    169
    """

    def __init__(
        self,
        error_estimator: Any,
        *,
        every: str = "week",
        promise: Promise | None = None,
        max_error: float | None = None,
        confidence: float = 0.95,
        audit: Any = None,
        name: str | None = None,
        command: str | None = None,
    ) -> None:
        check_share(confidence, "confidence")
        if max_error is not None:
            check_scalar(max_error, "max_error", (int, float), min_val=0)
        self.error_estimator = error_estimator
        self.every = check_every(every)
        self.promise = (
            Promise.from_held_out(error_estimator.held_out_) if promise is None else promise
        )
        self.max_error = max_error
        self.confidence = confidence
        self.audit = audit
        self.name = name
        self.command = command
        self._began = time.perf_counter()
        self._all = PeriodRows(error_estimator)
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
            `error_estimator.judge(X)`, if it was computed already.

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
        judgement = self.error_estimator.judge(X) if judgement is None else judgement
        judgement = self.promise.apply(judgement)
        self._summary = None
        # Inputs are read once if each row is in two samples.
        inputs = None if moments is None else self._all.read_inputs(X)
        self._all.add(X, judgement, inputs)
        if moments is None or inputs is None:
            return self
        starts = period_starts(moments, self.every)
        self._n_without_time += int(np.isnat(starts).sum())
        for start in np.unique(starts[~np.isnat(starts)]):
            places = np.flatnonzero(starts == start)
            own = {name: values[places] for name, values in inputs.items()}
            self._period(start).add(take_rows(X, places), judgement.take(places), own)
        return self

    def _period(self, start: Any) -> "PeriodRows":
        """Rows of the period that starts on a day; the more periods there are, the fewer rows of each are kept."""
        if start not in self._periods:
            n_periods = len(self._periods) + 1
            n_columns = int(getattr(self.error_estimator, "n_features_in_", 1))
            n_inputs = ALL_CELLS // max(n_columns, 1) // n_periods
            sizes = {
                "max_judged": min(max(ALL_JUDGED // n_periods, LEAST_JUDGED), self._all.max_judged),
                "max_inputs": min(max(n_inputs, LEAST_INPUTS), self._all.max_inputs),
            }
            for period in self._periods.values():
                period.shrink(**sizes)
            self._periods[start] = PeriodRows(self.error_estimator, **sizes)
        return self._periods[start]

    def summarize(self) -> dict[str, Any]:
        """Content of the page as a plain dict, which can be written as JSON.

        Returns
        -------
        summary : dict
            `verdict`, with `alarms`, the names of the periods above the limit; `periods` and `overall`, each with
            estimate, low, high and reason; `reference`, the numbers when the model was fitted; `moved`; `audit`; `how`.
        """
        if self._all.n_rows == 0:
            raise ValueError("There are no new rows yet: add some.")
        if self._summary is None:
            self._summary = self._describe()
        return self._summary

    def _describe(self) -> dict[str, Any]:
        held_out: HeldOut = self.error_estimator.held_out_
        periods = [
            rows.describe(period_name(start, self.every), str(start), self.confidence)
            for start, rows in sorted(self._periods.items())
        ]
        overall = self._all.describe(ALL_ROWS, None, self.confidence)
        n_rows, promise, unit = overall["n_rows"], self.promise, held_out.unit
        audit = describe_audit(self.audit, n_rows)
        low, high = loss_interval(held_out, self.confidence)
        limits = unit.describe_limits(promise.max_risk, promise.class_risks)
        reference = {
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
        latest = self._periods[max(self._periods)].comparison() if len(periods) > 1 else None
        sizes = {
            "new rows": n_rows,
            "periods": len(periods),
            "held-out rows of fit": len(held_out),
        }
        return {
            "task": "regression" if held_out.classes is None else "classification",
            "unit": unit.name,
            "model": model_name(self.error_estimator.estimator),
            "confidence": self.confidence,
            "limit": self.max_error,
            "every": self.every,
            "data": {
                "name": self.name or "the table",
                "n_rows": n_rows,
                "n_without_time": self._n_without_time,
            },
            "verdict": give_watch_verdict(
                periods, overall, reference, unit, max_error=self.max_error, audit=audit
            ),
            "reference": reference,
            "overall": overall,
            "periods": periods,
            "moved": describe_moved(self._all.comparison(), n_rows, periods, latest),
            "audit": audit,
            "how": describe_run(
                sizes,
                CAVEATS.strip().splitlines(),
                seconds=time.perf_counter() - self._began,
                command=self.command
                or "MonitoringReport(error_estimator).add(X, times).write_html(...)",
            ),
        }


class PeriodRows(NewRows):
    """Rows of one period, and how many of them are answered and novel."""

    n_answered = n_novel = 0

    def add(
        self, X: Any, judgement: Judgement | None = None, inputs: dict[str, Any] | None = None
    ) -> Self:
        """Add judged rows, and their inputs if these were read already."""
        if judgement is not None and judgement.accepted is not None:
            self.n_answered += int(np.count_nonzero(judgement.accepted))
            self.n_novel += int(np.count_nonzero(judgement.novel))
        return super().add(X, judgement, inputs)

    def comparison(self) -> RowComparison | None:
        """Comparison with the held-out rows; None if there are too few rows for it."""
        return self.compare() if self.n_rows >= LEAST_COMPARED else None

    def describe(self, name: str, start: str | None, confidence: float) -> dict[str, Any]:
        """Numbers of the period; None where there is none, and then `reason` says why."""
        metric = METRICS[self.error_estimator.held_out_.unit.name]
        performance = self.estimate(metric, confidence)
        (low, high), shift = performance.interval, performance.shift
        return {
            "name": name,
            "start": start,
            "n_rows": self.n_rows,
            "estimate": finite(performance.estimate),
            "low": finite(low),
            "high": finite(high),
            "confidence": confidence,
            "reason": performance.reason,
            "effective_rows": finite(performance.effective_rows),
            "auc": finite(shift.auc),
            "shifted": bool(shift.is_shifted),
            "n_answered": self.n_answered,
            "answered": self.n_answered / self.n_rows,
            "n_novel": self.n_novel,
            "novel": self.n_novel / self.n_rows,
        }


def give_watch_verdict(
    periods: list[dict[str, Any]],
    overall: dict[str, Any],
    reference: dict[str, Any],
    unit: LossUnit,
    *,
    max_error: float | None,
    audit: dict[str, Any] | None,
) -> dict[str, Any]:
    """Headline, sentences and figures; `alarms` names what lies above `max_error`, or above the error at fit."""
    level, against = reference["error"], "the error when it was fitted"
    outcome = "the inputs give no sign of a higher error"
    if max_error is not None:
        level, against = max_error, f"the limit of {unit.show_risk(max_error)}"
        outcome = f"the inputs give no sign of an error above {against}"
    alarms = [
        each for each in (*periods, overall) if each["low"] is not None and each["low"] > level
    ]
    if audit is not None and (max_error is None or audit["comparable"]):
        is_above = audit["low"] > (audit["when_fitted"] if max_error is None else max_error)
        alarms += [audit] if is_above else []
    latest, sentences = periods[-1] if periods else overall, []
    named = enumerated([each["name"] for each in alarms], MOST_PERIODS)
    if alarms:
        outcome = "alarm" if latest in alarms else f"alarm, by {named}"
        its, of = ("Its", "") if alarms == [latest] else ("The", f" for {named}")
        sentences.append(f"{its} whole interval lies above {against}{of}.")
    if latest["estimate"] is not None:
        headline = f"{_estimated(latest, reference, unit)}: {outcome}."
    else:
        alarm = " But there is an alarm." if alarms else ""
        headline = f"No figure can be given for {_rows_of(latest)}.{alarm} {latest['reason']}"
        known = [period for period in periods if period["estimate"] is not None]
        sentences += [f"{_estimated(each, reference, unit)}." for each in known[-1:]]
    unknown = [each for each in periods if each["estimate"] is None and each is not latest]
    if len(unknown) == 1:
        sentences.append(f"No figure can be given for {unknown[0]['name']}. {unknown[0]['reason']}")
    elif unknown:
        sentences.append(
            f"No figure can be given for {plural(len(unknown), 'earlier period')}; the table says why for each. "
            f"{unknown[0]['name'].capitalize()}: {unknown[0]['reason']}"
        )
    if audit is not None:
        sentences.append(_about_audit(audit, overall, unit))
    return {
        "headline": headline,
        "sentences": [*sentences, UNSEEN],
        "figures": _watch_figures(latest, reference, unit),
        "alarms": [each["name"] for each in alarms],
    }


def _estimated(period: dict[str, Any], reference: dict[str, Any], unit: LossUnit) -> str:
    estimated = unit.estimated.format(unit.show(period["estimate"]))
    ends = f"{unit.show(period['low'])} to {unit.show(period['high'])}"
    return f"{estimated} in {_rows_of(period)} ({ends}), {unit.show(reference['error'])} when it was fitted"


def _rows_of(period: dict[str, Any]) -> str:
    """Name of a period, or the number of all rows, for a sentence."""
    return plural(period["n_rows"], "row") if period["start"] is None else str(period["name"])


def _about_audit(audit: dict[str, Any], overall: dict[str, Any], unit: LossUnit) -> str:
    """Sentence that compares what labels show with the estimate."""
    if audit["estimate"] is None:
        return "The audit has no answers yet."
    texts, shows = audit["texts"], f"The audit with {plural(audit['n_answered'], 'answer')} shows"
    if not audit["comparable"]:
        return (
            f"{shows} that {texts['estimate']} of the rows ({texts['interval']}) {audit['what']}; "
            f"{texts['when_fitted']} were when the model was fitted."
        )
    beside, estimate = "whatever has changed", f"the estimate of {unit.show(overall['estimate'])}"
    changed = (
        "the same inputs now have other targets than when the model was fitted (concept shift)"
    )
    if overall["estimate"] is not None:
        beside = f"which does not contradict {estimate}"
        if audit["low"] > overall["high"]:
            beside = f"more than {estimate}: probably {changed}, which the estimate cannot see"
        elif audit["high"] < overall["low"]:
            beside = f"less than {estimate}: probably {changed}"
    return f"{shows} {audit['what']} of {texts['estimate']} ({texts['interval']}), {beside}."


def _watch_figures(
    latest: dict[str, Any], reference: dict[str, Any], unit: LossUnit
) -> list[dict[str, str]]:
    where = "" if latest["start"] is None else f" in {latest['name']}"
    about = "No figure can be given."
    if latest["estimate"] is not None:
        about = (
            f"{unit.show(latest['low'])} to {unit.show(latest['high'])}, with {percent(latest['confidence'])} "
            f"confidence; {unit.show(reference['error'])} when it was fitted"
        )
    return [
        {
            "value": unit.show(latest["estimate"]),
            "label": f"estimated {unit.mean}{where}",
            "about": about,
        },
        {
            "value": percent(latest["answered"]),
            "label": f"of the rows answered{where}",
            "about": f"{percent(reference['coverage'])} when it was fitted, for {reference['promise']}",
        },
        {
            "value": percent(latest["novel"]),
            "label": f"of the rows novel{where}",
            "about": f"{number(latest['n_novel'])} of {number(latest['n_rows'])} rows; about "
            f"{percent(reference['novel'])} of the held-out rows were",
        },
    ]


def describe_moved(
    comparison: RowComparison | None,
    n_rows: int,
    periods: list[dict[str, Any]],
    latest: RowComparison | None,
) -> dict[str, Any]:
    """Columns with the effect and the p value of each, the largest effect first, and whether the rows differ at all.

    `comparison` is that of all rows, `latest` that of the latest of several periods; None if there are too few rows.
    """
    if comparison is None:
        return {
            "columns": [],
            "n_moved": 0,
            "sentence": f"There are too few new rows to tell whether inputs have moved: {number(n_rows)}.",
            **dict.fromkeys(("auc", "p_value", "same", "by_period")),
        }
    n_moved, n_columns = len(comparison.moved), len(comparison.columns)
    differ = "The new rows differ"
    if comparison.same:
        differ = f"Nothing shows that {plural(n_rows, 'new row')} differ as a whole"
    auc = finite(comparison.auc)
    sentence = (
        f"{differ} from those that the model was fitted on: a classifier tells them apart with an AUC of "
        f"{number(auc)} (0.5 is chance)."
    )
    if n_moved:
        moved = "1 column has" if n_moved == 1 else f"{n_moved:,} columns have"
        sentence += f" {moved} moved, of {n_columns:,}."
    elif n_columns:
        sentence += " No single column has moved measurably."
    return {
        "columns": [
            {
                "name": str(column.name),
                "effect": float(column.effect),
                "p_value": finite(column.p_value),
                "moved": bool(column.moved),
            }
            for column in sorted(comparison.columns, key=lambda column: -column.effect)
        ],
        "n_moved": n_moved,
        "auc": auc,
        "p_value": finite(comparison.p_value),
        "same": bool(comparison.same),
        "sentence": sentence,
        "by_period": _about_periods(periods, latest) if len(periods) > 1 else None,
    }


def _about_periods(periods: list[dict[str, Any]], latest: RowComparison | None) -> str:
    """Sentence on the periods whose rows differ, and on what moved in the latest one."""
    differing, name = [period for period in periods if period["shifted"]], periods[-1]["name"]
    by_period = f"In none of {len(periods):,} periods alone do the rows differ measurably."
    if differing:
        most = max(differing, key=lambda period: period["auc"])
        by_period = (
            f"Period by period, rows differ in {len(differing):,} of {len(periods):,} (one in twenty would by "
            f"chance), most in {most['name']}, with an AUC of {number(most['auc'])}."
        )
    if latest is None:
        return f"{by_period} {name.capitalize()} has too few rows to tell what moved in it."
    if not latest.moved:
        return f"{by_period} In {name}, no single column has moved measurably."
    moved = enumerated([f"“{column.name}”" for column in latest.moved], MOST_COLUMNS)
    return f"{by_period} In {name}, these have moved: {moved}."


def describe_audit(result: AuditResult | None, n_rows: int) -> dict[str, Any] | None:
    """Figures of an audit of the same rows; None without one.

    `comparable` says whether they are of the same kind as the estimate: a regressor's audit counts large errors.
    """
    if result is None:
        return None
    drawn, loss = result.audit, result.audit.loss
    if drawn.n_rows != n_rows:
        raise ValueError(
            f"The audit is about {plural(drawn.n_rows, 'row')}, and {plural(n_rows, 'row')} are watched."
        )
    low, high = result.interval
    unit = UNITS["cost" if loss.costs is not None else "share"]
    show, what = unit.show, f"{'an' if unit.is_share else 'a'} {unit.mean}"
    if loss.tolerance is not None:
        what = f"are off by more than {number(loss.tolerance)}"
    return {
        "name": "the audit",
        "estimate": finite(result.estimate),
        "low": float(low),
        "high": float(high),
        "confidence": float(result.confidence),
        "n_answered": result.n_answered,
        "n_labels": len(drawn.rows),
        "when_fitted": float(loss.when_fitted),
        "what": what,
        "comparable": loss.tolerance is None,
        "texts": {
            "estimate": show(finite(result.estimate)),
            "interval": f"{show(low)} to {show(high)}",
            "when_fitted": show(float(loss.when_fitted)),
        },
    }
