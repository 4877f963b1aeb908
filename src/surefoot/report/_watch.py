"""Report on a model in use: whether it is still as good as when it was fitted."""

import time
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.stats import t as student
from sklearn.utils import check_scalar

from surefoot._periods import as_times, check_every, period_name, period_starts
from surefoot._tables import count_rows, is_missing, take_rows
from surefoot._typing import Floats
from surefoot._validation import check_share
from surefoot._words import UNITS, LossUnit, enumerated, number, percent, plural, quoted
from surefoot.abstention import Promise, promise_of
from surefoot.error_estimation import HeldOut, Judgement
from surefoot.monitoring import AuditResult, NewRows, RowComparison
from surefoot.report._answer import ABOUT
from surefoot.report._how import describe_run
from surefoot.report._report import WrittenPage, model_name
from surefoot.report._statistics import Sample, finite, wilson_interval

# Fewest rows that are compared with the held-out rows.
LEAST_COMPARED = 20

# Judgements, and cells of inputs, that are kept of all periods together, and the least for each.
ALL_JUDGED, ALL_CELLS = 250_000, 1_000_000
LEAST_JUDGED, LEAST_INPUTS = 2_000, 500

# Name of all rows together, where a period is named.
ALL_ROWS = "all rows"

# Periods, and columns, that one sentence names.
MOST_PERIODS, MOST_COLUMNS = 4, 5

# Share of rows outside of the training data from which the verdict names their columns, and from which the estimate is
# for the other rows alone; and the least effect of a column that the headline says has moved.
FEW_OUTSIDE, MOST_OUTSIDE, LEAST_EFFECT = 0.05, 0.25, 0.1

# Fewest earlier periods that say how many rows are usual, and the share of these that is far below.
LEAST_PERIODS, FAR_BELOW = 3, 0.5

# Share of rows that is called nearly all.
NEARLY_ALL = 0.95

CHANGED = "probably the same inputs now have other outcomes (concept shift), which the estimate cannot see"
UNSEEN = "A change in the outcomes would not be visible here; label 100 rows to be sure."
CAVEATS = """
An estimate needs no labels: it is the mean of the estimated errors of the rows, corrected for how their inputs \
differ from the held-out rows that the model was fitted with.
The interval of an estimate holds if only the inputs changed: rows with the same inputs have the same targets, as \
often as before (P(y|x) unchanged). The intervals of a measured error and of an audit assume nothing of the kind.
The interval of a measured error takes rows to be independent of each other. The error at training is measured on \
held-out rows, which the model that predicted them had not seen. A measured error is called higher if the interval \
of its difference from that error is above 0 (Newcombe 1998).
A row lies outside of the training data if it is novel, or lies where there are too few held-out rows to learn from.
A promised risk holds for new rows from the same source as those that the model was fitted on. Where rows have moved, \
it may be broken, and only labels show it.
Each interval holds alone, with the confidence that is named. Of many periods, some lie outside theirs by chance.
A column is said to have moved if its p value, adjusted for the number of columns (Benjamini and Hochberg), is at most \
0.05. The effect is the largest difference between the shares of rows up to some value (Kolmogorov and Smirnov), or \
half the sum of the differences between the shares of categories.
"""


