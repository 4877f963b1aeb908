"""Report on a model: how far each prediction can be trusted, and what to do about it."""

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from html import escape
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from surefoot._files import write_whole
from surefoot._models import (
    check_model,
    given_model,
    given_predictions,
    inputs_of,
    is_fitted,
    seeded_everywhere,
)
from surefoot._optional import needed_for
from surefoot._parallel import Plan, Show, bar, following, step_done
from surefoot._tables import as_table, count_rows, take_rows
from surefoot._validation import check_class_risks, check_share, check_target, known_classes
from surefoot._words import plural
from surefoot.abstention import Promise
from surefoot.error_estimation import (
    HeldOut,
    IndividualErrorClassifier,
    IndividualErrorRegressor,
)
from surefoot.report._answer import describe_answering
from surefoot.report._checks import check_ignored, describe_checks
from surefoot.report._classes import describe_classes
from surefoot.report._estimates import describe_estimates, describe_intervals
from surefoot.report._how import describe_data, describe_how
from surefoot.report._improvements import Alternatives, find_improvements, n_refits
from surefoot.report._quality import describe_predictions, describe_probabilities, recalibrate
from surefoot.report._rows import choose_rows, describe_rows, row_labels, row_table
from surefoot.report._statistics import Sample
from surefoot.report._verdict import give_numbers, give_verdict
from surefoot.report._where import check_by, describe_regions, describe_slices

# Folds of the progress bar's plan where `cv` is a splitter, whose number is known only with the rows.
USUAL_FOLDS = 5

# Steps that the progress bar counts: halves of the sections, costs relative to one fit of the model on a fold,
# measured on tables of 250 to 1,500 rows, and words.
N_SECTIONS = 2
STEP_COSTS = {"fit": 1.0, "learn": 1.3, "describe": 0.5, "section": 13.0, "refit": 0.7}
STEP_WORDS = {
    "fit": "Fitting the model on folds",
    "learn": "Fitting second opinions",
    "describe": "Judging held-out rows",
    "section": "Measuring",
    "refit": "Trying what would help",
}


REFITTED = (
    "This {} is fitted, and is fitted again on folds of the rows: the report is about these fits. To report on the "
    "model as it is, on rows that are new to it, pass FrozenEstimator(model)."
)


