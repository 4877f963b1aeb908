"""Section "How this was computed" of the page of `surefoot watch`."""

import platform
from datetime import date
from typing import Any

from surefoot.report._provenance import installed_versions

CAVEATS = """
Every figure of new rows is estimated without labels: the estimated errors of the rows, corrected for how their inputs \
differ from the held-out rows that the model was fitted with. An interval covers both what the new rows and what the \
held-out rows leave open.
The estimate assumes that rows with the same inputs still have the same targets (P(y|x) unchanged). The interval of an \
audit assumes nothing of the kind.
The error when the model was fitted is measured on held-out rows, which the model that predicted them had not seen.
A promised risk holds for new rows from the same source as those that the model was fitted on. Where rows have moved, \
it may be broken, and only an audit can tell.
Each interval holds alone, with the confidence that is named. Of many periods, some lie outside theirs by chance.
A column is said to have moved if its p value, adjusted for the number of columns (Benjamini and Hochberg), is at most \
0.05. The effect is the largest difference between the shares of rows up to some value (Kolmogorov and Smirnov), or \
half the sum of the differences between the shares of categories.
"""


def describe_watching(sizes: dict[str, Any], *, seconds: float, command: str) -> dict[str, Any]:
    """Date, versions, sizes and caveats."""
    return {
        "date": date.today().isoformat(),  # noqa: DTZ011 - the reader's day, not an instant
        "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version()} | installed_versions(),
        "sizes": sizes,
        "caveats": CAVEATS.strip().splitlines(),
        "command": command,
    }
