"""Target of a table: whether it is a class or a number, and checks that it can be learned."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats, Ints
from surefoot._words import listed, plural
from surefoot.cli._mistakes import Mistake

# Fewest rows of each class, and fewest rows in all, so that some can be held out.
LEAST_PER_CLASS = 5
LEAST_ROWS = 20

# Models take numbers of 32 bits.
LARGEST = 1e38

# Up to 5 different numbers are always classes; more than 20 are never class codes.
FEW_VALUES, MANY_VALUES = 5, 20


def choose_task(target: Any, task: str) -> str:
    """Task that the user chose, or with "auto" the one that the values of the target suggest.

    Texts and booleans are classes, and so are up to five different numbers. Whole numbers with up to 20 different
    values are for regression if their frequencies have a single peak, as those of school marks do; otherwise they are
    class codes. All other numbers are for regression.
    """
    if task != "auto":
        return task
    if target.dtype.kind not in "iuf":
        return "classification"
    values, counts = np.unique(target.to_numpy(), return_counts=True)
    if len(values) <= FEW_VALUES:
        return "classification"
    if are_whole(values) and len(values) <= MANY_VALUES and not has_one_peak(counts):
        return "classification"
    return "regression"


def has_one_peak(counts: Ints) -> bool:
    """True if counts rise to one peak and fall after it, except for chance, and are not all about equal."""
    peak = int(np.argmax(counts))
    steps = np.diff(counts) * np.where(np.arange(len(counts) - 1) < peak, 1, -1)
    chance = 2 * np.sqrt(counts[1:] + counts[:-1])  # two standard errors of a difference
    mean = counts.mean()
    uneven = ((counts - mean) ** 2).sum() / mean > 4 * (
        len(counts) - 1
    )  # χ² above 4 times its mean
    return bool(uneven and counts.max() > 2 * counts.min() and np.all(steps > -chance))


def are_whole(values: NDArray[Any]) -> bool:
    """True if all values are whole numbers."""
    return bool(np.isfinite(values).all() and np.all(values % 1 == 0))


def as_labels(target: Any, name: str) -> NDArray[Any]:
    """Classes of the target as an array; a `Mistake` if they cannot be learned."""
    numeric = target.dtype.kind in "biuf"
    labels = target.to_numpy() if numeric else target.astype(str).to_numpy().astype(np.str_)
    if labels.dtype.kind == "f":
        check_finite(labels, name)
        # Missing values make whole numbers floats; a class of any other float has its digits for a name.
        labels = (
            labels.astype(np.int64) if are_whole(labels) else labels.astype(str).astype(np.str_)
        )
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) == 1:
        raise Mistake(f"Column {name!r} is {classes[0]} in every row: there is nothing to predict.")
    if len(classes) > len(labels) / 2:
        hint = "pass --task regression" if numeric else "it looks like an id or free text"
        raise Mistake(
            f"Column {name!r} has {plural(len(classes), 'class')} in {plural(len(labels), 'row')}: {hint}."
        )
    rare = classes[counts < LEAST_PER_CLASS]
    if len(rare):
        raise Mistake(
            f"Every class of {name!r} needs {LEAST_PER_CLASS} rows, so that some can be held out, but "
            f"{listed(rare.tolist())} {'has' if len(rare) == 1 else 'have'} "
            f"{counts[counts < LEAST_PER_CLASS].min()}: merge it with another class, or remove its rows."
        )
    return labels


def as_target_numbers(target: Any, name: str) -> Floats:
    """Numbers of the target as an array; a `Mistake` if they cannot be learned."""
    if target.dtype.kind not in "biuf":
        raise Mistake(
            f"Column {name!r} holds {str(target.iloc[0])!r}, which is not a number: regression needs numbers."
        )
    values = np.asarray(target, dtype=np.float64)
    check_finite(values, name)
    if np.abs(values).max() >= LARGEST:
        raise Mistake(
            f"Column {name!r} holds {np.abs(values).max():.0e}, and models take no numbers above {LARGEST:.0e}: "
            "divide it."
        )
    if np.ptp(values) == 0:
        raise Mistake(
            f"Column {name!r} is {values[0]:g} in every row: there is nothing to predict."
        )
    return values


def check_finite(values: Floats, name: str) -> None:
    """Raise a `Mistake` if a target is infinite."""
    if not np.isfinite(values).all():
        raise Mistake(f"Column {name!r} holds infinite values, which no model can learn.")


def check_enough(n_rows: int, name: str) -> None:
    """Raise a `Mistake` if there are too few rows with a target."""
    if n_rows == 0:
        raise Mistake(f"Column {name!r} is empty: there is nothing to learn from.")
    if n_rows < LEAST_ROWS:
        raise Mistake(
            f"Column {name!r} has a value in {plural(n_rows, 'row')}, and {LEAST_ROWS} are needed to evaluate a model."
        )
