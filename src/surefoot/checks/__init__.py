"""Checks of a table before a model is judged on it: leaks, copies, entities, order of rows, identifiers."""

from surefoot.checks._check_table import check_table
from surefoot.checks._columns import Finding

__all__ = ["Finding", "check_table"]
