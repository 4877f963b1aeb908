"""Rows of a command's table: which column is the target, of which task, and which hold groups, times or labels."""

import datetime as dt
from collections.abc import Mapping, Sequence
from numbers import Number
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pandas.api.types import infer_dtype

from surefoot._models import class_text
from surefoot._splits import splits_in_time, too_rare
from surefoot._tables import (
    WRITE_TIMES,
    check_fits,
    column_times,
    from_cell,
    infinities_in_words,
    read_table,
    sample_that_fits,
    table_name,
    without_infinities,
)
from surefoot._task import UnclearTaskError, are_codes, kind_of_target
from surefoot._typing import Floats, Split
from surefoot._words import listed, plural
from surefoot.cli._console import Mistake, remark, unknown_column
from surefoot.cli._report import CHECKS

# skrub processes each column alone: 10,000 columns take more than a minute, in each of dozens of fits.
MOST_COLUMNS = 2000

# More columns take minutes, and the user is told before it starts.
MANY_COLUMNS = 500

# Fewest rows of two classes, fewest groups, and fewest rows in all, so that some can be held out.
LEAST_PER_CLASS = LEAST_GROUPS = 5
LEAST_ROWS = 20

# Parts in time that are held out, one after the other; the earliest part is only learned from.
N_FOLDS = 5

# Most different fractions that may be classes, as ratings in halves are.
MOST_FRACTIONS = 20

# Fewest different values of a column that grows or falls with the rows: fewer may do so by chance.
LEAST_MOVING = 5

# Models take numbers of 32 bits.
SMALLEST, LARGEST = 1e-38, 1e38


class Rows(NamedTuple):
    """Rows with a known target, and rows without one; the index of X is the position in the table."""

    name: str
    target: str
    task: str
    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None
    unlabelled: Any
    by: Mapping[str, Any]
    cv: Any = 5
    classes: Sequence[Any] = ()
    time: Mapping[str, str] | None = None


def read_whole(
    path: Path, sample: int | None, random_state: int, form: dict[str, Any] | None
) -> Any:
    """Table that fits the memory, or a sample of it; `form` is that of the table that a given model was fitted on.

    Remarks on it are kept for `take_apart`, whose remark on the task comes first.
    """
    if sample is None:
        check_fits(path, f"pass --sample {sample_that_fits(path)} for that many rows at random")
    remarks: list[str] = []
    table = read_table(path, remarks.append, form, n_rows=sample, random_state=random_state)
    table.attrs["remarks"] = remarks
    return table


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
    drop: Sequence[str] = (),
    outputs: Sequence[str] = (),
) -> Rows:
    """Split a table by the roles of its columns, and print what was decided; a fitted model gets `every` column.

    `outputs` are columns of predictions that are judged, and of their probabilities: they stay in X, behind the inputs.
    """
    remarks = table.attrs.pop("remarks", ())
    lists = table.attrs.pop("lists", {})
    if not every and (others := [each for each in lists if not lists[each] and each not in drop]):
        raise Mistake(
            f"Column {others[0]!r} of {name} holds lists without numbers: an embedding is a list of numbers. Pass "
            f"--drop {others[0]} to leave it out."
        )
    drop = [column for each in drop for column in lists.get(each, [each])]
    try:
        check_roles(table, target, groups, by, time, drop, outputs, name)
        check_target_kind(table[target], target)
        known = table[target].notna()
        values = table.loc[known, target].infer_objects()
        if len(values) == 0:
            raise Mistake(f"Column {target!r} is empty: there is nothing to learn from.")
        if len(values) < LEAST_ROWS:
            raise Mistake(
                f"Column {target!r} has a value in {plural(len(values), 'row')}, and {LEAST_ROWS} are needed to "
                "evaluate a model."
            )
        group_codes = None if groups is None else take_groups(table.loc[known, groups], groups)
        X = table.drop(columns=list({target, groups, time, *drop, *outputs} - {None}))
        predictions = table.loc[known, outputs[0]] if outputs else None
        chosen, assumed = task_of_target(values, predictions, task, target)
        y = learnable_targets(values, target, chosen, group_codes)
        remarks = [*assumed, *remarks]
    finally:
        for sentence in remarks:
            remark(sentence)
    if not every and not outputs:
        remark_on_leaks(X[known], y, chosen)
    X = with_missing(X) if every else usable_columns(X, name, is_judged=bool(outputs))
    X = X.assign(**{column: table[column] for column in outputs})
    if not known.all():
        remark(f"{plural(int((~known).sum()), 'row')} without {target!r} cannot be evaluated.")
    if (
        chosen == "classification" and not every and not outputs
    ):  # a fitted model has nothing to learn
        remark_on_rare_classes(y, group_codes)
    columns = {column: table.loc[known, column] for column in by}
    unlabelled = None if known.all() else X[~known]
    rows = Rows(name, target, chosen, X[known], y, group_codes, unlabelled, columns)
    return rows if time is None else in_time(rows, table.loc[known, time], time)


