"""One pool being labelled: the answers, the queue and the model that learns, without HTTP."""

import io
import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from surefoot._files import write_whole
from surefoot._tables import from_cell, table_bytes
from surefoot._words import shortened
from surefoot.labeling._claims import Measurement
from surefoot.labeling._pool import (
    MOST_CLASSES,
    Pool,
    as_json,
    check_class,
    describe_columns,
)
from surefoot.labeling._queue import Question, Queue
from surefoot.labeling._store import Answer, Lease, RefusedRequest, Store, refusing
from surefoot.labeling._trainer import Round, Trainer, Work

# The model learns again after so many new labels, as a share of those it has.
NEW_SHARE = 0.05

# Rows that will be drawn at random next, and are looked at by the model beforehand.
N_AHEAD = 20

# Question about a row of an audit, whose column of answers has no name of its own.
RIGHT_CLASS = "Which class is right for this row?"

# Columns of the file of labels.
COLUMNS = ("row", "label", "kind", "person", "time", "seconds", "strategy", "error")


class Session:
    """Pool that people label: their questions and answers, the progress, and the files that are written.

    Parameters
    ----------
    pool : Pool
        Rows to label.
    store : Store
        Database of the pool.
    estimator : classifier or None
        Model to teach; None for the default.
    error_estimator : IndividualErrorClassifier or None
        Fitted error estimator whose unanswered rows come first.
    strategy : str
        Strategy of `surefoot.active_learning.query`.
    allow_new_classes : bool
        Whether people may add classes.
    lease_seconds : float
        Time after which a row goes to somebody else.
    out : Path or None
        CSV file that the answers are written to.
    random_state : int
        Seed of all random draws; the one of the database if it has one.
    """

    def __init__(
        self,
        pool: Pool,
        store: Store,
        *,
        estimator: Any,
        error_estimator: Any,
        strategy: str,
        allow_new_classes: bool,
        lease_seconds: float,
        out: Path | None,
        random_state: int,
    ) -> None:
        self.pool, self.store, self.out = pool, store, out
        self.strategy, self.allow_new_classes = strategy, allow_new_classes
        with refusing(store.path, "read"):
            facts = check_database(pool, store, random_state)
            self.random_state = int(facts["random_state"])
            self.latest = Round([], **json.loads(facts.get("learned", "{}")))
            Measurement(self.latest.measured_models)
            beyond = "SELECT row FROM answers WHERE row NOT BETWEEN 0 AND ? LIMIT 1"
            if store.rows(beyond, [len(pool.cells) - 1]):
                raise IndexError("The database has answers to rows that the pool does not have.")
        self._check_file()
        self.is_audit = pool.audited_rows is not None
        store.add_classes(pool.classes)
        self.queue = Queue(
            store,
            pool.open_rows,
            self.random_state,
            lease_seconds,
            with_random=not self.is_audit,
        )
        self.queue.ranking = self.first = pool.first
        self.failure: str | None = None
        self._error_estimator, self._seen, self._n_rounds = error_estimator, -1, 0
        self._n_learning = self._n_learned = 0
        self._file = threading.Lock()
        self._shown = pool.cells.drop(columns=list(pool.unseen))
        self.columns = describe_columns(self._shown)
        self.trainer = Trainer(pool.model_input(), estimator, self._next_work, self._learned)

    def close(self) -> None:
        """Stop learning, write the answers, and close the database."""
        self.trainer.stop()
        try:
            self.write_labels()
        finally:
            self.store.close()

    def task(self) -> dict[str, Any]:
        """Task: question, target, classes, columns."""
        return {
            "title": self.pool.name,
            "target": self.pool.target,
            "question": RIGHT_CLASS if self.is_audit else f"What is “{self.pool.target}”?",
            "classes": self.store.classes(),
            "allow_new_classes": self.allow_new_classes,
            "n_rows": len(self.pool.cells),
            "columns": self.columns,
        }

    def next_items(self, person: str, count: int, *, guess: bool) -> dict[str, Any]:
        """Rows for a person to answer, and how many rows are left."""
        items = [self._item(lease, guess=guess) for lease in self.queue.deal(person, count)]
        return {"items": items, "left": self.queue.n_left()}

    def answer(
        self, key: str, row: int, lease: str, person: str, kind: str, label: str | None
    ) -> int:
        """Number of labels after an answer is on disk."""
        if kind == "label" and label not in self.store.classes():
            raise RefusedRequest(422, f"{label!r} is not one of the classes.")
        n_labels = self.store.save_answer(key, row, lease, person, kind, label)
        self.trainer.wake()
        return n_labels

    def undo(self, key: str, row: int, person: str) -> tuple[int, dict[str, Any] | None]:
        """Number of labels after an answer was taken back, and the row itself to be answered again."""
        n_labels = self.store.undo(key, row, person)
        self.trainer.wake()
        lease = self.queue.deal_again(row, person)
        return n_labels, None if lease is None else self._item(lease)

    def add_class(self, label: str) -> list[str]:
        """Classes after one more was added; nothing changes if it is there already."""
        label = label.strip()
        if not self.allow_new_classes:
            raise RefusedRequest(403, "New classes are not allowed here.")
        check_class(label)
        if label[0] in "=@":  # a spreadsheet would run it as a formula
            raise RefusedRequest(422, f"The name of a class must not begin with {label[0]}.")
        classes = self.store.classes()
        if label not in classes and len(classes) >= MOST_CLASSES:
            raise RefusedRequest(
                422, f"There are {MOST_CLASSES} classes already, which is the most."
            )
        self.store.add_classes([label])
        return self.store.classes()

    def answered(self, person: str, count: int) -> list[dict[str, Any]]:
        """Rows that a person has answered, the newest first, with their answers."""
        return [
            {
                **self._item(Lease(each.lease, each.row, "You have answered this row.")),
                "kind": each.kind,
                "label": each.label,
            }
            for each in self.store.answers_of(person, count)
        ]

    def progress(self) -> dict[str, Any]:
        """How far the labelling has come, and how good the model is."""
        latest, curve = self.latest, self.store.curve()
        names = {"estimate": "accuracy", "low": "low", "high": "high", "n_random": "n_random"}
        return {
            **self.store.counts(),
            "n_rows": len(self.queue.order),
            "left": self.queue.n_left(),
            "accuracy": {name: curve[-1][of] for name, of in names.items()} if curve else None,
            "curve": curve,
            "changed": latest.changed,
            "claim": Measurement(latest.measured_models).claim,
            "training": self.trainer.is_learning,
            "n_learned": self._n_learned,
            "failure": self.failure,
            "audit": self.is_audit,
            "round": self._n_rounds,
        }

    def frame(self) -> pd.DataFrame:
        """Answers in force, with times."""
        return pd.read_csv(
            io.StringIO(self._as_csv(self.store.answers())),
            dtype={"person": str, "strategy": str},
            converters={"label": from_cell},
            parse_dates=["time"],
            keep_default_na=False,
            na_values={"seconds": [""], "error": [""]},
        )

    def labels_csv(self) -> str:
        """Labels as CSV, one line a labelled row; all answers are written to their file too."""
        self.write_labels()
        return self._as_csv([each for each in self.store.answers() if each.kind == "label"])

    def write_labels(self) -> None:
        """Write all answers in force to the file of labels, whole or not at all."""
        if self.out is not None:
            with self._file:
                write_whole(self.out, self._as_csv(self.store.answers()).encode())

    def _as_csv(self, answers: list[Answer]) -> str:
        """Answers as CSV, one line each; those of an audit have the row of the audited table, and the audit's code."""
        audited = self.pool.audited_rows
        with refusing(self.store.path, "read"):
            lines = [
                [
                    each.row if audited is None else audited[each.row],
                    each.label,
                    each.kind,
                    each.person,
                    datetime.fromtimestamp(each.time, UTC).isoformat(timespec="milliseconds"),
                    f"{each.seconds:.3f}",
                    each.strategy,
                    "" if each.error is None else f"{each.error:.4f}",
                ]
                for each in answers
            ]
        table = pd.DataFrame(lines, columns=list(COLUMNS))
        if audited is not None:
            table["audit"] = self.pool.audit
        return table_bytes(table, ".csv").decode()

    def _check_file(self) -> None:
        """Refuse to replace a file that has anything else than answers of the database."""
        if self.out is None or not self.out.exists():
            return
        known = set(self._as_csv(self.store.history()).splitlines())
        with self.out.open("rb") as file:
            if any(line.decode("utf-8", "replace").rstrip("\r\n") not in known for line in file):
                raise RefusedRequest(
                    409,
                    f"{self.out} is there already, with lines that {self.store.path} does not have: move it away, or "
                    "name another file.",
                )

    def _item(self, lease: Lease, *, guess: bool = False) -> dict[str, Any]:
        """Row as a person sees it; the model's guess only if it was asked for."""
        details = self.latest.details.get(lease.row)
        near = [] if details is None else details.neighbors
        labels = {row: self.pool.labels[row] for row in near if row in self.pool.labels}
        labels |= self.store.labels(near)
        cells, audited = self._cells(lease.row), self.pool.audited_rows
        item: dict[str, Any] = {
            "row": lease.row,
            "title": f"Row {lease.row}"
            if audited is None
            else f"Row {audited[lease.row]} of the audited table",
            "cells": cells,
            "order": list(cells),  # a browser puts columns that are called by numbers first
            "lease": lease.lease,
            "why": lease.why,
            "neighbors": [
                {"row": row, "label": labels[row], "cells": self._cells(row, whole=False)}
                for row in near
                if row in labels
            ],
        }
        if guess:
            item["guess"] = details and {
                "label": details.guess,
                "probability": details.probability,
            }
        return item

    def _cells(self, row: int, *, whole: bool = True) -> dict[str, Any]:
        """Cells of a row, the most telling columns first; as a whole, or with long strings shortened."""
        names = dict.fromkeys([*(self.latest.columns or []), *self._shown.columns])
        cells = {n: as_json(self._shown[n].array[row]) for n in names if n in self._shown.columns}
        short = {name: shortened(cell) for name, cell in cells.items() if isinstance(cell, str)}
        return cells if whole else cells | short

    def _next_work(self) -> Work | None:
        """What the model learns next; None if there are too few new answers, or if they are for an audit."""
        if self.is_audit:
            return None
        if self._error_estimator is not None:
            error_estimator, self._error_estimator = self._error_estimator, None
            return {"error_estimator": error_estimator, "open_rows": self.pool.open_rows}
        changes = self.store.n_changes()
        labels = {**self.pool.labels, **self.store.labels()}
        if self._seen >= 0 and changes - self._seen < max(1, NEW_SHARE * len(labels)):
            return None
        closed = [
            row for (row,) in self.store.rows("SELECT row FROM in_force WHERE kind != 'label'")
        ]
        rows = np.array(sorted(labels), dtype=np.int64)
        self._seen, self._n_learning = changes, len(labels) - len(self.pool.labels)
        return {
            "rows": rows,
            "labels": np.array([labels[row] for row in rows.tolist()], dtype=np.str_),
            "n_labels": self._n_learning,
            "order": np.array(self.queue.order, dtype=np.int64),
            "random_rows": np.array(self.queue.random_rows(), dtype=np.int64),
            "rows_ahead": np.array(self.queue.rows_ahead(N_AHEAD), dtype=np.int64),
            "closed_rows": np.array(closed, dtype=np.int64),
            "strategy": self.strategy,
            "random_state": self.random_state + changes,
            "measured_models": self.latest.measured_models,
        }

    def _learned(self, result: Round | list[Question] | str) -> None:
        """Take the result of a round, the rows that the user's model would not answer, or the reason of a failure."""
        if isinstance(result, str):
            self.failure = result
            return
        if isinstance(result, list):
            self.first = result
            self.queue.ranking = [*self.first, *self.latest.questions]
            return
        self.failure, self.latest = None, result
        self.queue.errors = {
            row: each.error for row, each in result.details.items() if each.error is not None
        }
        self.queue.ranking = [*self.first, *result.questions]
        self._n_rounds += 1
        self._n_learned = self._n_learning
        if result.measured is not None:
            self.store.add_to_curve(self._n_learned, result.measured)
        kept = {"changed": result.changed, "measured_models": result.measured_models}
        self.store.remember({"learned": json.dumps(kept)}, replace=True)


def check_database(pool: Pool, store: Store, random_state: int) -> dict[str, str]:
    """Facts about the database; a refusal if it has answers to another pool."""
    mine = {"fingerprint": pool.fingerprint(), "pool": pool.name, "target": pool.target}
    mine["random_state"] = str(random_state)
    facts = store.remember(mine)
    if facts["fingerprint"] == mine["fingerprint"]:
        return facts
    if store.n_changes() > 0:
        raise RefusedRequest(
            409,
            f"{store.path} has the answers to another pool ({facts['pool']}, target {facts['target']}): its rows "
            f"differ from those of {pool.name}, so name another file for the database.",
        )
    store.clear()
    return store.remember(mine)
