"""Residuals and sizes of a regressor's errors, learned from held-out rows: a correction, then a scale from a prior."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.tree import ExtraTreeRegressor

from surefoot._kernels import sum_of_trees
from surefoot._models import SharedTrees, share_of_columns
from surefoot._splits import learner_folds
from surefoot._typing import Floats, Ints, Split
from surefoot.error_estimation._error_probability import cross_fit

# Most trees that estimate the size of a row's error.
N_TREES = 25

# Part of the names of columns that are coordinates of the row.
COORDINATE = "Row__column_"

# Least rows of a fold whose mean residual is subtracted.
LEAST_LEVELLED = 20

# Trees take numbers of 32 bits.
SMALLEST_TARGET, LARGEST_TARGET = 1e-38, 1e38

# Least estimated error, as a share of the mean error: a scale must not be zero.
LEAST_SHARE = 0.01

# Powers of the prior, and of the ratio that trees estimate, of which the best is chosen; and the least ratio.
POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)
LEAST_RATIO = 0.01

# Lengths below a tenth of the mean hardly differ, and those beyond a million times it do not either.
SMALL_LENGTH, LARGE_LENGTH = 0.1, 1e6

# Most standard deviations that a prediction differs from the mean prediction.
MOST_PREDICTION = 4.0


class Sizes(NamedTuple):
    """Estimates for rows: residual, correction of the prediction, size of its error, center and scale of an interval.

    The center is relative to the uncorrected prediction, and the scale is the expected distance of the truth from it.
    """

    residual: Floats
    correction: Floats
    error: Floats
    center: Floats
    scale: Floats


class ErrorSize:
    """Estimator of residuals, and of the size of the error after correction, learned from held-out rows.

    Parameters
    ----------
    learner : regressor or None
        Learns residuals, and sizes of errors; None means `ResidualLine` for residuals and `ShrunkSize` for sizes.
    names : list of str
        Names of the columns.
    corrected : bool or "unshrunk"
        Whether predictions are corrected by the estimated residual: as far as that helps, or in full.
    squared : bool
        Whether the size of an error is its square.
    random_state : int
        Seed of the default learners and of the folds.
    """

    def __init__(
        self,
        learner: Any,
        *,
        names: Sequence[str],
        corrected: bool | str,
        squared: bool,
        random_state: int,
    ) -> None:
        self.learner = learner
        self.names = names
        self.corrected = corrected
        self.squared = squared
        self.random_state = random_state

    def fit_held_out(
        self, table: Floats, residuals: Floats, splits: Ints, weight: Any, units: Any
    ) -> Sizes:
        """Fit on out-of-fold columns and residuals; return what learners without each row say of it.

        `splits` is the split that held each row out. The folds of the learners are drawn apart from these splits, and
        rows of one unit are in one fold.
        """
        folds = list(learner_folds(len(residuals), units, self.random_state))
        levelled = level_folds(residuals, splits)
        if self.learner is None:
            # By the coordinates of rows, of which there may be many, targets would be learned again that models of
            # other folds knew.
            own = [place for place, name in enumerate(self.names) if COORDINATE not in name]
            self.corrector_: Any = ResidualLine(own or [*range(len(self.names))])
            estimates = self.corrector_.fit_held_out(table, levelled, weight, folds)
        else:
            self.corrector_, estimates = cross_fit(self.learner, table, levelled, weight, folds)
        # Another learner's intervals are around the prediction, unless that is corrected.
        in_full, is_shifted = self.corrected == "unshrunk", self.corrected or self.learner is None
        self.shift_ = 1.0 if in_full else gain(levelled, estimates, weight) * bool(is_shifted)
        self.shrinkage_ = self.shift_ if self.corrected else 0.0
        errors = np.abs(residuals - self.shrinkage_ * estimates) ** (2 if self.squared else 1)
        deviations = np.abs(residuals - self.shift_ * estimates)
        self.least_ = max(LEAST_SHARE * float(np.average(errors, weights=weight)), 1e-300)
        self.least_scale_ = max(LEAST_SHARE * float(np.average(deviations, weights=weight)), 1e-300)
        if self.learner is None:
            self.sizer_: Any = ShrunkSize(self.names, 2 if self.squared else 1, self.random_state)
            sizes = np.column_stack([errors, deviations])
            held_out = self.sizer_.fit_held_out(table, sizes, weight, folds)
        else:
            self.sizer_, one = cross_fit(self.learner, table, errors, weight, folds)
            held_out = np.column_stack([one, np.maximum(one, 0) ** (0.5 if self.squared else 1)])
        return self._sizes(estimates, held_out)

    def __call__(self, table: Floats) -> Sizes:
        """Estimates for rows by their columns."""
        estimates = np.asarray(self.corrector_.predict(table), dtype=np.float64)
        sizes = np.asarray(self.sizer_.predict(table), dtype=np.float64)
        if self.learner is not None:
            root = np.maximum(sizes, 0) ** (0.5 if self.squared else 1)
            sizes = np.column_stack([sizes, root])
        return self._sizes(estimates, sizes)

    def _sizes(self, estimates: Floats, sizes: Floats) -> Sizes:
        least = np.array([self.least_, self.least_scale_])
        error, scale = np.maximum(sizes, least).T
        center = self.shift_ * estimates
        residual = center if self.learner is None else estimates
        return Sizes(residual, self.shrinkage_ * estimates, error, center, scale)


class ResidualLine(RegressorMixin, BaseEstimator):
    """Regressor of residuals: ridge regression on some of the columns, clipped to the training targets.

    The columns hold what other models predict, so that a line weighs them; `places` are those of the columns.
    """

    def __init__(self, places: Sequence[int]) -> None:
        self.places = places

    def fit_held_out(self, X: Floats, y: Floats, weight: Any, folds: Sequence[Split]) -> Floats:
        """Fit on columns and residuals; return the estimate of each row by a line without its fold."""
        self.range_ = float(y.min()), float(y.max())
        X = X[:, self.places]
        center, spread = X.mean(axis=0), X.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        scaled = (X - center) / scale
        line = RidgeCV(np.logspace(-2, 4, 7)).fit(scaled, y, weight)
        self.slopes_ = line.coef_ / scale
        self.intercept_ = float(line.intercept_ - center @ self.slopes_)
        _, estimates = cross_fit(Ridge(line.alpha_), scaled, y, weight, folds)
        return np.clip(estimates, *self.range_)

    def predict(self, X: Floats) -> Floats:
        """Estimated residual of each row."""
        return np.clip(X[:, self.places] @ self.slopes_ + self.intercept_, *self.range_)


class ShrunkSize(BaseEstimator):
    """Regressor of the sizes of errors and deviations, on a logarithmic scale: a prior estimate, which trees correct.

    The estimate starts from a power of the prior, times a constant that makes it right on the mean; without the columns
    of the prior, from the mean size. Randomised trees learn the ratio of each size to that start, which
    enters with a power, too. Both powers are between 0 and 1, and the best: that of the prior on the rows, that of the
    trees out of fold. Best means the highest likelihood of exponentially distributed sizes, log(estimate) +
    size / estimate.

    Parameters
    ----------
    names : list of str
        Names of the columns; if those of the prior are among them, it is used.
    exponent : int
        1 for absolute errors, 2 for squared ones; deviations are absolute.
    random_state : int
        Seed of the trees.
    """

    def __init__(self, names: Sequence[str], exponent: int, random_state: Any) -> None:
        self.names = names
        self.exponent = exponent
        self.random_state = random_state

    def fit_held_out(self, X: Floats, sizes: Floats, weight: Any, folds: Sequence[Split]) -> Floats:
        """Fit on out-of-fold columns and sizes, (n_rows, 2); return each row's sizes by trees without its fold."""
        mean_size = float(np.average(sizes[:, 0] ** (1 / self.exponent), weights=weight))
        self.prior_ = None
        self.prior_powers_, self.levels_ = np.zeros(2), np.zeros(2)
        start = np.zeros(sizes.shape)
        if set(size_prior()["columns"]) <= set(self.names) and mean_size > 0:
            self.prior_ = SizePrior().fit(X, self.names, mean_size)
            logs = self.prior_.log_size(X)
            fits = [best_power(logs, each, weight) for each in sizes.T]
            self.prior_powers_ = np.array([power for power, _ in fits])
            start = logs[:, None] * self.prior_powers_
        ratios = sizes * np.exp(-start)
        means = np.maximum(np.average(ratios, axis=0, weights=weight), 1e-300)
        ratios = ratios / means
        tree = ExtraTreeRegressor(
            min_samples_leaf=10,
            max_features=share_of_columns(X.shape[1]),
            random_state=self.random_state,
        )
        fold_of_row = np.empty(len(X), dtype=np.int64)
        for number, (_, test) in enumerate(folds):
            fold_of_row[test] = number
        trees = SharedTrees(tree, X, ratios, fold_of_row, N_TREES, weight)
        self.trees_ = trees.for_rows_of(-1)
        logs = np.log(np.maximum(trees.held_out(X, fold_of_row), LEAST_RATIO))
        fits = [best_power(*each, weight) for each in zip(logs.T, ratios.T, strict=True)]
        self.powers_, remaining = np.transpose(fits)
        self.levels_ = np.log(means) + remaining
        return np.exp(start + self.levels_ + self.powers_ * logs)

    def predict(self, X: Floats) -> Floats:
        """Estimated sizes of each row's error and deviation, (n_rows, 2)."""
        logs = np.log(np.maximum(self.trees_.mean_and_spread(X)[0], LEAST_RATIO)) * self.powers_
        if self.prior_ is not None:
            logs += self.prior_.log_size(X)[:, None] * self.prior_powers_
        return np.exp(logs + self.levels_)


