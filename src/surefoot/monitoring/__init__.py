"""Monitoring of a model in use: whether it is still as good as it was when it was fitted."""

from surefoot.monitoring._audit import Audit, AuditResult, audit
from surefoot.monitoring._compare import RowComparison
from surefoot.monitoring._estimate import PerformanceEstimate
from surefoot.monitoring._new_rows import NewRows
from surefoot.monitoring._performance import compare_rows, estimate_performance

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
