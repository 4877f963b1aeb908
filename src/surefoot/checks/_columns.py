"""Columns of a table as codes, and what may be wrong with one: it leaks the target, identifies rows, equals another."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score

from surefoot._tables import missing_mask, named_values
from surefoot._typing import Floats, Ints
from surefoot._words import InWords, enumerated, listed, number, percent, quoted

# Probability below which a coincidence is excluded, in every check that is a test.
LEVEL = 0.002


# Most rows that columns are scored on, folds for that; most bins of a column of numbers, and least rows in a bin. They
# bound the time and the noise of a mean; any numbers near these would do.
MOST_ROWS, N_FOLDS = 20_000, 5
MOST_BINS, LEAST_IN_BIN = 100, 10

# Most classes that are told apart, to bound memory; the rarest others count as one.
MOST_CLASSES = 50

# A column leaks if it explains nearly everything, or much and almost as much as the whole model, where the next
# column leaves at least three times as much unexplained: in `research/checks.py`, the planted column is found in 20 of
# 20 tables, and none in 100 clean ones.
NEARLY_ALL, MUCH, CLOSE, FACTOR = 0.97, 0.75, 0.9, 3.0

# With fewer rows, all values of a column may differ by chance; any number near this one would do.
LEAST_ROWS = 20

# Cohen's kappa from which agreement is called moderate (Landis and Koch 1977, Biometrics 33).
MODERATE = 0.4

# Columns of more values are equal only as numbers in one order, or as equal strings: two facts about a person, such
# as name and height, are no copies.
MOST_CATEGORIES = 20


@dataclass(frozen=True, repr=False)
class Finding(InWords):
    """Fault of a table, as `check_table` returns it.

    Attributes
    ----------
    code : str
        Short name of the fault that does not change: "leak", "duplicate", "entity", "order", "identifier" or "equal".
    sentence : str
        The fault in words, with the numbers that it rests on.
    columns : tuple of str
        Names of the columns that it is about.
    rows : tuple of int
        Positions of the rows that it is about.
    evidence : dict of str to number
        Numbers that it rests on; a list has one entry for each of `columns` or `rows`.
    question : str
        What only the user can answer, in one sentence with the option of the commands that answers it.

    Examples
    --------
    >>> from surefoot.checks import Finding
    >>> Finding("leak", "“outcome” gives the target away.", ("outcome",))
    “outcome” gives the target away. (leak)
    Columns: 'outcome'
    """

    code: str
    sentence: str
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict, hash=False)
    question: str = ""

    def _lines(self) -> list[str]:
        lists = {"Columns": self.columns, "Rows": self.rows}
        about = [f"{what}: {listed(names)}" for what, names in lists.items() if names]
        return [f"{self.sentence} ({self.code})", *about, *filter(None, [self.question])]


class CodedColumn(NamedTuple):
    """Column of a table: its name, a code for each value from 0 on, and its values as numbers or strings.

    Codes follow the order of the values; a missing value has the last code and is NaN among the numbers. `numbers`
    is None for strings and booleans; `labels` are then the different strings in the order of their codes. `is_time`
    is True for a column of times, but not for strings that may be read as such.
    """

    name: str
    codes: Ints
    n_values: int
    numbers: Floats | None
    labels: list[str]
    is_time: bool = False

    @property
    def counts(self) -> Ints:
        """Number of rows with each code."""
        return np.bincount(self.codes, minlength=self.n_values)

    @property
    def is_whole(self) -> bool:
        """Whether these are whole numbers, none of them missing."""
        return self.numbers is not None and bool(
            np.isfinite(self.numbers).all() and (self.numbers == np.round(self.numbers)).all()
        )

    @property
    def follows_rows(self) -> bool:
        """Whether the values rise, or fall, from each row to the next."""
        steps = np.diff(self.codes)
        return bool((steps > 0).all() or (steps < 0).all())

    def take(self, rows: Ints) -> Self:
        """Column of some of the rows, coded anew."""
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        numbers = None if self.numbers is None else self.numbers[rows]
        labels = [self.labels[code] for code in present if code < len(self.labels)]
        return self._replace(codes=codes, n_values=len(present), numbers=numbers, labels=labels)


def code_columns(table: Any) -> list[CodedColumn]:
    """Coded columns of a table; none for sparse rows or a list of texts, which have no columns of their own."""
    return [
        code_column(name if isinstance(name, str) else f"column {name}", values)
        for name, values in named_values(table)
    ]


def code_column(name: str, values: NDArray[Any]) -> CodedColumn:
    """Coded column; times are numbers, and strings and booleans are not."""
    missing = missing_mask(values)
    numbers = values if values.dtype.kind == "f" else None
    if values.dtype.kind == "M":
        numbers = np.where(missing, np.nan, values.astype("datetime64[us]").astype(np.float64))
    known = np.array([*map(str, values)], dtype=object) if numbers is None else numbers
    unique, places = np.unique(known[~missing], return_inverse=True)
    codes = np.full(len(values), len(unique), dtype=np.int64)
    codes[~missing] = places
    labels = unique.tolist() if numbers is None else []
    n_values, is_time = len(unique) + int(missing.any()), values.dtype.kind == "M"
    return CodedColumn(name, codes, n_values, numbers, labels, is_time)


def time_option(columns: list[CodedColumn]) -> str:
    """Option of the commands that holds out later rows, with a column of times, or one that never falls, if any."""
    times = [column.name for column in columns if column.is_time]
    steps = [(column.name, np.diff(column.codes)) for column in columns]
    times += [name for name, step in steps if step.any() and (step >= 0).all()]
    return f"--time {(times or ['COLUMN'])[0]}"


def bin_codes(column: CodedColumn, most: int) -> tuple[Ints, int]:
    """Codes of at most `most` bins of a column of numbers of about equal size; strings keep their codes."""
    if column.numbers is None or column.n_values <= most:
        return column.codes, column.n_values
    known = np.isfinite(column.numbers)
    edges = np.unique(np.quantile(column.numbers[known], np.arange(1, most) / most))
    bins = np.searchsorted(edges, column.numbers, side="left")
    return np.where(known, bins, len(edges) + 1).astype(np.int64), len(edges) + 2


def hash_codes(columns: list[CodedColumn]) -> NDArray[np.uint64]:
    """Random number of 64 bits for each value (columns first); rows are equal if their sums, modulo 2⁶⁴, are."""
    draw = np.random.default_rng(0)
    return np.array(
        [
            draw.integers(2**63, size=column.n_values, dtype=np.uint64)[column.codes]
            for column in columns
        ]
    )


def sample_rows(n_rows: int, most: int, random_state: int) -> Ints:
    """Positions of all rows, or of `most` of them drawn at random, in the order of the table."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(random_state).choice(n_rows, most, replace=False))


