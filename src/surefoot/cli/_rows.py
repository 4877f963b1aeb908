"""A table taken apart into what a model sees, what it is to predict, and what stays together."""

from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from surefoot._words import listed, plural
from surefoot.cli._columns import leave_out_useless, without_infinities
from surefoot.cli._console import remark
from surefoot.cli._mistakes import Mistake, unknown_column
from surefoot.cli._tables import read_table
from surefoot.cli._target import as_labels, as_numbers, check_enough, choose_task

# skrub looks at each column on its own, and takes over a minute for 10,000, in each of dozens of fits.
MOST_COLUMNS = 2000


class Rows(NamedTuple):
    """Rows with a known target, and those without one; the index of X is their place in the table."""

    name: str
    target: str
    task: str
    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None
    unlabelled: Any


def read_rows(path: Path, target: str | None, task: str, groups: str | None = None) -> Rows:
    """Read a table, and take it apart."""
    table = read_table(path)
    if target is None:
        raise Mistake(
            f"Pass --target with the column to predict: {path} has {listed(table.columns)}."
        )
    return take_apart(table, target, task, groups, path.name)


def take_apart(table: Any, target: str, task: str, groups: str | None, name: str) -> Rows:
    """Split a table by the role of its columns, and say what was decided."""
    for column in (target, groups):
        if column is not None and column not in table.columns:
            raise unknown_column(column, table.columns, name)
    if groups == target:
        raise Mistake(f"Column {target!r} cannot be both --target and --groups.")
    check_kind(table[target], target)
    known = table[target].notna()
    found = table.loc[known, target].infer_objects()
    check_enough(len(found), target)
    chosen = choose_task(found, task)
    y = as_numbers(found, target) if chosen == "regression" else as_labels(found, target)
    if task == "auto":
        remark(how_taken(target, chosen))
    X = usable_columns(table.drop(columns=[target] + ([] if groups is None else [groups])), name)
    if not known.all():
        remark(f"{plural(int((~known).sum()), 'row')} without {target!r} cannot be evaluated.")
    kept = None if groups is None else take_groups(table.loc[known, groups], groups)
    return Rows(
        name,
        target,
        chosen,
        X[known],
        y,
        kept,
        None if known.all() else X[~known],
    )


def usable_columns(X: Any, name: str) -> Any:
    """The columns that a model can use; one sentence if there are none, or too many."""
    if X.shape[1] > MOST_COLUMNS:
        raise Mistake(
            f"{name} has {X.shape[1]:,} input columns, and more than {MOST_COLUMNS:,} would take hours to "
            "prepare: keep those that matter."
        )
    found = leave_out_useless(X)
    if found.shape[1] == 0:
        raise Mistake(f"{name} has no column that a model can use.")
    return without_infinities(found)


def check_kind(column: Any, name: str) -> None:
    """Raise one sentence for a target that is a date, a span of time, or a list."""
    if column.dtype.kind in "mM":
        raise Mistake(
            f"Column {name!r} holds dates or times: convert them to numbers or classes first."
        )


def take_groups(column: Any, name: str) -> NDArray[Any]:
    """What stays together when rows are held out; one sentence if that leaves nothing to hold out."""
    if column.isna().any():
        raise Mistake(f"Column {name!r} of --groups has missing values: every row needs a group.")
    if column.nunique() < 5:
        raise Mistake(
            f"Column {name!r} of --groups has {plural(column.nunique(), 'group')}: at least 5 are needed."
        )
    return column.factorize()[0]


def how_taken(target: str, task: str) -> str:
    """Say how the target was understood, and what to do if that is wrong."""
    if task == "regression":
        return f"Predicting {target!r} as a number. If its values are classes, pass --task classification."
    return f"Predicting {target!r} as a class. If it is a number, pass --task regression."


def check_risk(max_risk: float | None, task: str) -> None:
    """Raise one sentence for a risk that cannot be kept or need not be."""
    if max_risk is None:
        return
    if task == "classification" and not 0 < max_risk < 1:
        raise Mistake(
            f"--max-risk {max_risk:g} is not a share of wrong answers: it must be above 0 and below 1."
        )
    if max_risk <= 0:
        raise Mistake(f"--max-risk {max_risk:g} is not a mean error: it must be above 0.")


def check_confidence(confidence: float) -> None:
    """Raise one sentence unless this is a share above 0 and below 1."""
    if not 0 < confidence < 1:
        raise Mistake(
            f"--confidence {confidence:g} is not a probability: it must be above 0 and below 1."
        )
