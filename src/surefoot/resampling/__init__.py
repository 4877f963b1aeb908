"""What if the data had been others: splits and resamples."""

from surefoot.resampling._bias_variance import BiasVarianceResult, bias_variance
from surefoot.resampling._bootstrap import bootstrap
from surefoot.resampling._boundary_bias import boundary_bias
from surefoot.resampling._holdout import HoldoutSplit
from surefoot.resampling._infinitesimal import infinitesimal_jackknife, tree_answers
from surefoot.resampling._jackknife import jackknife
from surefoot.resampling._leave_one_out import (
    exact_leave_one_out,
    jackknife_variance,
    leave_one_out_predict,
)
from surefoot.resampling._refits import bootstrap_models

__all__ = [
    "BiasVarianceResult",
    "HoldoutSplit",
    "bias_variance",
    "bootstrap",
    "bootstrap_models",
    "boundary_bias",
    "exact_leave_one_out",
    "infinitesimal_jackknife",
    "jackknife",
    "jackknife_variance",
    "leave_one_out_predict",
    "tree_answers",
]
