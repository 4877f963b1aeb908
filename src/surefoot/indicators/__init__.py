"""How far one prediction can be trusted."""

from surefoot.indicators._confidence import Confidence
from surefoot.indicators._cross_fit import CrossFit, cross_fit
from surefoot.indicators._indicator import Indicator, check_model, fit_model
from surefoot.indicators._local_sensitivity import LocalSensitivity
from surefoot.indicators._panel import Panel
from surefoot.indicators._resampling_spread import ResamplingSpread
from surefoot.indicators._vote_disagreement import VoteDisagreement

__all__ = [
    "Confidence",
    "CrossFit",
    "Indicator",
    "LocalSensitivity",
    "Panel",
    "ResamplingSpread",
    "VoteDisagreement",
    "check_model",
    "cross_fit",
    "fit_model",
]
