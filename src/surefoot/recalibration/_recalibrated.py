"""Calibrated probabilities from out-of-fold log-odds and indicators (Bennett 2007, equation 3, section 4.1)."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from surefoot._crossfit import CrossFit, cross_fit
from surefoot._logistic import LogOddsLine, SteppedLogistic, calibrate, smoothed_targets, steps_of
from surefoot._models import TagsOfModel, check_model, fit_model
from surefoot._splits import learner_folds, resolve_cv
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option, check_rows, check_training_rows, known_classes
from surefoot.indicators import Indicator

# Penalty that has no effect on the weights of standardised columns.
NEGLIGIBLE_PENALTY = 1e-8


class HeldOutRows(NamedTuple):
    """Targets (0 or 1) of held-out rows for each calibrated class, their weights, and the group or row of each."""

    targets: list[Ints]
    weight: Floats
    units: NDArray[Any]


class CrossFittedClassifier(TagsOfModel, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Base of classifiers that learn to recalibrate a model's scores from held-out rows.

    A subclass checks its parameters before any model is fitted and returns the indicators to use (`_prepare()`), learns
    from the scores and columns of held-out rows (`_learn(X, cross, rows)`), and turns scores into probabilities
    (`_probabilities(X)`).
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model, and learn from its out-of-fold scores how to recalibrate them.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the model takes them.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the model and the recalibration.
        groups : array-like of shape (n_rows,), default=None
            Groups of rows that stay in one fold.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        indicators = self._prepare()
        check_model(self.estimator)
        if not is_classifier(self.estimator):
            raise ValueError(
                f"estimator={self.estimator!r} is no classifier, and only those are recalibrated."
            )
        X, y, sample_weight = check_training_rows(self, X, y, sample_weight)
        self.classes_ = known_classes(self.estimator, y)
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        for label in np.unique(y).tolist():
            if weight[y == label].sum() == 0:
                raise ValueError(f"sample_weight leaves class {label!r} without weight.")
        # A class can be calibrated only on held-out rows of it.
        cv = resolve_cv(
            self.cv,
            y,
            stratified=True,
            random_state=self.random_state,
            refits=not isinstance(self.estimator, FrozenEstimator),
            groups=groups,
            hold_out_all=True,
        )
        cross = cross_fit(
            self.estimator,
            indicators,
            X,
            y,
            cv=cv,
            groups=groups,
            sample_weight=sample_weight,
            response=self._response,
            deploy_all=True,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        rows = cross.held_out.rows
        targets = class_targets(np.searchsorted(self.classes_, y[rows]), len(self.classes_))
        self.estimator_ = cross.deployed.model
        units = rows if groups is None else np.asarray(groups)[rows]
        self._learn(X, cross, HeldOutRows(targets, weight[rows], units))
        return self

    def _fit_steps(self, tables: Sequence[Floats], rows: HeldOutRows) -> SteppedLogistic:
        """Log-odds of each calibrated class from its table, whose first column is the model's score.

        The start is the score itself if it is the log-odds of a probability; of other scores the unit is not known,
        and the start has a learned slope. The next steps change intercept and slope for all classes alike, then class
        by class, and then the weights of all columns. Sets `is_unchanged_`.
        """
        slope = 1.0 if self._response == "predict_proba" else None
        fitted = fit_steps(np.stack(tables, axis=1), rows, slope)
        self.is_unchanged_ = fitted.is_start and fitted.slope is not None
        return fitted

    @property
    def _response(self) -> str:
        """Method that the scores are made of: probabilities where there are any, so that they can stay as they are."""
        is_auto = self.response == "auto" and hasattr(self.estimator, "predict_proba")
        return "predict_proba" if is_auto else self.response

    def predict_proba(self, X: Any) -> Floats:
        """Recalibrated class probabilities.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to classify.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            One column per class, in the order of `classes_`.
        """
        X = check_rows(self, X)
        return self.estimator_.predict_proba(X) if self.is_unchanged_ else self._probabilities(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row, after recalibration."""
        probabilities = self.predict_proba(X)  # checks that it is fitted
        return self.classes_[probabilities.argmax(axis=1)]


