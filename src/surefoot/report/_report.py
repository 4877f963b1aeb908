"""Report on a model: how far each prediction can be trusted, and what to do about it."""

import time
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from numbers import Integral
from typing import Any

from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from surefoot._optional import needed_for
from surefoot._parallel import Show, following, step_done
from surefoot._tables import as_table, count_rows
from surefoot._words import plural
from surefoot.report._answer import describe_answering
from surefoot.report._assessment import Assessment, assess_rows, row_labels
from surefoot.report._checks import describe_checks
from surefoot.report._classes import describe_classes
from surefoot.report._holding_out import describe_holding_out
from surefoot.report._intervals import describe_intervals
from surefoot.report._numbers import give_numbers
from surefoot.report._predictions import describe_predictions
from surefoot.report._probabilities import describe_probabilities
from surefoot.report._progress_bar import plan_report
from surefoot.report._provenance import describe_provenance
from surefoot.report._rare import describe_rare
from surefoot.report._regions import describe_regions
from surefoot.report._row_table import choose_rows, describe_rows, row_table
from surefoot.report._slices import check_by, describe_slices
from surefoot.report._verdict import give_verdict
from surefoot.report._written_page import WrittenPage
from surefoot.report.improvements import find_improvements, n_refits

# Folds of the progress bar's plan where `cv` is a splitter, whose number is known only with the rows.
USUAL_FOLDS = 5


