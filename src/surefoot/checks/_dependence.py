"""Rows that depend on each other: those of one entity, and those that stand together in the table."""

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
from sklearn.model_selection import GroupKFold, KFold

from surefoot._models import fit_model, predict_labels
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints, Split
from surefoot._words import number, p_value_words, percent
from surefoot.checks._columns import (
    LEVEL,
    MOST_ROWS,
    N_FOLDS,
    CodedColumn,
    Finding,
    code_columns,
    held_out_means,
    mean_loss_words,
    sample_rows,
    target_spread,
    time_option,
)

# Share of the loss by which it must rise to be worth a sentence; any number near this one would do.
LEAST_GAP = 0.05

# Level at which the values of a column, of which there may be as few as five, must agree that the loss rises: Student's
# t with four degrees of freedom never gets below `LEVEL` unless all five rise by nearly the same. The rows do, too.
LEVEL_OF_VALUES = 0.05

# Most columns that are tried with a small model, and most others that they are compared with before; rows and trees of
# a trial, and rows of each value if there are more in all. They bound the time: a trial takes 0.1 s.
MOST_TRIED, MOST_COMPARED, MOST_TRIAL_ROWS, ROWS_OF_A_VALUE, N_TREES = 2, 30, 2000, 30, 10

# Most rows and columns for which the order is compared; they bound the time, and the memory of a wide table. Losses are
# compared over blocks of adjacent rows: fifty differences are near to normal, and a block of 60 rows is longer than
# most persons have.
MOST_ORDERED_ROWS, MOST_COLUMNS, N_BLOCKS = 3000, 200, 50

# Probability with which rows in random order are looked at more closely, with a model: one useless fit in a hundred.
ORDER_LEVEL = 0.01


def find_entities(
    columns: list[CodedColumn], y: NDArray[Any], is_regression: bool, random_state: int
) -> Finding | None:
    """Find columns whose values are entities that may have to be held out together, the clearest first.

    A small model is cross-validated twice, with rows held out at random and with all rows of a value held out together.
    The column itself is no input, so that a useful category is no entity: only rows that are alike beyond the value
    make a difference. If it has more values than rows of each, the model also knows the mean target of each value that
    it has seen: such a value is looked up, not learned from. The column is returned if the loss rises by 5 % or more,
    by more than chance, and for the values in general. Whether new rows will have other values, only the user knows.
    """
    rows = sample_rows(len(y), MOST_ROWS, random_state)
    columns, targets = [column.take(rows) for column in columns], y[rows]
    if not is_regression:
        labels = targets.astype(str) if y.dtype.kind == "O" else targets
        targets = np.unique(labels, return_inverse=True)[1]
    found: list[tuple[CodedColumn, dict[str, float]]] = []
    for place in _candidates(columns, target_spread(targets, is_regression), random_state):
        others = columns[:place] + columns[place + 1 :]
        effect = _try_entity(columns[place], others, targets, is_regression, random_state)
        found += [] if effect is None else [(columns[place], effect)]
    if not found:
        return None
    names = tuple(column.name for column, _ in found)
    first, effect = found[0]
    low = number(effect["low"]) if is_regression else f"{number(100 * effect['low'])} points"
    sentence = (
        f"Rows with the same value of “{first.name}” ({number(first.n_values)} values) depend on each other. A small "
        f"model is {mean_loss_words(effect['shuffled'], is_regression)} if rows are held out at random, and "
        f"{mean_loss_words(effect['grouped'], is_regression)} if all rows of a value are held out together: a "
        f"difference of at least {low}, with 95 % confidence."
    )
    new = effect["new_values"]
    chance = f", as about {percent(new)} of rows like these have (Good-Turing)" if new else ""
    question = (
        f"If new rows will have other values of “{names[0]}” (other persons, other places){chance}, hold all rows of a "
        f"value out together (--groups {names[0]}); if it has the times of the rows, hold out later ones (--time "
        f"{names[0]})."
    )
    return Finding("entity", sentence, names, evidence=effect, question=question)


