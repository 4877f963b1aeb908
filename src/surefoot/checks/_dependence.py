"""Rows that depend on each other: those of one entity, and those that stand together in the table."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as fisher
from scipy.stats import norm, rankdata
from scipy.stats import t as student
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold

from surefoot._models import fit_model, predict_labels
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot._words import number, p_value_words
from surefoot.checks._columns import (
    LEVEL,
    MOST_ROWS,
    N_FOLDS,
    CodedColumn,
    Finding,
    bin_codes,
    explained,
    held_out_means,
    mean_loss_words,
    sample_rows,
    target_spread,
)

# Share of the loss by which it must differ to be worth a sentence.
LEAST_GAP = 0.05

# An entity has so many rows, and there are so many entities, or half the square root of the number of rows.
LEAST_ROWS_EACH, LEAST_ENTITIES, LEAST_NAMED = 2.0, 20, 8

# Most columns that are tried, and the share of the target's spread that an entity explains beyond its size as a number.
MOST_TRIED, LEAST_EXPLAINED, SMOOTH_BINS = 2, 0.02, 10

# Trial with a small model: most rows, folds, trees, and most classes whose shares in a group the model knows.
MOST_TRIAL_ROWS, TRIAL_FOLDS, N_TREES, MOST_MEANS = 3000, 3, 30, 10

# Ends of names that people give to columns of entities.
ENTITY_NAME = re.compile(
    r"(^|[\W_])(id|ids|uid|key|group|subject|patient|person|user|customer|client|speaker|device|household|site)s?$",
    re.IGNORECASE,
)

# Folds that are compared, where it is not known how many were used.
DEFAULT_FOLDS = 5

# Most rows for which the order is compared, and blocks of rows that stand together, over which losses are compared.
MOST_ORDERED_ROWS, N_BLOCKS = 3000, 50

# Test of the order of rows, before a model is fitted for it: the probability with which rows in random order are looked
# at more closely; parts of the table, in its order, whose means are compared; most rows, in blocks at equal distances,
# and most columns that are looked at.
ORDER_LEVEL = 0.01
MOST_PARTS, LEAST_IN_A_PART = 50, 10
N_SHORT_BLOCKS, LONGEST_BLOCK, MOST_COLUMNS = 40, 75, 200


def find_entities(
    columns: list[CodedColumn], y: NDArray[Any], is_regression: bool, random_state: int
) -> Finding | None:
    """Find columns whose values look like entities that should be held out together, the largest difference first.

    Such a column has many values of several rows each, which explain more of the target than their order as numbers
    does. A small model is then fitted twice, with rows held out at random and with all rows of a value held out
    together; the column is returned if the second is worse by more than chance and by at least 5 %.
    """
    rows = sample_rows(len(y), MOST_ROWS, random_state)
    columns, targets = [column.take(rows) for column in columns], y[rows]
    if not is_regression:
        labels = targets.astype(str) if y.dtype.kind == "O" else targets
        targets = np.unique(labels, return_inverse=True)[1]
    entities = []
    candidates = _candidates(columns, target_spread(targets, is_regression), random_state)
    for place in candidates:
        shuffled, grouped, p_value = _try_entity(
            place, columns, targets, is_regression, random_state
        )
        if p_value * len(candidates) < LEVEL and grouped > (1 + LEAST_GAP) * shuffled:
            entities.append((shuffled - grouped, columns[place], shuffled, grouped, p_value))
    if not entities:
        return None
    entities.sort(key=lambda each: each[0])
    _, first, shuffled, grouped, p_value = entities[0]
    sentence = (
        f"Rows with the same value of “{first.name}” ({number(first.n_values)} values) depend on each other. A small "
        f"model is {mean_loss_words(shuffled, is_regression)} if rows are held out at random, and "
        f"{mean_loss_words(grouped, is_regression)} if all rows of a value are held out together, "
        f"{p_value_words(p_value)}."
    )
    evidence = {"shuffled": shuffled, "grouped": grouped, "p_value": p_value}
    names = tuple(column.name for _, column, *_ in entities)
    return Finding("entity", sentence, names, evidence=evidence)


def _candidates(columns: list[CodedColumn], spread: Floats, random_state: int) -> list[int]:
    """Positions of the columns that look most like entities."""
    if not spread.any():
        return []
    folds = np.random.default_rng(random_state).permutation(len(spread)) % N_FOLDS
    gains = {}
    for i, column in enumerate(columns):
        if _looks_like_entities(column):
            values = column.codes, column.n_values
            gains[i] = explained(spread, held_out_means(*values, spread, folds))
            if column.numbers is not None:  # beyond what they explain as numbers of a size
                sizes = held_out_means(*bin_codes(column, SMOOTH_BINS), spread, folds)
                gains[i] -= max(explained(spread, sizes), 0.0)
    kept = [i for i, gain in gains.items() if gain > LEAST_EXPLAINED]
    return sorted(kept, key=lambda i: -gains[i])[:MOST_TRIED]


def _looks_like_entities(column: CodedColumn) -> bool:
    """Whether a column of whole numbers or strings has many values, and nearly all of them several times."""
    if column.numbers is not None and not column.is_whole:
        return False
    n_rows, counts = len(column.codes), column.counts
    named = ENTITY_NAME.search(column.name) is not None
    least = LEAST_NAMED if named else max(LEAST_ENTITIES, np.sqrt(n_rows) / 2)
    repeated = counts[counts > 1].sum() >= 0.8 * n_rows
    enough = column.n_values >= least and n_rows >= LEAST_ROWS_EACH * column.n_values
    return bool(enough and repeated and counts.max() <= 0.3 * n_rows)


def _try_entity(
    place: int, columns: list[CodedColumn], y: NDArray[Any], is_regression: bool, random_state: int
) -> tuple[float, float, float]:
    """Mean losses of a small model with rows, and with the values of a column, held out; p-value of the difference.

    The model has the other columns, and the mean target of a known group.
    """
    rows = _rows_of_some_values(columns[place].codes, random_state)
    others = [
        column.codes[rows] if column.numbers is None else column.numbers[rows]
        for i, column in enumerate(columns)
        if i != place
    ]
    # A constant, as the model needs a column.
    table = np.column_stack([np.zeros(len(rows)), *others]).astype(np.float64)
    groups, y = np.unique(columns[place].codes[rows], return_inverse=True)[1], y[rows]
    kind = HistGradientBoostingRegressor if is_regression else HistGradientBoostingClassifier

    def predict(train: Ints, test: Ints) -> NDArray[Any]:
        spread = target_spread(y[train], is_regression)[:, :MOST_MEANS]
        of_train, of_test = _group_means(groups[train], groups[test], spread, random_state)
        model = kind(
            max_iter=N_TREES, max_leaf_nodes=15, early_stopping=False, random_state=random_state
        ).fit(np.column_stack([table[train], of_train]), y[train])
        return model.predict(np.column_stack([table[test], of_test]))

    together = np.empty(len(rows), dtype=np.int64)
    splitter = GroupKFold(TRIAL_FOLDS, shuffle=True, random_state=random_state)
    for fold, (_, test) in enumerate(splitter.split(table, groups=groups)):
        together[test] = fold
    shuffled = _shuffled_losses(y, TRIAL_FOLDS, is_regression, random_state, predict)
    return _compare(shuffled, _held_out_losses(y, together, is_regression, predict), groups)


def _rows_of_some_values(codes: Ints, random_state: int) -> Ints:
    """Positions of all rows, or of those of as many values, drawn at random, as are tried."""
    if len(codes) <= MOST_TRIAL_ROWS:
        return np.arange(len(codes))
    counts = np.bincount(codes)
    order = np.random.default_rng(random_state).permutation(len(counts))
    return np.flatnonzero(np.isin(codes, order[np.cumsum(counts[order]) <= MOST_TRIAL_ROWS]))


def _group_means(
    known: Ints, new: Ints, spread: Floats, random_state: int
) -> tuple[Floats, Floats]:
    """Mean target of each row's group (target encoding): from other training rows, and for new rows from all."""
    n_groups = int(max(known.max(), new.max())) + 1
    inner = np.random.default_rng(random_state).permutation(len(known)) % N_FOLDS
    counts = np.bincount(known, minlength=n_groups)
    sums = np.column_stack([np.bincount(known, each, minlength=n_groups) for each in spread.T])
    means = sums / (counts[:, None] + 1)
    return held_out_means(known, n_groups, spread, inner), means[new]


