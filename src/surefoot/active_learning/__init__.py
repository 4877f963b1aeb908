"""Active learning: choose the rows to have labelled next, and say when to stop."""

from surefoot.active_learning._learner import ActiveLearner
from surefoot.active_learning._query import query
from surefoot.active_learning._simulate import SimulationResult, simulate
from surefoot.active_learning._stopping import StoppingRule
from surefoot.active_learning._strategies import DEFAULT_STRATEGY, STRATEGIES

__all__ = [
    "DEFAULT_STRATEGY",
    "STRATEGIES",
    "ActiveLearner",
    "SimulationResult",
    "StoppingRule",
    "query",
    "simulate",
]
