"""Target of a table: whether it is a class or a number, and checks that it can be learned."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._splits import too_rare
from surefoot._typing import Floats, Ints
from surefoot._words import listed, plural
from surefoot.cli._console import remark
from surefoot.cli._mistakes import Mistake

# Fewest rows of two classes, and fewest rows in all, so that some can be held out.
LEAST_PER_CLASS = 5
LEAST_ROWS = 20

# Floats hold all whole numbers up to this one.
LARGEST_CODE = 2**53

# Models take numbers of 32 bits.
LARGEST = 1e38

# Up to 5 different numbers are always classes; more than 20 are never class codes.
FEW_VALUES, MANY_VALUES = 5, 20

# Random orders that the order of the values is compared with.
N_ORDERS = 5000


def choose_task(target: Any, task: str) -> str:
    """Task that the user chose, or with "auto" the one that the values of the target suggest.

    Texts and booleans are classes, and so are up to five different numbers. Whole numbers with up to 20 different
    values are for regression if neighbouring values are about equally frequent, as with school marks, and not all
    values are; otherwise they are class codes. All other numbers are for regression.
    """
    if task != "auto":
        return task
    if target.dtype.kind not in "iuf":
        return "classification"
    values, counts = np.unique(target.to_numpy(), return_counts=True)
    if len(values) <= FEW_VALUES:
        return "classification"
    if are_whole(values) and len(values) <= MANY_VALUES and not are_in_order(counts):
        return "classification"
    return "regression"


def are_in_order(counts: Ints) -> bool:
    """True if the frequencies of values, by ascending value, are uneven and follow the order of the values."""
    mean = counts.mean()
    chi_squared = ((counts - mean) ** 2).sum() / mean
    is_uneven = chi_squared > 4 * (len(counts) - 1)  # 4 times what chance gives on average
    if not (is_uneven and counts.max() > 2 * counts.min()):
        return False
    return has_one_peak(counts) or are_smooth(counts)


def has_one_peak(counts: Ints) -> bool:
    """True if counts rise to one peak and fall after it, except for chance."""
    peak = int(np.argmax(counts))
    steps = np.diff(counts) * np.where(np.arange(len(counts) - 1) < peak, 1, -1)
    chance = 2 * np.sqrt(counts[1:] + counts[:-1])  # two standard errors of a difference
    return bool(np.all(steps > -chance))


def are_smooth(counts: Ints) -> bool:
    """True if neighbouring counts are more alike than in all but 1 % of random orders (a permutation test)."""
    roots = np.sqrt(counts)  # chance moves the root of any count by about as much
    draw = np.random.default_rng(0)
    orders = draw.permuted(np.tile(roots, (N_ORDERS, 1)), axis=1)
    rougher = np.abs(np.diff(orders, axis=1)).sum(axis=1) > np.abs(np.diff(roots)).sum()
    return bool(np.mean(rougher) > 0.99)


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
        are_codes = are_whole(labels) and np.abs(labels).max() < LARGEST_CODE
        labels = labels.astype(np.int64) if are_codes else labels.astype(str).astype(np.str_)
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) == 1:
        raise Mistake(f"Column {name!r} is {classes[0]} in every row: there is nothing to predict.")
    are_fractions = numeric and labels.dtype.kind == "U"
    if len(classes) > len(labels) / 2 or (are_fractions and len(classes) > MANY_VALUES):
        raise too_many_classes(len(classes), len(labels), name, numeric=numeric)
    if np.count_nonzero(counts >= LEAST_PER_CLASS) < 2:
        raise Mistake(
            f"Fewer than two classes of {name!r} have {LEAST_PER_CLASS} rows, so that some can be held out: merge rare "
            "classes, or add rows."
        )
    return labels


def too_many_classes(n_classes: int, n_rows: int, name: str, *, numeric: bool) -> Mistake:
    """Sentence for a target that holds no classes: continuous numbers, ids or free text."""
    if numeric:
        return Mistake(
            f"Column {name!r} holds {n_classes:,} different numbers in {plural(n_rows, 'row')}, too many for classes: "
            "pass --task regression (and a regressor), or divide them into classes first."
        )
    return Mistake(
        f"Column {name!r} has {plural(n_classes, 'class')} in {plural(n_rows, 'row')}: it looks like an id or free "
        "text."
    )


def check_classes_in_groups(labels: NDArray[Any], groups: NDArray[Any], name: str) -> None:
    """Raise a `Mistake` if fewer than two classes can be held out in whole groups."""
    try:
        too_rare(labels, groups, LEAST_PER_CLASS)
    except ValueError as error:
        raise Mistake(
            f"Fewer than two classes of {name!r} can be held out, because a group that alone has a class cannot: leave "
            "out that class, or --groups."
        ) from error


def remark_on_rare_classes(labels: NDArray[Any], groups: NDArray[Any] | None) -> None:
    """Say which rows are learned from but never held out, because too few rows or groups have their class."""
    rare = too_rare(labels, groups, LEAST_PER_CLASS)
    if not rare.any():
        return
    n_rare, few = int(rare.sum()), "rows" if groups is None else "groups"
    classes = np.setdiff1d(labels[rare], labels[~rare]).tolist()
    remark(
        f"{plural(n_rare, 'row')} {'is' if n_rare == 1 else 'are'} learned from but never held out: too few {few} have "
        f"{listed(classes)}."
    )


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
