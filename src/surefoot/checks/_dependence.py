"""Rows that depend on each other: those of one entity, and those that stand together in the table."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ConstantInputWarning, f_oneway, norm, rankdata
from scipy.stats import t as student
from sklearn.base import is_classifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit

from surefoot._models import fit_model, predict_labels
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints, Split
from surefoot._words import number, p_value_words
from surefoot.checks._columns import (
    LEVEL,
    MOST_ROWS,
    N_FOLDS,
    CodedColumn,
    Finding,
    code_columns,
    held_out_means,
    is_part_of_date,
    mean_loss_words,
    sample_rows,
    target_spread,
    time_option,
)

# Share of the loss by which it must differ to be worth a sentence.
LEAST_GAP = 0.05

# An entity's column has so many values at least, and two rows of each on average. Most of its rows have a value that
# occurs again, and no value has more than half of them.
LEAST_VALUES, LEAST_REPEATED, MOST_OF_ONE = 5, 0.8, 0.5

# Values tell rows apart if they explain so much of another column, or of the target, on held-out rows. Numbers of which
# the values next to them explain half of that have a size: they are measurements or counts.
LEAST_EXPLAINED, MOST_BY_SIZE = 0.02, 0.5

# The model of a trial knows the value itself if the column looks like a list of names: so many values (fewer if the
# column is called like one), with digits, in no order, or so many of them in one row only that new ones will come.
LEAST_NAMES, LEAST_IF_CALLED, LEAST_SINGLE = 20, 8, 0.01

# Trials with a small model: most columns tried, columns that are compared with these, rows in all, rows of a value if
# there are more in all, folds of many and of few values, trees, columns to choose a split from, and classes whose
# shares among a value's rows the model knows.
MOST_TRIED, MOST_COMPARED, MOST_TRIAL_ROWS, ROWS_OF_A_VALUE = 2, 30, 2000, 30
TRIAL_FOLDS, FOLDS_OF_FEW, N_TREES, MOST_FEATURES, MOST_MEANS = 3, 5, 10, 20, 10

# Points of the error, or of a rare class's share or a constant's error if that is less, by which it must rise; and the
# level at which values, and not only rows, must agree that it does.
LEAST_EFFECT, LEVEL_OF_VALUES = 0.03, 0.05

# Ends of names that people give to columns of entities.
ENTITY_NAME = re.compile(
    r"(^|[\W_])(id|ids|uid|key|group|subject|patient|person|user|customer|client|speaker|device|household|site)s?\W*$",
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
    """Find columns whose values are entities that should be held out together, the clearest first.

    A small model is cross-validated twice, with rows held out at random and with all rows of a value held out together.
    The column itself is no input, so that a useful category is no entity: only rows that are alike beyond the value
    make a difference. Where the values look like names, of which new rows may have others, the model also knows the
    mean target of each value that it has seen. The column is returned if the error rises by 3 points or more, by more
    than chance, and for the values in general.
    """
    rows = sample_rows(len(y), MOST_ROWS, random_state)
    columns, targets = [column.take(rows) for column in columns], y[rows]
    if not is_regression:
        labels = targets.astype(str) if y.dtype.kind == "O" else targets
        targets = np.unique(labels, return_inverse=True)[1]
    candidates = _candidates(columns, target_spread(targets, is_regression), random_state)
    tried = [
        (
            columns[place],
            _try_entity(place, columns, targets, is_regression, is_known, random_state),
        )
        for place, is_known in candidates.items()
    ]
    entities = [(column, effect) for column, effect in tried if effect is not None]
    if not entities:
        return None
    first, effect = entities[0]
    low = number(effect["low"]) if is_regression else f"{number(100 * effect['low'])} points"
    sentence = (
        f"Rows with the same value of “{first.name}” ({number(first.n_values)} values) depend on each other. A small "
        f"model is {mean_loss_words(effect['shuffled'], is_regression)} if rows are held out at random, and "
        f"{mean_loss_words(effect['grouped'], is_regression)} if all rows of a value are held out together: a "
        f"difference of at least {low}, with 95 % confidence."
    )
    names = tuple(column.name for column, _ in entities)
    return Finding("entity", sentence, names, evidence=effect)


def _candidates(columns: list[CodedColumn], spread: Floats, random_state: int) -> dict[int, bool]:
    """Positions of the columns whose values tell rows apart best; True where the value itself is to be an input."""
    draw = np.random.default_rng(random_state)
    folds = draw.permutation(len(spread)) % N_FOLDS
    compared = draw.permutation(len(columns))[:MOST_COMPARED]
    ranks = [rankdata(columns[i].codes) / len(spread) for i in compared]
    table = np.column_stack([*ranks, spread[:, :MOST_MEANS]])
    table = table - table.mean(axis=0)
    gains, are_names = {}, {}
    for i, column in enumerate(columns):
        if _may_hold_entities(column):
            own = _explained(table, held_out_means(column.codes, column.n_values, table, folds))
            sizes = np.zeros_like(own)
            if column.numbers is not None:
                sizes = _explained(table, _means_of_neighbors(column, table))
            own[: len(ranks)][compared == i] = sizes[: len(ranks)][compared == i] = 0.0
            others, target = np.split((own - sizes).clip(0), [len(ranks)])
            are_names[i] = _are_names(column)
            # Without the column, only others can tell the value.
            most = max(others.max(), target.max() * are_names[i])
            if sizes.sum() < MOST_BY_SIZE * own.sum() and most > LEAST_EXPLAINED:
                gains[i] = others.sum() + target.mean()
    best = sorted(gains, key=lambda i: -gains[i])[:MOST_TRIED]
    return {i: are_names[i] for i in best}


def _may_hold_entities(column: CodedColumn) -> bool:
    """Whether a column of strings or whole numbers, none missing and no part of a date, has repeated values."""
    n_rows, counts = len(column.codes), column.counts
    is_complete = column.is_whole or len(column.labels) == column.n_values
    if not is_complete or column.is_date or is_part_of_date(column.name):
        return False
    is_few = LEAST_VALUES <= column.n_values <= n_rows / 2
    repeated = counts[counts > 1].sum() >= LEAST_REPEATED * n_rows
    return bool(is_few and repeated and counts.max() <= MOST_OF_ONE * n_rows)


def _explained(table: Floats, predicted: Floats) -> Floats:
    """Share of the sum of squares of each column that predictions explain, 0 at least."""
    left = ((table - predicted) ** 2).sum(axis=0)
    return np.asarray((1 - left / np.maximum((table**2).sum(axis=0), 1e-12)).clip(0))


def _means_of_neighbors(column: CodedColumn, table: Floats) -> Floats:
    """Means of the rows that have the next lower or the next higher value of a column."""
    counts = np.column_stack([np.ones(len(table)), table])
    sums = np.zeros((column.n_values + 2, counts.shape[1]))
    np.add.at(sums, column.codes + 1, counts)
    near = (sums[:-2] + sums[2:])[column.codes]
    return near[:, 1:] / (near[:, :1] + 1)


def _are_names(column: CodedColumn) -> bool:
    """Whether values look like names, so that new rows may have others; numbers of no order do."""
    n_rows, is_called = len(column.codes), ENTITY_NAME.search(column.name) is not None
    if column.n_values < (LEAST_IF_CALLED if is_called else max(LEAST_NAMES, np.sqrt(n_rows) / 2)):
        return False
    have_digits = all(any(map(str.isdigit, label)) for label in column.labels)
    return is_called or have_digits or bool((column.counts == 1).sum() >= LEAST_SINGLE * n_rows)


def _try_entity(
    place: int,
    columns: list[CodedColumn],
    y: NDArray[Any],
    is_regression: bool,
    is_known: bool,
    random_state: int,
) -> dict[str, float] | None:
    """Mean losses of a small model with rows, and with the values of a column, held out; None if there is no effect.

    The model has the other columns, except for those that only rename the values. If `is_known`, it also has the value
    and its mean target where rows are held out at random; new values would mean nothing to it. It knows the target's
    mean, or the shares of classes, which rows that are held out together change.
    """
    rows = _rows_of_values(columns[place].codes, random_state)
    column, y = columns[place].take(rows), y[rows]
    others = [each.take(rows) for i, each in enumerate(columns) if i != place]
    # A constant, as the model needs a column.
    inputs = [each.codes for each in others if not _renames(each, column)]
    table = np.column_stack([np.zeros(len(rows)), *inputs])
    kind = ExtraTreesRegressor if is_regression else ExtraTreesClassifier
    settings = {"n_estimators": N_TREES, "max_features": min(table.shape[1], MOST_FEATURES)}

    def predict(train: Ints, test: Ints, is_known: bool = False) -> NDArray[Any]:
        of_train, of_test = table[train], table[test]
        if is_known:
            codes = column.codes
            spread = target_spread(y[train], is_regression)[:, :MOST_MEANS]
            means = _group_means(codes[train], codes[test], spread, random_state)
            of_train = np.column_stack([of_train, codes[train], means[0]])
            of_test = np.column_stack([of_test, codes[test], means[1]])
        model = kind(**settings, random_state=random_state).fit(of_train, y[train])
        if is_regression:
            return model.predict(of_test) + (y.mean() - y[train].mean())
        known = np.bincount(y[train])[model.classes_] / len(train)
        shares = np.bincount(y)[model.classes_] / len(y)
        return model.classes_[(model.predict_proba(of_test) * shares / known).argmax(axis=1)]

    n_folds = TRIAL_FOLDS if column.n_values >= LEAST_NAMES else FOLDS_OF_FEW
    splitter = GroupKFold(n_folds, shuffle=True, random_state=random_state)
    together = splitter.split(table, groups=column.codes)
    with_value = partial(predict, is_known=is_known)
    by_row = _shuffled_losses(y, n_folds, is_regression, random_state, with_value)
    by_value = _held_out_losses(y, together, is_regression, predict)
    shuffled, grouped, p_of_rows = _compare(by_row, by_value, np.arange(len(rows)))
    p_value = _compare(by_row, by_value, column.codes)[2]
    constant = float(
        np.abs(y - np.median(y)).mean() if is_regression else 2 - 2 * np.bincount(y).max() / len(y)
    )
    least = LEAST_EFFECT * (constant if is_regression else min(constant, 1.0))
    if grouped - shuffled < least or p_of_rows >= LEVEL or p_value >= LEVEL_OF_VALUES:
        return None
    quantiles = student.isf([LEVEL_OF_VALUES, p_value], column.n_values - 1)
    low = (grouped - shuffled) * float(1 - quantiles[0] / quantiles[1])
    return {"shuffled": shuffled, "grouped": grouped, "low": low, "p_value": p_value}


def _rows_of_values(codes: Ints, random_state: int) -> Ints:
    """Positions of all rows of a table, or of some rows of as many values, drawn at random, as are tried."""
    n_rows = len(codes)
    if n_rows <= MOST_TRIAL_ROWS:
        return np.arange(n_rows)
    draw, n_values = np.random.default_rng(random_state), int(codes.max()) + 1
    order = draw.permutation(n_rows)
    order = order[np.argsort(codes[order], kind="stable")]
    place = np.arange(n_rows) - np.searchsorted(codes[order], codes[order])
    kept = order[place < max(ROWS_OF_A_VALUE, MOST_TRIAL_ROWS // n_values)]
    values, counts = draw.permutation(n_values), np.bincount(codes[kept], minlength=n_values)
    tried = values[np.cumsum(counts[values]) <= MOST_TRIAL_ROWS]
    return np.sort(kept[np.isin(codes[kept], tried)])


def _renames(other: CodedColumn, column: CodedColumn) -> bool:
    """Whether a column of strings or whole numbers has another value where, and only where, the given one has."""
    if other.n_values != column.n_values or not (other.numbers is None or other.is_whole):
        return False
    return len(np.unique(other.codes * column.n_values + column.codes)) == column.n_values


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
    places = _in_blocks(len(held_out.rows), N_SHORT_BLOCKS, LONGEST_BLOCK)
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
    with catch_warnings():  # sorted classes do not vary in a part
        simplefilter("ignore", ConstantInputWarning)
        p_values = f_oneway(*np.array_split(ranks, n_parts)).pvalue
    smallest = min(norm.sf(following).min(), p_values.min())
    return float(min(1.0, 2 * table.shape[1] * smallest))


def _in_blocks(n_rows: int, n_blocks: int, size: int) -> Ints:
    """Positions of all rows of a table, or of blocks of it at equal distances if it is longer than these."""
    if n_rows <= n_blocks * size:
        return np.arange(n_rows)
    starts = np.linspace(0, n_rows - size, n_blocks).astype(np.int64)
    return np.asarray(starts[:, None] + np.arange(size)).ravel()


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
    rows = _in_blocks(len(y), N_BLOCKS, MOST_ORDERED_ROWS // N_BLOCKS)
    part, targets = take_rows(table, rows), y[rows]

    def predict(train: Ints, test: Ints) -> NDArray[Any]:
        model = fit_model(estimator, take_rows(part, train), targets[train])
        return predict_labels(model, take_rows(part, test))

    in_order = KFold(n_folds).split(rows)
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
        f"at random (shuffled folds), and {mean_loss_words(ordered, is_regression)} if adjacent rows are "
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
        "time_option": time_option(code_columns(part)),
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
    return _held_out_losses(y, PredefinedSplit(folds).split(), is_regression, predict)


def _held_out_losses(
    y: NDArray[Any],
    splits: Iterable[Split],
    is_regression: bool,
    predict: Callable[[Ints, Ints], NDArray[Any]],
) -> Floats:
    """Loss of each row: 0 or 1, or the size of the error; a single class is predicted without a model.

    `predict` fits a model on the first of two sets of rows, and predicts the second.
    """
    losses = np.empty(len(y))
    for train, test in splits:
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