class MonitoringReport(WrittenPage):
    """Report on a model in use: its estimated error by period, what has changed, and its measured error with labels.

    Rows are added in batches, so that a table of any size can be watched; a sample of bounded size is kept.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    every : {"day", "week", "month", "quarter", "year"}, default="week"
        Length of the periods. Weeks are those of ISO 8601, from Monday.
    promise : Promise, default=None
        Says which rows are answered. The default is `promise_of(error_estimator)`.
    max_error : float, default=None
        Largest error that is tolerated: there is an alarm where the lower end of an interval is above it, that of the
        measured error where there are labels. None compares with the error when the model was fitted.
    confidence : float, default=0.95
        Confidence of the intervals.
    audit : result of an audit, default=None
        What :func:`surefoot.monitoring.audit` gives for the same rows once they have labels; shown beside the estimate.
    name, command, ask : str, default=None
        Name of the table on the page, the command that makes the page again, and the one that draws rows to label.

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
        ask: str | None = None,
    ) -> None:
        check_share(confidence, "confidence")
        if max_error is not None:
            check_scalar(max_error, "max_error", (int, float), min_val=0)
        self.error_estimator = error_estimator
        self.every = check_every(every)
        self.promise = promise_of(error_estimator) if promise is None else promise
        self.max_error = max_error
        self.confidence = confidence
        self.audit = audit
        self.name = name
        self.command = command
        self.ask = ask
        self._began = time.perf_counter()
        self._all = PeriodRows(error_estimator)
        self._periods: dict[Any, PeriodRows] = {}
        self._n_without_time = 0
        self._summary: dict[str, Any] | None = None

    def add(
        self, X: Any, times: Any = None, judgement: Judgement | None = None, y: Any = None
    ) -> Self:
        """Add rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            New rows.
        times : array-like of shape (n_rows,), default=None
            Their times: datetimes, or texts such as "2026-11-16". Rows without one count in no period.
        judgement : Judgement, default=None
            `error_estimator.judge(X)`, if it was computed already.
        y : array-like of shape (n_rows,), default=None
            Their targets, None or NaN where they are not known. A class that the model does not know counts as a
            mistake, of the largest cost if mistakes have costs.

        Returns
        -------
        self : MonitoringReport
            The report itself.
        """
        n_rows = count_rows(X)
        moments = None if times is None else as_times(times)
        if moments is not None and moments.shape != (n_rows,):
            raise ValueError(f"There are {n_rows} rows, but times has the shape {moments.shape}.")
        if y is not None and np.shape(y) != (n_rows,):
            raise ValueError(f"There are {n_rows} rows, but y has the shape {np.shape(y)}.")
        if n_rows == 0:
            return self
        judgement = self.error_estimator.judge(X) if judgement is None else judgement
        judgement = self.promise.apply(judgement)
        self._summary = None
        # Inputs are read once if each row is in two samples.
        inputs = None if moments is None else self._all.read_inputs(X)
        targets = [None] * n_rows if y is None else y
        losses = measured_losses(self.error_estimator.held_out_, judgement.prediction, targets)
        self._all.add_judged(X, judgement, losses, inputs)
        if moments is None or inputs is None:
            return self
        starts = period_starts(moments, self.every)
        self._n_without_time += int(np.isnat(starts).sum())
        for start in np.unique(starts[~np.isnat(starts)]):
            places = np.flatnonzero(starts == start)
            own = {name: values[places] for name, values in inputs.items()}
            part = take_rows(X, places), judgement.take(places), losses[places]
            self._period(start).add_judged(*part, own)
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
            estimate, low, high and reason, the share of rows outside of the training data, and `measured`, None
            without labels; `reference`, the numbers when the model was fitted; `moved`; `audit`; `how`.
        """
        if self._all.n_rows == 0:
            raise ValueError("There are no new rows yet: add some.")
        if self._summary is None:
            self._summary = self._describe()
        return self._summary

    def _describe(self) -> dict[str, Any]:
        held_out: HeldOut = self.error_estimator.held_out_
        if (
            held_out.classes is None
        ):  # new rows are measured by the size of their errors, which are not squared
            held_out = replace(held_out, losses=np.abs(held_out.truth - held_out.prediction))
        periods = [
            rows.describe(period_name(start, self.every), str(start), self.confidence)
            for start, rows in sorted(self._periods.items())
        ]
        overall = self._all.describe(ALL_ROWS, None, self.confidence)
        n_rows, promise, unit = overall["n_rows"], self.promise, held_out.unit
        audit = describe_audit(self.audit, n_rows)
        error = Sample(held_out, self.confidence).loss()
        limits = promise.describe(unit)
        reference = {
            "error": error["value"],
            "low": error["low"],
            "high": error["high"],
            "n_rows": len(held_out),
            "novel": float(np.mean(held_out.novel)),
            "coverage": promise.coverage,
            "promise": limits["short"],
            "promise_words": limits["words"],
            "promise_confidence": promise.confidence,
            "promise_kept": promise.kept,
        }
        compared = self._all.comparison()
        latest = self._periods[max(self._periods)].comparison() if len(periods) > 1 else compared
        sizes = {
            "new rows": n_rows,
            "periods": len(periods),
            "held-out rows of fit": len(held_out),
        }
        return {
            "task": held_out.task.kind,
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
                Watched(periods, overall, reference, unit, self.max_error, audit),
                [] if latest is None else latest.moved,
                self.ask or "surefoot.monitoring.audit(error_estimator, X, 100)",
            ),
            "reference": reference,
            "overall": overall,
            "periods": periods,
            "moved": describe_moved(compared, n_rows, periods, latest),
            "audit": audit,
            "how": describe_run(
                sizes,
                CAVEATS.strip().splitlines() + [ABOUT] * promise.is_about,
                seconds=time.perf_counter() - self._began,
                command=self.command
                or "MonitoringReport(error_estimator).add(X, times).write_html(...)",
            ),
        }


