"""Tables of results as CSV files."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows by column name, below a header."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