class WrittenPage(ABC):
    """Base of reports that are pages: one HTML file, or an iframe in a notebook."""

    @abstractmethod
    def summarize(self) -> dict[str, Any]:
        """Content of the page as a plain dict."""

    def _page(self) -> str:
        """HTML of the page; a missing package is noticed before anything is computed."""
        with needed_for("The page", "report"):
            from surefoot.report.page import render  # noqa: PLC0415 - a summary needs no page

        return render(self.summarize())

    def write_html(self, path: Any) -> Path:
        """Write the page, one file that opens offline; an older file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        path : Path
            The file that was written.
        """
        return write_whole(Path(path), self._page().encode())

    def _repr_html_(self) -> str:
        """Page in an iframe, for a notebook."""
        page = escape(self._page())
        return (
            f'<iframe srcdoc="{page}" title="surefoot report" '
            'style="width: 100%; height: 80vh; border: 0"></iframe>'
        )


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
        risk of the answered rows whose true class it is, for each class in it; its key None is for all rows. None
        chooses a risk that can be promised: about half of the model's error on all rows, or 80 % of it for a regressor
        and for costs.
    loss : array-like of shape (n_classes, n_classes), default=None
        Cost matrix: entry (i, j) is the cost of predicting class j where class i is true, in the order of the sorted
        classes. All errors are then costs.
    by : column name, list of them, or dict of name to array-like of shape (n_rows,), default=None
        Columns of X, or other columns, whose groups are compared with each other.
    ignore : iterable of str, default=()
        Checks of the table to leave out: those of :func:`surefoot.checks.check_table` ("leak", "duplicate", "entity",
        "order", "identifier", "equal"), and "labels", the labels that may be wrong.
    confidence : float, default=0.95
        Confidence of promises, and of the intervals around numbers.
    max_reference_rows : int, default=5_000
        Most rows among which neighbours are searched.
    random_state : int, default=0
        Seed of all random draws, also those of a model whose own `random_state` is None.
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
        ignore: Iterable[str] = (),
        confidence: float = 0.95,
        max_reference_rows: int = 5_000,
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
        self.ignore = ignore
        self.confidence = confidence
        self.max_reference_rows = max_reference_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.name = name
        self.target = target
        self.command = command
        self.quick = quick
        self.progress = progress

    @classmethod
    def from_predictions(
        cls,
        X: Any,
        y: Any,
        predictions: Any,
        probabilities: Any = None,
        *,
        classes: Any = None,
        task: str = "auto",
        encoder: Any = None,
        **options: Any,
    ) -> Self:
        """Report on predictions that were made elsewhere, without their model.

        Parameters
        ----------
        X, y, predictions, probabilities, classes, task, encoder
            Rows that the model was not trained on, their targets and what it predicted, as
            :func:`surefoot.assess_predictions` takes them.
        **options
            Parameters of `ReliabilityReport`.

        Returns
        -------
        report : ReliabilityReport
            The report.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from surefoot.report import ReliabilityReport
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> predictions = GaussianNB().fit(X[:200], y[:200]).predict(X)  # made elsewhere
        >>> report = ReliabilityReport.from_predictions(X[200:], y[200:], predictions[200:], quick=True)
        >>> report.summarize()["verdict"]["headline"]
        'Wrong on 3.5 % of rows; 29 % if it always predicted “1”.'
        """
        model, table = given_predictions(
            X, y, predictions, probabilities, classes=classes, task=task, encoder=encoder
        )
        return cls(FrozenEstimator(model), table, y, **options)

    def __repr__(self) -> str:
        """Model, size of the table and headline, or that nothing is computed yet; nothing is computed here."""
        shape = np.shape(inputs_of(self.estimator, self.X))
        n_rows, n_columns = shape[0] if shape else 0, shape[1] if len(shape) > 1 else 1
        size = f"{plural(int(n_rows), 'row')}, {plural(int(n_columns), 'column')}"
        about = f"{model_name(self.estimator)} on {self.name or 'the table'}: {size}"
        summary = self.__dict__.get("_summary")  # there once it is computed
        state = "not computed yet" if summary is None else summary["verdict"]["headline"]
        return f"ReliabilityReport({about})\n{state}"

    def summarize(self) -> dict[str, Any]:
        """Content of the report as a plain dict, which can be written as JSON.

        Returns
        -------
        summary : dict
            The verdict in numbers, then data, verdict, checks, answer, estimates, classes, slices, probabilities (or
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

        return pd.DataFrame(row_table(self._fitted[1].held_out, row_labels(as_table(self.X))))

    @cached_property
    def _fitted(self) -> tuple[Any, Sample, Promise, dict[str, Any] | None, bool]:
        """Error estimator, held-out rows, promise, a regressor's intervals, and whether it is useful to choose rows.

        It is if some rows are better left to a person than others, or a limit was asked for: rows are then answered by
        the promise.
        """
        X, y, classifies = as_table(self.X), check_target(self.y), is_classifier(self.estimator)
        check_share(self.confidence, "confidence")
        if self.loss is not None and not classifies:
            raise ValueError("loss holds costs of classes, and the model is a regressor.")
        if self.max_risk is not None:
            classes: Any = known_classes(self.estimator, y) if classifies else []
            most = 1 if self.loss is None and classifies else np.inf
            check_class_risks(self.max_risk, classes, most)
        kind = IndividualErrorClassifier if classifies else IndividualErrorRegressor
        check_model(self.estimator)
        error_estimator = kind(
            seeded_everywhere(self.estimator, self.random_state),
            **({} if self.loss is None else {"loss": self.loss}),
            cv=self.cv,
            max_reference_rows=self.max_reference_rows,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(X, y, groups=self.groups)
        if not isinstance(self.estimator, FrozenEstimator) and is_fitted(self.estimator):
            warnings.warn(REFITTED.format(model_name(self.estimator)), UserWarning, stacklevel=2)
        held_out: HeldOut = error_estimator.held_out_
        if len(np.unique(held_out.rows)) < len(held_out.rows):
            raise ValueError(
                "cv holds a row out more than once, and a report counts each row once."
            )
        promise = Promise.from_held_out(held_out, self.max_risk, self.confidence)
        sample = Sample(held_out, self.confidence)
        intervals = None if classifies else describe_intervals(error_estimator, sample)
        is_useful = self.max_risk is not None or intervals is None or intervals["predictable"]
        if promise.kept and is_useful:
            sample = Sample(promise.apply(held_out), self.confidence)
        return error_estimator, sample, promise, intervals, is_useful

    def _plan(self) -> Plan | None:
        """Plan of the steps that the progress bar shows; None if nothing is to be shown.

        A regressor's errors are learned within each training part again, by models of pairs of folds.
        """
        show = bar() if self.progress is True else self.progress
        if not show:
            return None
        n_splits = int(self.cv) if isinstance(self.cv, Integral) else USUAL_FOLDS
        n_pairs = 0 if is_classifier(self.estimator) else n_splits * (n_splits - 1) // 2
        steps = {
            "fit": n_splits + 1 + n_pairs,
            "learn": n_splits + 1 + n_pairs,
            "describe": n_splits + 2 * n_pairs,
            "section": N_SECTIONS,
            "refit": 0 if self.quick else n_refits(count_rows(self.X)),
        }
        return Plan(steps, STEP_COSTS, STEP_WORDS, show)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        with following(self._plan()):
            return self._describe()

    def _describe(self) -> dict[str, Any]:
        """Dict of all sections."""
        started, X, y = time.perf_counter(), as_table(self.X), check_target(self.y)
        by = check_by(self.by, X)  # a wrong column is noticed before rows are judged
        ignore = check_ignored(self.ignore)
        error_estimator, sample, promise, intervals, is_useful = self._fitted
        held_out, seed, is_asked = sample.held_out, self.random_state, self.max_risk is not None
        labels, given = row_labels(X), given_model(self.estimator)
        inputs = X if given is None else given.inputs(X)
        checks = describe_checks(
            error_estimator, inputs, y, labels=labels, cv=self.cv, ignore=ignore
        )
        answer = describe_answering(
            sample,
            promise,
            is_asked=is_asked,
            is_useful=is_useful,
            random_state=seed,
        )
        alternatives = Alternatives(
            sample, error_estimator.estimator, len(y), is_given=given is not None
        )
        models = alternatives.compare()
        classes = probabilities = recalibrated = predictions = None
        if held_out.classes is None:
            predictions = describe_predictions(sample, labels, seed)
        else:
            classes = describe_classes(sample)
            recalibrated = recalibrate(held_out, seed)
            probabilities = describe_probabilities(sample, recalibrated, seed)
        step_done("section")
        shown, n_sampled = choose_rows(held_out, seed)
        rows = describe_rows(
            error_estimator,
            held_out,
            X,
            inputs,
            y,
            labels=labels,
            shown=shown,
            n_sampled=n_sampled,
            is_given=given is not None,
            everywhere="the file that --scores writes" if self.command else "report.to_frame()",
        )
        regions = describe_regions(
            held_out,
            take_rows(inputs, held_out.rows),
            error_estimator.coordinates(take_rows(X, held_out.rows[shown])),
            labels,
            shown=shown,
            n_sampled=n_sampled,
            has_columns=bool(rows["columns"]),
            random_state=seed,
        )
        step_done("section")
        improvements = []
        if not self.quick:
            improvements = find_improvements(
                error_estimator,
                X,
                y,
                alternatives,
                groups=None if self.groups is None else np.asarray(self.groups),
                recalibrated=recalibrated,
                X_unlabelled=self.X_unlabelled,
            )
        return {
            "numbers": give_numbers(
                sample, len(y), answer, models, classes, probabilities, intervals
            ),
            "task": held_out.task.kind,
            "unit": held_out.unit.name,
            "target": self.target or "y",
            "model": model_name(self.estimator),
            "data": describe_data(
                error_estimator,
                y,
                given=given,
                cv=self.cv,
                name=self.name,
                X_unlabelled=self.X_unlabelled,
            ),
            "verdict": give_verdict(
                sample,
                promise,
                answer,
                is_asked=is_asked,
                improvements=improvements,
                classes=classes,
                checks=checks,
                intervals=intervals,
            ),
            "models": models,
            "checks": checks,
            "answer": answer,
            "estimates": describe_estimates(
                sample, is_predictable=intervals is None or intervals["predictable"]
            ),
            "classes": classes,
            "slices": describe_slices(sample, by),
            "probabilities": probabilities,
            "predictions": predictions,
            "intervals": intervals,
            "regions": regions,
            "rows": rows,
            "improvements": improvements,
            "how": describe_how(
                error_estimator,
                len(y),
                is_given=given is not None,
                seconds=time.perf_counter() - started,
                command=self.command,
                n_map=len(shown),
            ),
        }


def model_name(estimator: Any) -> str:
    """Class name of the model itself, inside pipelines, searches and `FrozenEstimator`."""
    if given_model(estimator) is not None:
        return "Given predictions"
    while isinstance(estimator, (Pipeline, FrozenEstimator)) or hasattr(
        estimator, "refit"
    ):  # a search
        estimator = estimator[-1] if isinstance(estimator, Pipeline) else estimator.estimator
    return type(estimator).__name__