def best_power(logs: Floats, sizes: Floats, weight: Any) -> tuple[float, float]:
    """Power of an estimate by its likelihood, the smallest of equally good ones, and the logarithm of its level."""
    shrunk = logs[:, None] * POWERS
    means = np.average(sizes[:, None] * np.exp(-shrunk), axis=0, weights=weight)
    levels = np.log(np.maximum(means, 1e-300))
    best = int(np.argmin(np.average(shrunk, axis=0, weights=weight) + levels))
    return POWERS[best], float(levels[best])


class SizePrior:
    """Estimated size of errors from their mean alone, by trees that were learned on other tables.

    Fitted on the out-of-fold columns of a table it holds what makes columns of different tables comparable: the mean
    size of the errors, the mean distance of neighbours, mean and spread of the predictions.
    """

    def fit(self, table: Floats, names: Sequence[str], mean_size: float) -> Self:
        """Store the scale of the columns; `mean_size` is the mean absolute error of the held-out rows."""
        self.version_ = int(size_prior()["version"])
        places = [names.index(name) for name in size_prior()["columns"]]
        *self.lengths_, self.distance_, self.prediction_ = places
        self.mean_size_ = mean_size
        self.mean_distance_ = float(np.exp(table[:, self.distance_]).mean())
        predictions = table[:, self.prediction_]
        self.mean_prediction_, self.spread_ = float(predictions.mean()), float(predictions.std())
        return self

    def log_size(self, table: Floats) -> Floats:
        """Logarithm of the estimated size of each error, relative to the mean size."""
        prior = size_prior()
        if self.version_ != prior["version"]:
            raise ValueError(
                f"The model was fitted with version {self.version_} of the prior for sizes of errors, and this "
                f"surefoot has version {prior['version']}: fit the model again."
            )
        return sum_over_trees(prior, self.columns(table))

    def columns(self, table: Floats) -> Floats:
        """Columns that mean the same on every table: logarithms of lengths, distances, standardised predictions."""
        distances = np.exp(table[:, self.distance_])
        ahead = table[:, self.prediction_] - self.mean_prediction_
        ahead = np.clip(ahead / max(self.spread_, 1e-300), -MOST_PREDICTION, MOST_PREDICTION)
        return np.column_stack(
            [
                log_length(table[:, self.lengths_], self.mean_size_),
                log_length(distances, self.mean_distance_),
                ahead,
                np.abs(ahead),
            ]
        )


