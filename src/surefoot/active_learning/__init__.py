"""Active learning: choose the rows to have labelled next, and decide when to stop."""

from surefoot.active_learning._learner import ActiveLearner
from surefoot.active_learning._query import query
from surefoot.active_learning._simulate import SimulationResult as SimulationResult
from surefoot.active_learning._simulate import simulate

__all__ = ["ActiveLearner", "query", "simulate"]
