"""Roles of a table's columns: inputs, target and groups."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from numbers import Number
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot._words import listed, plural
from surefoot.cli._columns import leave_out_useless, without_infinities
from surefoot.cli._console import remark
from surefoot.cli._labels import with_labels
from surefoot.cli._memory import check_fits, sample_that_fits
from surefoot.cli._mistakes import Mistake, unknown_column
from surefoot.cli._sample import read_sample
from surefoot.cli._tables import read_table, shown_path, table_name
from surefoot.cli._target import (
    as_labels,
    as_target_numbers,
    check_classes_in_groups,
    check_enough,
    choose_task,
    remark_on_rare_classes,
)
from surefoot.cli._time import later_folds, times_of

# skrub processes each column alone: 10,000 columns take more than a minute, in each of dozens of fits.
MOST_COLUMNS = 2000

# More columns take minutes, and the user is told before it starts.
MANY_COLUMNS = 500


TIMES = (date, datetime, time, timedelta)


class Rows(NamedTuple):
    """Rows with a known target, and rows without one; the index of X is the position in the table."""

    name: str
    target: str
    task: str
    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None
    unlabelled: Any
    by: Mapping[str, Any] = MappingProxyType({})
    cv: Any = 5


def read_rows(
    path: Path,
    target: str | None,
    task: str,
    groups: str | None = None,
    *,
    every: bool = False,
    by: Sequence[str] = (),
    time: str | None = None,
    labels: Path | None = None,
    sample: int | None = None,
    random_state: int = 0,
) -> Rows:
    """Read a table, or a sample of it, and split it by the roles of its columns; a fitted model gets `every` column."""
    if sample is not None and labels is not None:
        raise Mistake("--labels counts the rows of the whole table: leave out --sample.")
    if sample is None:
        check_fits(path, f"pass --sample {sample_that_fits(path)} for that many rows at random")
    table = read_table(path) if sample is None else read_sample(path, sample, random_state)
    if target is None:
        raise Mistake(
            f"Pass --target with the column to predict: {shown_path(path)} has {listed(table.columns)}."
        )
    if labels is not None:
        table = with_labels(table, target, labels)
    return take_apart(table, target, task, groups, table_name(path), every=every, by=by, time=time)


def take_apart(
    table: Any,
    target: str,
    task: str,
    groups: str | None,
    name: str,
    *,
    every: bool = False,
    by: Sequence[str] = (),
    time: str | None = None,
) -> Rows:
    """Split a table by the roles of its columns, and print what was decided."""
    check_roles(table, target, groups, by, time, name)
    check_target_kind(table[target], target)
    known = table[target].notna()
    values = table.loc[known, target].infer_objects()
    check_enough(len(values), target)
    group_codes = None if groups is None else take_groups(table.loc[known, groups], groups)
    chosen, y = choose_targets(values, target, task, group_codes)
    X = table.drop(columns=[column for column in {target, groups, time} if column is not None])
    X = without_infinities(X) if every else usable_columns(X, name)
    if not known.all():
        remark(f"{plural(int((~known).sum()), 'row')} without {target!r} cannot be evaluated.")
    if chosen == "classification" and not every:  # a fitted model has nothing to learn
        remark_on_rare_classes(y, group_codes)
    rows = Rows(
        name,
        target,
        chosen,
        X[known],
        y,
        group_codes,
        None if known.all() else X[~known],
        {column: table.loc[known, column] for column in by},
    )
    return rows if time is None else in_time(rows, table.loc[known, time], time)


def check_roles(
    table: Any, target: str, groups: str | None, by: Sequence[str], time: str | None, name: str
) -> None:
    """Raise a `Mistake` unless the table has all columns that were named, each for one role."""
    for column in (target, groups, time, *by):
        if column is not None and column not in table.columns:
            raise unknown_column(column, table.columns, name)
    for option, column in (("--groups", groups), ("--time", time)):
        if column == target:
            raise Mistake(f"Column {target!r} cannot be both --target and {option}.")
    if groups is not None and time is not None:
        raise Mistake("Pass --groups or --time, not both: rows are held out by one of them.")
    if target in by:
        raise Mistake(
            f"--by {target} is the target: name another column, whose groups are compared."
        )


def in_time(rows: Rows, column: Any, name: str) -> Rows:
    """Rows in the order of their times, to be held out later than those they are predicted from."""
    times = times_of(column, name)
    order = np.argsort(times, kind="stable")
    labels = rows.y[order] if rows.task == "classification" else None
    return rows._replace(
        X=rows.X.iloc[order],
        y=rows.y[order],
        by={each: values.iloc[order] for each, values in rows.by.items()},
        cv=later_folds(times[order], labels, name),
    )


def usable_columns(X: Any, name: str) -> Any:
    """Columns that a model can use; a `Mistake` if there are none, or too many."""
    if X.shape[1] > MOST_COLUMNS:
        raise Mistake(
            f"{name} has {X.shape[1]:,} input columns, and more than {MOST_COLUMNS:,} would take hours to "
            "prepare: keep those that matter."
        )
    useful = leave_out_useless(X)
    if useful.shape[1] == 0:
        raise Mistake(f"{name} has no column that a model can use.")
    if useful.shape[1] > MANY_COLUMNS:
        remark(
            f"{name} has {useful.shape[1]:,} input columns: skrub prepares each of them alone in every one of dozens "
            "of fits, which takes minutes."
        )
    return without_infinities(useful)


def check_target_kind(column: Any, name: str) -> None:
    """Raise a `Mistake` unless the target holds numbers, texts or truth values."""
    is_plain = column.dtype.kind in "biuf" or hasattr(column, "cat")
    known = column.dropna()
    if is_plain or known.map(lambda value: isinstance(value, (str, bool, Number, np.bool_))).all():
        return
    if column.dtype.kind in "mM" or known.map(lambda value: isinstance(value, TIMES)).any():
        raise Mistake(
            f"Column {name!r} holds dates or times: convert them to numbers or classes first."
        )
    kind = type(known.iloc[0]).__name__
    raise Mistake(f"Column {name!r} holds values of type {kind}: a target holds numbers or texts.")


def choose_targets(
    values: Any, target: str, task: str, groups: NDArray[Any] | None
) -> tuple[str, NDArray[Any]]:
    """Task and targets for it; with "auto" the other task if the first one refuses the values. Prints the choice."""
    chosen = choose_task(values, task)
    if task != "auto":
        return chosen, learnable_targets(values, target, chosen, groups)
    refused = False
    try:
        y = learnable_targets(values, target, chosen, groups)
    except Mistake:
        refused, chosen = True, "classification" if chosen == "regression" else "regression"
        other = targets_or_none(values, target, chosen, groups)
        if other is None:
            raise
        y = other
    remark(chosen_task_sentence(target, chosen, refused=refused))
    return chosen, y


def targets_or_none(
    values: Any, target: str, task: str, groups: NDArray[Any] | None
) -> NDArray[Any] | None:
    """Targets of a task; None if they cannot be learned, or are no amounts: texts, or two values only."""
    if task == "regression" and (values.dtype.kind not in "iuf" or values.nunique() < 3):
        return None
    try:
        return learnable_targets(values, target, task, groups)
    except Mistake:
        return None


def learnable_targets(
    values: Any, target: str, task: str, groups: NDArray[Any] | None
) -> NDArray[Any]:
    """Targets of a task as an array; a `Mistake` if they cannot be learned."""
    if task == "regression":
        return as_target_numbers(values, target)
    labels = as_labels(values, target)
    if groups is not None:
        check_classes_in_groups(labels, groups, target)
    return labels


def take_groups(column: Any, name: str) -> NDArray[Any]:
    """Number of each row's group; a `Mistake` if one is missing or if there are too few groups."""
    if column.isna().any():
        raise Mistake(f"Column {name!r} of --groups has missing values: every row needs a group.")
    if column.nunique() < 5:
        raise Mistake(
            f"Column {name!r} of --groups has {plural(column.nunique(), 'group')}: at least 5 are needed."
        )
    return column.factorize()[0]


