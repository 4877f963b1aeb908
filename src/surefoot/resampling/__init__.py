"""Resampling: a statistic or a model on other samples of the rows, and splits."""

from surefoot._splits import HoldoutSplit
from surefoot._typing import settle
from surefoot.resampling._bias_variance import bias_variance, boundary_bias
from surefoot.resampling._statistics import bootstrap, jackknife

__all__ = ["HoldoutSplit", "bias_variance", "bootstrap", "boundary_bias", "jackknife"]

settle(__name__, HoldoutSplit)
