"""Learners of out-of-fold residuals: a correction, and the size of the error after it."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot._models import fit_model
from surefoot._typing import Floats, Ints
from surefoot.error_estimation._error_probability import answer, out_of_fold
from surefoot.error_estimation._shrunk_size import ShrunkSize

# Least rows of a fold whose mean residual is subtracted.
LEAST_LEVELLED = 20

# Trees take numbers of 32 bits.
LARGEST_TARGET = 1e38

# Least estimated error, as a share of the mean error: a scale must not be zero.
LEAST_SHARE = 0.01


class LineThenTrees(RegressorMixin, BaseEstimator):
    """Regressor of residuals: ridge regression, then trees on its residuals; clipped to the training targets.

    The linear part learns trends that the model missed, the trees everything else.
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Floats, y: Floats, sample_weight: Floats | None = None) -> Self:
        """Fit the linear part and the trees on columns and residuals."""
        self.range_ = float(y.min()), float(y.max())
        self.line_ = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 7)))
        self.line_.fit(X, y, ridgecv__sample_weight=sample_weight)
        self.trees_ = ExtraTreesRegressor(
            50, min_samples_leaf=5, max_features=0.5, random_state=self.random_state
        ).fit(X, y - self.line_.predict(X), sample_weight)
        return self

    def predict(self, X: Floats) -> Floats:
        """Sum of the predictions of the linear part and the trees."""
        return np.clip(self.line_.predict(X) + self.trees_.predict(X), *self.range_)


class ErrorSize:
    """Estimator of residuals, and of the size of the error after correction, learned from held-out rows.

    Parameters
    ----------
    learner : regressor or None
        Learns residuals, and sizes of errors; None means `LineThenTrees` for residuals and `ShrunkSize` for sizes.
    names : list of str
        Names of the columns.
    corrected : bool
        Whether predictions are corrected by the estimated residual.
    squared : bool
        Whether the size of an error is its square.
    random_state : int
        Seed of the default learners and of the folds of the correction.
    """

    def __init__(
        self,
        learner: Any,
        *,
        names: Sequence[str],
        corrected: bool,
        squared: bool,
        random_state: int,
    ) -> None:
        self.learner = learner
        self.names = names
        self.corrected = corrected
        self.squared = squared
        self.random_state = random_state

    def fit(
        self,
        table: Floats,
        residuals: Floats,
        splits: Ints,
        weight: Any,
        units: Any,
        estimates: Floats | None = None,
    ) -> Self:
        """Fit on out-of-fold columns and residuals; `splits` is the split that held each row out.

        `estimates` of the residuals, by learners and models that did not see the row, say how far to correct.
        Without them the learner is cross-fitted on the table, which corrects too far where there is little to
        correct: the rows that it learns from have columns by models that saw the targets of the others.
        """
        learner = LineThenTrees(random_state=self.random_state)
        if self.learner is not None:
            learner = self.learner
        levelled = level_folds(residuals, splits)
        self.corrector_ = fit_model(learner, table, levelled, weight)
        self.shrinkage_ = 0.0
        remaining = residuals
        if self.corrected:
            if estimates is None:
                estimates = out_of_fold(learner, table, levelled, weight, units, self.random_state)
            self.shrinkage_ = gain(levelled, estimates, weight)
            remaining = residuals - self.shrinkage_ * estimates
        sizes = remaining**2 if self.squared else np.abs(remaining)
        self.least_ = max(LEAST_SHARE * float(np.average(sizes, weights=weight)), 1e-300)
        self.sizer_ = self._fit_sizer(table, sizes, weight, units)
        return self

    def _fit_sizer(self, table: Floats, sizes: Floats, weight: Any, units: Any) -> Any:
        if self.learner is not None:
            return fit_model(self.learner, table, sizes, weight)
        power = 2 if self.squared else 1
        return ShrunkSize(self.names, power, self.random_state).fit(table, sizes, weight, units)

    @property
    def prior_version(self) -> int | None:
        """Version of the prior that sizes start from; None without a prior."""
        prior = getattr(self.sizer_, "prior_", None) if self.learner is None else None
        return None if prior is None else prior.version_

    def residual(self, table: Floats) -> Floats:
        """Estimated truth minus prediction."""
        return answer(self.corrector_, table)

    def correction(self, table: Floats) -> Floats:
        """Correction of the predictions: the estimated residual times `shrinkage_`."""
        if self.shrinkage_ == 0:
            return np.zeros(len(table))
        return self.shrinkage_ * self.residual(table)

    def error(self, table: Floats) -> Floats:
        """Estimated size of the error after correction; lower is better."""
        return np.maximum(answer(self.sizer_, table), self.least_)

    def scale(self, table: Floats) -> Floats:
        """Estimated size of the error in the unit of the target."""
        return np.sqrt(self.error(table)) if self.squared else self.error(table)

    def center_and_scale(self, prediction: Floats, table: Floats) -> tuple[Floats, Floats]:
        """Corrected predictions, and the scale of their errors."""
        return prediction + self.correction(table), self.scale(table)


def check_targets(y: NDArray[Any]) -> Floats:
    """Targets as numbers; raise an error if they are none, or too large for trees."""
    try:
        targets = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("Unknown label type: y holds targets that are no numbers.") from error
    if np.abs(targets).max(initial=0.0) >= LARGEST_TARGET:
        raise ValueError(
            f"y has targets of {np.abs(targets).max():.0e}, and trees take none above {LARGEST_TARGET:.0e}: "
            "divide them."
        )
    return targets


def gain(residuals: Floats, estimates: Floats, weight: Floats | None) -> float:
    """Factor between 0 and 1 for estimated residuals with which they reduce the squared error most.

    It is the least-squares slope of the residuals on the estimates, shrunk for the uncertainty of the slope: a
    slope of t standard errors is multiplied by 1 − 1/t², and by 0 if t is below 1.
    """
    weight = np.ones(len(estimates)) if weight is None else weight
    size = float(weight @ estimates**2)
    if size == 0:
        return 0.0
    slope = float(weight @ (residuals * estimates)) / size
    remaining = residuals - slope * estimates
    variance = float(weight**2 @ (estimates * remaining) ** 2) / size**2
    kept_share = 1 - variance / slope**2 if slope > 0 else 0.0
    return float(np.clip(slope * kept_share, 0, 1))


def held_out_corrections(residuals: Floats, estimates: Floats, splits: Ints) -> Floats:
    """Corrections of held-out predictions: estimated residuals, shrunk as the rows of the other splits advise."""
    corrections = np.zeros(len(estimates))
    for split in np.unique(splits):
        others = splits != split
        if others.any():
            levelled = level_folds(residuals[others], splits[others])
            corrections[~others] = gain(levelled, estimates[others], None) * estimates[~others]
    return corrections


def level_folds(residuals: Floats, splits: Ints) -> Floats:
    """Residuals shifted so that each fold has the overall mean, as training targets of a corrector.

    A fold with higher targets than the others is predicted too low by a model of the others. A corrector would
    learn this artefact of the split as a rule: the lower the prediction, the higher the residual.
    """
    counts = np.bincount(splits)
    means = np.bincount(splits, residuals) / np.maximum(counts, 1)
    excess = np.where(counts >= LEAST_LEVELLED, means - residuals.mean(), 0.0)
    return residuals - excess[splits]
