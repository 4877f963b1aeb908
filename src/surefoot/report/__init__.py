"""Reports on a model: before it is used, and in use."""

from surefoot.report._report import ReliabilityReport
from surefoot.report._watch import MonitoringReport

__all__ = ["MonitoringReport", "ReliabilityReport"]
