"""Columns whose values are persons, places or things of which there are many rows."""

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold
from sklearn.utils import check_consistent_length, column_or_1d

from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot.checks._coding import LEVEL, CodedColumn, bin_codes, code_columns, sample_rows
from surefoot.checks._fold_orders import LEAST_GAP, compare_losses, shuffled_folds
from surefoot.checks._leaks import (
    MOST_ROWS,
    N_FOLDS,
    explained,
    held_out_means,
    is_regression,
    target_spread,
)

# An entity has so many rows, and there are so many entities, or half the square root of the number of rows.
LEAST_ROWS_EACH = 2.0
LEAST_ENTITIES = 20
LEAST_NAMED = 8

# Most columns that are tried, and the share of the target's spread that an entity explains beyond its size as a number.
MOST_TRIED = 2
LEAST_EXPLAINED = 0.02
SMOOTH_PARTS = 10

# The trial: most rows, folds and trees.
MOST_TRIAL_ROWS = 3000
TRIAL_FOLDS = 3
N_TREES = 30

# Most classes whose shares in a group the trial knows.
MOST_MEANS = 10

# Ends of names that people give to columns of entities.
ENTITY_NAME = re.compile(
    r"(^|[\W_])(id|ids|uid|key|group|subject|patient|person|user|customer|client|speaker|device|household|site)s?$",
    re.IGNORECASE,
)


class Entity(NamedTuple):
    """Column whose values look like persons, places or things: rows with one value depend on each other.

    `shuffled` and `grouped` are mean losses of a small boosting model, with rows held out at random and with all rows
    of a value held out together; `p_value` is the probability of the difference if rows were independent.
    """

    column: str
    n_values: int
    shuffled: float
    grouped: float
    p_value: float


def find_entities(
    X: Any, y: Any, *, task: str | None = None, random_state: int = 0
) -> list[Entity]:
    """Find columns whose values look like entities that should be held out together, as `groups`.

    Such a column has many values of several rows each, which say more about the target than their order as numbers
    does. A small model is then fitted twice, with rows held out at random and with all rows of a value held out
    together; the column is returned if the second is worse by more than chance and by at least 5 %. Whether new rows
    will be of new entities, a person has to say.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        Rows; sparse rows and lists of texts are not searched.
    y : array-like of shape (n_rows,)
        Their targets.
    task : {"classification", "regression"}, default=None
        What the targets are; None takes numbers of more than 20 different values for a regression.
    random_state : int, default=0
        Seed of the folds and of the samples of large tables.

    Returns
    -------
    entities : list of Entity
        The largest difference first.

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> shop = draw.permutation(np.repeat(np.arange(50), 12))
    >>> X = np.column_stack([shop, draw.normal(size=600)])
    >>> y = draw.normal(size=50)[shop] + 0.5 * draw.normal(size=600)
    >>> [entity.column for entity in find_entities(X, y)]
    ['column 0']
    """
    table, y = as_table(X), column_or_1d(y)
    check_consistent_length(table, y)
    rows = sample_rows(len(y), MOST_ROWS, random_state)
    columns, targets = code_columns(take_rows(table, rows)), y[rows]
    ranked = is_regression(y, task)
    if not ranked:
        targets = np.unique(_as_labels(targets), return_inverse=True)[1]
    candidates = _candidates(columns, target_spread(targets, ranked), random_state)
    tried = [_try(i, columns, targets, ranked, random_state) for i in candidates]
    kept = [
        each
        for each in tried
        if each.p_value * len(tried) < LEVEL and each.grouped > (1 + LEAST_GAP) * each.shuffled
    ]
    return sorted(kept, key=lambda each: each.shuffled - each.grouped)


