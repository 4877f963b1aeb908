"""Columns that give the target away (target leakage), identify rows, or equal another column."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import rankdata

from surefoot._typing import Floats, Ints
from surefoot._words import number, percent, quoted
from surefoot.checks._coding import (
    LEVEL,
    CodedColumn,
    Finding,
    bin_codes,
    code_column,
    hash_codes,
    sample_rows,
    sum_rows,
)

# Most rows that columns are scored on, folds for that; most bins of a column of numbers, and least rows in a bin.
MOST_ROWS, N_FOLDS = 20_000, 5
MOST_BINS, LEAST_IN_BIN = 100, 10

# Most classes that are told apart; the rarest others count as one.
MOST_CLASSES = 50

# A column leaks if it explains nearly everything, or much and almost as much as the whole model, where the next
# column leaves at least three times as much unexplained.
NEARLY_ALL, MUCH, CLOSE, FACTOR = 0.97, 0.75, 0.9, 3.0

# With fewer rows, all values of a column may differ by chance.
LEAST_ROWS = 20

# Ends of names that people give to identifiers.
ID_NAME = re.compile(r"(^|[\W_])(id|ids|uid|uuid|guid|key)$|[a-z]I[dD]$", re.IGNORECASE)

# Columns of more values are equal only as numbers in one order, or as equal strings: two facts about a person, such
# as name and height, are no copies.
MOST_CATEGORIES = 20


def find_leaks(
    columns: list[CodedColumn],
    y: NDArray[Any],
    rows: Ints,
    prediction: NDArray[Any] | None,
    is_regression: bool,
    random_state: int,
) -> Finding | None:
    """Find columns from which alone the target can be predicted; the highest score first.

    Each column alone predicts held-out rows: by the class shares, or the mean rank of the target, of the other rows
    with the same value, or with a number of the same size. Its score is the share of the Brier score, or of the
    variance of the ranks, that this explains: 1 is a perfect prediction, 0 or less is none. `prediction` holds the
    model's predictions or class probabilities for the held-out `rows`; without them, the model is taken for perfect.
    """
    sample = sample_rows(len(rows), MOST_ROWS, random_state)
    rows = rows[sample]
    columns, targets = [column.take(rows) for column in columns], y[rows]
    spread = target_spread(targets, is_regression)
    if len(columns) < 2 or len(rows) < 2 * LEAST_IN_BIN or not (spread**2).any():
        return None
    folds = np.random.default_rng(random_state).permutation(len(rows)) % N_FOLDS
    scores = np.array([_score_column(column, spread, folds) for column in columns])
    of_model = None
    if prediction is not None:
        of_model = _score_prediction(np.asarray(prediction)[sample], targets, spread, folds)
    order = np.argsort(-scores, kind="stable")
    # Another column with the same score may be a copy.
    following = [float(scores[scores < score - 1e-9].max(initial=0.0)) for score in scores]
    leaks = [i for i in order if _is_leak(scores[i], following[i], of_model)]
    if not leaks:
        return None
    best, names = leaks[0], tuple(columns[i].name for i in leaks)
    share = "the variance of its ranks" if is_regression else "the Brier score"
    it = "it" if len(names) == 1 else quoted(names[:1])
    explains = [
        f"alone, {it} explains {percent(scores[best])} of the target (share of {share}, on held-out rows)",
        f"the next column {percent(following[best])}",
    ]
    if of_model is not None:
        explains.append(f"the whole model {percent(max(of_model, 0.0))}")
    sentence = (
        f"{quoted(names)} {'gives' if len(names) == 1 else 'each give'} the target away (target leakage): "
        f"{', '.join(explains[:-1])}{',' if len(explains) > 2 else ''} and {explains[-1]}."
    )
    evidence = {
        "score": float(scores[best]),
        "next_score": following[best],
        "model_score": of_model,
        "scores": [float(scores[i]) for i in leaks],
    }
    return Finding("leak", sentence, names, evidence=evidence)


def target_spread(y: NDArray[Any], is_regression: bool) -> Floats:
    """Target without its mean: one column per class, 0 or 1, or the ranks of numbers; shape (n_rows, n_columns)."""
    if is_regression:
        values = rankdata(y)[:, None] / len(y)
    else:
        codes = np.unique(y.astype(str) if y.dtype.kind == "O" else y, return_inverse=True)[1]
        common = np.argsort(-np.bincount(codes), kind="stable")[:MOST_CLASSES]
        values = (codes[:, None] == common).astype(np.float64)
    return np.asarray(values - values.mean(axis=0))


def held_out_means(codes: Ints, n_codes: int, spread: Floats, folds: Ints) -> Floats:
    """Mean of the other folds' rows with the same code, and one more row at 0; 0 if there is no such row."""
    cells = codes * N_FOLDS + folds
    counts = np.bincount(cells, minlength=n_codes * N_FOLDS).reshape(n_codes, N_FOLDS)
    others = (counts.sum(axis=1, keepdims=True) - counts).ravel()[cells]
    means = np.empty_like(spread)
    for i, values in enumerate(spread.T):
        sums = np.bincount(cells, values, minlength=n_codes * N_FOLDS).reshape(n_codes, N_FOLDS)
        means[:, i] = (sums.sum(axis=1, keepdims=True) - sums).ravel()[cells] / (others + 1)
    return means


