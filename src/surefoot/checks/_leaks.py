"""Columns that give the target away by themselves (target leakage)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.utils import check_consistent_length, column_or_1d

from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option
from surefoot.checks._coding import CodedColumn, bin_codes, code_columns, sample_rows

# Most rows that columns are scored on, folds for that, and most parts of a column of numbers.
MOST_ROWS = 20_000
N_FOLDS = 5
MOST_BINS = 100
LEAST_IN_BIN = 10

# Most classes that are told apart; the rarest others count as one.
MOST_CLASSES = 50

# Numbers with more different values are no classes.
MOST_LABELS = 20

# A column leaks if it explains nearly everything, or much and almost as much as the whole model, where the next
# column leaves at least three times as much unexplained.
NEARLY_ALL = 0.97
MUCH = 0.75
CLOSE = 0.9
FACTOR = 3.0


class Leak(NamedTuple):
    """Column from which alone the target can be predicted; higher scores are better predictions.

    `score` is the share of the target's spread that held-out predictions from this column alone explain,
    `next_score` that of the next best column which says something else, and `model_score` that of the whole model,
    None if its predictions were not given.
    """

    column: str
    score: float
    next_score: float
    model_score: float | None


def find_leaks(
    X: Any, y: Any, *, prediction: Any = None, task: str | None = None, random_state: int = 0
) -> list[Leak]:
    """Find columns that give the target away by themselves (target leakage); the highest score first.

    Each column alone predicts held-out rows: by the class shares, or the mean rank of the target, of the other rows
    with the same value, or with a number of the same size. Its score is the share of the Brier score, or of the
    variance of the ranks, that this explains: 1 is a perfect prediction, 0 or less is none. A column is returned if
    it explains nearly everything; or if it explains most, almost as much as the whole model, and the next column
    leaves at least three times as much unexplained. A column may be that good honestly: whether its value is known
    when a prediction is needed, a person has to say.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        Rows; sparse rows and lists of texts are not searched.
    y : array-like of shape (n_rows,)
        Their targets.
    prediction : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
        Held-out predictions of the whole model, or its class probabilities in the order of the sorted classes; without
        them, the model is taken for perfect.
    task : {"classification", "regression"}, default=None
        What the targets are; None takes numbers of more than 20 different values for a regression.
    random_state : int, default=0
        Seed of the folds, and of the sample of a table of more than 20,000 rows.

    Returns
    -------
    leaks : list of Leak
        Empty if there is none, and for a table of one column.

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> X = draw.normal(size=(500, 4))
    >>> y = X[:, 0] + draw.normal(size=500) > 0
    >>> X[:, 3] = y + 0.1 * draw.normal(size=500)  # measured after the fact
    >>> [leak.column for leak in find_leaks(X, y)]
    ['column 3']
    """
    table, y = as_table(X), column_or_1d(y)
    check_consistent_length(table, y)
    rows = sample_rows(len(y), MOST_ROWS, random_state)
    columns = code_columns(take_rows(table, rows))
    spread = target_spread(y[rows], is_regression(y, task))
    if len(columns) < 2 or len(rows) < 2 * LEAST_IN_BIN or not (spread**2).any():
        return []
    folds = np.random.default_rng(random_state).permutation(len(rows)) % N_FOLDS
    scores = np.array([score_column(column, spread, folds) for column in columns])
    of_model = None
    if prediction is not None:
        of_model = score_prediction(np.asarray(prediction)[rows], y[rows], spread, folds)
    return _leaking(columns, scores, of_model)


def target_spread(y: NDArray[Any], ranked: bool) -> Floats:
    """Target without its mean: one column per class, 0 or 1, or the ranks of numbers; shape (n_rows, n_columns)."""
    if ranked:
        values = rankdata(y)[:, None] / len(y)
    else:
        codes = np.unique(y.astype(str) if y.dtype.kind == "O" else y, return_inverse=True)[1]
        common = np.argsort(-np.bincount(codes), kind="stable")[:MOST_CLASSES]
        values = (codes[:, None] == common).astype(np.float64)
    return np.asarray(values - values.mean(axis=0))


def is_regression(y: NDArray[Any], task: str | None = None) -> bool:
    """Whether targets are numbers in an order instead of classes."""
    if task is None:
        return y.dtype.kind in "fiu" and len(np.unique(y)) > MOST_LABELS
    check_option(task, "task", ["classification", "regression"], "None")
    return task == "regression"


def score_column(column: CodedColumn, spread: Floats, folds: Ints) -> float:
    """Share of the spread that held-out means of the column's values, or parts, explain."""
    most = int(np.clip(len(folds) // LEAST_IN_BIN, 2, MOST_BINS))
    codes, n_codes = bin_codes(column, most)
    return explained(spread, held_out_means(codes, n_codes, spread, folds))


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


def score_prediction(
    prediction: NDArray[Any], y: NDArray[Any], spread: Floats, folds: Ints
) -> float:
    """Score of the whole model on the scale of single columns: of its probabilities, or of what it predicts."""
    if prediction.ndim == 2:
        classes = np.unique(y)
        if prediction.shape[1] != len(classes):
            prediction = prediction.argmax(axis=1)
        else:
            hits = (y[:, None] == classes).astype(np.float64)
            return 1 - float(((hits - prediction) ** 2).sum() / ((hits - hits.mean(0)) ** 2).sum())
    if prediction.dtype.kind not in "fiu":
        prediction = np.unique(prediction.astype(str), return_inverse=True)[1]
    [column] = code_columns(prediction.astype(np.float64)[:, None])
    return score_column(column, spread, folds)


def _leaking(columns: list[CodedColumn], scores: Floats, of_model: float | None) -> list[Leak]:
    """Columns whose score is too good to be true, each with the best of the columns that are worse."""
    leaks = []
    for i in np.argsort(-scores, kind="stable"):
        # Another column with the same score may be its copy.
        others = scores[scores < scores[i] - 1e-9]
        following = float(others.max(initial=0.0))
        is_close = scores[i] >= CLOSE * (1.0 if of_model is None else of_model)
        stands_out = scores[i] >= MUCH and is_close and 1 - following >= FACTOR * (1 - scores[i])
        if scores[i] >= NEARLY_ALL or stands_out:
            leaks.append(Leak(columns[i].name, float(scores[i]), following, of_model))
    return leaks