def log_length(lengths: Floats, mean: float) -> Floats:
    """Logarithm of lengths over a mean, which levels off below a tenth of it: rows that occur twice have distance 0."""
    with np.errstate(over="ignore"):
        relative = np.minimum(np.abs(lengths) / max(mean, 1e-300), LARGE_LENGTH)
    return np.log(np.hypot(relative, SMALL_LENGTH))


@cache
def size_prior() -> dict[str, NDArray[Any]]:
    """Prior that ships with surefoot: its version, boosted trees as plain arrays, and the columns that they take.

    The columns are those of the default indicators: lengths in the unit of the target, a distance, the prediction.
    """
    with np.load(Path(__file__).with_name("size_prior.npz"), allow_pickle=False) as arrays:
        return dict(arrays)


def sum_over_trees(trees: Mapping[str, NDArray[Any]], table: Floats) -> Floats:
    """Sum over the trees, for each row, on the scale that they were boosted on (such as a logarithm).

    The nodes of all trees are in one set of arrays, each tree from its entry of `roots`. A row whose value of column
    `feature` is at most `threshold` continues at node `left`, else at node `right`; a missing value (NaN) goes left
    where `missing_left` is True. A leaf has the `feature` −1.
    """
    names = ("feature", "threshold", "left", "right", "missing_left", "value", "roots")
    rows = np.ascontiguousarray(table)
    return float(trees["constant"]) + sum_of_trees(*(trees[name] for name in names), rows)