def check_roles(
    table: Any,
    target: str,
    groups: str | None,
    by: Sequence[str],
    time: str | None,
    drop: Sequence[str],
    outputs: Sequence[str],
    name: str,
) -> None:
    """Raise a `Mistake` unless the table has all columns that were named, each for one role."""
    for column in (target, groups, time, *by, *drop, *outputs):
        if column is not None and column not in table.columns:
            raise unknown_column(column, table.columns, name)
    roles = {"--target": target, "--groups": groups, "--time": time}
    for option, column in roles.items():
        if column == target and option != "--target":
            raise Mistake(f"Column {target!r} cannot be both --target and {option}.")
        if column in drop:
            raise Mistake(f"Column {column!r} cannot be both {option} and --drop.")
        if column in outputs:
            raise Mistake(
                f"Column {column!r} cannot be both {option} and a column of predictions or probabilities."
            )
    if groups is not None and time is not None:
        raise Mistake("Pass --groups or --time, not both: rows are held out by one of them.")
    if target in by:
        raise Mistake(
            f"--by {target} is the target: name another column, whose groups are compared."
        )


def task_of_target(values: Any, predictions: Any, task: str, target: str) -> tuple[str, list[str]]:
    """Task of the target, as `kind_of_target` decides it, and what was assumed; asks the user where it is unclear."""
    try:
        chosen = kind_of_target(values, predictions, task)
    except UnclearTaskError as error:
        raise Mistake(
            f"Column {target!r} holds {error.n_values} different whole numbers, which may be numbers or classes: pass "
            "--task regression or --task classification."
        ) from error
    is_number = values.dtype.kind in "iuf"
    if task != "auto" or (predictions is not None and not is_number):
        return chosen, []
    if chosen == "regression":
        how = " If its values are classes, pass --task classification."
        return chosen, [f"Predicting {target!r} as a number.{how}"]
    how = " If it is a number, pass --task regression." * is_number
    return chosen, [f"Predicting {target!r} as a class.{how}"]


def remark_on_leaks(X: Any, y: NDArray[Any], task: str) -> None:
    """Point out columns that give the target away, or may be predictions, and are going to be inputs."""
    if (leak := finding_of("leak", X, y, task)) is not None:
        remark(f"{leak.sentence} {leak.question}")


def finding_of(code: str, X: Any, y: Any = None, task: str = "auto") -> Any:
    """Finding of one check of a table; None if there is none."""
    from surefoot.checks import check_table

    return next(iter(check_table(X, y, task=task, ignore={*CHECKS} - {code, "labels"})), None)


def usable_columns(X: Any, name: str, *, is_judged: bool = False) -> Any:
    """Columns that a model can use; a `Mistake` if there are none, or too many for a model that is fitted here."""
    if X.shape[1] > MOST_COLUMNS and not is_judged:
        raise Mistake(
            f"{name} has {X.shape[1]:,} input columns, and more than {MOST_COLUMNS:,} would take hours to "
            "prepare: keep those that matter."
        )
    useful = leave_out_useless(X)
    if useful.shape[1] == 0:
        raise Mistake(f"{name} has no column that a model can use.")
    if useful.shape[1] > MANY_COLUMNS and not is_judged:
        remark(
            f"{name} has {useful.shape[1]:,} input columns: skrub prepares each of them alone in every one of dozens "
            "of fits, which takes minutes."
        )
    return with_missing(useful)