def measured_losses(held_out: HeldOut, prediction: Any, y: Any) -> Floats:
    """Loss of each prediction, NaN where the target is not known."""
    targets = np.asarray(y, dtype=object)
    known = np.array([not is_missing(target) for target in targets], dtype=np.bool_)
    losses = np.full(len(targets), np.nan)
    if held_out.classes is None:
        losses[known] = np.abs(targets[known].astype(np.float64) - prediction[known])
        return losses
    codes = {label: code for code, label in enumerate(held_out.classes.tolist())}
    truth, costs = (
        [codes.get(each, len(codes)) for each in targets[known]],
        held_out.task.cost_matrix,
    )
    # The last row is for classes that the model does not know.
    by_class = np.vstack([costs, costs.max(axis=0)])
    losses[known] = by_class[truth, held_out.task.codes(prediction[known])]
    return losses


class PeriodRows(NewRows):
    """Rows of one period, how many of them are answered, and sums of the losses of those with labels."""

    n_answered = n_labelled = 0
    total = squares = 0.0

    def add_judged(
        self, X: Any, judgement: Judgement, losses: Floats, inputs: dict[str, Any] | None
    ) -> None:
        """Add rows with their losses, NaN where they are not known, and their inputs if these were read already."""
        known = losses[~np.isnan(losses)]
        self.n_answered += int(np.asarray(judgement.accepted).sum())
        self.n_labelled += len(known)
        self.total += float(known.sum())
        self.squares += float(known @ known)
        self.add(X, judgement, inputs)

    def comparison(self) -> RowComparison | None:
        """Comparison with the held-out rows; None if there are too few rows for it."""
        return self.compare() if self.n_rows >= LEAST_COMPARED else None

    def describe(self, name: str, start: str | None, confidence: float) -> dict[str, Any]:
        """Numbers of the period; None where there is none, and then `reason` says why."""
        metric = self.error_estimator.held_out_.unit.metric
        performance = self.estimate(metric, confidence)
        shift, n_inside = performance.shift, self.n_rows
        if shift.share_outside > MOST_OUTSIDE:
            n_inside = int((1 - shift.share_outside) * self.n_rows)
        if LEAST_COMPARED <= n_inside < self.n_rows:
            performance = self.estimate(metric, confidence, inside=True)
        low, high = performance.interval
        return {
            "name": name,
            "start": start,
            "n_rows": self.n_rows,
            "n_estimated": n_inside,
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
            "n_novel": round(shift.share_novel * self.n_rows),
            "novel": shift.share_novel,
            "outside": shift.share_outside,
            "outside_in": [
                str(each) for each in shift.outside if shift.share_outside > FEW_OUTSIDE
            ],
            "n_labelled": self.n_labelled,
            "measured": self.describe_measured(confidence),
        }

    def describe_measured(self, confidence: float) -> dict[str, float] | None:
        """Mean loss of the rows with labels as `value`, and its interval as `low` and `high`; None for few of them."""
        n, unit = self.n_labelled, self.error_estimator.held_out_.unit
        if n < LEAST_COMPARED:
            return None
        mean = self.total / n
        if unit.is_share:
            low, high = wilson_interval(self.total, n, confidence)
        else:
            spread = np.sqrt(max(0.0, self.squares / n - mean**2) / (n - 1))
            low, high = mean + spread * student.ppf(
                [(1 - confidence) / 2, (1 + confidence) / 2], n - 1
            )
        return {"value": mean, "low": max(0.0, float(low)), "high": float(high)}


