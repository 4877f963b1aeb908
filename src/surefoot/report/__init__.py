"""A report on a model that a person wants to read."""

from surefoot.report._report import ReliabilityReport

__all__ = ["ReliabilityReport"]
