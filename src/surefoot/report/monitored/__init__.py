"""Sections of the page of `surefoot watch`: rows by period, the verdict, what moved, what labels show."""

from surefoot.report.monitored._moved import describe_moved
from surefoot.report.monitored._period_rows import ALL_ROWS, PeriodRows
from surefoot.report.monitored._provenance import describe_watching
from surefoot.report.monitored._verdict import alarms_of, give_watch_verdict

__all__ = [
    "ALL_ROWS",
    "PeriodRows",
    "alarms_of",
    "describe_moved",
    "describe_watching",
    "give_watch_verdict",
]
