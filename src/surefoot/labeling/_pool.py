"""Table whose rows are to be labelled: the model's inputs, the cells that a person sees, the labels it has already."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from surefoot._tables import (
    MISSING_CELLS,
    audit_codes,
    is_audit_file,
    is_score_column,
    without_infinities,
)
from surefoot._words import listed, plural
from surefoot.labeling._queue import Question
from surefoot.labeling._store import RefusedRequest

# Most classes that a person can choose between, and most characters of the name of one.
MOST_CLASSES = 500
LONGEST_CLASS = 200

# Columns that mark the output of `surefoot score`.
SCORES = ("prediction", "estimated_error")

NOT_ANSWERED = "The prediction of this row was not accepted when the table was scored."

ASKED_IN_ORDER = "Drawn for an audit: all its rows are asked about, in the order of the draws."

N_BINS = 20
MOST_CATEGORIES = 30


@dataclass(frozen=True)
class Pool:
    """Rows to label.

    Attributes
    ----------
    name : str
        Name of the table.
    target : str
        Name of the column of labels.
    cells : DataFrame
        Columns that a person sees.
    inputs : list of str
        Columns that the model learns from.
    labels : dict of int to str
        Labels that the table has already, by row.
    classes : list of str
        Classes to choose from at the start.
    first : list of Question
        Rows to ask about first, as the model that scored the table would not answer them, or all rows of an audit.
    audited_rows : list of int or None
        Position of each row in the audited table, if the rows were drawn by `surefoot audit`.
    audit : str
        Code of that audit.
    unseen : sequence of str
        Columns of `cells` that the page does not show.
    """

    name: str
    target: str
    cells: pd.DataFrame
    inputs: list[str]
    labels: dict[int, str]
    classes: list[str]
    first: list[Question]
    audited_rows: list[int] | None = None
    audit: str = ""
    unseen: Sequence[str] = ()

    @property
    def open_rows(self) -> list[int]:
        """Rows without a label in the table."""
        return [row for row in range(len(self.cells)) if row not in self.labels]

    def model_input(self) -> pd.DataFrame:
        """Columns that the model learns from; infinite numbers, which models refuse, count as missing."""
        X: pd.DataFrame = without_infinities(self.cells[self.inputs])[0]
        return X

    def fingerprint(self) -> str:
        """Digest of the rows, of the names of the columns, and of the target and the labels that it has."""
        facts = [self.target, list(self.cells.columns), self.labels]
        digest = hashlib.sha256(json.dumps(facts).encode())
        for name in self.cells.columns:
            column = self.cells[name]
            values = as_strings(column) if column.dtype.kind == "O" else column
            digest.update(pd.util.hash_pandas_object(values, index=False).to_numpy().tobytes())
        return digest.hexdigest()


def make_pool(
    table: pd.DataFrame,
    target: str,
    *,
    classes: Sequence[str] | None,
    inputs: Sequence[str] | None,
    name: str,
    may_grow: bool,
    unseen: Sequence[str] = (),
) -> Pool:
    """Pool from a table; a ValueError in one sentence if there is nothing to ask about it."""
    audited_rows, audit = None, ""
    if is_audit_file(table.columns):
        audit, answers = _check_audit(table, target, name)
        classes = answers if classes is None else classes
        table = _each_row_once(table, target)
        audited_rows = table["row"].tolist()
    if len(table) == 0:
        raise ValueError(f"{name} has no rows to label.")
    if not table.columns.is_unique:
        twice = table.columns[table.columns.duplicated()].unique()
        raise ValueError(f"{name} has more than one column {listed(twice)}: names must differ.")
    labels = _known_labels(table, target)
    known = _check_classes(target, labels, classes, may_grow=may_grow, name=name)
    if len(labels) == len(table):
        raise ValueError(f"Every row of {name} has a label already: there is nothing to ask.")
    hidden = {target}
    if set(SCORES) <= set(table.columns):  # columns that would show the model's guess
        hidden |= {column for column in table.columns if is_score_column(str(column))}
    cells = table[[column for column in table.columns if column not in hidden]]
    cells = cells.reset_index(drop=True)
    if not set(cells.columns) - set(unseen):
        raise ValueError(f"{name} has no column besides {target!r} that a person could look at.")
    learned = list(cells.columns) if inputs is None else [each for each in inputs if each in cells]
    if not learned:
        raise ValueError(f"{name} has no column that a model could learn from.")
    if audited_rows is None:
        first = _not_accepted(table, labels)
    else:
        open_rows = [row for row in range(len(cells)) if row not in labels]
        first = [Question(row, "audit", ASKED_IN_ORDER) for row in open_rows]
    return Pool(name, target, cells, learned, labels, known, first, audited_rows, audit, unseen)


def _check_audit(table: pd.DataFrame, target: str, name: str) -> tuple[str, list[str]]:
    """Code and classes of a file of `surefoot audit`; a ValueError if it is no whole file."""
    codes, lists = audit_codes(table, name), table["answers"].dropna().unique()
    if (table["row"] < 0).any() or len(codes) != 1:
        raise ValueError(
            f"{name} is no whole file of surefoot audit: the columns 'row' and 'audit' are changed."
        )
    if len(lists) == 0:
        raise ValueError(
            f"{name} is an audit of numbers: fill in {target!r} in a spreadsheet, as people can be asked for classes "
            "only."
        )
    try:
        return codes[0], [str(label) for label in json.loads(lists[0])]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} is no whole file of surefoot audit: the column 'answers' is changed."
        ) from error


def _each_row_once(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """Rows of an audit, each once, with an answer that any of its lines has, and the columns that a person may see."""
    once = table[~table["row"].duplicated()].reset_index(drop=True)
    if target in table.columns:
        answers = table.groupby("row")[target].first()
        once[target] = answers.reindex(once["row"]).to_numpy()
    return once.drop(columns=["draw", "audit", "answers"])


def _known_labels(table: pd.DataFrame, target: str) -> dict[int, str]:
    """Label of each row that has one in the table, as a string; 1.0 among missing values is 1."""
    if target not in table.columns:
        return {}
    column = table[target].reset_index(drop=True)
    known = column[column.notna()]
    if known.dtype.kind == "f" and bool((known.abs() < 2**53).all() & (known % 1 == 0).all()):
        known = known.astype("int64")
    texts = known.astype(str).str.strip()
    return {int(row): label for row, label in texts[texts != ""].items()}


def _check_classes(
    target: str,
    labels: dict[int, str],
    classes: Sequence[str] | None,
    *,
    may_grow: bool,
    name: str,
) -> list[str]:
    """Classes to choose from: those named, else those that the table has."""
    present = sorted(set(labels.values()))
    known = present if classes is None else list(dict.fromkeys(map(str, classes)))
    for label in known:
        check_class(label)
    strange = [label for label in present if label not in known]
    if strange:
        raise ValueError(
            f"Column {target!r} of {name} has {listed(strange)}, not among the classes."
        )
    if len(known) > MOST_CLASSES:
        raise ValueError(
            f"Column {target!r} has {plural(len(known), 'class')}, and at most {MOST_CLASSES} can be chosen from."
        )
    if len(known) < 2 and not may_grow:
        raise ValueError(
            f"Column {target!r} of {name} has {plural(len(known), 'class')}, and two are needed: name all classes, or "
            "allow new ones."
        )
    return known


def check_class(label: str) -> None:
    """Refuse a name that no class can have."""
    if not label.strip() or not label.isprintable():
        raise RefusedRequest(
            422, "The name of a class must be a string with no line breaks or other controls."
        )
    if label.strip() in MISSING_CELLS:
        raise RefusedRequest(
            422,
            f"{label!r} cannot be a class: where a table is read, it stands for a missing value.",
        )
    if len(label) > LONGEST_CLASS:
        raise RefusedRequest(
            422, f"The name of a class must have at most {LONGEST_CLASS} characters."
        )


def _not_accepted(table: pd.DataFrame, labels: dict[int, str]) -> list[Question]:
    """Rows that `surefoot score` did not accept, those with the highest estimated error first."""
    if not {*SCORES, "accepted"} <= set(table.columns):
        return []
    errors = table["estimated_error"].to_numpy(dtype=float)
    accepted = table["accepted"].astype(str).str.lower().eq("true").to_numpy()
    return [
        Question(int(row), "model", NOT_ANSWERED, float(errors[row]))
        for row in np.argsort(-errors, kind="stable")
        if not accepted[row] and row not in labels
    ]


def as_json(value: Any) -> Any:
    """Cell as JSON: null for a missing value, a number, a boolean, or a string."""
    if isinstance(value, np.generic) and not isinstance(value, str):
        value = value.item()
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    if isinstance(value, (bool, int)):
        return value if abs(value) < 2**53 else str(value)
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, pd.Timestamp) and value == value.normalize():
        return str(value.date())
    return as_string(value)


def as_string(value: Any) -> str:
    """String that can be sent: half of a surrogate pair becomes a question mark."""
    return str(value).encode("utf-8", "replace").decode()


def as_strings(column: pd.Series) -> pd.Series:
    """Cells as strings, whatever they are."""
    return column if isinstance(column.dtype, pd.StringDtype) else column.map(as_string)


def describe_columns(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """Name, kind and distribution of each column, for a person to compare a cell with."""
    described = []
    for name in cells.columns:
        known, numpy_kind = cells[name].dropna(), cells[name].dtype.kind
        kind, histogram, top = "text", None, None
        if numpy_kind in "iuf" and len(known):
            kind, histogram = "number", _histogram(known.to_numpy(float))
        elif numpy_kind == "M":
            kind = "date"
        else:
            counts = as_strings(known).value_counts()
            if len(counts) <= min(MOST_CATEGORIES, max(2, len(known) // 2)):
                top = [[str(value), int(count)] for value, count in counts.head(10).items()]
                kind = "category"
        described.append({"name": name, "kind": kind, "histogram": histogram, "top": top})
    return described


def _histogram(values: Any) -> dict[str, list[float]] | None:
    """Counts in equal bins between the 0.5th and the 99.5th percentile; what lies beyond is in the outermost."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest there are
        low, high = map(float, np.quantile(values, [0.005, 0.995]))
    if not high > low:
        low, high = float(values.min()), float(values.max())
    if not high > low or not math.isfinite(high - low):
        return None
    counts, edges = np.histogram(np.clip(values, low, high), bins=N_BINS, range=(low, high))
    return {"edges": edges.tolist(), "counts": counts.tolist()}