def with_missing(X: Any) -> Any:
    """Table with missing values in place of infinite numbers, and of those that are too large; a remark counts them."""
    X, n_replaced = without_infinities(X)
    if n_replaced:
        remark(infinities_in_words(n_replaced))
    return X


def leave_out_useless(X: Any) -> Any:
    """Table without columns that only name or number the rows, or are constant; print which ones."""
    reasons = {name: why_useless(X[name]) for name in X.columns}
    described = X[
        [name for name, reason in reasons.items() if not (reason or holds_dates(X[name]))]
    ]
    if (identifier := finding_of("identifier", described)) is not None:
        for name, is_useless in zip(
            identifier.columns, identifier.evidence["useless"], strict=True
        ):
            reasons[name] = "another value in every row" if is_useless else None
    for reason in dict.fromkeys(filter(None, reasons.values())):
        names = [name for name, other in reasons.items() if other == reason]
        remark(f"Left out {listed(names)}: {reason}.")
    return X[[name for name, reason in reasons.items() if reason is None]]


def why_useless(column: Any) -> str | None:
    """Reason why a column has nothing for a model: it is empty, or constant; None if it may have something."""
    known = column.dropna()
    if len(known) == 0:
        return "empty"
    is_plain = infer_dtype(known) == "string" or column.dtype.kind in "biuf"
    is_constant = is_plain and len(known) == len(column) and (known == known.iloc[0]).all()
    return "same value in every row" if is_constant else None


def are_dates(texts: Any) -> bool:
    """Whether strings are read as dates."""
    from skrub import to_datetime

    return bool(to_datetime(texts.astype(str)).dtype.kind == "M")


def take_groups(column: Any, name: str) -> NDArray[Any]:
    """Number of each row's group; a `Mistake` if one is missing or if there are too few groups."""
    if column.isna().any():
        raise Mistake(f"Column {name!r} of --groups has missing values: every row needs a group.")
    if column.nunique() < LEAST_GROUPS:
        raise Mistake(
            f"Column {name!r} of --groups has {plural(column.nunique(), 'group')}: at least {LEAST_GROUPS} are needed."
        )
    return column.factorize()[0]


def check_target_kind(column: Any, name: str) -> None:
    """Raise a `Mistake` unless the target holds numbers, strings or booleans."""
    is_plain = column.dtype.kind in "biuf" or hasattr(column, "cat")
    known = column.dropna()
    if is_plain or known.map(lambda value: isinstance(value, (str, bool, Number, np.bool_))).all():
        return
    times = (dt.date, dt.time, dt.timedelta)
    if column.dtype.kind in "mM" or known.map(lambda value: isinstance(value, times)).any():
        raise Mistake(
            f"Column {name!r} holds dates or times: convert them to numbers or classes first."
        )
    kind = type(known.iloc[0]).__name__
    raise Mistake(f"Column {name!r} holds values of type {kind}: a target holds numbers or texts.")