def may_be_ordered(held_out: Any, X: Any, coordinates: Callable[[Any], Any]) -> bool:
    """Whether rows that stand together resemble each other in columns, target, error, or in how both go together.

    A cheap test before an expensive one. Rows in random order do so in 1 % of tables. Where rows do not resemble their
    neighbours in the table in any of these, folds of rows that stand together are as good as shuffled ones.
    """
    n_rows = len(held_out.rows)
    places = np.arange(n_rows)
    if n_rows > N_SHORT_BLOCKS * LONGEST_BLOCK:
        starts = np.linspace(0, n_rows - LONGEST_BLOCK, N_SHORT_BLOCKS).astype(np.int64)
        places = (starts[:, None] + np.arange(LONGEST_BLOCK)).ravel()
    space = coordinates(take_rows(X, held_out.rows[places]))
    if hasattr(space, "toarray"):
        sums = np.asarray(abs(space).sum(axis=0)).ravel()
        space = space[:, np.argsort(-sums)[:MOST_COLUMNS]].toarray()
    columns = np.asarray(space, dtype=np.float64)[:, :MOST_COLUMNS]
    truth, predicted = held_out.truth[places, None], held_out.prediction[places, None]
    if held_out.classes is not None:  # a column of zeros and ones for each of the first classes
        classes = np.unique(held_out.truth)
        first = classes[1 : MOST_COLUMNS + 1]
        errors = (truth == first).astype(np.float64) - (predicted == first)
        truth = truth == classes[:MOST_COLUMNS]
    else:
        errors = (truth - predicted).astype(np.float64)
    interactions = columns * errors.mean(axis=1)[:, None]
    table = np.column_stack([columns, held_out.losses[places], errors, interactions, truth])
    return order_p_value(table.astype(np.float64)) < ORDER_LEVEL