def _candidates(columns: list[CodedColumn], spread: Floats, random_state: int) -> list[int]:
    """Positions of the columns whose values tell rows apart best, beyond what their size does.

    Values are compared with the columns and the target by means of the other rows with the same value, and of those
    with the next lower and higher one. If these explain half as much, the numbers are measurements or counts.
    """
    draw = np.random.default_rng(random_state)
    folds = draw.permutation(len(spread)) % N_FOLDS
    compared = draw.permutation(len(columns))[:MOST_COMPARED]
    ranks = [rankdata(columns[i].codes) / len(spread) for i in compared]
    table = np.column_stack([*ranks, spread])
    table = table - table.mean(axis=0)
    gains = {}
    for i, column in enumerate(columns):
        if _may_hold_entities(column):
            others = table[:, np.append(compared != i, [True] * spread.shape[1])]
            by_value = held_out_means(column.codes, column.n_values, others, folds)
            by_size = _means_of_neighbors(column, others) if column.numbers is not None else 0.0
            own, sizes = _explained(others, by_value), _explained(others, by_size)
            if sizes < own / 2:
                gains[i] = own - sizes
    return sorted(gains, key=lambda i: -gains[i])[:MOST_TRIED]


def _may_hold_entities(column: CodedColumn) -> bool:
    """Whether a column of strings or whole numbers, none missing, and no times, may be held out by its values.

    `--groups` needs five values, a value that occurs once depends on no other row, and one that most rows have would
    leave fewer rows to learn from than to predict.
    """
    n_rows = len(column.codes)
    is_complete = column.is_whole or len(column.labels) == column.n_values
    if not is_complete or column.is_time or not N_FOLDS <= column.n_values <= n_rows / 2:
        return False
    return bool(column.counts.max() <= n_rows / 2)


def _explained(table: Floats, predicted: Floats | float) -> float:
    """Sum over columns of the share of the sum of squares that predictions explain, 0 at least."""
    left = ((table - predicted) ** 2).sum(axis=0)
    return float((1 - left / np.maximum((table**2).sum(axis=0), 1e-12)).clip(0).sum())


def _means_of_neighbors(column: CodedColumn, table: Floats) -> Floats:
    """Means of the rows that have the next lower or the next higher value of a column."""
    counts = np.column_stack([np.ones(len(table)), table])
    sums = np.zeros((column.n_values + 2, counts.shape[1]))
    np.add.at(sums, column.codes + 1, counts)
    near = (sums[:-2] + sums[2:])[column.codes]
    return near[:, 1:] / (near[:, :1] + 1)


def _try_entity(
    column: CodedColumn,
    others: list[CodedColumn],
    y: NDArray[Any],
    is_regression: bool,
    random_state: int,
) -> dict[str, float] | None:
    """Mean losses of a small model with rows, and with the values of a column, held out; None if there is no effect.

    The model has the other columns, except for those that only rename the values, and the target's mean, or the shares
    of classes, which rows that are held out together change.
    """
    is_known = column.n_values**2 >= len(y)
    new_values = float((column.counts == 1).mean() * column.n_values / len(y))
    rows = _rows_of_values(column.codes, random_state)
    column, y, others = column.take(rows), y[rows], [each.take(rows) for each in others]
    inputs = [each.codes for each in others if not _renames(each, column)]
    table = np.column_stack(
        [np.zeros(len(rows)), *inputs]
    )  # a constant, as the model needs a column
    kind = ExtraTreesRegressor if is_regression else ExtraTreesClassifier
    model = kind(N_TREES, max_features="sqrt", random_state=random_state)

    def predict(train: Ints, test: Ints, is_known: bool = False) -> NDArray[Any]:
        of_train, of_test = table[train], table[test]
        if is_known:
            means = _group_means(column.codes, train, test, target_spread(y[train], is_regression))
            of_train, of_test = np.c_[of_train, means[0]], np.c_[of_test, means[1]]
        model.fit(of_train, y[train])
        if is_regression:
            return model.predict(of_test) + (y.mean() - y[train].mean())
        known = np.bincount(y[train])[model.classes_] / len(train)
        shares = np.bincount(y)[model.classes_] / len(y)
        return model.classes_[(model.predict_proba(of_test) * shares / known).argmax(axis=1)]

    shuffled = KFold(N_FOLDS, shuffle=True, random_state=random_state).split(table)
    with_value = partial(predict, is_known=is_known)
    by_row = _held_out_losses(y, shuffled, is_regression, with_value)
    together = GroupKFold(N_FOLDS, shuffle=True, random_state=random_state)
    by_value = _held_out_losses(
        y, together.split(table, groups=column.codes), is_regression, predict
    )
    p_value, low = _compare(by_row, by_value, column.codes, LEVEL_OF_VALUES)
    p_of_rows = _compare(by_row, by_value, np.arange(len(rows)), LEVEL)[0]
    means = {"shuffled": float(by_row.mean()), "grouped": float(by_value.mean())}
    is_small = means["grouped"] <= (1 + LEAST_GAP) * means["shuffled"]
    if is_small or p_of_rows >= LEVEL or p_value >= LEVEL_OF_VALUES:
        return None
    return {**means, "low": low, "p_value": p_value, "new_values": new_values}


