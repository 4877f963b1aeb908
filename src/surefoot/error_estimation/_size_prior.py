"""Prior for the size of an error: what large errors of regressors had in common on other tables."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Self

import numpy as np

from surefoot._typing import Floats
from surefoot.error_estimation._boosted_arrays import BoostedTrees

# Changed whenever the columns or the trees change: a model that was fitted with another version must be fitted again.
VERSION = 1

# Columns of the default indicators, in the order of `size_columns`: lengths in the unit of the target first.
LENGTHS = (
    "NeighborDisagreement__gap_10",
    "NeighborDisagreement__gap_30",
    "NeighborDisagreement__spread_10",
    "NeighborDisagreement__spread_30",
    "SecondOpinion__trees_gap",
    "SecondOpinion__trees_spread",
    "SecondOpinion__linear_gap",
)
DISTANCE = "NeighborDistance__log_distance_10"
PREDICTION = "Row__prediction"

# Lengths below a tenth of the mean error hardly differ, and those beyond a million times it do not either.
SMALL_LENGTH, LARGE_LENGTH = 0.1, 1e6

# Most that a logarithmic distance differs from its mean, and a prediction in standard deviations.
MOST_DISTANCE, MOST_PREDICTION = 5.0, 4.0


class SizePrior:
    """Estimated size of errors before any was seen but their mean, by trees that learned from other tables.

    Fitted on the out-of-fold columns of a table it holds what makes columns of different tables comparable: the mean
    size of the errors, the mean distance of neighbours, mean and spread of the predictions.
    """

    def fit(self, table: Floats, names: Sequence[str], mean_size: float) -> Self:
        """Remember the scale of the columns; `mean_size` is the mean absolute error of the held-out rows."""
        places = {name: place for place, name in enumerate(names)}
        self.version_ = VERSION
        self.lengths_ = [places[name] for name in LENGTHS]
        self.distance_, self.prediction_ = places[DISTANCE], places[PREDICTION]
        self.mean_size_ = mean_size
        self.mean_distance_ = float(table[:, self.distance_].mean())
        predictions = table[:, self.prediction_]
        self.mean_prediction_, self.spread_ = float(predictions.mean()), float(predictions.std())
        return self

    def log_size(self, table: Floats) -> Floats:
        """Logarithm of the estimated size of each error, relative to the mean size."""
        return read_trees(self.version_).predict(self.columns(table))

    def columns(self, table: Floats) -> Floats:
        """Columns that mean the same on every table: logarithms of lengths, distances, standardised predictions."""
        with np.errstate(over="ignore"):
            lengths = np.minimum(np.abs(table[:, self.lengths_]) / self.mean_size_, LARGE_LENGTH)
        far = table[:, self.distance_] - self.mean_distance_
        ahead = (table[:, self.prediction_] - self.mean_prediction_) / max(self.spread_, 1e-300)
        ahead = np.clip(ahead, -MOST_PREDICTION, MOST_PREDICTION)
        return np.column_stack(
            [
                np.log(np.hypot(lengths, SMALL_LENGTH)),
                np.clip(far, -MOST_DISTANCE, MOST_DISTANCE),
                ahead,
                np.abs(ahead),
            ]
        )


def has_prior_columns(names: Sequence[str] | None) -> bool:
    """Whether all columns that the prior learned from are among these."""
    return names is not None and {*LENGTHS, DISTANCE, PREDICTION} <= set(names)


@cache
def read_trees(version: int) -> BoostedTrees:
    """Trees of the prior that comes with this version of the library."""
    if version != VERSION:
        raise ValueError(
            f"The model was fitted with version {version} of the prior for sizes of errors, and this surefoot has "
            f"version {VERSION}: fit the model again."
        )
    file = files("surefoot.error_estimation").joinpath("size_prior.npz")
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return BoostedTrees.from_arrays(arrays)
