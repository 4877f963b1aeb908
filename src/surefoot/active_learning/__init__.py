"""Active learning: choose the rows to have labelled next."""

from surefoot.active_learning._learner import ActiveLearner
from surefoot.active_learning._query import query
from surefoot.active_learning._simulate import SimulationResult, simulate

__all__ = ["ActiveLearner", "SimulationResult", "query", "simulate"]
