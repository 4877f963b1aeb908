"""Probabilities from out-of-fold log-odds and indicators (Bennett 2007, equation 3 and section 4.1)."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import (
    assert_all_finite,
    check_consistent_length,
    check_random_state,
    get_tags,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from surefoot.indicators import Indicator, Panel, check_model, cross_fit, fit_model
from surefoot.neighborhoods import as_table
from surefoot.recalibration._platt import PlattCalibrator, as_probabilities, class_targets

Floats = NDArray[np.float64]


class BaseRecalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """What recalibrated classifiers share: checks, and prediction from probabilities."""

    estimator: Any
    classes_: NDArray[Any]

    def predict_proba(self, X: Any) -> Floats:
        """Recalibrated class probabilities."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row, after recalibration."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _check(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[Any], Floats | None]:
        """Check what is needed here; the model checks its own input, and gets it untouched."""
        check_model(self.estimator)
        if not is_classifier(self.estimator):
            raise ValueError(
                f"estimator={self.estimator!r} is no classifier, and only those are recalibrated."
            )
        validate_data(self, X, y, skip_check_array=True)
        X, y = as_table(X), column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        if len(y) == 0:
            raise ValueError("X and y have no rows: a minimum of two of each class is required.")
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if isinstance(self.estimator, FrozenEstimator):
            self.classes_ = known = self.estimator.classes_
            if unknown := sorted(set(y.tolist()) - set(known.tolist())):
                raise ValueError(
                    f"y has class {unknown[0]!r}, which the frozen estimator does not know."
                )
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, y, dtype=np.float64)
            for label in np.unique(y).tolist():
                if sample_weight[y == label].sum() == 0:
                    raise ValueError(f"sample_weight leaves class {label!r} without weight.")
        return X, y, sample_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