def chosen_task_sentence(target: str, task: str, *, refused: bool) -> str:
    """Sentence that says which task was chosen, and which option changes it, or tells why the other is refused."""
    kind, other = ("number", "class") if task == "regression" else ("class", "number")
    option = "classification" if task == "regression" else "regression"
    if refused:
        return f"Predicting {target!r} as a {kind}, not as a {other}: --task {option} tells why that cannot be."
    if task == "regression":
        return f"Predicting {target!r} as a number. If its values are classes, pass --task classification."
    return f"Predicting {target!r} as a class. If it is a number, pass --task regression."


def check_risk(max_risk: float | None, task: str) -> None:
    """Raise a `Mistake` for a risk outside its range."""
    if max_risk is None:
        return
    if task == "cost" and not max_risk > 0:
        raise Mistake(f"--max-risk {max_risk:g} is not a mean cost: it must be above 0.")
    if task == "classification" and not 0 < max_risk < 1:
        raise Mistake(
            f"--max-risk {max_risk:g} is not a share of wrong answers: it must be above 0 and below 1."
        )
    if not max_risk > 0:
        raise Mistake(f"--max-risk {max_risk:g} is not a mean error: it must be above 0.")


def check_confidence(confidence: float) -> None:
    """Raise a `Mistake` unless the confidence is above 0 and below 1."""
    if not 0 < confidence < 1:
        raise Mistake(
            f"--confidence {confidence:g} is not a probability: it must be above 0 and below 1."
        )
