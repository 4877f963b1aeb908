"""Monitoring of a model in use: whether it is still as good as it was when it was fitted."""

from surefoot.monitoring._audit import Audit, AuditResult, audit
from surefoot.monitoring._new_rows import NewRows, compare_rows, estimate_performance
from surefoot.monitoring._performance import PerformanceEstimate
from surefoot.monitoring._shift import RowComparison

__all__ = [
    "Audit",
    "AuditResult",
    "NewRows",
    "PerformanceEstimate",
    "RowComparison",
    "audit",
    "compare_rows",
    "estimate_performance",
]
