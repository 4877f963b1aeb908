"""How far one prediction can be trusted."""

from surefoot.indicators._confidence import Confidence
from surefoot.indicators._cross_fit import CrossFit, CrossFitter, cross_fit, resolve_cv
from surefoot.indicators._indicator import Indicator, check_model, fit_model, with_fixed_seed
from surefoot.indicators._local_sensitivity import LocalSensitivity
from surefoot.indicators._neighbor_disagreement import NeighborDisagreement
from surefoot.indicators._neighbor_distance import NeighborDistance
from surefoot.indicators._neighbor_error import NeighborError
from surefoot.indicators._panel import Panel
from surefoot.indicators._resampling_spread import ResamplingSpread
from surefoot.indicators._rows import check_rows, check_training_rows, known_classes
from surefoot.indicators._second_opinion import SecondOpinion
from surefoot.indicators._topic_models import TopicCrossFitter
from surefoot.indicators._topic_panel import TopicPanel
from surefoot.indicators._trust_score import TrustScore
from surefoot.indicators._vote_disagreement import VoteDisagreement

__all__ = [
    "Confidence",
    "CrossFit",
    "CrossFitter",
    "Indicator",
    "LocalSensitivity",
    "NeighborDisagreement",
    "NeighborDistance",
    "NeighborError",
    "Panel",
    "ResamplingSpread",
    "SecondOpinion",
    "TopicCrossFitter",
    "TopicPanel",
    "TrustScore",
    "VoteDisagreement",
    "check_model",
    "check_rows",
    "check_training_rows",
    "cross_fit",
    "fit_model",
    "known_classes",
    "resolve_cv",
    "with_fixed_seed",
]
