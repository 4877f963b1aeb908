"""Requests that are refused, each with an HTTP status and one sentence."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Refusal(Exception):  # noqa: N818 - no error of the program
    """Request that is not carried out: its HTTP status, and why in one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@contextmanager
def busy_or_full(path: Path, done: str) -> Iterator[None]:
    """Turn an error of SQLite into a refusal that says whose fault it is; nothing has been saved then."""
    try:
        yield
    except sqlite3.Error as error:
        status, why = _reason(error)
        raise Refusal(status, f"{path} could not be {done}: {why}.") from error


def _reason(error: sqlite3.Error) -> tuple[int, str]:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return 503, "another program keeps the database locked"
    if code == sqlite3.SQLITE_FULL:
        return 507, "the disk is full"
    if code == sqlite3.SQLITE_IOERR:  # a limit of the user's files is told as one
        return 507, "the disk is full, or does not work"
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return 500, "it is damaged, or not a database of surefoot label"
    return 500, str(error)