class Watched(NamedTuple):
    """Numbers that a verdict is given on: periods and all rows, beside those at training, a limit and an audit."""

    periods: list[dict[str, Any]]
    overall: dict[str, Any]
    reference: dict[str, Any]
    unit: LossUnit
    max_error: float | None
    audit: dict[str, Any] | None

    def is_above(self, period: dict[str, Any]) -> bool:
        """Whether the error is above the limit, or the one at training: the measured one where there are labels."""
        measured, at_training = period["measured"], self.reference["error"]
        if measured is None:
            level = at_training if self.max_error is None else self.max_error
            return period["low"] is not None and period["low"] > level
        if self.max_error is not None:
            return bool(measured["low"] > self.max_error)
        # Lower end of the interval of the difference (Newcombe 1998); rows of one group have no interval at training.
        below, high = measured["value"] - measured["low"], self.reference["high"]
        reach = np.hypot(below, 0.0 if high is None else high - at_training)
        return bool(measured["value"] - at_training > reach)

    def show(self, value: float, low: float, high: float, how: str, where: str) -> str:
        """Error and its interval, beside the error at training: "34 % estimated in week 46 (26 to 42 % …), 31 % …"."""
        show, mean = self.unit.show, "" if self.unit.is_share else f"{self.unit.mean} "
        only = " if only the inputs changed" if how == "estimated" else ""
        ends = f"{show(low).removesuffix(' %')} to {show(high)}{only}"
        return f"{mean}{show(value)} {how}{where} ({ends}), {show(self.reference['error'])} at training"


def give_watch_verdict(watched: Watched, moved: list[Any], ask: str) -> dict[str, Any]:
    """Headline, sentences and figures; `alarms` names what lies above the limit, or above the error at training.

    `moved` are the columns that moved in the latest period; `ask` is the command that draws rows to label.
    """
    periods, overall, audit = watched.periods, watched.overall, watched.audit
    latest = shown = periods[-1] if periods else overall
    if labelled := [each for each in periods or [overall] if each["measured"]]:
        shown = labelled[-1]
    alarms = [each for each in (*periods, overall) if watched.is_above(each)]
    worse = "a higher error"
    if watched.max_error is not None:
        worse = f"an error above the limit of {watched.unit.show_risk(watched.max_error)}"
    strong = [column for column in moved if column.effect >= LEAST_EFFECT]
    headline = _headline(watched, shown, worse, shown in alarms, strong)
    sentences = []
    audit_is_above = audit is not None and (
        audit["low"] > audit["when_fitted"]
        if watched.max_error is None
        else audit["comparable"] and audit["low"] > watched.max_error
    )
    if audit is not None and audit_is_above and not shown["measured"]:
        headline = f"The audit shows {worse}. {_about_audit(audit, overall, watched.unit)}"
    elif audit is not None:
        sentences.append(_about_audit(audit, overall, watched.unit))
    elif not shown["measured"]:
        headline += f" {UNSEEN}"
        sentences.append(f"To draw these rows: {ask}")
    if others := [each for each in alarms if each is not shown]:
        ways = {
            how: enumerated(
                [each["name"] for each in others if bool(each["measured"]) == has], MOST_PERIODS
            )
            for how, has in (("measured", True), ("estimated", False))
        }
        found = " and ".join(f"{how} for {names}" for how, names in ways.items() if names)
        headline += f" {worse.capitalize()} was {found}."
    if shown["measured"]:
        sentences.append(_beside_measured(watched, shown))
        if latest is not shown:
            sentences += [_headline(watched, latest, worse, latest in alarms, strong), UNSEEN]
    sentences += _about_rows(watched, latest, strong)
    return {
        "headline": headline,
        "sentences": sentences,
        "figures": _watch_figures(shown, latest, watched),
        "alarms": [each["name"] for each in alarms] + ["the audit"] * audit_is_above,
    }