def order_p_value(table: Floats) -> float:
    """Least p-value over the columns, times their number and two: rows follow similar rows, or parts differ.

    Each column is tested for a correlation of rows with those that follow, and for different means of its parts in the
    order of the table (analysis of variance). Columns are left out where so few rows differ from the most frequent
    value that fewer than five neighbours among them are due by chance.
    """
    n_rows = len(table)
    n_most = np.array([np.unique(column, return_counts=True)[1].max() for column in table.T])
    table = table[:, (n_rows - n_most) ** 2 >= 5 * n_rows]
    n_parts = min(MOST_PARTS, n_rows // LEAST_IN_A_PART)
    if table.shape[1] == 0 or n_parts < 2:
        return 1.0
    ranks = rankdata(table, axis=0)  # a few very large values must not decide
    centred = (ranks - ranks.mean(axis=0)) / ranks.std(axis=0)
    following = (centred[1:] * centred[:-1]).mean(axis=0) * np.sqrt(n_rows)
    parts = np.arange(n_rows) * n_parts // n_rows
    sizes = np.bincount(parts)
    means = np.add.reduceat(centred, np.searchsorted(parts, np.arange(n_parts))) / sizes[:, None]
    between = (sizes[:, None] * means**2).sum(axis=0)
    # Nothing is left within the parts of sorted classes.
    within = np.maximum(n_rows - between, 1e-9)
    ratio = between / (n_parts - 1) / (within / (n_rows - n_parts))
    smallest = min(norm.sf(following).min(), fisher.sf(ratio, n_parts - 1, n_rows - n_parts).min())
    return float(min(1.0, 2 * table.shape[1] * smallest))


def find_order(
    estimator: Any,
    table: Any,
    y: NDArray[Any],
    splits: Ints | None,
    losses: Floats,
    random_state: int,
) -> Finding | None:
    """Compare cross-validation with shuffled folds and with folds of rows that stand together.

    If both differ by more than chance and by at least 5 %, a row is easier to predict where its neighbours in the
    table are known: rows of one person, place or time stand together, or the data drift. `losses` are those of the
    rows that `splits` held out in shuffled folds. Of a longer table, blocks of rows are compared. None without a model,
    or if it cannot be fitted on ordered folds.
    """
    n_folds = DEFAULT_FOLDS if splits is None else len(np.unique(splits[splits >= 0]))
    if estimator is None or len(y) < 2 * n_folds:
        return None
    is_regression = not is_classifier(estimator)
    rows = np.arange(len(y))
    if len(y) > MOST_ORDERED_ROWS:  # blocks at equal distances
        size = MOST_ORDERED_ROWS // N_BLOCKS
        starts = np.linspace(0, len(y) - size, N_BLOCKS).astype(np.int64)
        rows = np.unique(starts[:, None] + np.arange(size))
    part, targets = take_rows(table, rows), y[rows]

    def predict(train: Ints, test: Ints) -> NDArray[Any]:
        model = fit_model(estimator, take_rows(part, train), targets[train])
        return predict_labels(model, take_rows(part, test))

    in_order = np.arange(len(rows)) * n_folds // len(rows)
    try:
        ordered_losses = _held_out_losses(targets, in_order, is_regression, predict)
        if splits is None or (splits < 0).any() or len(rows) < len(y):
            losses = _shuffled_losses(targets, n_folds, is_regression, random_state, predict)
    except ValueError:  # for example, a model that needs several rows of each class
        return None
    blocks = np.arange(len(rows)) * min(N_BLOCKS, len(rows)) // len(rows)
    shuffled, ordered, p_value = _compare(losses, ordered_losses, blocks)
    if p_value >= LEVEL or ordered <= (1 + LEAST_GAP) * shuffled:
        return None
    on_rows = "" if len(rows) == len(y) else f" on {number(len(rows))} rows"
    sentence = (
        f"The order of the rows matters: the model is {mean_loss_words(shuffled, is_regression)} if rows are held out "
        f"at random (shuffled folds), and {mean_loss_words(ordered, is_regression)} if rows that stand together are "
        f"held out together (ordered folds){on_rows}, {p_value_words(p_value)}."
    )
    sorted_by_target = _is_sorted(targets, is_regression)
    if sorted_by_target:
        sentence += " The rows are sorted by the target, so ordered folds lack parts of it: that may be the reason."
    evidence = {
        "shuffled": shuffled,
        "ordered": ordered,
        "p_value": p_value,
        "sorted_by_target": sorted_by_target,
    }
    return Finding("order", sentence, evidence=evidence)


def _is_sorted(y: NDArray[Any], is_regression: bool) -> bool:
    """Whether targets that stand together are equal, or nearly in ascending or descending order."""
    if not is_regression:
        return int((y[1:] != y[:-1]).sum()) <= 2 * len(np.unique(y))
    steps = np.sign(np.diff(y))
    return bool(len(steps) and abs(steps.sum()) >= 0.9 * np.count_nonzero(steps) > 0)


def _shuffled_losses(
    y: NDArray[Any],
    n_folds: int,
    is_regression: bool,
    random_state: int,
    predict: Callable[[Ints, Ints], NDArray[Any]],
) -> Floats:
    """Loss of each row with folds drawn at random; each class, if there are any, is spread over the folds."""
    order = np.random.default_rng(random_state).permutation(len(y))
    if not is_regression:
        order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), dtype=np.int64)
    folds[order] = np.arange(len(y)) % n_folds
    return _held_out_losses(y, folds, is_regression, predict)


