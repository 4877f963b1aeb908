"""Reports on a model: before it is used, and in use."""

from surefoot.report._monitoring_report import MonitoringReport
from surefoot.report._report import ReliabilityReport

__all__ = ["MonitoringReport", "ReliabilityReport"]
