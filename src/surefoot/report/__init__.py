"""Report on a model: how far each of its predictions can be trusted."""

from surefoot.report._report import ReliabilityReport

__all__ = ["ReliabilityReport"]