def fit_steps(columns: Floats, rows: HeldOutRows, slope: float | None) -> SteppedLogistic:
    """Log-odds of each calibrated class (`CrossFittedClassifier._fit_steps`); `slope` is that of the start."""
    n_classes, n_columns = columns.shape[1:]
    steps = steps_of(1, n_columns, n_classes)
    repeated = len(np.unique(rows.units)) < len(rows.units)
    folds = list(learner_folds(len(columns), rows.units if repeated else None, 0))
    return SteppedLogistic(0, steps, slope=slope).fit(
        columns, np.column_stack(rows.targets), folds, weight=rows.weight, units=rows.units
    )


def class_targets(codes: Ints, n_classes: int) -> list[NDArray[Any]]:
    """0/1 targets of the calibrators: of the positive class for two classes, else of each class."""
    calibrated = [1] if n_classes == 2 else range(n_classes)
    return [(codes == c).astype(np.int64) for c in calibrated]


def as_probabilities(positive: Floats) -> Floats:
    """Probabilities of all classes, which sum to 1, from the calibrators' outputs of shape (n, 1 or n_classes)."""
    if positive.shape[1] == 1:
        return np.hstack([1 - positive, positive])
    total = positive.sum(axis=1, keepdims=True)
    even = np.full_like(positive, 1 / positive.shape[1])
    return np.divide(positive, total, out=even, where=total > 0)