def _headline(
    watched: Watched,
    period: dict[str, Any],
    worse: str,
    is_above: bool,
    moved: list[Any],
) -> str:
    """Sentence on the error of a period: what was measured, else what its inputs show."""
    where = _where(period)
    if measured := period["measured"]:
        n_rows = number(period["n_rows"])
        if period["n_labelled"] < period["n_rows"]:
            n_rows = f"{number(period['n_labelled'])} of {n_rows}"
        shown = watched.show(
            measured["value"],
            measured["low"],
            measured["high"],
            "measured",
            f"{where} on {n_rows} rows",
        )
        return f"The labels show {worse if is_above else f'no sign of {worse}'}: {shown}."
    outside, start = "", "The inputs"
    if period["n_estimated"] < period["n_rows"]:
        outside = f"{_outside(period)}. "
        start = f"The inputs of the other {percent(1 - period['outside'])}"
    if period["estimate"] is None:
        if outside:
            return f"{outside}Their error cannot be estimated from the inputs."
        return f"No error can be estimated{where}. {period['reason']}"
    if moved and not outside:
        start = f"The inputs have moved, most “{moved[0].name}”, and"
    shown = watched.show(period["estimate"], period["low"], period["high"], "estimated", where)
    if is_above:
        return f"{outside}{start} point to {worse}: {shown}."
    return f"{outside}{start.replace(', and', ', but')} give no sign of {worse}: {shown}."


def _outside(period: dict[str, Any]) -> str:
    """Clause on the rows outside of the training data, and the columns in which they differ."""
    share = "Nearly all" if period["outside"] > NEARLY_ALL else percent(period["outside"])
    rows = "rows" if period["start"] is None else f"rows of {period['name']}"
    named = quoted(period["outside_in"])
    return f"{share} of the {rows} lie outside of the training data" + (
        f", most in {named}" if named else ""
    )


def _beside_measured(watched: Watched, period: dict[str, Any]) -> str:
    """Sentence that compares the estimate with what labels show."""
    measured = period["measured"]
    if period["estimate"] is None:
        return f"Without labels no error can be estimated. {period['reason']}"
    shown = watched.show(period["estimate"], period["low"], period["high"], "estimated", "")
    start = f"Without labels: {shown}"
    if period["n_estimated"] < period["n_rows"]:
        return (
            f"{start}, for the {percent(1 - period['outside'])} of rows within the training data."
        )
    if measured["low"] > period["high"] or measured["high"] < period["low"]:
        return f"{start}. The labels contradict this: {CHANGED}."
    return f"{start}."