def _held_out_losses(
    y: NDArray[Any],
    folds: Ints,
    is_regression: bool,
    predict: Callable[[Ints, Ints], NDArray[Any]],
) -> Floats:
    """Loss of each row: 0 or 1, or the size of the error; a single class is predicted without a model.

    `predict` fits a model on the first of two sets of rows, and predicts the second.
    """
    losses = np.empty(len(y))
    for fold in np.unique(folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        has_one_class = not is_regression and (y[train] == y[train[0]]).all()
        predicted = np.repeat(y[train[:1]], len(test)) if has_one_class else predict(train, test)
        losses[test] = np.abs(predicted - y[test]) if is_regression else predicted != y[test]
    return losses


def _compare(shuffled: Floats, together: Floats, units: Ints) -> tuple[float, float, float]:
    """Mean losses with shuffled folds and with folds of rows that belong together, and a p-value by Student's t.

    The hypothesis is that the second is no higher. Rows of one unit, numbered from 0, may depend on each other;
    differences of units must not.
    """
    means = float(shuffled.mean()), float(together.mean())
    gaps, n_units = together - shuffled, int(units.max()) + 1
    if n_units < 2 or not gaps.any():
        return *means, 1.0
    sums = np.bincount(units, gaps - gaps.mean())
    spread = np.sqrt(n_units / (n_units - 1) * float(sums @ sums))
    if spread <= 1e-12 * np.abs(gaps).sum():  # every row differs by the same
        return *means, float(gaps[0] <= 0)
    return *means, float(student.sf(gaps.sum() / spread, n_units - 1))
