"""What both error estimators share: a model, its held-out rows, and the judgement of new ones."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_consistent_length, check_scalar, get_tags
from sklearn.utils.validation import check_is_fitted

from surefoot._crossfit import (
    CrossFit,
    CrossFitter,
    PanelOutput,
    check_rows,
    check_training_rows,
    named,
    with_fixed_seed,
)
from surefoot._models import check_model, predict_labels
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_share
from surefoot.error_estimation._judgement import HeldOut, Judgement
from surefoot.error_estimation._row import Row
from surefoot.indicators import Indicator, LocalSensitivity, NeighborDistance

# Names of the indicators that the error estimator does not learn from: stability, where no other says it, and
# the distance that makes a row novel.
STABILITY, NOVELTY = "stability", "novelty"

# Share of rows drawn like the training rows that are called novel.
NOVEL_SHARE = 0.01


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
    def _learn(self, folds: CrossFitter, held_out: CrossFit) -> HeldOut:
        """Learn from the held-out rows what the error will be; their own judgement."""

    @abstractmethod
    def _error(self, table: Floats) -> Floats:
        """Estimated errors, from the columns that the error estimator sees."""

    @abstractmethod
    def _methods(self) -> tuple[str, ...]:
        """Methods of the model whose answers a judgement holds, besides its scores."""

    @abstractmethod
    def _fields(self, X: Any, output: PanelOutput, confidence: float) -> dict[str, Any]:
        """Fields of a judgement that depend on the task."""

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
        learned = named(self._resolve_indicators())
        X, y, sample_weight = self._check(X, y, sample_weight)
        if groups is not None:
            check_consistent_length(X, groups)
        self._learned, self._stability = list(learned), _stability_name(learned)
        watched: dict[str, Indicator] = {NOVELTY: NeighborDistance(space="scaled")}
        if self._stability == STABILITY:
            watched[STABILITY] = LocalSensitivity(n_neighbors=10, space="scaled")
        folds = CrossFitter(
            {**learned, **watched},
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
        self.estimator_ = folds.model(folds.deployed)
        self.n_splits_ = len(folds.splits)
        self.reference_rows_ = folds.reference_rows()
        held_out = folds.held_out(methods=self._methods())
        self.novelty_threshold_ = float(
            np.quantile(held_out.columns[NOVELTY][:, 0], 1 - NOVEL_SHARE)
        )
        self.held_out_ = self._learn(folds, held_out)
        return self

    def judge(self, X: Any, confidence: float = 0.9) -> Judgement:
        """Judge each row: the prediction, its estimated error, its stability and its novelty, from one pass.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to judge.
        confidence : float, default=0.9
            Of the interval of a regressor.

        Returns
        -------
        judgement : Judgement
            Arrays with an entry for each row; `to_frame()` makes a table of them.
        """
        check_share(confidence, "confidence")
        X = check_rows(self, X)
        output = self._panel(X, methods=self._methods())
        return Judgement(**self._shared_fields(output), **self._fields(X, output, confidence))

    def _describe(self, X: Any, methods: Sequence[str] = ()) -> PanelOutput:
        """Columns of new rows that the error estimator sees, and answers of the model."""
        X = check_rows(self, X)
        return self._panel(X, self._learned, methods)

    def _shared_fields(self, output: PanelOutput | CrossFit) -> dict[str, Any]:
        """Fields of a judgement that the panel says by itself: stability, novelty and columns."""
        shift, spread, worst, *flips = output.columns[self._stability].T
        return {
            "shift": shift,
            "spread": spread,
            "worst": worst,
            "flips": flips[0] if flips else None,
            "novel": self._is_novel(output),
            "columns": {name: output.columns[name] for name in self._learned},
        }

    def _is_novel(self, output: PanelOutput | CrossFit) -> Mask:
        return output.columns[NOVELTY][:, 0] > self.novelty_threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the model."""
        X = check_rows(self, X)
        return predict_labels(self.estimator_, X)

    def predict_novelty(self, X: Any) -> Mask:
        """Whether each row is out of distribution: further from its neighbours than training rows are.

        The mean distance to the ten nearest training rows is compared with that of held-out training
        rows from theirs; 1 % of these are further away.
        """
        X = check_rows(self, X)
        return self._is_novel(self._panel(X, [NOVELTY]))

    def predict_stability(self, X: Any) -> Floats:
        """Change of the model's output within each row's own cell: nearer to 0 is more stable.

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
        return self._panel(X, [self._stability]).columns[self._stability][:, :2]

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
        known = self.held_out_.columns
        columns = known if X is None else self._describe(X).columns
        whole, effects = self._error(self._table(columns)), []
        for name, block in columns.items():
            typical = np.broadcast_to(np.median(known[name], axis=0), block.shape)
            effects.append(whole - self._error(self._table({**columns, name: typical})))
        return np.column_stack(effects)

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
        X, index = check_rows(self, X), self._panel.indicators[NOVELTY].index_
        check_scalar(n_neighbors, "n_neighbors", Integral, min_val=1, max_val=index.n_neighbors)
        parts = index.map(lambda near: (near.distances, near.indices), X, 0)
        distances, near = (
            np.concatenate(part)[:, :n_neighbors] for part in zip(*parts, strict=True)
        )
        return distances, self.reference_rows_[near]

    def coordinates(self, X: Any) -> Any:
        """Rows in the space where the indicators look, numeric, complete and scaled; CSR for text."""
        index = self._panel.indicators[NOVELTY].index_
        parts = index.map(lambda near: near.rows, check_rows(self, X), 0)
        return vstack(parts).tocsr() if issparse(parts[0]) else np.vstack(parts)

    def get_indicator_names(self) -> NDArray[np.object_]:
        """Names of the indicators that the error estimator learns from, the keys of `Judgement.columns`."""
        check_is_fitted(self)
        return np.array(self._learned, dtype=object)

    def get_column_names(self) -> NDArray[np.object_]:
        """Names of the columns that the error estimator learns from, with the indicator of each."""
        check_is_fitted(self)
        names = [
            f"{name}__{column}"
            for name in self._learned
            for column in self._panel.indicators[name].get_feature_names_out()
        ]
        return np.array(names, dtype=object)

    def describe_indicators(self) -> dict[str, str]:
        """Words for a row that an indicator speaks against, by the name of the indicator."""
        check_is_fitted(self)
        return {name: self._panel.indicators[name].doubt or name for name in self._learned}

    def _table(self, columns: dict[str, Floats]) -> Floats:
        """Columns that the error estimator sees, side by side."""
        return np.hstack([columns[name] for name in self._learned])

    def _resolve_indicators(self) -> list[Indicator]:
        given = self.indicators
        if isinstance(given, str):
            if given != "auto":
                raise ValueError(
                    f"indicators={given!r} is not known: it may be 'auto', an indicator, or several."
                )
            chosen = self._auto_indicators()
        else:
            chosen = list(given) if isinstance(given, (list, tuple)) else [given]
        if self.passthrough and not any(isinstance(indicator, Row) for indicator in chosen):
            chosen = [*chosen, Row()]
        for indicator in chosen:
            if not isinstance(indicator, Indicator):
                raise TypeError(
                    f"indicators={indicator!r} is no indicator: it may be 'auto', or some of surefoot.indicators."
                )
            indicator.check_parameters()
        if not chosen:
            raise ValueError(
                "There is nothing to learn from: indicators=[] needs passthrough=True."
            )
        return [with_fixed_seed(indicator) for indicator in chosen]

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


def _stability_name(learned: dict[str, Indicator]) -> str:
    """Name of the indicator that says shift, spread and worst: one of those learned from, if there is one."""
    fitting = (
        name
        for name, indicator in learned.items()
        if isinstance(indicator, LocalSensitivity) and not indicator.per_class
    )
    return next(fitting, STABILITY)
