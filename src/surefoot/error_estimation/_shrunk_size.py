"""Size of errors: the prior's estimate, times what trees learn from the rows of this table as far as that pays."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import ExtraTreesRegressor

from surefoot._models import fit_model, share_of_columns
from surefoot._priors import SizePrior, has_prior_columns
from surefoot._typing import Floats
from surefoot.error_estimation._error_probability import out_of_fold

# Shares of what the trees learned that are tried, as powers of the ratio that they estimate.
SHARES = np.linspace(0, 1, 5)

# Least ratio to the prior's estimate that trees may answer.
LEAST_RATIO = 0.01


class ShrunkSize(RegressorMixin, BaseEstimator):
    """Regressor of the size of errors, on a logarithmic scale: a prior estimate, which trees correct.

    The estimate starts from the prior, times a constant that makes it right on the mean; without the columns of the
    prior, from the mean size. Randomised trees learn the ratio of each size to that start. The ratio
    enters with the power, between 0 and 1, that is best out of bag, or out of fold where rows are not independent. Best
    means the highest likelihood of exponentially distributed sizes, log(estimate) + size / estimate.

    Parameters
    ----------
    names : list of str or None
        Names of the columns; if those of the prior are among them, it is used.
    power : int
        1 for absolute errors, 2 for squared ones.
    random_state : int
        Seed of the trees and folds.
    """

    def __init__(self, names: Sequence[str] | None, power: int = 1, random_state: Any = None):
        self.names = names
        self.power = power
        self.random_state = random_state

    def fit(self, X: Floats, y: Floats, sample_weight: Any = None, units: Any = None) -> Self:
        """Fit on out-of-fold columns and sizes of errors; rows of one unit are not independent."""
        absolute = y ** (1 / self.power)
        mean_size = float(np.average(absolute, weights=sample_weight))
        self.prior_ = None
        if self.names is not None and has_prior_columns(self.names) and mean_size > 0:
            self.prior_ = SizePrior().fit(X, self.names, mean_size)
        self.level_ = 0.0
        ratios = y * np.exp(-self._start(X))
        mean_ratio = max(float(np.average(ratios, weights=sample_weight)), 1e-300)
        self.level_ = float(np.log(mean_ratio))
        ratios = ratios / mean_ratio
        trees = ExtraTreesRegressor(
            100,
            min_samples_leaf=10,
            max_features=share_of_columns(X.shape[1]),
            bootstrap=True,
            oob_score=units is None,
            random_state=self.random_state,
        )
        self.trees_ = fit_model(trees, X, ratios, sample_weight)
        if units is None:
            held_out = self.trees_.oob_prediction_
        else:
            held_out = out_of_fold(trees, X, ratios, sample_weight, units, self.random_state)
        self.share_ = best_share(ratios, held_out, sample_weight)
        remaining = ratios * np.exp(-self.share_ * log_ratio(held_out))
        self.level_ += float(np.log(max(np.average(remaining, weights=sample_weight), 1e-300)))
        return self

    def predict(self, X: Floats) -> Floats:
        """Estimated size of each error."""
        return np.exp(self._start(X) + self.share_ * log_ratio(self.trees_.predict(X)))

    def _start(self, X: Floats) -> Floats:
        """Logarithm of the estimate that the trees start from."""
        start = np.full(len(X), self.level_)
        return start if self.prior_ is None else start + self.power * self.prior_.log_size(X)


def log_ratio(ratios: Floats) -> Floats:
    """Logarithm of estimated ratios, which are not below a hundredth."""
    return np.log(np.maximum(ratios, LEAST_RATIO))


def best_share(ratios: Floats, estimates: Floats, weight: Floats | None) -> float:
    """Power of estimated ratios with which they fit the ratios best; the smallest of equally good ones."""
    logs = log_ratio(estimates)
    losses = [
        np.average(share * logs + ratios * np.exp(-share * logs), weights=weight)
        for share in SHARES
    ]
    return float(SHARES[int(np.argmin(losses))])
