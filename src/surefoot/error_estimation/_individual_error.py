"""What both error estimators share: a model, what it did on rows it had not seen, and what is said of them."""

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_consistent_length, check_scalar, get_tags
from sklearn.utils.validation import (
    check_is_fitted,
)

from surefoot.error_estimation._row import Row
from surefoot.indicators import (
    CrossFit,
    CrossFitter,
    Indicator,
    NeighborDistance,
    check_model,
    check_rows,
    check_training_rows,
    with_fixed_seed,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Rows of the training kind that are called novel.
NOVEL_SHARE = 0.01


class HeldOut(NamedTuple):
    """What happened on the rows that were held out, aligned with `rows`, positions in the training table.

    `predictions` come from models that did not see the row, `errors` are what they cost, and
    `estimated_errors` what was estimated of it by an error estimator that was not fitted on the row either.
    """

    rows: Ints
    predictions: NDArray[Any]
    errors: Floats
    estimated_errors: Floats


class IndividualErrorEstimator(MetaEstimatorMixin, BaseEstimator, ABC):
    """Base of models that also estimate the error of each of their predictions.

    A subclass names the default indicators (`_auto_indicators`) and learns from the held-out rows
    (`_learn`).
    """

    estimator: Any
    error_estimator: Any
    indicators: Any
    passthrough: bool
    cv: Any
    max_reference_rows: int
    random_state: Any
    n_jobs: int | None
    estimator_: Any

    @abstractmethod
    def _auto_indicators(self) -> list[Indicator]:
        """What `indicators="auto"` stands for."""

    @abstractmethod
    def _check_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """The targets, or one sentence for a model or targets that are not of this kind."""

    @abstractmethod
    def _learn(self, folds: CrossFitter, held_out: CrossFit) -> None:
        """Learn from the held-out rows what the error will be."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model, and learn from rows that were held out how wrong it will be.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the model takes them. For a frozen model, rows that it never saw.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the model and the error estimator.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are never on both sides of a split.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._indicators = self._resolve_indicators()
        X, y, sample_weight = self._check(X, y, sample_weight)
        if groups is not None:
            check_consistent_length(X, groups)
        folds = CrossFitter(
            [*self._indicators, NeighborDistance(space="scaled")],
            self.estimator,
            X,
            y,
            cv=self.cv,
            groups=groups,
            sample_weight=sample_weight,
            max_reference_rows=self.max_reference_rows,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        held_out = folds.held_out()
        self._panel = folds.panel()
        self.estimator_ = folds.model(folds.deployed)
        self.novelty_threshold_ = float(np.quantile(held_out.columns[-1][:, 0], 1 - NOVEL_SHARE))
        self._learn(folds, held_out)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """What the model predicts for each row."""
        X = check_rows(self, X)
        return np.asarray(self.estimator_.predict(X))

    def predict_novelty(self, X: Any) -> NDArray[np.bool_]:
        """Whether each row is unlike anything seen: further from its neighbours than training rows are.

        The mean distance to the ten nearest training rows is compared with that of held-out training
        rows from theirs; 1 % of these are further away.
        """
        X = check_rows(self, X)
        columns = self._panel.judge(X)[1]
        return columns[-1][:, 0] > self.novelty_threshold_

    def get_column_names(self) -> NDArray[np.object_]:
        """Names of the columns that the error estimator learns from, with the indicator of each."""
        check_is_fitted(self)
        told = [
            f"{type(indicator).__name__.lower()}__{name}"
            for indicator in self._panel.indicators[:-1]
            for name in indicator.get_feature_names_out()
        ]
        return np.array(told, dtype=object)

    def _table(self, columns: list[Floats]) -> Floats:
        """What the error estimator sees: the columns of all indicators but the last, which watches for novelty."""
        return np.hstack(columns[:-1])

    def _resolve_indicators(self) -> list[Indicator]:
        given = self.indicators
        if isinstance(given, str):
            if given != "auto":
                raise ValueError(
                    f"indicators={given!r} is not known: it may be 'auto', an indicator, or several."
                )
            found = self._auto_indicators()
        else:
            found = list(given) if isinstance(given, (list, tuple)) else [given]
        if self.passthrough and not any(isinstance(indicator, Row) for indicator in found):
            found = [*found, Row()]
        for indicator in found:
            if not isinstance(indicator, Indicator):
                raise TypeError(
                    f"indicators={indicator!r} is no indicator: it may be 'auto', or some of surefoot.indicators."
                )
            indicator.check_parameters()
        if not found:
            raise ValueError(
                "There is nothing to learn from: indicators=[] needs passthrough=True."
            )
        return [with_fixed_seed(indicator) for indicator in found]

    def _check(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[Any], Floats | None]:
        """Check what is needed here; the model checks its own input, and gets it untouched."""
        check_model(self.estimator)
        check_scalar(self.max_reference_rows, "max_reference_rows", Integral, min_val=1)
        X, y, sample_weight = check_training_rows(self, X, y, sample_weight)
        return X, self._check_target(y), sample_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags
