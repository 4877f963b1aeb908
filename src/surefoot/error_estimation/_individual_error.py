"""What both error estimators share: a model, what it did on rows it had not seen, and what is said of them."""

import re
from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_consistent_length, check_scalar, get_tags
from sklearn.utils.validation import (
    check_is_fitted,
)

from surefoot._crossfit import (
    CrossFit,
    CrossFitter,
    check_rows,
    check_training_rows,
    with_fixed_seed,
)
from surefoot._models import check_model
from surefoot._typing import Floats, Ints, Mask
from surefoot.error_estimation._row import Row
from surefoot.indicators import Indicator, LocalSensitivity, NeighborDistance

# What is said of stability where no indicator says it.
SENSITIVITY = LocalSensitivity(n_neighbors=10)

# Rows of the training kind that are called novel.
NOVEL_SHARE = 0.01


class HeldOut(NamedTuple):
    """What happened on the rows that were held out, aligned with `rows`, positions in the training table.

    `predictions` come from models that did not see the row, `errors` are what they cost, and
    `estimated_errors` what was estimated of it by an error estimator that was not fitted on the row either. Of
    the same models are the `scores` (like log-odds; a regressor's predictions), the class `probabilities` (None
    where there are none), and the `columns` of each indicator, the one that watches for novelty last.
    """

    rows: Ints
    predictions: NDArray[Any]
    errors: Floats
    estimated_errors: Floats
    scores: Floats
    probabilities: Floats | None
    columns: list[Floats]


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

    @abstractmethod
    def _error(self, table: Floats) -> Floats:
        """The estimated error by what the error estimator sees."""

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
        self._panel = folds.panel()
        folds.lay_out_like(self._panel)
        held_out = folds.held_out()
        self.estimator_ = folds.model(folds.deployed)
        self.n_splits_ = len(folds.splits)
        self.reference_rows_ = folds.reference_rows()
        self.novelty_threshold_ = float(np.quantile(held_out.columns[-1][:, 0], 1 - NOVEL_SHARE))
        self._learn(folds, held_out)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """What the model predicts for each row."""
        X = check_rows(self, X)
        return np.asarray(self.estimator_.predict(X))

    def predict_novelty(self, X: Any) -> Mask:
        """Whether each row is unlike anything seen: further from its neighbours than training rows are.

        The mean distance to the ten nearest training rows is compared with that of held-out training
        rows from theirs; 1 % of these are further away.
        """
        X = check_rows(self, X)
        columns = self._panel.judge(X)[1]
        return columns[-1][:, 0] > self.novelty_threshold_

    def predict_stability(self, X: Any) -> Floats:
        """How the model's output changes within each row's own cell: nearer to 0 is more stable.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to judge.

        Returns
        -------
        stability : ndarray of shape (n_rows, 2)
            Columns `shift` and `spread` of `LocalSensitivity`: mean and standard deviation of the change of
            the predicted class's lead over the runner-up, or of a regressor's prediction.
        """
        X = check_rows(self, X)
        asked = self._sensitivity()
        found = self._panel.ask(SENSITIVITY, X) if asked is None else self._panel.judge(X)[1][asked]
        return found[:, :2]

    def explain_error(self, X: Any = None) -> Floats:
        """How much each indicator adds to the estimated error of each row; below 0 it speaks for the row.

        What the estimate loses if the columns of the indicator were those of a typical held-out row: the
        parts need not add up to the estimate.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns), default=None
            Rows to explain; None is the held-out rows, in the order of `held_out_`.

        Returns
        -------
        effects : ndarray of shape (n_rows, n_indicators)
            In the order of `get_indicator_names`; for a classifier in probability of an error.
        """
        columns = self.held_out_.columns if X is None else self._panel.judge(check_rows(self, X))[1]
        whole, effects = self._error(self._table(columns)), []
        for i, (block, known) in enumerate(zip(columns, self.held_out_.columns, strict=True)):
            typical = np.broadcast_to(np.median(known, axis=0), block.shape)
            effects.append(
                whole - self._error(self._table([*columns[:i], typical, *columns[i + 1 :]]))
            )
        return np.column_stack(effects[:-1])  # the last block watches for novelty only

    def kneighbors(self, X: Any, n_neighbors: int = 5) -> tuple[Floats, Ints]:
        """Training rows nearest to each row in the space where the indicators look.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to look around.
        n_neighbors : int, default=5
            How many, of the ten that are searched at least.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_neighbors)
            How far they are, nearest first.
        rows : ndarray of shape (n_rows, n_neighbors)
            Their positions in the training table.
        """
        X, index = check_rows(self, X), self._panel.indicators[-1].index_
        check_scalar(n_neighbors, "n_neighbors", Integral, min_val=1, max_val=index.n_neighbors)
        parts = index.map(lambda near: (near.distances, near.indices), X, 0)
        distances, near = (
            np.concatenate(part)[:, :n_neighbors] for part in zip(*parts, strict=True)
        )
        return distances, self.reference_rows_[near]

    def coordinates(self, X: Any) -> Any:
        """Rows in the space where the indicators look, numeric, complete and scaled; CSR for text."""
        index = self._panel.indicators[-1].index_
        parts = index.map(lambda near: near.rows, check_rows(self, X), 0)
        return vstack(parts).tocsr() if issparse(parts[0]) else np.vstack(parts)

    def get_indicator_names(self) -> NDArray[np.object_]:
        """Names of the indicators that the error estimator learns from, in words."""
        check_is_fitted(self)
        return np.array(
            [_words(type(i).__name__) for i in self._panel.indicators[:-1]], dtype=object
        )

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

    def _sensitivity(self) -> int | None:
        """Position of an indicator that tells shift and spread already."""
        fitting = (
            i
            for i, indicator in enumerate(self._indicators)
            if isinstance(indicator, LocalSensitivity) and not indicator.per_class
        )
        return next(fitting, None)

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


def _words(name: str) -> str:
    """The name of a class as words: "SecondOpinion" is "second opinion"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
