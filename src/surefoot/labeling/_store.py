"""Answers, leases and the learning curve in SQLite: what was acknowledged is on disk."""

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

# Seconds that another program may keep the database to itself before a request is refused.
PATIENCE = 5.0

# Version of the tables, for programs that come after this one.
VERSION = 2

SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS classes (label TEXT PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS leases (
    lease TEXT PRIMARY KEY, row INTEGER NOT NULL, person TEXT NOT NULL, dealt REAL NOT NULL, until REAL NOT NULL,
    strategy TEXT NOT NULL, why TEXT NOT NULL, error REAL, place INTEGER, open INTEGER NOT NULL DEFAULT 1
) STRICT;
-- One open lease a row, whatever the program does.
CREATE UNIQUE INDEX IF NOT EXISTS open_leases ON leases (row) WHERE open;
CREATE INDEX IF NOT EXISTS leases_of_people ON leases (person) WHERE open;
-- The history: nothing is ever deleted. An undone answer carries the key of its undo.
CREATE TABLE IF NOT EXISTS answers (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, row INTEGER NOT NULL, person TEXT NOT NULL, kind TEXT NOT NULL,
    label TEXT, time REAL NOT NULL, seconds REAL NOT NULL, lease TEXT NOT NULL, undone TEXT
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS undos ON answers (undone) WHERE undone IS NOT NULL;
CREATE INDEX IF NOT EXISTS answers_to_rows ON answers (row) WHERE undone IS NULL;
CREATE INDEX IF NOT EXISTS answers_of_people ON answers (person, id);
CREATE INDEX IF NOT EXISTS leases_of_rows ON leases (row);
CREATE INDEX IF NOT EXISTS places ON leases (place) WHERE place IS NOT NULL;
DROP TABLE IF EXISTS current; -- of version 1
CREATE INDEX IF NOT EXISTS answers_in_force ON answers (row, id, kind, person, label)
    WHERE undone IS NULL AND kind != 'skip';
-- The answer in force of each row: the last label or "unsure" that was not undone; a skip changes nothing.
CREATE VIEW IF NOT EXISTS in_force AS
    SELECT max(id) AS id, row, person, kind, label FROM answers
    WHERE undone IS NULL AND kind != 'skip' GROUP BY row;
CREATE TABLE IF NOT EXISTS curve (
    n_labels INTEGER PRIMARY KEY, accuracy REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
    n_random INTEGER NOT NULL
) STRICT;
INSERT INTO about VALUES ('version', '{VERSION}')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value != excluded.value;
COMMIT;
"""

# HTTP status and reason of what SQLite cannot do.
FAILURES = {
    sqlite3.SQLITE_BUSY: (503, "another program keeps the database locked"),
    sqlite3.SQLITE_LOCKED: (503, "another program keeps the database locked"),
    sqlite3.SQLITE_FULL: (507, "the disk is full"),
    # A limit on the size of the user's files is reported as this one.
    sqlite3.SQLITE_IOERR: (507, "the disk is full, or does not work"),
    **dict.fromkeys(
        (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR),
        (500, "it is damaged, or not a database of surefoot label"),
    ),
}


class RefusedRequest(ValueError):  # noqa: N818 - no error of the program
    """Request that is not carried out: why in one sentence, and its HTTP status."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@contextmanager
def refusing(path: Path, done: str) -> Iterator[None]:
    """Turn an error of SQLite, or of a value that it gives, into a refusal with its cause; nothing is saved then."""
    try:
        yield
    except RefusedRequest:
        raise
    except (sqlite3.Error, ArithmeticError, LookupError, TypeError, ValueError) as error:
        is_of_use = isinstance(error, sqlite3.ProgrammingError)  # such as that of a closed database
        code = getattr(error, "sqlite_errorcode", 0 if is_of_use else sqlite3.SQLITE_ERROR) & 0xFF
        status, why = FAILURES.get(code, (500, str(error)))
        raise RefusedRequest(status, f"{path} could not be {done}: {why}.") from error


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
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = time.time
        self._lock = threading.Lock()
        with refusing(path, "opened"):
            self._connection = sqlite3.connect(
                path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                check_kind(self._connection, path)
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=FULL")
                self._connection.executescript(SCHEMA)
                self._files = self._files_on_disk()
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
        with self._lock, refusing(self.path, "written"):
            if self._files_on_disk() != self._files:
                raise RefusedRequest(
                    500,
                    f"{self.path} was deleted or replaced, so that no answer is saved any more: stop the page, which "
                    "writes the answers so far to the file of labels, and start it again.",
                )
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _files_on_disk(self) -> list[tuple[int, int]]:
        """Identity of the database and of the log beside it; of those that are not there, none."""
        places = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        found = [place.stat() for place in places if place.exists()]
        return [(each.st_dev, each.st_ino) for each in found]

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Rows that a query gives."""
        with self._lock, refusing(self.path, "read"):
            return self._connection.execute(query, values).fetchall()

    def remember(self, facts: dict[str, str], *, replace: bool = False) -> dict[str, str]:
        """All facts about the database after some were added; those it has already stay, or are replaced."""
        instead = "REPLACE" if replace else "IGNORE"
        with self.writing() as database:
            database.executemany(f"INSERT OR {instead} INTO about VALUES (?, ?)", facts.items())
        return dict(self.rows("SELECT name, value FROM about"))

    def clear(self) -> None:
        """Forget everything but the version."""
        with self.writing() as database:
            for table in ("classes", "answers", "leases", "curve"):
                database.execute(f"DELETE FROM {table}")
            database.execute("DELETE FROM about WHERE name != 'version'")

    def add_classes(self, labels: Sequence[str]) -> None:
        """Add classes that are not there yet, in this order."""
        with self.writing() as database:
            new = [(label,) for label in labels]
            database.executemany("INSERT OR IGNORE INTO classes VALUES (?)", new)

    def classes(self) -> list[str]:
        """Classes in the order in which they were added."""
        return [label for (label,) in self.rows("SELECT label FROM classes ORDER BY rowid")]

    def save_answer(
        self, key: str, row: int, lease: str, person: str, kind: str, label: str | None
    ) -> int:
        """Number of labels after an answer is on disk; one that has the key of another is not saved again."""
        with self.writing() as database:
            known = database.execute(
                "SELECT row, person, kind, label FROM answers WHERE key = ?", (key,)
            ).fetchone()
            if known is None:
                dealt = _check_lease(database, lease, row, person)
                now = self.clock()
                last = database.execute(
                    "SELECT time FROM answers WHERE person = ? ORDER BY id DESC LIMIT 1", (person,)
                ).fetchone()
                seconds = max(0.0, now - max(dealt, *(last or [0.0])))
                database.execute(
                    "INSERT INTO answers (key, row, person, kind, label, time, seconds, lease)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (key, row, person, kind, label, now, seconds, lease),
                )
                database.execute("UPDATE leases SET open = 0 WHERE row = ? AND open", (row,))
            elif known != (row, person, kind, label):
                raise RefusedRequest(
                    422, "The key was used for another answer: each answer needs a key of its own."
                )
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
                    raise RefusedRequest(
                        409, f"{person} has no answer to row {row} that could be undone."
                    )
                database.execute("UPDATE answers SET undone = ? WHERE id = ?", (key, last))
            elif known != (row, person):
                raise RefusedRequest(
                    422, "The key was used for another undo: each needs a key of its own."
                )
            return _count_labels(database)

    def counts(self) -> dict[str, Any]:
        """Number of labels and of rows that nobody could tell, and of labels by class and by person."""
        query = "SELECT label, person, count(*) FROM in_force WHERE kind = 'label' GROUP BY label, person"
        classes, people = dict.fromkeys(self.classes(), 0), Counter[str]()
        for label, person, number in self.rows(query):
            classes[label] = classes.get(label, 0) + number
            people[person] += number
        return {
            "n_labels": sum(classes.values()),
            "n_unsure": self.rows("SELECT count(*) FROM in_force WHERE kind = 'unsure'")[0][0],
            "classes": classes,
            "people": dict(people),
        }

    def n_changes(self) -> int:
        """Number of answers and of undos so far: it grows with every change."""
        return int(self.rows("SELECT count(*) + count(undone) FROM answers")[0][0])

    def labels(self, rows: Sequence[int] | None = None) -> dict[int, str]:
        """Label of each labelled row, or of those among a few rows."""
        query = "SELECT row, label FROM in_force WHERE kind = 'label'"
        if rows is None:
            return dict(self.rows(f"{query} ORDER BY row"))
        return dict(self.rows(f"{query} AND row IN ({', '.join('?' * len(rows))})", rows))

    def answers(self) -> list[Answer]:
        """Answers in force, by row."""
        return self._answers("JOIN in_force f ON f.id = a.id ORDER BY a.row")

    def history(self) -> list[Answer]:
        """All answers that were ever saved, in their order, also those that were changed or undone."""
        return self._answers("ORDER BY a.id")

    def answers_of(self, person: str, count: int) -> list[Answer]:
        """Answers of a person that were not undone or changed, the newest first."""
        newest = (
            "WHERE a.id IN (SELECT max(id) FROM answers WHERE person = ? AND undone IS NULL"
            " GROUP BY row ORDER BY 1 DESC LIMIT ?) ORDER BY a.id DESC"
        )
        return self._answers(newest, (person, count))

    def _answers(self, condition: str, values: Sequence[Any] = ()) -> list[Answer]:
        query = (
            "SELECT a.row, a.label, a.kind, a.person, a.time, a.seconds, l.strategy, l.error, a.lease"
            f" FROM answers a JOIN leases l ON l.lease = a.lease {condition}"
        )
        return [Answer(*values) for values in self.rows(query, values)]

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


def _check_lease(database: sqlite3.Connection, lease: str, row: int, person: str) -> float:
    """Time at which the row was dealt; refuse an answer to a row that is somebody else's by now."""
    held = database.execute(
        "SELECT row, person, dealt FROM leases WHERE lease = ?", (lease,)
    ).fetchone()
    if held is None or held[:2] != (row, person):
        raise RefusedRequest(409, f"Row {row} was not given to {person} under this lease.")
    other = database.execute(
        "SELECT person FROM leases WHERE row = ? AND open AND person != ?", (row, person)
    ).fetchone()
    if other is not None:
        raise RefusedRequest(409, f"Row {row} came back after a while and went to {other[0]}.")
    answered = database.execute("SELECT person FROM in_force WHERE row = ?", (row,)).fetchone()
    if answered is not None and answered[0] != person:
        raise RefusedRequest(409, f"Row {row} was answered by {answered[0]} in the meantime.")
    return float(held[2])


def _count_labels(database: sqlite3.Connection) -> int:
    return int(database.execute("SELECT count(*) FROM in_force WHERE kind = 'label'").fetchone()[0])


def check_kind(database: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is damaged, or that another program or a later version has made; it stays as it is."""
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    if not tables:
        return
    try:
        facts = dict(database.execute("SELECT name, value FROM about").fetchall())
        version = int(facts["version"])
    except (sqlite3.OperationalError, KeyError, ValueError) as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) != sqlite3.SQLITE_ERROR:
            raise  # locked, or out of order
        raise RefusedRequest(409, f"{path} is not a database of surefoot label.") from error
    if version > VERSION:
        raise RefusedRequest(
            409, f"{path} was written by a later version of surefoot: install that one."
        )
    if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise RefusedRequest(500, f"{path} is damaged: put a backup of it in its place.")
