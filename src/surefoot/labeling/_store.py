"""Answers, leases and the learning curve in SQLite: what was acknowledged is on disk."""

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from surefoot.labeling._errors import Refusal, busy_or_full
from surefoot.labeling._schema import IN_MEMORY, SCHEMA, check_kind

# Seconds that another program may keep the database to itself before a request is refused.
PATIENCE = 5.0


class Answer(NamedTuple):
    """Answer in force, or part of the history, with how its row came to be asked about."""

    row: int
    label: str | None
    kind: str
    person: str
    time: float
    seconds: float
    strategy: str
    error: float | None
    lease: str


class Lease(NamedTuple):
    """Row that one person has been given to answer, and why it is asked about."""

    lease: str
    row: int
    why: str


class Store:
    """Database of one pool; every method that writes returns after the change is on disk.

    Parameters
    ----------
    path : Path
        File of the database; made if it is not there.
    clock : callable, default=time.time
        Seconds since the epoch.
    """

    def __init__(self, path: Path, clock: Any = time.time) -> None:
        self.path, self.clock = path, clock
        self._lock = threading.Lock()
        with busy_or_full(path, "opened"):
            self._connection = sqlite3.connect(
                path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                check_kind(self._connection, path)
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=FULL")
                self._connection.executescript(SCHEMA)
                self._connection.executescript(IN_MEMORY)
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the file; the log beside it is folded into it."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Transaction that is on disk when the block ends, or not there at all."""
        with self._lock, busy_or_full(self.path, "written"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Rows that a query gives."""
        with self._lock, busy_or_full(self.path, "read"):
            return self._connection.execute(query, values).fetchall()

    def keep_order(self, rows: Sequence[int]) -> None:
        """Keep the random order of the rows at hand, so that queries can follow it."""
        with self.writing() as database:
            database.executemany("INSERT INTO places (place, row) VALUES (?, ?)", enumerate(rows))
            database.execute(
                "INSERT INTO open_places SELECT place, row FROM places"
                " WHERE row NOT IN (SELECT row FROM current)"
            )

    def remember(self, facts: dict[str, str], *, replace: bool = False) -> dict[str, str]:
        """All facts about the database after some were added; those it has already stay, or are replaced."""
        instead = "REPLACE" if replace else "IGNORE"
        with self.writing() as database:
            database.executemany(f"INSERT OR {instead} INTO about VALUES (?, ?)", facts.items())
        return dict(self.rows("SELECT name, value FROM about"))

    def clear(self) -> None:
        """Forget everything but the version."""
        with self.writing() as database:
            for table in ("classes", "current", "answers", "leases", "curve"):
                database.execute(f"DELETE FROM {table}")
            database.execute("DELETE FROM about WHERE name != 'version'")
            database.execute("INSERT OR IGNORE INTO open_places SELECT place, row FROM places")

    def add_classes(self, labels: Sequence[str]) -> None:
        """Add classes that are not there yet, in this order."""
        with self.writing() as database:
            known = {label for (label,) in database.execute("SELECT label FROM classes")}
            new = [(label,) for label in labels if label not in known]
            database.executemany("INSERT INTO classes VALUES (?)", new)

    def classes(self) -> list[str]:
        """Classes in the order in which they were added."""
        return [label for (label,) in self.rows("SELECT label FROM classes ORDER BY rowid")]

    def save_answer(
        self, key: str, row: int, lease: str, person: str, kind: str, label: str | None
    ) -> int:
        """Number of labels after an answer is on disk; one that has the key of another is not saved again."""
        with self.writing() as database:
            if not _is_known(database, key, row, person, kind, label):
                dealt = _check_lease(database, lease, row, person)
                now = self.clock()
                last = database.execute(
                    "SELECT time FROM answers WHERE person = ? ORDER BY id DESC LIMIT 1", (person,)
                ).fetchone()
                seconds = max(0.0, now - max(dealt, *(last or [0.0])))
                values = (key, row, person, kind, label, now, seconds, lease)
                database.execute(
                    "INSERT INTO answers (key, row, person, kind, label, time, seconds, lease)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    values,
                )
                database.execute("UPDATE leases SET open = 0 WHERE row = ? AND open", (row,))
                _set_current(database, row)
            return _count_labels(database)

    def undo(self, key: str, row: int, person: str) -> int:
        """Number of labels after a person's last answer to a row is taken back; the history keeps it."""
        with self.writing() as database:
            known = database.execute(
                "SELECT row, person FROM answers WHERE undone = ?", (key,)
            ).fetchone()
            if known is None:
                last = database.execute(
                    "SELECT max(id) FROM answers WHERE row = ? AND person = ? AND undone IS NULL",
                    (row, person),
                ).fetchone()[0]
                if last is None:
                    raise Refusal(409, f"{person} has no answer to row {row} that could be undone.")
                database.execute("UPDATE answers SET undone = ? WHERE id = ?", (key, last))
                _set_current(database, row)
            elif known != (row, person):
                raise Refusal(
                    422, "The key was used for another undo: each needs a key of its own."
                )
            return _count_labels(database)

    def counts(self) -> dict[str, Any]:
        """Number of labels and of rows that nobody could tell, and of labels by class and by person."""
        query = (
            "SELECT a.label, a.person, count(*) FROM current c JOIN answers a ON a.id = c.answer"
            " WHERE c.kind = 'label' GROUP BY a.label, a.person"
        )
        classes, people = dict.fromkeys(self.classes(), 0), Counter[str]()
        for label, person, number in self.rows(query):
            classes[label] = classes.get(label, 0) + number
            people[person] += number
        unsure = self.rows("SELECT count(*) FROM current WHERE kind = 'unsure'")[0][0]
        return {
            "n_labels": sum(classes.values()),
            "n_unsure": unsure,
            "classes": classes,
            "people": dict(people),
        }

    def n_changes(self) -> int:
        """Number of answers and of undos so far: it grows with every change."""
        return int(self.rows("SELECT count(*) + count(undone) FROM answers")[0][0])

    def labels_of(self, rows: Sequence[int]) -> dict[int, str]:
        """Label of each of a few rows that has one."""
        marks = ", ".join("?" * len(rows))
        query = (
            "SELECT a.row, a.label FROM current c JOIN answers a ON a.id = c.answer"
            f" WHERE c.kind = 'label' AND c.row IN ({marks})"
        )
        return dict(self.rows(query, rows))

    def answers(self) -> list[Answer]:
        """Answers in force, by row."""
        query = _ANSWERS + " JOIN current c ON c.answer = a.id ORDER BY a.row"
        return [Answer(*values) for values in self.rows(query)]

    def history(self) -> list[Answer]:
        """All answers that were ever saved, in their order, also those that were changed or undone."""
        return [Answer(*values) for values in self.rows(f"{_ANSWERS} ORDER BY a.id")]

    def answers_of(self, person: str, count: int) -> list[Answer]:
        """Answers of a person that were not undone or changed, the newest first."""
        query = (
            _ANSWERS
            + " WHERE a.id IN (SELECT max(id) FROM answers WHERE person = ? AND undone IS NULL"
            " GROUP BY row ORDER BY 1 DESC LIMIT ?) ORDER BY a.id DESC"
        )
        return [Answer(*values) for values in self.rows(query, (person, count))]

    def labels(self) -> dict[int, str]:
        """Label of each labelled row."""
        query = (
            "SELECT a.row, a.label FROM current c JOIN answers a ON a.id = c.answer"
            " WHERE c.kind = 'label' ORDER BY a.row"
        )
        return dict(self.rows(query))

    def add_to_curve(self, n_labels: int, measured: tuple[float, float, float, int]) -> None:
        """Add a point to the learning curve: accuracy, both ends of its interval, and its number of rows."""
        with self.writing() as database:
            database.execute(
                "INSERT OR REPLACE INTO curve VALUES (?, ?, ?, ?, ?)", (n_labels, *measured)
            )

    def curve(self) -> list[dict[str, Any]]:
        """Points of the learning curve, by number of labels."""
        names = ("n_labels", "accuracy", "low", "high", "n_random")
        query = "SELECT n_labels, accuracy, low, high, n_random FROM curve ORDER BY n_labels"
        return [dict(zip(names, values, strict=True)) for values in self.rows(query)]


_ANSWERS = (
    "SELECT a.row, a.label, a.kind, a.person, a.time, a.seconds, l.strategy, l.error, a.lease"
    " FROM answers a JOIN leases l ON l.lease = a.lease"
)


def _is_known(
    database: sqlite3.Connection, key: str, row: int, person: str, kind: str, label: str | None
) -> bool:
    """Whether the answer is saved already; refuse one that has the key of a different answer."""
    known = database.execute(
        "SELECT row, person, kind, label FROM answers WHERE key = ?", (key,)
    ).fetchone()
    if known is not None and known != (row, person, kind, label):
        raise Refusal(
            422, "The key was used for another answer: each answer needs a key of its own."
        )
    return known is not None


def _check_lease(database: sqlite3.Connection, lease: str, row: int, person: str) -> float:
    """Time at which the row was dealt; refuse an answer to a row that is somebody else's by now."""
    held = database.execute(
        "SELECT row, person, dealt FROM leases WHERE lease = ?", (lease,)
    ).fetchone()
    if held is None or held[:2] != (row, person):
        raise Refusal(409, f"Row {row} was not given to {person} under this lease.")
    other = database.execute(
        "SELECT person FROM leases WHERE row = ? AND open AND person != ?", (row, person)
    ).fetchone()
    if other is not None:
        raise Refusal(409, f"Row {row} came back after a while and went to {other[0]}.")
    answered = database.execute(
        "SELECT a.person FROM current c JOIN answers a ON a.id = c.answer WHERE c.row = ?", (row,)
    ).fetchone()
    if answered is not None and answered[0] != person:
        raise Refusal(409, f"Row {row} was answered by {answered[0]} in the meantime.")
    return float(held[2])


def _set_current(database: sqlite3.Connection, row: int) -> None:
    """Let the last label or "unsure" of a row that was not undone be in force; a skip changes nothing."""
    last = database.execute(
        "SELECT id, kind FROM answers WHERE row = ? AND undone IS NULL AND kind != 'skip'"
        " ORDER BY id DESC LIMIT 1",
        (row,),
    ).fetchone()
    database.execute("DELETE FROM current WHERE row = ?", (row,))
    if last is None:
        query = "INSERT OR IGNORE INTO open_places SELECT place, row FROM places WHERE row = ?"
        database.execute(query, (row,))
    else:
        database.execute("INSERT INTO current VALUES (?, ?, ?)", (row, *last))
        query = "DELETE FROM open_places WHERE place = (SELECT place FROM places WHERE row = ?)"
        database.execute(query, (row,))


def _count_labels(database: sqlite3.Connection) -> int:
    count = database.execute("SELECT count(*) FROM current WHERE kind = 'label'").fetchone()
    return int(count[0])
