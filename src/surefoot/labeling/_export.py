"""Answers as a CSV file."""

import csv
import io
from datetime import UTC, datetime

from surefoot.labeling._audit_file import AuditFile
from surefoot.labeling._store import Answer

COLUMNS = ("row", "label", "kind", "person", "time", "seconds", "strategy", "error")


def as_csv(answers: list[Answer], audit: AuditFile | None = None) -> str:
    """Answers as CSV, one line each; those of an audit have the row of the audited table, and what it is called."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS if audit is None else [*COLUMNS, "audit"])
    for each in answers:
        when = datetime.fromtimestamp(each.time, UTC).isoformat(timespec="milliseconds")
        writer.writerow(
            [
                each.row if audit is None else audit.rows[each.row],
                *(each.label, each.kind, each.person, when),
                *(f"{each.seconds:.3f}", each.strategy),
                "" if each.error is None else f"{each.error:.4f}",
                *([] if audit is None else [audit.code]),
            ]
        )
    return text.getvalue()