class RecalibratedClassifier(CrossFittedClassifier):
    """Classifier with recalibrated probabilities, learned from the model's out-of-fold scores.

    The model's log-odds of held-out rows, and the columns of indicators if given, are the input of a
    calibrator that learns how probable each class is. The default calibrator starts from the model's own probabilities
    and changes them only as far as that lowers the loss on held-out rows. `calibrator="platt"` is Platt
    recalibration (Bennett 2007, equation 3), and with `LocalSensitivity()` the paper's Sensitivity Recalibrated. With
    more than two classes each class is calibrated against the rest, on its own columns, and the probabilities are
    normalised.

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
        Splitter for the out-of-fold scores. A number means shuffled folds, at most as many as the rarest
        class has rows.
    random_state : int, RandomState or None, default=None
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
        Whether the model's own probabilities are returned, because nothing else lowers the loss on held-out rows.
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
    >>> plain = RecalibratedClassifier(neighbors, calibrator="platt", random_state=0).fit(X, y)
    >>> sensitive = RecalibratedClassifier(neighbors, LocalSensitivity(), calibrator="platt", random_state=0).fit(X, y)
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
        random_state: Any = None,
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
        several = (
            self.indicators if isinstance(self.indicators, (list, tuple)) else [self.indicators]
        )
        indicators = [] if self.indicators is None else list(several)
        for indicator in indicators:
            if not isinstance(indicator, Indicator):
                raise TypeError(
                    f"indicators={indicator!r} is no indicator: it may be one of surefoot.indicators, or several."
                )
            if "per_class" not in indicator.get_params(deep=False):
                raise ValueError(
                    f"indicators={indicator!r} has no parameter per_class, and recalibration needs columns for each "
                    "class."
                )
        return [
            indicator.prepared(self.random_state).set_params(per_class=True)
            for indicator in indicators
        ]

    def _learn(self, X: Any, cross: CrossFit, rows: HeldOutRows) -> None:
        tables = class_tables(cross.held_out.scores, cross.held_out.columns.values())
        if self.calibrator is None:
            self.calibrators_: list[Any] = self._fit_steps(tables, rows).lines_
        else:
            self.is_unchanged_ = False
            # Not every calibrator takes weights.
            weight = None if (rows.weight == 1).all() else rows.weight
            self.calibrators_ = [
                platt_line(table, target, rows.weight)
                if self.calibrator == "platt"
                else fit_model(self.calibrator, table, target, weight)
                for table, target in zip(tables, rows.targets, strict=True)
            ]
        self._panel = cross.deployed.panel

    def _probabilities(self, X: Any) -> Floats:
        output = self._panel(X)
        tables = class_tables(output.scores, output.columns.values())
        positive = [
            calibrator.predict_proba(table)[:, 1]
            for calibrator, table in zip(self.calibrators_, tables, strict=True)
        ]
        return as_probabilities(np.column_stack(positive))

    @staticmethod
    def recalibrate_scores(
        scores: Any,
        y: Any,
        *,
        slope: float | None = None,
        groups: Any = None,
        random_state: Any = None,
    ) -> Floats:
        """Recalibrated class probabilities of held-out rows, by the default calibrator fitted on other rows.

        With out-of-fold scores, such as `IndividualErrorClassifier.held_out_.scores`, this shows whether
        recalibration would help, without fitting the model again.

        Parameters
        ----------
        scores : array-like of shape (n_rows, 1 or n_classes)
            Out-of-fold log-odds or decision values: one column for two classes, that of the second, else one per
            class.
        y : array-like of shape (n_rows,)
            Labels.
        slope : float, default=None
            Slope from which recalibration starts: 1 for log-odds of probabilities, which then stay as they are unless
            a change pays; None learns it, for scores in another unit.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group stay in one fold, so that none is calibrated by its own group.
        random_state : int, RandomState or None, default=None
            Seed of the folds.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            One column per class, in the order of the sorted labels.

        Examples
        --------
        Log-odds that are three times too large become calibrated:

        >>> import numpy as np
        >>> from surefoot import RecalibratedClassifier
        >>> draw = np.random.default_rng(0)
        >>> odds = draw.normal(size=2000)
        >>> y = draw.random(2000) < 1 / (1 + np.exp(-odds))
        >>> recalibrate = RecalibratedClassifier.recalibrate_scores
        >>> probability = recalibrate(3 * odds[:, None], y, random_state=0)[:, 1]
        >>> bool(np.abs(probability - 1 / (1 + np.exp(-odds))).max() < 0.05)
        True
        """
        scores = check_array(scores, dtype=np.float64, input_name="scores")
        y = column_or_1d(y)
        check_consistent_length(scores, y)
        classes, codes = np.unique(y, return_inverse=True)
        expected = 1 if len(classes) == 2 else len(classes)
        if scores.shape[1] != expected:
            raise ValueError(
                f"scores has {scores.shape[1]} columns, and y {len(classes)} classes: "
                "there must be one for two classes, else one a class."
            )
        targets = class_targets(codes, len(classes))
        units = np.arange(len(y)) if groups is None else column_or_1d(groups)
        positive = np.empty((len(y), len(targets)))
        for train, test in learner_folds(len(y), groups, random_state):
            rows = HeldOutRows([each[train] for each in targets], np.ones(len(train)), units[train])
            lines = fit_steps(scores[train][:, :, None], rows, slope).lines_
            for c, (line, target) in enumerate(zip(lines, rows.targets, strict=True)):
                constant = target.min() == target.max()  # one class only: nothing to learn
                learned = line.predict_proba(scores[test, c : c + 1])[:, 1]
                positive[test, c] = target.mean() if constant else learned
        return as_probabilities(positive)


def platt_line(columns: Floats, y: Ints, weight: Floats) -> LogOddsLine:
    """Logistic regression of a 0/1 target, with Platt's smoothed targets and a penalty that has no effect.

    The target of each of the N₊ positive rows is (N₊+1)/(N₊+2), that of each of the N₋ negative rows 1/(N₋+2):
    the solution stays finite even where the columns separate the classes.
    """
    return calibrate(columns, smoothed_targets(y, weight), weight, NEGLIGIBLE_PENALTY)


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
