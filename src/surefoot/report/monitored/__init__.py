"""Sections of the page of `surefoot watch`: rows by period, the verdict, what moved, what labels show."""

from surefoot.report.monitored._audit import describe_audit
from surefoot.report.monitored._moved import describe_moved
from surefoot.report.monitored._period_rows import ALL_ROWS, PeriodRows, sizes_for
from surefoot.report.monitored._provenance import describe_watching
from surefoot.report.monitored._verdict import give_watch_verdict

__all__ = [
    "ALL_ROWS",
    "PeriodRows",
    "describe_audit",
    "describe_moved",
    "describe_watching",
    "give_watch_verdict",
    "sizes_for",
]
