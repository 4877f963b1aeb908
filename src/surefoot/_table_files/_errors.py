"""Error for tables that cannot be read or written, and the check of their names."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from surefoot._words import listed, reason


class TableFileError(ValueError):
    """Error for a table that cannot be read or written; its message is one sentence that names the file."""


def check_names(names: Sequence[str], path: Path) -> None:
    """Raise one sentence if two columns have the same name; columns without one are numbered by pandas."""
    named = Counter(name for name in names if name.strip())
    twice = [name for name, times in named.items() if times > 1]
    if twice:
        raise TableFileError(f"{path} has more than one column {listed(twice)}: names must differ.")


def unreadable(path: Path, error: Exception, otherwise: str) -> TableFileError:
    """Error with the reason of the operating system, or with other words if it gave none."""
    number = getattr(error, "errno", None)
    why = f"cannot be read: {reason(OSError(number, os.strerror(number)))}" if number else otherwise
    return TableFileError(f"{path} {why}.")


def no_rows(path: Path) -> TableFileError:
    """Error for a table with column names and nothing else."""
    return TableFileError(f"{path} has column names but no rows.")
