"""File of rows to label for an audit: written, and read again with the answers."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from surefoot._table_files import AUDIT_COLUMNS
from surefoot._words import listed
from surefoot.cli._labels import as_class
from surefoot.cli._mistakes import Mistake
from surefoot.cli._tables import read_table, table_name
from surefoot.monitoring import Audit

NEEDED = ("row", "label", "audit")

# Hexadecimal digits of the digest that tells one audit from another.
DIGITS = 16


class Code(NamedTuple):
    """All that an audit is drawn from, besides the model and the table, and a digest of everything."""

    n_labels: int
    random_state: int
    tolerance: float | None
    digest: str

    def __str__(self) -> str:
        tolerance = "none" if self.tolerance is None else repr(self.tolerance)
        return f"audit {self.n_labels} {self.random_state} {tolerance} {self.digest}"


def read_code(text: str, name: str) -> Code:
    """Code from its text; a `Mistake` if it is none."""
    try:
        word, n_labels, random_state, tolerance, digest = str(text).split(" ")
        if word == "audit":
            size = None if tolerance == "none" else float(tolerance)
            return Code(int(n_labels), int(random_state), size, digest)
    except ValueError:
        pass
    raise Mistake(f"Column 'audit' of {name} holds {text!r}, which surefoot audit has not written.")


def digest_of(model: Path, X: pd.DataFrame, drawn: Audit) -> str:
    """Digest of a model file, of the rows that it judges, and of the draws."""
    digest = hashlib.sha256(model.read_bytes())
    digest.update(json.dumps([list(X.columns), drawn.rows.tolist()]).encode())
    for name in X.columns:
        column = X[name].map(str) if X[name].dtype.kind == "O" else X[name]
        digest.update(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
    return digest.hexdigest()[:DIGITS]


def rows_to_label(table: pd.DataFrame, drawn: Audit, code: Code) -> pd.DataFrame:
    """One line a draw: what it belongs to, an empty cell for the answer, and all columns of the table."""
    classes = drawn.loss.classes
    answers = None if classes is None else json.dumps([str(label) for label in classes])
    own = {
        "draw": np.arange(len(drawn.rows)),
        "row": drawn.rows,
        "audit": str(code),
        "answers": [answers, *[None] * (len(drawn.rows) - 1)],
        "label": None,
    }
    shown = table.iloc[drawn.rows].reset_index(drop=True)
    shown.columns = [f"{name} (input)" if name in AUDIT_COLUMNS else name for name in shown.columns]
    return pd.concat([pd.DataFrame(own), shown], axis=1)


class Answers(NamedTuple):
    """Answer to each row that has one, as the files have it, and the code of the audit."""

    code: Code
    labels: dict[int, Any]
    name: str


def read_answers(paths: Sequence[Path]) -> Answers:
    """Answers of one or more files; a `Mistake` if they contradict each other or belong to different audits."""
    labels: dict[int, Any] = {}
    codes: dict[str, str] = {}
    for path in paths:
        name = table_name(path)
        lines = answered_lines(path, name)
        codes |= dict.fromkeys(map(str, lines["audit"].unique()), name)
        lines = lines[lines["label"].notna()]
        for row, label in zip(lines["row"].tolist(), lines["label"].tolist(), strict=True):
            if labels.setdefault(row, label) != label:
                raise Mistake(f"{name} has two different answers to row {row}.")
    name = " and ".join(table_name(path) for path in paths)
    if len(codes) != 1:
        raise Mistake(f"{name} must hold the answers to one audit, not to {len(codes)}.")
    if not labels:
        raise Mistake(f"{name} has no answers: fill in the column 'label'.")
    return Answers(read_code(*codes.popitem()), labels, name)


def answered_lines(path: Path, name: str) -> pd.DataFrame:
    """Lines of a file of answers; without those in which a person says that they cannot tell."""
    table = read_table(path)
    missing = [column for column in NEEDED if column not in table.columns]
    if missing:
        raise Mistake(
            f"{name} lacks {listed(missing)}, which a file of surefoot audit or surefoot label has."
        )
    if table["row"].dtype.kind not in "iu" or table["audit"].isna().any():
        raise Mistake(
            f"The columns 'row' and 'audit' of {name} are changed: leave them as they are."
        )
    if "kind" in table.columns and "draw" not in table.columns:
        table["label"] = table["label"].where(table["kind"] == "label")
    return table[list(NEEDED)]


def targets_of(answers: Answers, drawn: Audit) -> list[Any]:
    """Target of each draw, None without an answer; a `Mistake` if an answer is no class or no number."""
    strange_rows = sorted(set(answers.labels) - set(drawn.rows.tolist()))
    if strange_rows:
        raise Mistake(
            f"{answers.name} has an answer to row {strange_rows[0]}, which was not drawn."
        )
    classes = drawn.loss.classes
    known = None if classes is None else {str(label): label for label in classes}
    targets = {row: as_target(label, known, answers.name) for row, label in answers.labels.items()}
    return [targets.get(row) for row in drawn.rows.tolist()]


def as_target(label: Any, classes: dict[str, Any] | None, name: str) -> Any:
    """Answer as the model knows it: one of its classes, or a number."""
    if classes is not None:
        for text in (as_class(label).strip(), str(label).strip()):
            if text in classes:
                return classes[text]
        raise Mistake(
            f"{name} has the label {label!r}, but the model knows only {listed(classes)}: leave the cell empty if none "
            "of these is true."
        )
    try:
        return float(label)
    except (TypeError, ValueError):
        raise Mistake(f"{name} has the label {label!r}, which is not a number.") from None