def mean_loss_words(loss: float, is_regression: bool) -> str:
    """Mean loss in words: the share of right predictions, or the mean error."""
    return (
        f"off by {number(loss)} on average"
        if is_regression
        else f"right on {percent(1 - loss)} of rows"
    )


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
    A column of strings that are the names of the classes, and agree with these at least moderately, may be a
    prediction, and is returned as well.
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
    # Another column with the same score may be a copy.
    following = np.array([scores[scores < score - 1e-9].max(initial=0.0) for score in scores])
    is_close = scores >= CLOSE * (1.0 if of_model is None else of_model)
    stands_out = (scores >= MUCH) & is_close & (1 - following >= FACTOR * (1 - scores))
    may_predict = [not is_regression and _may_predict(column, targets) for column in columns]
    order = np.argsort(-scores, kind="stable")
    leaks = order[((scores >= NEARLY_ALL) | stands_out | may_predict)[order]]
    if not len(leaks):
        return None
    names = tuple(columns[i].name for i in leaks)
    score, next_score = float(scores[leaks[0]]), float(following[leaks[0]])
    share = "the variance of its ranks" if is_regression else "the Brier score"
    gives, it = ("gives", "it") if len(names) == 1 else ("each give", quoted(names[:1]))
    explains = [
        f"alone, {it} explains {percent(score)} of the target (share of {share}, on held-out rows)",
        f"the next column {percent(next_score)}",
        *([] if of_model is None else [f"the whole model {percent(max(of_model, 0.0))}"]),
    ]
    sentence = f"{quoted(names)} {gives} the target away (target leakage): {enumerated(explains)}."
    evidence = {
        "score": score,
        "next_score": next_score,
        "model_score": of_model,
        "scores": scores[leaks].tolist(),
    }
    question = (
        f"If this is not known before the target is, leave it out (--drop {names[0]}); if it is a prediction of the "
        f"target, have it judged (--prediction {names[0]})."
    )
    return Finding("leak", sentence, names, evidence=evidence, question=question)


def _may_predict(column: CodedColumn, y: NDArray[Any]) -> bool:
    """Whether a column of strings holds the names of all classes and nothing else, and agrees with the classes."""
    if y.dtype.kind not in "OU" or column.labels != np.unique(y.astype(str)).tolist():
        return False
    said = np.array([*column.labels, ""])[column.codes]  # a missing value has the last code
    return bool(cohen_kappa_score(said, y.astype(str)) >= MODERATE)


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


