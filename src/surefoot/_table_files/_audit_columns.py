"""Columns of a file of rows that `surefoot audit` asks about."""

from collections.abc import Iterable

# Number of the draw, position in the audited table, what the file belongs to, classes to choose from, and the answer.
AUDIT_COLUMNS = ("draw", "row", "audit", "answers", "label")


def is_audit_file(columns: Iterable[str]) -> bool:
    """Whether a table with these columns is one that `surefoot audit` has written.

    >>> is_audit_file(["draw", "row", "audit", "answers", "label", "age"]), is_audit_file(["row", "label"])
    (True, False)
    """
    return set(AUDIT_COLUMNS) <= set(columns)