def gain(residuals: Floats, estimates: Floats, weight: Floats | None) -> float:
    """Factor between 0 and 1 for estimated residuals with which they reduce the squared error most.

    It is the least-squares slope of the residuals on the estimates, shrunk for the uncertainty of the slope: a
    slope of t standard errors is multiplied by 1 − 8/t², and by 0 if t² is below 8. Independent estimates would need
    1/t² only, but these are not: the estimate of a row is learned from residuals and columns of rows in other folds,
    whose models were trained with the row's own target. So estimates of pure noise correlate with it, with a t of about
    2 to 3, as if the learner had seen the row; without this factor they would count as knowledge.
    """
    weight = np.ones(len(estimates)) if weight is None else weight
    size = float(weight @ estimates**2)
    if size == 0:
        return 0.0
    slope = float(weight @ (residuals * estimates)) / size
    remaining = residuals - slope * estimates
    variance = float(weight**2 @ (estimates * remaining) ** 2) / size**2
    kept_share = 1 - 8 * variance / slope**2 if slope > 0 else 0.0
    return float(np.clip(slope * kept_share, 0, 1))


def held_out_corrections(residuals: Floats, estimates: Floats, splits: Ints) -> Floats:
    """Corrections of held-out predictions: estimated residuals, shrunk by the gain on the rows of the other splits."""
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


def check_targets(y: NDArray[Any]) -> Floats:
    """Targets as numbers; raise an error if they are none, are too large for trees, or differ too little."""
    try:
        targets = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("Unknown label type: y holds targets that are no numbers.") from error
    if np.abs(targets).max(initial=0.0) >= LARGEST_TARGET:
        raise ValueError(
            f"y has targets of {np.abs(targets).max():.0e}, and trees take none above {LARGEST_TARGET:.0e}: "
            "divide them."
        )
    if 0 < np.ptp(targets) < SMALLEST_TARGET:
        raise ValueError(
            f"y varies by {np.ptp(targets):.0e} only, and models cannot learn differences below "
            f"{SMALLEST_TARGET:.0e}: multiply it."
        )
    return targets
