"""Labels that people gave: a file of `surefoot label` as the target of a table."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from surefoot._words import listed, plural
from surefoot.cli._mistakes import Mistake
from surefoot.cli._tables import read_table, table_name

NEEDED = ("row", "label")


def with_labels(table: Any, target: str, path: Path) -> Any:
    """Table whose target is that of a file of labels where that has one; the other rows keep what they have."""
    answers = read_table(path)
    name = table_name(path)
    missing = [column for column in NEEDED if column not in answers.columns]
    if missing:
        raise Mistake(f"{name} lacks {listed(missing)}, which a file of `surefoot label` has.")
    if "kind" in answers.columns:
        answers = answers[answers["kind"] == "label"]
    answers = answers[answers["label"].notna()]
    rows = checked_rows(answers["row"], len(table), name)
    labels = answers["label"].infer_objects()
    present = table[target] if target in table.columns else pd.Series(np.nan, index=table.index)
    are_numbers = all(
        each.dropna().infer_objects().dtype.kind in "iuf" for each in (present, labels)
    )
    values = present.astype(object).to_numpy(copy=True)
    values[rows] = labels.to_numpy()
    column = pd.Series(values, index=table.index)
    whole = pd.to_numeric(column) if are_numbers else column.map(as_class, na_action="ignore")
    return table.assign(**{target: whole})


def checked_rows(column: Any, n_rows: int, name: str) -> Any:
    """Positions in the table; a `Mistake` if they cannot be those of its rows."""
    if column.dtype.kind not in "iu" or (column < 0).any():
        raise Mistake(
            f"Column 'row' of {name} must hold the positions of rows, whole numbers from 0."
        )
    rows = column.to_numpy()
    if len(rows) and rows.max() >= n_rows:
        raise Mistake(
            f"{name} has labels of rows up to {rows.max()}, but the table has {plural(n_rows, 'row')}: it belongs to "
            "another table."
        )
    if len(np.unique(rows)) < len(rows):
        raise Mistake(f"{name} has a row more than once.")
    return rows


def as_class(value: Any) -> str:
    """Name of a class; 1.0, as a whole number is read among gaps, is 1."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