def _rows_of_values(codes: Ints, random_state: int) -> Ints:
    """Positions of the rows that are tried: of values in random order, first up to 30 rows of each, then the next."""
    draw = np.random.default_rng(random_state)
    order = draw.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    place = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    of_values = draw.permutation(int(codes.max()) + 1)[codes[order]]
    return np.sort(order[np.lexsort([of_values, place // ROWS_OF_A_VALUE])][:MOST_TRIAL_ROWS])


def _renames(other: CodedColumn, column: CodedColumn) -> bool:
    """Whether a column of strings or whole numbers has another value where, and only where, the given one has."""
    if other.n_values != column.n_values or not (other.numbers is None or other.is_whole):
        return False
    return len(np.unique(other.codes * column.n_values + column.codes)) == column.n_values


def _group_means(codes: Ints, train: Ints, test: Ints, spread: Floats) -> tuple[Floats, Floats]:
    """Mean target of each row's value (target encoding): from other training rows, and for new rows from all."""
    n_values, known = int(codes.max()) + 1, codes[train]
    folds = np.random.default_rng(0).permutation(len(train)) % N_FOLDS
    sums = np.column_stack([np.bincount(known, each, minlength=n_values) for each in spread.T])
    means = sums / (np.bincount(known, minlength=n_values)[:, None] + 1)
    return held_out_means(known, n_values, spread, folds), means[codes[test]]


def may_be_ordered(held_out: Any, X: Any, coordinates: Callable[[Any], Any]) -> bool:
    """Whether rows that stand together resemble each other in columns, target, error, or in how both go together.

    A cheap test before an expensive one. Rows in random order do so in 1 % of tables. Where rows do not resemble their
    neighbours in the table in any of these, folds of rows that stand together are as good as shuffled ones.
    """
    places = _in_blocks(len(held_out.rows))
    space = coordinates(take_rows(X, held_out.rows[places]))
    if hasattr(space, "toarray"):
        sums = np.asarray(abs(space).sum(axis=0)).ravel()
        space = space[:, np.argsort(-sums)[:MOST_COLUMNS]].toarray()
    columns = np.asarray(space, dtype=np.float64)[:, :MOST_COLUMNS]
    both = np.concatenate([held_out.truth[places], held_out.prediction[places]])
    truth, predicted = np.unique(both, return_inverse=True)[1].reshape(2, -1)
    errors = truth - predicted  # of ranks, or of classes in their order
    targets = target_spread(truth, held_out.classes is None)
    interactions = columns * errors[:, None]
    table = np.column_stack([columns, held_out.losses[places], errors, interactions, targets])
    return order_p_value(table.astype(np.float64)) < ORDER_LEVEL


def order_p_value(table: Floats) -> float:
    """Least p-value over the columns, times their number and two: rows follow similar rows, or parts differ.

    Each column is tested for a correlation of rows with those that follow, and for different means of its parts in the
    order of the table (analysis of variance). Columns are left out where so few rows differ from the most frequent
    value that fewer than five neighbours among them are due by chance, and parts have ten rows at least: the usual
    rules for an approximation by the normal distribution (Cochran 1954, Biometrics 10).
    """
    n_rows = len(table)
    n_most = np.array([np.unique(column, return_counts=True)[1].max() for column in table.T])
    table = table[:, (n_rows - n_most) ** 2 >= 5 * n_rows]
    n_parts = min(N_BLOCKS, n_rows // 10)
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


def _in_blocks(n_rows: int) -> Ints:
    """Positions of all rows of a table, or of blocks of it at equal distances if it is longer than these."""
    if n_rows <= MOST_ORDERED_ROWS:
        return np.arange(n_rows)
    size = MOST_ORDERED_ROWS // N_BLOCKS
    starts = np.linspace(0, n_rows - size, N_BLOCKS).astype(np.int64)
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
    n_folds = N_FOLDS if splits is None else len(np.unique(splits[splits >= 0]))
    if estimator is None or len(y) < 2 * n_folds:
        return None
    is_regression = not is_classifier(estimator)
    rows = _in_blocks(len(y))
    part, targets = take_rows(table, rows), y[rows]

    def predict(train: Ints, test: Ints) -> NDArray[Any]:
        model = fit_model(estimator, take_rows(part, train), targets[train])
        return predict_labels(model, take_rows(part, test))

    in_order = KFold(n_folds).split(rows)
    try:
        ordered_losses = _held_out_losses(targets, in_order, is_regression, predict)
        if splits is None or (splits < 0).any() or len(rows) < len(y):
            shuffled = KFold(n_folds, shuffle=True, random_state=random_state).split(rows)
            losses = _held_out_losses(targets, shuffled, is_regression, predict)
    except ValueError:  # for example, a model that needs several rows of each class
        return None
    blocks = np.arange(len(rows)) * min(N_BLOCKS, len(rows)) // len(rows)
    mean, mean_ordered = float(losses.mean()), float(ordered_losses.mean())
    p_value = _compare(losses, ordered_losses, blocks, LEVEL)[0]
    if p_value >= LEVEL or mean_ordered <= (1 + LEAST_GAP) * mean:
        return None
    on_rows = "" if len(rows) == len(y) else f" on {number(len(rows))} rows"
    sentence = (
        f"The order of the rows matters: the model is {mean_loss_words(mean, is_regression)} if rows are held out "
        f"at random (shuffled folds), and {mean_loss_words(mean_ordered, is_regression)} if adjacent rows are "
        f"held out together (ordered folds){on_rows}, {p_value_words(p_value)}."
    )
    option, sorted_by_target = time_option(code_columns(part)), _is_sorted(targets, is_regression)
    question = (
        f"If new rows come later than these, hold out later rows ({option}); if rows of one person or place are "
        "adjacent, hold these out together (--groups COLUMN, a column that says which)."
    )
    if sorted_by_target:
        sentence += " The rows are sorted by the target, so ordered folds lack parts of it: that may be the reason."
    evidence = {
        "shuffled": mean,
        "ordered": mean_ordered,
        "p_value": p_value,
        "sorted_by_target": sorted_by_target,
        "time_option": option,
    }
    return Finding("order", sentence, evidence=evidence, question=question)


def _is_sorted(y: NDArray[Any], is_regression: bool) -> bool:
    """Whether targets never fall or never rise from row to row; whether the rows of each class stand together."""
    if not is_regression:
        return int((y[1:] != y[:-1]).sum()) < len(np.unique(y))
    steps = np.diff(y)
    return bool((steps >= 0).all() or (steps <= 0).all())


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


def _compare(shuffled: Floats, together: Floats, units: Ints, level: float) -> tuple[float, float]:
    """P-value of a mean loss that does not rise, and the least rise at a level, by Student's t over units.

    Rows of one unit, numbered from 0, may depend on each other; differences of units must not.
    """
    gaps, n_units = together - shuffled, int(units.max()) + 1
    sums = np.bincount(units, gaps - gaps.mean())
    error = max(float(np.sqrt(n_units / (n_units - 1) * (sums @ sums))), 1e-12 * len(gaps))
    p_value = float(student.sf(gaps.sum() / error, n_units - 1))
    return p_value, float(gaps.sum() - student.isf(level, n_units - 1) * error) / len(gaps)
