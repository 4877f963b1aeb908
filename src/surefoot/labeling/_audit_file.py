"""File of `surefoot audit`: its rows are asked about in the order of the file, and no model learns from them."""

import json
from typing import NamedTuple

import pandas as pd

from surefoot._tables import is_audit_file

ANSWERED_IN_ORDER = "Drawn for an audit: all its rows are asked about, in the order of the draws."

# Columns of the file that tell a person nothing about the row.
HIDDEN = ("draw", "audit", "answers")


class AuditFile(NamedTuple):
    """Position of each row in the audited table, what the audit is called, and the classes to choose from."""

    rows: list[int]
    code: str
    classes: list[str]


def take_audit(table: pd.DataFrame, target: str, name: str) -> tuple[pd.DataFrame, AuditFile]:
    """Rows of an audit, each once, with an answer that any of its lines has; a ValueError if it is no whole file."""
    positions = table["row"]
    codes = table["audit"].dropna().unique()
    lists = table["answers"].dropna().unique()
    if positions.dtype.kind not in "iu" or (positions < 0).any() or len(codes) != 1:
        raise ValueError(
            f"{name} is no whole file of surefoot audit: the columns 'row' and 'audit' are changed."
        )
    if len(lists) == 0:
        raise ValueError(
            f"{name} is an audit of numbers: fill in {target!r} in a spreadsheet, as people can be asked for classes "
            "only."
        )
    answers = table.groupby("row")[target].first() if target in table.columns else None
    once = table[~positions.duplicated()].reset_index(drop=True)
    if answers is not None:
        once[target] = answers.reindex(once["row"]).to_numpy()
    audit = AuditFile(once["row"].tolist(), str(codes[0]), _classes(lists[0], name))
    return once.drop(columns=list(HIDDEN)), audit


def _classes(text: str, name: str) -> list[str]:
    try:
        return [str(label) for label in json.loads(text)]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} is no whole file of surefoot audit: the column 'answers' is changed."
        ) from error


def is_audit(table: pd.DataFrame) -> bool:
    """Whether a table is a file of `surefoot audit`."""
    return is_audit_file(table.columns)