def learnable_targets(
    values: Any, target: str, task: str, groups: NDArray[Any] | None
) -> NDArray[Any]:
    """Targets of a task as an array; a `Mistake` if they cannot be learned."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise Mistake(f"Column {target!r} holds infinite values, which no model can learn.")
    if task == "regression":
        return as_target_numbers(values, target)
    labels = as_labels(values, target)
    try:
        too_rare(labels, groups, LEAST_PER_CLASS)
    except ValueError as error:
        raise Mistake(
            f"Fewer than two classes of {target!r} can be held out, because a group that alone has a class cannot: "
            "leave out that class, or --groups."
        ) from error
    return labels


def as_labels(target: Any, name: str) -> NDArray[Any]:
    """Classes of the target as an array; a `Mistake` if they cannot be learned."""
    numeric = target.dtype.kind in "biuf"
    labels = (
        target.to_numpy() if numeric else target.astype(str).str.strip().to_numpy().astype(np.str_)
    )
    if labels.dtype.kind == "f":
        # Missing values make whole numbers floats; a class of any other float has its digits for a name.
        labels = (
            labels.astype(np.int64) if are_codes(labels) else labels.astype(str).astype(np.str_)
        )
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) == 1:
        raise Mistake(f"Column {name!r} is {classes[0]} in every row: there is nothing to predict.")
    are_fractions = numeric and labels.dtype.kind == "U"
    if len(classes) > len(labels) / 2 or (are_fractions and len(classes) > MOST_FRACTIONS):
        n_rows = plural(len(labels), "row")
        raise Mistake(
            f"Column {name!r} holds {len(classes):,} different numbers in {n_rows}, too many for classes: pass --task "
            "regression (and a regressor), or divide them into classes first."
            if numeric
            else f"Column {name!r} has {plural(len(classes), 'class')} in {n_rows}: it looks like an id or free text."
        )
    if np.count_nonzero(counts >= LEAST_PER_CLASS) < 2:
        raise Mistake(
            f"Fewer than two classes of {name!r} have {LEAST_PER_CLASS} rows, so that some can be held out: merge rare "
            "classes, or add rows."
        )
    return labels


def as_target_numbers(target: Any, name: str) -> Floats:
    """Numbers of the target as an array; a `Mistake` if they cannot be learned."""
    if target.dtype.kind not in "biuf":
        raise Mistake(
            f"Column {name!r} holds {str(target.iloc[0])!r}, which is not a number: regression needs numbers."
        )
    values = np.asarray(target, dtype=np.float64)
    if (largest := np.abs(values).max()) >= LARGEST:
        raise Mistake(
            f"Column {name!r} holds {largest:.0e}, and models take no numbers above {LARGEST:.0e}: divide it."
        )
    if np.ptp(values) == 0:
        raise Mistake(
            f"Column {name!r} is {values[0]:g} in every row: there is nothing to predict."
        )
    if (spread := np.ptp(values)) < SMALLEST:
        raise Mistake(
            f"Column {name!r} varies by {spread:.0e} only, and models cannot learn differences below "
            f"{SMALLEST:.0e}: multiply it."
        )
    return values


def remark_on_rare_classes(labels: NDArray[Any], groups: NDArray[Any] | None) -> None:
    """Say which rows are used for training but not for evaluation, because too few rows or groups have their class."""
    rare = too_rare(labels, groups, LEAST_PER_CLASS)
    if not rare.any():
        return
    n_rare, few = int(rare.sum()), "rows" if groups is None else "groups"
    classes = np.setdiff1d(labels[rare], labels[~rare]).tolist()
    remark(
        f"{plural(n_rare, 'row')} {'is' if n_rare == 1 else 'are'} used for training but not for evaluation: "
        f"too few {few} have {listed(classes)}."
    )


def in_time(rows: Rows, column: Any, name: str) -> Rows:
    """Rows in the order of their times, to be held out later than those they are predicted from."""
    times = order_of(column, name)
    order = np.argsort(times, kind="stable")
    y = rows.y[order]
    first, last = (str(column.iloc[i]).removesuffix(" 00:00:00") for i in order[[0, -1]])
    return rows._replace(
        time={"column": name, "first": first, "last": last},
        X=rows.X.iloc[order],
        y=y,
        by={each: values.iloc[order] for each, values in rows.by.items()},
        cv=later_folds(times[order], y if rows.task == "classification" else None, name),
    )


def order_of(column: Any, name: str) -> Floats:
    """Time of each row as a number; a `Mistake` unless the column holds numbers, dates, or strings that are dates."""
    if column.isna().any():
        raise Mistake(f"Column {name!r} of --time has missing values: every row needs a time.")
    if column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)
    try:
        return column_times(pa.array(column), name, "--time").astype(np.float64)
    except (ValueError, TypeError, pa.ArrowException) as error:
        raise Mistake(
            f"Column {name!r} of --time holds values that are neither numbers nor dates: {WRITE_TIMES}"
        ) from error


def later_folds(times: Floats, labels: NDArray[Any] | None, name: str) -> list[Split]:
    """Splits of rows in the order of their times; those whose training rows lack a class are left out."""
    try:
        splits = splits_in_time(times, N_FOLDS)
    except ValueError as error:
        raise Mistake(f"Column {name!r} of --time cannot be split: {error}") from error
    if labels is None:
        return splits
    known = np.unique(labels)
    complete = [split for split in splits if np.isin(known, labels[split[0]]).all()]
    if not complete:
        late = [label for label in known.tolist() if label not in labels[splits[-1][0]]]
        raise Mistake(
            f"By {name!r}, the class {listed(late)} comes only at the end: no earlier rows have it to learn from."
        )
    return complete


def remark_on_progress(X: Any) -> None:
    """Name the columns of dates, and of numbers that only grow or fall with the rows: later rows leave their range."""
    dates = [name for name in X.columns if holds_dates(X[name])]
    moving = [name for name in X.columns if only_grows_or_falls(X[name])]
    kinds = [(dates, "dates"), (moving, "grows or falls with the rows")]
    if words := [f"{listed(names)} ({what})" for names, what in kinds if names]:
        remark(
            f"The model learns from {' and '.join(words)}, and `surefoot watch` will find later rows outside of that "
            "range: pass --time COLUMN to test on later rows without this input, or --drop COLUMN."
        )


def holds_dates(column: Any) -> bool:
    """Whether a column holds dates, or strings that are read as dates."""
    known = column.dropna()
    is_text = len(known) > 0 and infer_dtype(known) == "string"
    return bool(column.dtype.kind == "M") or (is_text and are_dates(known))


def only_grows_or_falls(column: Any) -> bool:
    """Whether a column of numbers without gaps, of which `LEAST_MOVING` or more differ, is in order."""
    if column.dtype.kind not in "iuf" or column.isna().any():
        return False
    steps = column.is_monotonic_increasing or column.is_monotonic_decreasing
    return bool(steps and column.nunique() >= LEAST_MOVING)


def answered_lines(path: Path, needed: Sequence[str], writers: str) -> Any:
    """Lines of a file of answers; the label is missing where a person said that they cannot tell."""
    answers, name = read_table(path, remark), table_name(path)
    if missing := [column for column in needed if column not in answers.columns]:
        raise Mistake(f"{name} lacks {listed(missing)}, which a file of {writers} has.")
    answers["label"] = answers["label"].map(from_cell)
    if "kind" in answers.columns and "draw" not in answers.columns:
        answers["label"] = answers["label"].where(answers["kind"] == "label")
    return answers


def with_labels(table: Any, target: str, path: Path) -> Any:
    """Table whose target is that of a file of `surefoot label` where that has one; other rows keep theirs."""
    answers = answered_lines(path, ["row", "label"], "`surefoot label`")
    answers = answers[answers["label"].notna()]
    check_positions(answers["row"], len(table), table_name(path))
    labels = answers["label"].infer_objects()
    present = table[target] if target in table.columns else pd.Series(np.nan, index=table.index)
    are_numbers = all(
        each.dropna().infer_objects().dtype.kind in "iuf" for each in (present, labels)
    )
    values = present.astype(object).to_numpy(copy=True)
    values[answers["row"]] = labels.to_numpy()
    column = pd.Series(values, index=table.index)
    whole = pd.to_numeric(column) if are_numbers else column.map(class_text, na_action="ignore")
    return table.assign(**{target: whole})


def check_positions(rows: Any, n_rows: int, name: str) -> None:
    """Raise a `Mistake` if positions in a table cannot be those of its rows."""
    if rows.dtype.kind not in "iu" or (rows < 0).any():
        raise Mistake(
            f"Column 'row' of {name} must hold the positions of rows, whole numbers from 0."
        )
    if len(rows) and rows.max() >= n_rows:
        raise Mistake(
            f"{name} has labels of rows up to {rows.max()}, but the table has {plural(n_rows, 'row')}: it belongs to "
            "another table."
        )
    if rows.duplicated().any():
        raise Mistake(f"{name} has a row more than once.")