def _about_rows(watched: Watched, latest: dict[str, Any], moved: list[Any]) -> list[str]:
    """Sentences on the rows of the latest period: outside of the training data, moved, and far fewer than usual."""
    sentences = []
    if latest["n_estimated"] == latest["n_rows"] and latest["outside_in"]:
        sentences.append(f"{_outside(latest)}, where the estimate is least certain.")
    elif latest["outside"] > NEARLY_ALL and latest["outside_in"]:
        sentences.append(f"If “{latest['outside_in'][0]}” only grows with time, train without it.")
    if moved:
        names = enumerated([f"“{column.name}”" for column in moved], MOST_COLUMNS)
        sentences.append(f"Moved since training, the largest change first: {names}.")
    if unknown := [
        each for each in watched.periods[:-1] if not each["measured"] and each["estimate"] is None
    ]:
        names = enumerated([each["name"] for each in unknown], MOST_PERIODS)
        sentences.append(f"No error can be estimated for {names}: {unknown[0]['reason']}")
    earlier = [period["n_rows"] for period in watched.periods[:-1]]
    if len(earlier) >= LEAST_PERIODS:
        usual = float(np.median(earlier))
        if latest["n_rows"] < min(FAR_BELOW * usual, *earlier):
            sentences.append(
                f"{latest['name'].capitalize()} has {plural(latest['n_rows'], 'row')}, where {number(round(usual))} "
                "are usual: either rows are missing, or the period is not over."
            )
    return sentences


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
    if overall["estimate"] is not None:
        beside = f"which does not contradict {estimate}"
        if audit["low"] > overall["high"]:
            beside = f"more than {estimate}: {CHANGED}"
        elif audit["high"] < overall["low"]:
            beside = f"less than {estimate}: {CHANGED}"
    return f"{shows} {audit['what']} of {texts['estimate']} ({texts['interval']}), {beside}."


def _watch_figures(
    shown: dict[str, Any], latest: dict[str, Any], watched: Watched
) -> list[dict[str, str]]:
    unit, reference = watched.unit, watched.reference
    where, at_training = _where(shown), f"{unit.show(reference['error'])} at training"
    measured, about = shown["measured"], "No estimate can be given."
    if shown["estimate"] is not None:
        rows = "" if shown["n_estimated"] == shown["n_rows"] else ", rows within the training data"
        ends = f"{unit.show(shown['low'])} to {unit.show(shown['high'])}"
        about = f"{ends} if only the inputs changed{rows}; {at_training}"
    figures = [
        {
            "value": unit.show(shown["estimate"]),
            "label": f"estimated {unit.mean}{where}",
            "about": about,
        }
    ]
    if measured:
        ends = f"{unit.show(measured['low'])} to {unit.show(measured['high'])}"
        value, label = unit.show(measured["value"]), f"measured {unit.mean}{where}"
        figures.insert(0, {"value": value, "label": label, "about": f"{ends}; {at_training}"})
    return [
        *figures,
        {
            "value": percent(latest["answered"]),
            "label": f"of the rows answered{_where(latest)}",
            "about": f"{percent(reference['coverage'])} when it was fitted, for {reference['promise']}",
        },
        {
            "value": percent(latest["outside"]),
            "label": f"of the rows outside of the training data{_where(latest)}",
            "about": f"about {percent(reference['novel'])} of the held-out rows were novel",
        },
    ]


def _where(period: dict[str, Any]) -> str:
    return "" if period["start"] is None else f" in {period['name']}"


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
            "sentence": f"There are too few new rows to see whether inputs have changed: {number(n_rows)}.",
            **dict.fromkeys(("auc", "p_value", "same", "by_period")),
        }
    n_moved, n_columns = len(comparison.moved), len(comparison.columns)
    differ = "The new rows differ"
    if comparison.same:
        differ = f"Nothing shows that {plural(n_rows, 'new row')} differ as a whole"
    auc = finite(comparison.auc)
    sentence = (
        f"{differ} from those that the model was fitted on: a classifier separates them with an AUC of "
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
            for column in comparison.columns
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
        return f"{by_period} {name.capitalize()} has too few rows to see what changed in it."
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
