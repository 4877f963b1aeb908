"""Calibrated probabilities from out-of-fold log-odds and indicators (Bennett 2007, equation 3, section 4.1)."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from surefoot._crossfit import CrossFit, with_fixed_seed
from surefoot._models import fit_model
from surefoot._typing import Floats
from surefoot._validation import check_option
from surefoot.indicators import Indicator
from surefoot.recalibration._cross_fitted import CrossFittedClassifier, HeldOutRows
from surefoot.recalibration._platt import PlattCalibrator, as_probabilities


class RecalibratedClassifier(CrossFittedClassifier):
    """Classifier with recalibrated probabilities, learned from the model's out-of-fold scores.

    The model's log-odds of held-out rows, and the columns of indicators if given, are the input of a
    calibrator that learns how probable each class is: Platt recalibration (Bennett 2007, equation 3),
    and with `LocalSensitivity()` the paper's Sensitivity Recalibrated. The default calibrator starts from the model's
    own probabilities and leaves them only as far as that pays on held-out rows. With more than two classes each
    class is calibrated against the rest, on its own columns, and the probabilities are normalised.

    Parameters
    ----------
    estimator : classifier
        The model to recalibrate. In `FrozenEstimator` it is used as it is, and must not have been trained on
        the rows given to `fit`.
    indicators : indicator or sequence of indicators, default=None
        Indicators whose columns the calibrator gets besides the log-odds; they are used with `per_class=True`.
    calibrator : "platt" or classifier, default=None
        Learns 0/1 targets from the columns; must have `predict_proba`. The default is a logistic regression in
        steps: the model's own probabilities, a line through their log-odds, all columns, each with a ridge
        towards the step before that is chosen by out-of-fold Brier score; a step that saves less than its standard
        error is left out. "platt" always fits all columns, with a negligible penalty and Platt's smoothed targets, as
        in the paper.
    response : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method that the log-odds are computed from; "auto" is `predict_proba` if the model has it. An indicator has
        a `response` of its own.
    cv : int, splitter or iterable of splits, default=10
        Splitter for the out-of-fold scores. A number stands for shuffled folds, at most as many as the rarest
        class has rows.
    random_state : int, RandomState or None, default=0
        Seed of the folds, and of indicators without one.
    n_jobs : int, default=None
        Number of parallel folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; those of a frozen model, even if `y` lacks some.
    estimator_ : classifier
        The model, fitted on all rows.
    calibrators_ : list of classifiers
        One for two classes, else one per class.
    is_unchanged_ : bool
        Whether the model's own probabilities are returned, because nothing else pays on held-out rows.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, where they are strings.

    Examples
    --------
    As in the paper:

    >>> from surefoot import KernelKNeighborsClassifier, LocalSensitivity
    >>> from surefoot.datasets import make_friedman_problem
    >>> X, y = make_friedman_problem(1, n_samples=200, random_state=0)
    >>> X_test, y_test = make_friedman_problem(1, n_samples=2000, random_state=1)
    >>> neighbors = KernelKNeighborsClassifier()
    >>> plain = RecalibratedClassifier(neighbors, calibrator="platt").fit(X, y)
    >>> sensitive = RecalibratedClassifier(neighbors, LocalSensitivity(), calibrator="platt").fit(X, y)
    >>> [round(100 * (1 - m.score(X_test, y_test)), 2) for m in (plain, sensitive)]
    [1.35, 1.1]
    """

    def __init__(
        self,
        estimator: Any,
        indicators: Indicator | Sequence[Indicator] | None = None,
        *,
        calibrator: Any = None,
        response: str = "auto",
        cv: Any = 10,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.indicators = indicators
        self.calibrator = calibrator
        self.response = response
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _prepare(self) -> list[Indicator]:
        if isinstance(self.calibrator, str):
            check_option(self.calibrator, "calibrator", ["platt"], other="a classifier")
        elif self.calibrator is not None and not hasattr(self.calibrator, "predict_proba"):
            raise TypeError(
                f"calibrator={self.calibrator!r} has no predict_proba: it may be a classifier that has."
            )
        return [_signed(indicator, self.random_state) for indicator in as_list(self.indicators)]

    def _learn(self, X: Any, cross: CrossFit, rows: HeldOutRows) -> None:
        tables = class_tables(cross.held_out.scores, cross.held_out.columns.values())
        self.is_unchanged_ = False
        if self.calibrator is None:
            fitted = rows.fit_steps(tables, slope=self._slope())
            self.is_unchanged_ = fitted.is_start and fitted.slope is not None
            self.calibrators_: list[Any] = fitted.lines_
        else:
            calibrator = PlattCalibrator() if self.calibrator == "platt" else self.calibrator
            # Not every calibrator takes weights.
            weight = None if (rows.weight == 1).all() else rows.weight
            self.calibrators_ = [
                fit_model(calibrator, table, target, weight)
                for table, target in zip(tables, rows.targets, strict=True)
            ]
        self._panel = cross.panel

    def _probabilities(self, X: Any) -> Floats:
        output = self._panel(X)
        tables = class_tables(output.scores, output.columns.values())
        positive = [
            calibrator.predict_proba(table)[:, 1]
            for calibrator, table in zip(self.calibrators_, tables, strict=True)
        ]
        return as_probabilities(np.column_stack(positive))


def as_list(indicators: Any) -> list[Indicator]:
    """List of indicators, from None, one or several."""
    if indicators is None:
        return []
    several = list(indicators) if isinstance(indicators, (list, tuple)) else [indicators]
    for indicator in several:
        if not isinstance(indicator, Indicator):
            raise TypeError(
                f"indicators={indicator!r} is no indicator: it may be one of surefoot.indicators, or several."
            )
    return several


def class_tables(scores: Floats, columns: Collection[Floats]) -> list[Floats]:
    """One table for each calibrated class: its log-odds, then its columns of every indicator.

    The columns of an indicator come in blocks of one per calibrated class.
    """
    n_scores = scores.shape[1]
    for block in columns:
        if block.shape[1] % n_scores:
            raise ValueError(
                f"An indicator gave {block.shape[1]} columns for {n_scores} calibrated classes: with "
                "per_class=True it must give as many of each."
            )
    everything = np.hstack([scores, *columns])
    return [everything[:, c::n_scores] for c in range(n_scores)]


def _signed(indicator: Indicator, random_state: Any) -> Indicator:
    """Copy of the indicator with `per_class=True`, which gives columns for each class."""
    if "per_class" not in indicator.get_params(deep=False):
        raise ValueError(
            f"indicators={indicator!r} has no parameter per_class, and recalibration needs columns for each class."
        )
    indicator.check_parameters()
    return with_fixed_seed(indicator, random_state).set_params(per_class=True)
