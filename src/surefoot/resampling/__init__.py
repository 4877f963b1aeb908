"""Resampling: a statistic or a model on other samples of the rows, and splits."""

from surefoot._refits import leave_one_out_predict
from surefoot.resampling._bias_variance import BiasVarianceResult, bias_variance
from surefoot.resampling._bootstrap import bootstrap
from surefoot.resampling._boundary_bias import boundary_bias
from surefoot.resampling._holdout import HoldoutSplit
from surefoot.resampling._jackknife import jackknife

__all__ = [
    "BiasVarianceResult",
    "HoldoutSplit",
    "bias_variance",
    "bootstrap",
    "boundary_bias",
    "jackknife",
    "leave_one_out_predict",
]