def find_identifiers(columns: list[CodedColumn]) -> Finding | None:
    """Find columns that count or identify rows, in the order of the table.

    These are whole numbers, or strings without a space, that are all different, where that is no coincidence: so many
    numbers drawn from their range would hardly differ, or they rise or fall from row to row. Numbers that rise by
    equal steps count rows, whole or not. A model can use neither strings that never come again, nor numbers that grow
    by one from row to row (`useless`): these describe nothing but the place of a row.
    """
    identifiers = [column for column in columns if _identifies(column)]
    if not identifiers:
        return None
    names = tuple(column.name for column in identifiers)
    follows = [column.follows_rows for column in identifiers]
    has = "has" if len(names) == 1 else "have"
    sentence = f"{quoted(names)} {has} another value in every row."
    counting = [name for name, is_counting in zip(names, follows, strict=True) if is_counting]
    if counting:
        which = "It" if len(names) == 1 else quoted(counting)
        verb = "follows" if len(counting) == 1 else "follow"
        sentence += f" {which} {verb} the order of the rows."
    evidence = {
        "n_columns": len(names),
        "follows_rows": follows,
        "useless": [
            column.numbers is None or bool((np.diff(column.numbers) == 1).all())
            for column in identifiers
        ],
    }
    question = (
        f"A column that only names or counts the rows is no input: leave it out (--drop {names[0]}); if it has the "
        f"times of the rows, hold out later ones instead (--time {names[0]})."
    )
    return Finding("identifier", sentence, names, evidence=evidence, question=question)


def _identifies(column: CodedColumn) -> bool:
    n_rows, values = len(column.codes), column.numbers
    if n_rows < LEAST_ROWS or column.n_values < n_rows:
        return False
    if values is None:  # a text of several words can be taken apart
        return not any(len(label.split()) > 1 for label in column.labels)
    if not column.is_whole:
        with np.errstate(invalid="ignore"):  # of infinite numbers, which have no equal steps
            steps = np.diff(values)
            return column.follows_rows and bool(np.ptp(steps) <= 1e-6 * abs(steps.mean()))
    # The chance that n values drawn from a range of R numbers all differ (birthday problem) is at most exp(−n(n−1)/2R).
    coincidence = np.exp(-n_rows * (n_rows - 1) / 2 / (np.ptp(values) + 1))
    return bool(coincidence < LEVEL) or column.follows_rows


def find_equal_columns(columns: list[CodedColumn]) -> Finding | None:
    """Find columns that equal an earlier one, in the order of the table.

    Two columns are equal if their strings are equal in every row; if numbers have the same order, as in another unit,
    or the reverse; or if categories, up to twenty, were renamed. Unrelated columns must hardly ever agree like this.
    """
    if not columns or not len(columns[0].codes):
        return None
    # Copies of a row agree in all columns.
    rows = np.unique(hash_codes(columns).sum(axis=0), return_index=True)[1]
    n_pairs = max(1, len(columns) * (len(columns) - 1) // 2)
    first: dict[tuple[str, bytes], CodedColumn] = {}
    pairs = []
    for column in columns:
        same = [
            first.setdefault((kind, signature), column)
            for kind, signature, chance in _signatures(column, rows)
            if n_pairs * chance < LEVEL
        ]
        earlier = [each for each in same if each is not column]
        if earlier:
            pairs.append((column.name, earlier[0].name, _identical(column, earlier[0])))
    if not pairs:
        return None
    names, same_as, identical = zip(*pairs, strict=True)
    how = "equal in every row" if identical[0] else "the same in other words or another unit"
    sentence = f"“{names[0]}” has the same content as “{same_as[0]}”: {how}."
    if len(pairs) > 1:
        sentence = (
            f"{number(len(pairs))} columns have the same content as another one, in every row."
        )
    evidence = {"n_columns": len(pairs), "same_as": list(same_as), "identical": list(identical)}
    question = (
        f"Should the model have both? Leave one out (--drop {names[0]}): nothing is lost, and rules and reasons become "
        "easier to read."
    )
    return Finding("equal", sentence, names, evidence=evidence, question=question)


def _signatures(column: CodedColumn, rows: Ints) -> Iterator[tuple[str, bytes, float]]:
    """Bytes that are equal for columns in the same order or its reverse, and for renamed categories, with a chance.

    The chance is the probability that values in a random order agree like this. An order of n₁, n₂, … equal values has
    the probability n₁!·n₂!·…/n!, and the reverse counts as well. Which values are equal is the same if values of equal
    counts change places.
    """
    codes = column.codes[rows]
    counts = np.bincount(codes)
    log_order = float(gammaln(counts + 1).sum() - gammaln(counts.sum() + 1))
    if column.numbers is None:
        signature = codes.tobytes() + "\0".join(column.labels).encode()
    else:
        moves = codes[codes != codes[0]]
        descends = len(moves) > 0 and moves[0] < codes[0]
        signature = (column.n_values - 1 - codes if descends else codes).tobytes()
    yield "order", signature, float(np.exp(log_order + np.log(2)))
    if column.n_values <= MOST_CATEGORIES:
        firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)[1:]
        exchanges = float(gammaln(np.unique(counts, return_counts=True)[1] + 1).sum())
        signature = np.argsort(np.argsort(firsts))[inverse].tobytes()
        yield "values", signature, float(np.exp(log_order + exchanges))


def _identical(column: CodedColumn, other: CodedColumn) -> bool:
    if column.numbers is None or other.numbers is None:
        return column.numbers is other.numbers and column.labels == other.labels
    return bool(np.array_equal(column.numbers, other.numbers, equal_nan=True))
