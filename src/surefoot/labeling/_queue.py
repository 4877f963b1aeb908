"""What to ask next, and whom: every row is leased to one person at a time."""

import random
import secrets
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from surefoot.labeling._store import Lease, Store

# One question in so many is drawn at random: only these measure accuracy.
RANDOM_EVERY = 5

AT_RANDOM = "Drawn at random: only such rows measure how accurate the predictions are."

# Condition for a row that nobody has answered, and that nobody has been given.
FREE = """
    NOT EXISTS (SELECT 1 FROM in_force WHERE in_force.row = {row})
    AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.row = {row} AND open AND until > :now)
"""

# Rows that are answered, that somebody has been given, or that the person has skipped.
TAKEN = """
    SELECT row FROM in_force UNION SELECT row FROM leases WHERE open AND until > :now
    UNION SELECT row FROM answers WHERE person = :person AND kind = 'skip' AND undone IS NULL
"""


class Question(NamedTuple):
    """Row to ask about: by which strategy, why in words that name no class, and the model's estimated error."""

    row: int
    strategy: str
    why: str
    error: float | None = None
    place: int | None = None  # in the random order, for a row that is drawn from it


class Queue:
    """Rows in the order in which they are asked about, dealt to people under leases.

    One question in five is the next row of a random order of all rows without a label, which was fixed at the start.
    The rows up to the last one dealt are a fair sample of the pool, also those among them that were asked about for
    another reason.

    Parameters
    ----------
    store : Store
        Database of answers and leases.
    open_rows : sequence of int
        Rows that had no label when labelling began.
    seed : int
        Seed of the random order; the same after a restart.
    seconds : float
        Time after which a row that was not answered may go to somebody else.
    with_random : bool
        Whether one question in five is drawn at random; else all are asked in the order of the ranking.
    """

    def __init__(
        self,
        store: Store,
        open_rows: Sequence[int],
        seed: int,
        seconds: float = 300.0,
        *,
        with_random: bool = True,
    ) -> None:
        self.store, self.seconds, self.seed, self.with_random = store, seconds, seed, with_random
        self.order = [int(row) for row in open_rows]
        random.Random(seed).shuffle(self.order)  # noqa: S311 - no secret
        self.ranking: Sequence[Question] = ()
        self.errors: dict[int, float] = {}  # estimated error of rows that may be drawn at random

    def deal(self, person: str, count: int) -> list[Lease]:
        """Rows for a person to answer: first those that they have already, whose time begins anew."""
        now = self.store.clock()
        with self.store.writing() as database:
            held = _held_by(database, person, count)
            database.executemany(
                "UPDATE leases SET until = ? WHERE lease = ?",
                [(now + self.seconds, each.lease) for each in held],
            )
            who = {"person": person, "now": now}
            taken = {row for (row,) in database.execute(TAKEN, who)}
            while len(held) < count and (question := self._next(database, who, taken)):
                held.append(_lease(database, question, person, now, self.seconds))
                taken.add(question.row)
        return held

    def deal_again(self, row: int, person: str) -> Lease | None:
        """The row itself, for a person who has just taken back their answer; None if somebody else has it."""
        now = self.store.clock()
        with self.store.writing() as database:
            for lease in _held_by(database, person, -1):
                if lease.row == row:  # the same undo, sent again: its time begins anew
                    renewed = (now + self.seconds, lease.lease)
                    database.execute("UPDATE leases SET until = ? WHERE lease = ?", renewed)
                    return lease
            query = f"SELECT 1 WHERE {FREE.format(row=':row')}"
            if database.execute(query, {"row": row, "now": now}).fetchone() is None:
                return None
            return _lease(database, _asked_before(database, row), person, now, self.seconds)

    def n_left(self) -> int:
        """Number of rows that nobody has answered."""
        return len(self.order) - int(self.store.rows("SELECT count(*) FROM in_force")[0][0])

    def random_rows(self) -> list[int]:
        """Rows of the random order up to the last one dealt: a fair sample of the pool."""
        last = self.store.rows("SELECT max(place) FROM leases WHERE place IS NOT NULL")[0][0]
        return [] if last is None else self.order[: last + 1]

    def rows_ahead(self, count: int) -> list[int]:
        """Rows that people have before them, and rows that will be drawn at random next."""
        leased = [row for (row,) in self.store.rows("SELECT row FROM leases WHERE open")]
        start = len(self.random_rows())
        return [*leased, *self.order[start : start + count]]

    def _next(
        self, database: sqlite3.Connection, who: dict[str, object], taken: set[int]
    ) -> Question | None:
        """Next question for a person; None if no row is free."""
        n_dealt = database.execute("SELECT coalesce(max(rowid), 0) FROM leases").fetchone()[0]
        block, position = divmod(n_dealt, RANDOM_EVERY)
        slot = random.Random(f"{self.seed} {block}").randrange(RANDOM_EVERY)  # noqa: S311
        ranked = next((each for each in self.ranking if each.row not in taken), None)
        free = ((row, place) for place, row in enumerate(self.order) if row not in taken)
        drawn = next(
            (Question(r, "random", AT_RANDOM, self.errors.get(r), place) for r, place in free), None
        )
        if position == slot and self.with_random:
            return drawn or ranked or _skipped(database, who)
        return ranked or drawn or _skipped(database, who)


def _skipped(database: sqlite3.Connection, who: dict[str, object]) -> Question | None:
    """Row that the person skipped longest ago and nobody has answered since."""
    query = (
        "SELECT row FROM answers s WHERE person = :person AND kind = 'skip' AND undone IS NULL"
        f" AND {FREE.format(row='s.row')} GROUP BY row ORDER BY max(id) LIMIT 1"
    )
    row = database.execute(query, who).fetchone()
    return None if row is None else _asked_before(database, row[0])


def _asked_before(database: sqlite3.Connection, row: int) -> Question:
    """Question of the last lease of a row."""
    query = "SELECT strategy, why, error FROM leases WHERE row = ? ORDER BY rowid DESC LIMIT 1"
    return Question(row, *database.execute(query, (row,)).fetchone())


def _held_by(database: sqlite3.Connection, person: str, count: int) -> list[Lease]:
    """Open leases of a person, the oldest first."""
    query = "SELECT lease, row, why FROM leases WHERE person = ? AND open ORDER BY rowid LIMIT ?"
    return [Lease(*values) for values in database.execute(query, (person, count))]


def _lease(
    database: sqlite3.Connection, question: Question, person: str, now: float, seconds: float
) -> Lease:
    """Give a free row to a person; an expired lease of somebody else ends."""
    lease = secrets.token_urlsafe(12)
    row, strategy, why, error, place = question
    database.execute("UPDATE leases SET open = 0 WHERE row = ? AND open", (row,))
    database.execute(
        "INSERT INTO leases (lease, row, person, dealt, until, strategy, why, error, place)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (lease, row, person, now, now + seconds, strategy, why, error, place),
    )
    return Lease(lease, row, why)
