"""Answers as a CSV file."""

import csv
import io
from datetime import UTC, datetime

from surefoot.labeling._store import Answer

COLUMNS = ("row", "label", "kind", "person", "time", "seconds", "strategy", "error")


def as_csv(answers: list[Answer]) -> str:
    """Answers as CSV, one line each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in answers:
        when = datetime.fromtimestamp(each.time, UTC).isoformat(timespec="milliseconds")
        writer.writerow(
            [
                *(each.row, each.label, each.kind, each.person, when),
                *(f"{each.seconds:.3f}", each.strategy),
                "" if each.error is None else f"{each.error:.4f}",
            ]
        )
    return text.getvalue()
