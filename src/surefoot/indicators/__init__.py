"""Indicators: numbers that tell how far one prediction can be trusted."""

from surefoot._typing import settle
from surefoot.indicators._confidence import Confidence
from surefoot.indicators._indicator import Indicator
from surefoot.indicators._local_sensitivity import LocalSensitivity
from surefoot.indicators._neighbor_error import NeighborError
from surefoot.indicators._neighbors import NeighborDisagreement, NeighborDistance
from surefoot.indicators._resampling_spread import ResamplingSpread
from surefoot.indicators._second_opinion import SecondOpinion
from surefoot.indicators._trust_score import TrustScore
from surefoot.indicators._vote_disagreement import VoteDisagreement

__all__ = [
    "Confidence",
    "Indicator",
    "LocalSensitivity",
    "NeighborDisagreement",
    "NeighborDistance",
    "NeighborError",
    "ResamplingSpread",
    "SecondOpinion",
    "TrustScore",
    "VoteDisagreement",
]

settle(__name__)
