"""Prior for the size of an error: what large errors of regressors had in common on other tables."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Self

import numpy as np

from surefoot._priors._tree_arrays import TreeArrays
from surefoot._typing import Floats

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

# Lengths below a tenth of the mean hardly differ, and those beyond a million times it do not either.
SMALL_LENGTH, LARGE_LENGTH = 0.1, 1e6

# Most standard deviations that a prediction differs from the mean prediction.
MOST_PREDICTION = 4.0


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
        self.mean_distance_ = float(np.exp(table[:, self.distance_]).mean())
        predictions = table[:, self.prediction_]
        self.mean_prediction_, self.spread_ = float(predictions.mean()), float(predictions.std())
        return self

    def log_size(self, table: Floats) -> Floats:
        """Logarithm of the estimated size of each error, relative to the mean size."""
        return read_trees(self.version_).predict(self.columns(table))

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


def has_prior_columns(names: Sequence[str] | None) -> bool:
    """Whether all columns that the prior learned from are among these."""
    return names is not None and {*LENGTHS, DISTANCE, PREDICTION} <= set(names)


@cache
def read_trees(version: int) -> TreeArrays:
    """Trees of the prior that comes with this version of the library."""
    if version != VERSION:
        raise ValueError(
            f"The model was fitted with version {version} of the prior for sizes of errors, and this surefoot has "
            f"version {VERSION}: fit the model again."
        )
    file = files("surefoot._priors").joinpath("size_prior.npz")
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return TreeArrays.from_arrays(arrays)