def _as_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Classes that can be sorted."""
    return y.astype(str) if y.dtype.kind == "O" else y


def _candidates(columns: list[CodedColumn], spread: Floats, random_state: int) -> list[int]:
    """Positions of the columns that look most like entities."""
    if not spread.any():
        return []
    folds = np.random.default_rng(random_state).permutation(len(spread)) % N_FOLDS
    gains = {}
    for i, column in enumerate(columns):
        if looks_like_entities(column):
            gains[i] = _explained_beyond_size(column, spread, folds)
    kept = [i for i, gain in gains.items() if gain > LEAST_EXPLAINED]
    return sorted(kept, key=lambda i: -gains[i])[:MOST_TRIED]


def looks_like_entities(column: CodedColumn) -> bool:
    """Whether a column of whole numbers or texts has many values, and nearly all of them several times."""
    if column.numbers is not None and not column.is_whole:
        return False
    n_rows, counts = len(column.codes), column.counts
    named = ENTITY_NAME.search(column.name) is not None
    least = LEAST_NAMED if named else max(LEAST_ENTITIES, np.sqrt(n_rows) / 2)
    repeated = counts[counts > 1].sum() >= 0.8 * n_rows
    enough = column.n_values >= least and n_rows >= LEAST_ROWS_EACH * column.n_values
    return bool(enough and repeated and counts.max() <= 0.3 * n_rows)


def _explained_beyond_size(column: CodedColumn, spread: Floats, folds: Ints) -> float:
    """Share of the spread that the values explain, less what they explain as numbers of a size."""
    by_value = explained(spread, held_out_means(column.codes, column.n_values, spread, folds))
    if column.numbers is None:
        return by_value
    by_size = explained(spread, held_out_means(*bin_codes(column, SMOOTH_PARTS), spread, folds))
    return by_value - max(by_size, 0.0)


def _try(
    place: int, columns: list[CodedColumn], y: NDArray[Any], ranked: bool, random_state: int
) -> Entity:
    """Losses of a small model with rows, and with the values of a column, held out."""
    rows = _rows_of_some_values(columns[place].codes, random_state)
    others = [
        column.codes[rows] if column.numbers is None else column.numbers[rows]
        for i, column in enumerate(columns)
        if i != place
    ]
    # A constant, as the model needs a column.
    table = np.column_stack([np.zeros(len(rows)), *others]).astype(np.float64)
    groups = np.unique(columns[place].codes[rows], return_inverse=True)[1]
    targets = y[rows]
    together = np.empty(len(rows), dtype=np.int64)
    splitter = GroupKFold(TRIAL_FOLDS, shuffle=True, random_state=random_state)
    for fold, (_, test) in enumerate(splitter.split(table, groups=groups)):
        together[test] = fold
    alone = shuffled_folds(targets, TRIAL_FOLDS, not ranked, random_state)
    shuffled, grouped = (
        trial_losses(table, groups, targets, folds, ranked, random_state)
        for folds in (alone, together)
    )
    return Entity(
        columns[place].name,
        columns[place].n_values,
        float(shuffled.mean()),
        float(grouped.mean()),
        compare_losses(grouped, shuffled, groups),
    )


def trial_losses(
    table: Floats, groups: Ints, y: NDArray[Any], folds: Ints, ranked: bool, random_state: int
) -> Floats:
    """Held-out losses of boosted trees that know the other columns, and the mean target of a known group."""
    losses = np.empty(len(y))
    kind = HistGradientBoostingRegressor if ranked else HistGradientBoostingClassifier
    for fold in np.unique(folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if not ranked and (y[train] == y[train[0]]).all():
            losses[test] = y[test] != y[train[0]]
            continue
        spread = target_spread(y[train], ranked)[:, :MOST_MEANS]
        of_train, of_test = _group_means(groups[train], groups[test], spread, random_state)
        model = kind(
            max_iter=N_TREES, max_leaf_nodes=15, early_stopping=False, random_state=random_state
        ).fit(np.column_stack([table[train], of_train]), y[train])
        predicted = model.predict(np.column_stack([table[test], of_test]))
        losses[test] = np.abs(predicted - y[test]) if ranked else predicted != y[test]
    return losses


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


def _rows_of_some_values(codes: Ints, random_state: int) -> Ints:
    """Positions of all rows, or of those of as many values, drawn at random, as are tried."""
    if len(codes) <= MOST_TRIAL_ROWS:
        return np.arange(len(codes))
    counts = np.bincount(codes)
    order = np.random.default_rng(random_state).permutation(len(counts))
    kept = order[np.cumsum(counts[order]) <= MOST_TRIAL_ROWS]
    return np.flatnonzero(np.isin(codes, kept))