class RecalibratedClassifier(BaseRecalibratedClassifier):
    """Classifier whose scores become probabilities by what they were worth out of fold.

    The model's log-odds of held-out rows, and the columns of indicators if given, are the input of a
    calibrator that learns how probable each class is: Platt recalibration (Bennett 2007, equation 3),
    and with `LocalSensitivity()` the paper's Sensitivity Recalibrated. Beyond two classes each
    class is calibrated against the rest, on its own columns, and the probabilities are normalised.

    Parameters
    ----------
    estimator : classifier
        The model to recalibrate. In `FrozenEstimator` it is used as it is, and the rows given to
        `fit` must be new to it.
    indicators : indicator or sequence of indicators, default=None
        What the calibrator may know besides the log-odds; each with `per_class=True`.
    calibrator : classifier, default=None
        Learns 0/1 targets from the columns; must have `predict_proba`. The default is logistic
        regression on standardised columns with a negligible penalty and Platt's smoothed targets.
    response : {"auto", "decision_function", "predict_proba"}, default="auto"
        What the log-odds are made of; an indicator has a `response` of its own.
    cv : int, splitter or iterable of splits, default=10
        How rows are held out. A number of folds is at most the number of rows of the rarest class.
    n_jobs : int, default=None
        Parallel folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; of a frozen model all that it knows.
    estimator_ : classifier
        The model, fitted on all rows.
    calibrators_ : list of classifiers
        One for two classes, else one a class.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, where they are strings.

    Examples
    --------
    >>> from surefoot import KernelKNeighborsClassifier, LocalSensitivity
    >>> from surefoot.datasets import make_friedman_problem
    >>> X, y = make_friedman_problem(1, n_samples=200, random_state=0)
    >>> X_test, y_test = make_friedman_problem(1, n_samples=2000, random_state=1)
    >>> neighbors = KernelKNeighborsClassifier()
    >>> plain = RecalibratedClassifier(neighbors).fit(X, y)
    >>> sensitive = RecalibratedClassifier(neighbors, LocalSensitivity()).fit(X, y)
    >>> [round(100 * (1 - m.score(X_test, y_test)), 2) for m in (plain, sensitive)]
    [1.25, 1.05]
    """

    def __init__(
        self,
        estimator: Any,
        indicators: Indicator | Sequence[Indicator] | None = None,
        *,
        calibrator: Any = None,
        response: str = "auto",
        cv: Any = 10,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.indicators = indicators
        self.calibrator = calibrator
        self.response = response
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model, and the calibrator on rows that were held out from it.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the model takes them.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the model and the calibrator.
        groups : array-like of shape (n_rows,), default=None
            Groups for a splitter that keeps them together.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, y, sample_weight = self._check(X, y, sample_weight)
        indicators = [_signed(indicator) for indicator in as_list(self.indicators)]
        if self.calibrator is not None and not hasattr(self.calibrator, "predict_proba"):
            raise TypeError(
                f"calibrator={self.calibrator!r} has no predict_proba: it may be a classifier that has."
            )
        held_out = cross_fit(
            indicators, self.estimator, X, y, cv=self.cv, groups=groups,
            sample_weight=sample_weight, response=self.response, n_jobs=self.n_jobs,
        )  # fmt: skip
        targets = class_targets(
            np.searchsorted(self.classes_, y[held_out.rows]), len(self.classes_)
        )
        weight = None if sample_weight is None else sample_weight[held_out.rows]
        tables = class_tables(held_out.scores, held_out.columns)
        self.calibrators_ = [
            _fit_calibrator(self.calibrator, table, target, weight)
            for table, target in zip(tables, targets, strict=True)
        ]
        self.estimator_ = fit_model(self.estimator, X, y, sample_weight)
        self._panel = Panel(
            indicators, self.estimator_, X, y, response=self.response, n_jobs=self.n_jobs
        )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Recalibrated class probabilities.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to classify.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            One column a class, in the order of `classes_`.
        """
        check_is_fitted(self)
        X = as_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        tables = class_tables(*self._panel.judge(X))
        positive = [
            calibrator.predict_proba(table)[:, 1]
            for calibrator, table in zip(self.calibrators_, tables, strict=True)
        ]
        return as_probabilities(np.column_stack(positive))


def as_list(indicators: Any) -> list[Indicator]:
    """Indicators as a list, from none, one or several."""
    if indicators is None:
        return []
    found = list(indicators) if isinstance(indicators, (list, tuple)) else [indicators]
    for indicator in found:
        if not isinstance(indicator, Indicator):
            raise TypeError(
                f"indicators={indicator!r} is no indicator: it may be one of surefoot.indicators, or several."
            )
    return found


def class_tables(scores: Floats, columns: Sequence[Floats]) -> list[Floats]:
    """One table for each calibrated class: its log-odds, then its columns of every indicator.

    An indicator's columns come in blocks of as many as there are scores, one a class.
    """
    n_told = scores.shape[1]
    for block in columns:
        if block.shape[1] % n_told:
            raise ValueError(
                f"An indicator gave {block.shape[1]} columns for {n_told} calibrated classes: with "
                "per_class=True it must give as many of each."
            )
    everything = np.hstack([scores, *columns])
    return [everything[:, c::n_told] for c in range(n_told)]


def _signed(indicator: Indicator) -> Indicator:
    """The indicator with one set of columns for each class, which recalibration can add to its log-odds."""
    if "per_class" not in indicator.get_params(deep=False):
        raise ValueError(
            f"indicators={indicator!r} has no parameter per_class, and recalibration needs columns for each class."
        )
    indicator.check_parameters()
    signed = clone(indicator).set_params(per_class=True)
    if "random_state" in signed.get_params(deep=False):  # all folds draw alike
        seed = check_random_state(indicator.random_state).randint(np.iinfo(np.int32).max)
        signed.set_params(random_state=seed)
    return signed


def _fit_calibrator(calibrator: Any, table: Floats, target: NDArray[np.int64], weight: Any) -> Any:
    model = PlattCalibrator() if calibrator is None else calibrator
    return fit_model(model, table, target, weight)