def explained(spread: Floats, predicted: Floats) -> float:
    """Share of the sum of squares that predictions explain; 1 is perfect, 0 as good as the mean."""
    return 1 - float(((spread - predicted) ** 2).sum() / (spread**2).sum())


def _score_column(column: CodedColumn, spread: Floats, folds: Ints) -> float:
    """Share of the spread that held-out means of the column's values, or bins, explain."""
    most = int(np.clip(len(folds) // LEAST_IN_BIN, 2, MOST_BINS))
    return explained(spread, held_out_means(*bin_codes(column, most), spread, folds))


def _score_prediction(
    prediction: NDArray[Any], y: NDArray[Any], spread: Floats, folds: Ints
) -> float:
    """Score of the whole model on the scale of single columns, from its probabilities or its predictions."""
    if prediction.ndim == 2:
        classes = np.unique(y)
        if prediction.shape[1] == len(classes):
            hits = (y[:, None] == classes).astype(np.float64)
            return explained(hits - hits.mean(0), prediction - hits.mean(0))
        prediction = prediction.argmax(axis=1)
    if prediction.dtype.kind not in "fiu":
        prediction = np.unique(prediction.astype(str), return_inverse=True)[1]
    return _score_column(code_column("", prediction.astype(np.float64)), spread, folds)


def _is_leak(score: float, following: float, of_model: float | None) -> bool:
    is_close = score >= CLOSE * (1.0 if of_model is None else of_model)
    stands_out = score >= MUCH and is_close and 1 - following >= FACTOR * (1 - score)
    return bool(score >= NEARLY_ALL or stands_out)


def find_identifiers(columns: list[CodedColumn]) -> Finding | None:
    """Find columns that count or identify rows, in the order of the table.

    These are whole numbers, or strings without a space, that are all different, where that is no coincidence: so many
    numbers drawn from their range would hardly differ, or they rise or fall from row to row, or the name of the column
    ends in "id". Numbers that rise by equal steps count rows, whole or not.
    """
    identifiers = [column for column in columns if _identifies(column)]
    if not identifiers:
        return None
    names = tuple(column.name for column in identifiers)
    follows = [_follows_rows(column.codes) for column in identifiers]
    sentence = (
        f"{quoted(names)} {'has' if len(names) == 1 else 'have'} another value in every row: "
        "an identifier describes no row."
    )
    counting = [name for name, is_counting in zip(names, follows, strict=True) if is_counting]
    if counting:
        which = "It" if len(names) == 1 else quoted(counting)
        verb = "follows" if len(counting) == 1 else "follow"
        sentence += f" {which} {verb} the order of the rows."
    evidence = {"n_columns": len(names), "follows_rows": follows}
    return Finding("identifier", sentence, names, evidence=evidence)


def _identifies(column: CodedColumn) -> bool:
    n_rows, values = len(column.codes), column.numbers
    if n_rows < LEAST_ROWS or column.n_values < n_rows:
        return False
    if values is None:
        return not any(" " in label for label in column.labels)
    if _follows_rows(column.codes):
        return column.is_whole or _has_equal_steps(values)
    if not column.is_whole:
        return False
    # The chance that n values drawn from a range of R numbers all differ (birthday problem) is at most exp(−n(n−1)/2R).
    coincidence = np.exp(-n_rows * (n_rows - 1) / 2 / (np.ptp(values) + 1))
    return bool(coincidence < LEVEL) or ID_NAME.search(column.name) is not None


def _follows_rows(codes: Ints) -> bool:
    steps = np.diff(codes)
    return bool((steps > 0).all() or (steps < 0).all())


def _has_equal_steps(numbers: Floats) -> bool:
    if not np.isfinite(numbers).all():
        return False
    steps = np.diff(numbers)
    return bool(np.ptp(steps) <= 1e-6 * abs(steps.mean()))


def find_equal_columns(columns: list[CodedColumn]) -> Finding | None:
    """Find columns that equal an earlier one, in the order of the table.

    Two columns are equal if their strings are equal in every row; if numbers have the same order, as in another unit,
    or the reverse; or if categories, up to twenty, were renamed. Unrelated columns must hardly ever agree like this.
    """
    if not columns or not len(columns[0].codes):
        return None
    # Copies of a row agree in all columns.
    rows = np.unique(sum_rows(hash_codes(columns)), return_index=True)[1]
    n_pairs = max(1, len(columns) * (len(columns) - 1) // 2)
    first: dict[tuple[str, bytes], CodedColumn] = {}
    pairs = []
    for column in columns:
        chances = _chances_of_agreement(np.bincount(column.codes[rows]))
        earlier = None
        for kind, signature in _signatures(column, rows).items():
            same = first.setdefault((kind, signature), column)
            if same is not column and n_pairs * chances[kind] < LEVEL:
                earlier = earlier or same
        if earlier is not None:
            pairs.append((column.name, earlier.name, _identical(column, earlier)))
    if not pairs:
        return None
    names, same_as, identical = zip(*pairs, strict=True)
    how = "equal in every row" if identical[0] else "the same in other words or another unit"
    sentence = f"“{names[0]}” says the same as “{same_as[0]}”: {how}."
    if len(pairs) > 1:
        sentence = f"{number(len(pairs))} columns say the same as another one, in every row."
    evidence = {"n_columns": len(pairs), "same_as": list(same_as), "identical": list(identical)}
    return Finding("equal", sentence, names, evidence=evidence)


def _signatures(column: CodedColumn, rows: Ints) -> dict[str, bytes]:
    """Bytes that are equal for equal strings, numbers in the same order or its reverse, and renamed categories."""
    codes, signatures = column.codes[rows], {}
    if column.numbers is None:
        signatures["order"] = codes.tobytes() + "\0".join(column.labels).encode()
    else:
        moves = codes[codes != codes[0]]
        descends = len(moves) > 0 and moves[0] < codes[0]
        signatures["order"] = (column.n_values - 1 - codes if descends else codes).tobytes()
    if column.n_values <= MOST_CATEGORIES:
        firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)[1:]
        signatures["values"] = np.argsort(np.argsort(firsts))[inverse].tobytes()
    return signatures


def _chances_of_agreement(counts: Ints) -> dict[str, float]:
    """Probability that values in a random order agree with given ones: in their order, and as which are equal.

    An order of n₁, n₂, … equal values has the probability n₁!·n₂!·…/n!, and the reverse counts as well. Which
    values are equal is the same if values of equal counts change places.
    """
    log_order = float(gammaln(counts + 1).sum() - gammaln(counts.sum() + 1))
    exchanges = float(gammaln(np.unique(counts, return_counts=True)[1] + 1).sum())
    return {
        "order": float(np.exp(log_order + np.log(2))),
        "values": float(np.exp(log_order + exchanges)),
    }


def _identical(column: CodedColumn, other: CodedColumn) -> bool:
    if column.numbers is None or other.numbers is None:
        return column.numbers is other.numbers and column.labels == other.labels
    return bool(np.array_equal(column.numbers, other.numbers, equal_nan=True))
