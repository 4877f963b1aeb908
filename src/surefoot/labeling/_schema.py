"""Tables of the database, and a look at whether a file has them."""

import sqlite3
from pathlib import Path

from surefoot.labeling._errors import Refusal

# Version of the tables, for programs that come after this one.
VERSION = 1

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
-- The answer in force of each row: the last label or "unsure" that was not undone.
CREATE TABLE IF NOT EXISTS current (
    row INTEGER PRIMARY KEY, answer INTEGER NOT NULL REFERENCES answers (id), kind TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS kinds ON current (kind);
CREATE TABLE IF NOT EXISTS curve (
    n_labels INTEGER PRIMARY KEY, accuracy REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
    n_random INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO about VALUES ('version', '{VERSION}');
COMMIT;
"""

# Rows without a label at the start, at their places in the random order, and those of them that nobody has answered.
# They are in memory only: the order is the same after a restart.
IN_MEMORY = """
PRAGMA temp_store = MEMORY;
CREATE TEMP TABLE places (row INTEGER PRIMARY KEY, place INTEGER NOT NULL);
CREATE TEMP TABLE open_places (place INTEGER PRIMARY KEY, row INTEGER NOT NULL);
"""


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
        raise Refusal(409, f"{path} is not a database of surefoot label.") from error
    if version > VERSION:
        raise Refusal(409, f"{path} was written by a later version of surefoot: install that one.")
    if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise Refusal(500, f"{path} is damaged: put a backup of it in its place.")
