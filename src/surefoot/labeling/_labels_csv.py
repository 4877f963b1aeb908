"""The file of labels: one line for each answer in force, and no other file is replaced by it."""

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

from surefoot.labeling._errors import Refusal
from surefoot.labeling._store import Answer, Store

COLUMNS = ("row", "label", "kind", "person", "time", "seconds", "strategy", "error")


def check_file(path: Path | None, store: Store) -> None:
    """Refuse to replace a file that has anything else than answers of the database."""
    if path is None or not path.exists():
        return
    known = set(as_csv(store.history()).splitlines())
    with path.open("rb") as file:
        if any(line.decode("utf-8", "replace").rstrip("\r\n") not in known for line in file):
            raise Refusal(
                409,
                f"{path} is there already, with lines that {store.path} does not have: move it away, or name another "
                "file.",
            )


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