class ReliabilityReport(WrittenPage):
    """Report on how far each prediction of a model can be trusted.

    The model is cross-fitted: every row is predicted, and its error estimated, by models that were fitted without it.
    The results are available as a dict, as a page with texts and charts, and as a table of rows.

    Parameters
    ----------
    estimator : classifier or regressor
        The model, fitted anew on folds of the rows; in `FrozenEstimator` it is used as it is, and the rows
        must be new to it.
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Rows with known targets.
    y : array-like of shape (n_rows,)
        Their targets.
    cv : int, splitter or iterable of splits, default=5
        How rows are held out.
    groups : array-like of shape (n_rows,), default=None
        Groups of rows that are held out together, such as all rows of one person.
    X_unlabelled : like X, default=None
        Rows without a target; the report proposes which of them to label next.
    max_risk : float or dict of class to float, default=None
        Largest permitted risk of the answered rows: share of wrong answers, mean cost, or mean error. A dict limits the
        risk of the answered rows whose true class it is, for each class in it; its key None stands for all rows. None
        chooses a risk that can be promised: about half of the model's error on all rows, or 80 % of it for a regressor
        and for costs.
    loss : array-like of shape (n_classes, n_classes), default=None
        Cost matrix: entry (i, j) is the cost of predicting class j where class i is true, in the order of the sorted
        classes. All figures are then costs.
    by : column name, list of them, or dict of name to array-like of shape (n_rows,), default=None
        Columns of X, or other columns, whose groups are compared with each other.
    confidence : float, default=0.95
        Confidence of promises, and of the intervals around figures.
    max_reference_rows : int, default=10_000
        Most rows among which neighbours are searched.
    random_state : int, default=0
        Seed of all random draws.
    n_jobs : int, default=None
        Number of fits in parallel.
    name, target, command : str, default=None
        Names of the table and of the target on the page, and the command that makes the report again.
    quick : bool, default=False
        Whether to leave out what would help, which takes further fits.
    progress : bool or callable, default=False
        Whether to show a bar, on a terminal or in a notebook; or a function that is called after every step with the
        share that is done, words for what is being done, and the seconds that are left (None at first).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.report import ReliabilityReport
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> report = ReliabilityReport(GaussianNB(), X, y)
    >>> report
    ReliabilityReport(GaussianNB on the table: 569 rows, 30 columns)
    not computed yet
    >>> report.summarize()["verdict"]["headline"]
    'Right 94 % of the time.'
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        cv: Any = 5,
        groups: Any = None,
        X_unlabelled: Any = None,
        max_risk: float | Mapping[Any, float] | None = None,
        loss: Any = None,
        by: Any = None,
        confidence: float = 0.95,
        max_reference_rows: int = 10_000,
        random_state: int = 0,
        n_jobs: int | None = None,
        name: str | None = None,
        target: str | None = None,
        command: str | None = None,
        quick: bool = False,
        progress: bool | Show = False,
    ) -> None:
        self.estimator = estimator
        self.X = X
        self.y = y
        self.cv = cv
        self.groups = groups
        self.X_unlabelled = X_unlabelled
        self.max_risk = max_risk
        self.loss = loss
        self.by = by
        self.confidence = confidence
        self.max_reference_rows = max_reference_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.name = name
        self.target = target
        self.command = command
        self.quick = quick
        self.progress = progress

    def __repr__(self) -> str:
        """Model, size of the table and headline, or that nothing is computed yet; nothing is computed here."""
        about = f"{model_name(self.estimator)} on {self.name or 'the table'}: {table_size(self.X)}"
        summary = self.__dict__.get("_summary")  # there once it is computed
        state = "not computed yet" if summary is None else summary["verdict"]["headline"]
        return f"ReliabilityReport({about})\n{state}"

    def summarize(self) -> dict[str, Any]:
        """Content of the report as a plain dict, which can be written as JSON.

        Returns
        -------
        summary : dict
            The verdict in numbers, then sections data, verdict, checks, answer, classes, slices, probabilities (or
            predictions and intervals), regions, rows, improvements and how.
        """
        return self._summary

    def to_frame(self) -> Any:
        """Table of every held-out row, in the order of the training table.

        Returns
        -------
        frame : pandas.DataFrame
            Columns row (its place in the table, or its label if a pandas index holds whole numbers), truth, those
            of `Judgement.to_frame` (with low and high of a regressor's 90 % interval, and accepted where a risk can be
            promised), loss (the actual error of the prediction) and own_error (1 − the model's own probability). The
            page explains each of them, and its CSV has the same.
        """
        with needed_for("to_frame", "report"):
            import pandas as pd  # noqa: PLC0415 - only this method needs it

        return pd.DataFrame(row_table(self._assessment))

    def _page(self) -> str:
        """HTML of the page; a missing package is noticed before the rows are judged."""
        with needed_for("The page", "report"):
            from surefoot.report.page import render  # noqa: PLC0415 - a summary needs no page

        return render(self.summarize())

    @cached_property
    def _by(self) -> dict[str, Any]:
        return check_by(self.by, as_table(self.X))

    @cached_property
    def _assessment(self) -> Assessment:
        return assess_rows(
            self.estimator,
            self.X,
            self.y,
            cv=self.cv,
            groups=self.groups,
            confidence=self.confidence,
            max_risk=self.max_risk,
            loss=self.loss,
            max_reference_rows=self.max_reference_rows,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    @cached_property
    def _summary(self) -> dict[str, Any]:
        plan = plan_report(
            self.progress,
            n_splits=int(self.cv) if isinstance(self.cv, Integral) else USUAL_FOLDS,
            classifies=is_classifier(self.estimator),
            n_sections=6,
            n_refits=0 if self.quick else n_refits(count_rows(self.X)),
        )
        with following(plan):
            return self._describe()

    def _describe(self) -> dict[str, Any]:
        started, by = time.perf_counter(), self._by
        assessment = self._assessment
        checks = describe_checks(assessment, self.cv)
        step_done("section")
        answer = describe_answering(assessment)
        step_done("section")
        classes = describe_classes(assessment)
        step_done("section")
        probabilities, intervals, predictions = (
            describe_probabilities(assessment),
            describe_intervals(assessment),
            describe_predictions(assessment),
        )
        step_done("section")
        shown, n_sampled = choose_rows(assessment)
        regions = describe_regions(assessment, shown, n_sampled)
        step_done("section")
        rows = describe_rows(assessment, shown, n_sampled, from_command=self.command is not None)
        step_done("section")
        improvements = [] if self.quick else self._improvements(assessment)
        return {
            "numbers": give_numbers(assessment, answer, probabilities, intervals),
            "task": assessment.task,
            "unit": assessment.unit.name,
            "target": self.target or "y",
            "model": model_name(self.estimator),
            "data": self._describe_data(assessment),
            "verdict": give_verdict(assessment, answer, improvements, classes, checks),
            "checks": checks,
            "answer": answer,
            "classes": classes,
            "slices": describe_slices(assessment, by),
            "probabilities": probabilities,
            "predictions": predictions,
            "intervals": intervals,
            "regions": regions,
            "rows": rows,
            "improvements": improvements,
            "how": describe_provenance(
                assessment,
                seconds=time.perf_counter() - started,
                command=self.command or "ReliabilityReport(estimator, X, y).write_html(...)",
                n_map=len(shown),
            ),
        }

    def _improvements(self, assessment: Assessment) -> list[dict[str, Any]]:
        improvements = find_improvements(assessment, self.X_unlabelled)
        if self.X_unlabelled is not None:
            labels = row_labels(self.X_unlabelled)
            for improvement in improvements:
                improvement["rows"] = [int(labels[row]) for row in improvement["rows"]]
        return improvements

    def _describe_data(self, assessment: Assessment) -> dict[str, Any]:
        shares = Counter(assessment.y.tolist()) if assessment.is_classifier else {}
        unlabelled = 0 if self.X_unlabelled is None else count_rows(self.X_unlabelled)
        return {
            "name": self.name or "the table",
            "n_rows": len(assessment.y),
            "n_columns": int(
                getattr(assessment.error_estimator, "n_features_in_", 1)
            ),  # texts have one
            "n_without_target": unlabelled,
            "classes": [
                {"label": str(label), "share": shares[label] / len(assessment.y)}
                for label in sorted(shares)
            ],
            "held_out": describe_holding_out(assessment, self.cv),
            "never_held_out": describe_rare(assessment),
        }


def model_name(estimator: Any) -> str:
    """Class name of the model itself, inside pipelines, searches and `FrozenEstimator`."""
    while isinstance(estimator, (Pipeline, FrozenEstimator)) or hasattr(
        estimator, "refit"
    ):  # a search
        estimator = estimator[-1] if isinstance(estimator, Pipeline) else estimator.estimator
    return type(estimator).__name__


def table_size(X: Any) -> str:
    """Number of rows and columns of a table of any kind, in words; neither checks nor converts it."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if not shape:
        n_rows = len(X) if hasattr(X, "__len__") else 0
        is_nested = n_rows > 0 and isinstance(X[0], (list, tuple))
        shape = (n_rows, len(X[0])) if is_nested else (n_rows,)
    n_columns = int(shape[1]) if len(shape) > 1 else 1  # texts have one
    return f"{plural(int(shape[0]), 'row')}, {plural(n_columns, 'column')}"
