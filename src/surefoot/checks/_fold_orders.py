"""Order of the rows: whether neighbours in the table help to predict a row."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length, check_scalar, column_or_1d

from surefoot._models import check_model, fit_model, predict_labels
from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_vector
from surefoot.checks._coding import LEVEL

# Blocks of rows that stand together, over which losses are compared.
N_BLOCKS = 50

# Share of the loss by which it must differ to be worth a sentence.
LEAST_GAP = 0.05


class FoldOrders(NamedTuple):
    """Mean loss with shuffled folds and with folds of rows that stand together; lower is better.

    The loss is 1 for a wrong class, or the size of the error. `p_value` is the probability that ordered folds are so
    much worse if the order of the rows did not matter; `n_rows` of the rows were compared. `sorted_by_target` says
    that rows with equal or similar targets stand together, as where a table was sorted by its target: this alone
    makes ordered folds worse.
    """

    shuffled: float
    ordered: float
    p_value: float
    sorted_by_target: bool
    n_rows: int

    @property
    def matters(self) -> bool:
        """Whether ordered folds are worse by more than chance, and by at least 5 % of the loss."""
        return self.p_value < LEVEL and self.ordered > (1 + LEAST_GAP) * self.shuffled


def compare_fold_orders(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: int = 5,
    losses: Any = None,
    max_rows: int = 3000,
    random_state: int = 0,
) -> FoldOrders:
    """Compare cross-validation with shuffled folds and with folds of rows that stand together.

    If both differ, a row is easier to predict where its neighbours in the table are known: rows of one person, place
    or time stand together, or the data drift. Which folds are right depends on the new rows. If these are of other
    persons or of a later time, shuffled folds promise too much.

    Parameters
    ----------
    estimator : classifier or regressor
        Model, fitted anew on each fold; a class that its training rows lack is predicted wrong.
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Rows in the order of the table.
    y : array-like of shape (n_rows,)
        Their targets.
    cv : int, default=5
        Number of folds.
    losses : array-like of shape (n_rows,), default=None
        Losses of all rows with shuffled folds, where these are known: then only ordered folds are fitted, if the
        table has at most `max_rows` rows.
    max_rows : int, default=3000
        Most rows to compare on; of a longer table, blocks of rows that stand together are taken at equal distances.
    random_state : int, default=0
        Seed of the shuffled folds.

    Returns
    -------
    orders : FoldOrders
        Both mean losses, the p-value of their difference, and whether the rows are sorted by target.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> draw = np.random.default_rng(0)
    >>> patient = np.repeat(np.arange(40), 10)
    >>> X = draw.normal(size=(40, 3))[patient] + 0.1 * draw.normal(size=(400, 3))
    >>> y = draw.normal(size=40)[patient] + 0.1 * draw.normal(size=400)
    >>> orders = compare_fold_orders(KNeighborsRegressor(), X, y)
    >>> orders.matters, orders.ordered > 3 * orders.shuffled
    (True, True)
    """
    table, y = as_table(X), column_or_1d(y)
    check_model(estimator)
    check_consistent_length(table, y)
    check_scalar(cv, "cv", Integral, min_val=2)
    check_scalar(max_rows, "max_rows", Integral, min_val=2 * cv)
    if isinstance(estimator, FrozenEstimator):
        raise ValueError(  # noqa: TRY004 - a model, but not one to fit
            "A frozen model is fitted on no fold: there is no order to compare."
        )
    if len(y) < 2 * cv:
        raise ValueError(f"{len(y)} rows are too few for {cv} folds of two rows or more.")
    rows = spread_blocks(len(y), max_rows)
    part, targets = take_rows(table, rows), y[rows]
    ordered = held_out_losses(estimator, part, targets, np.arange(len(rows)) * cv // len(rows))
    if losses is not None and len(rows) == len(y):
        shuffled = check_vector(losses, "losses")
        check_consistent_length(shuffled, y)
    else:
        folds = shuffled_folds(targets, cv, is_classifier(estimator), random_state)
        shuffled = held_out_losses(estimator, part, targets, folds)
    blocks = np.arange(len(rows)) * min(N_BLOCKS, len(rows)) // len(rows)
    return FoldOrders(
        float(shuffled.mean()),
        float(ordered.mean()),
        compare_losses(ordered, shuffled, blocks),
        is_sorted_by(targets, is_classifier(estimator)),
        len(rows),
    )


def spread_blocks(n_rows: int, most: int) -> Ints:
    """Positions of all rows, or of blocks of rows that stand together, at equal distances."""
    if n_rows <= most:
        return np.arange(n_rows)
    size = max(1, most // N_BLOCKS)
    starts = np.linspace(0, n_rows - size, most // size).astype(np.int64)
    return np.unique(starts[:, None] + np.arange(size))


def shuffled_folds(y: NDArray[Any], n_folds: int, by_class: bool, random_state: int) -> Ints:
    """Number of each row's fold, drawn at random; each class, if there are any, is spread over the folds."""
    order = np.random.default_rng(random_state).permutation(len(y))
    if by_class:
        order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), dtype=np.int64)
    folds[order] = np.arange(len(y)) % n_folds
    return folds


def held_out_losses(estimator: Any, X: Any, y: NDArray[Any], folds: Ints) -> Floats:
    """Loss of each row by the model that was fitted on the other folds: 0 or 1, or the size of the error."""
    losses = np.empty(len(y))
    for fold in np.unique(folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        predicted = _predict(estimator, X, y, train, test)
        if is_classifier(estimator):
            losses[test] = predicted != y[test]
        else:
            losses[test] = np.abs(predicted - y[test])
    return losses


def _predict(estimator: Any, X: Any, y: NDArray[Any], train: Ints, test: Ints) -> NDArray[Any]:
    """Predictions of a model fitted on some rows, or the class of all of them if they have one only."""
    if is_classifier(estimator) and (y[train] == y[train[0]]).all():
        return np.repeat(y[train[:1]], len(test))
    return predict_labels(fit_model(estimator, take_rows(X, train), y[train]), take_rows(X, test))


def compare_losses(first: Floats, second: Floats, units: Ints) -> float:
    """P-value of the hypothesis that the first loss of a row is no higher than the second, by Student's t over units.

    Rows of one unit, numbered from 0, may depend on each other; differences of units must not.
    """
    gaps = first - second
    if not gaps.any():
        return 1.0
    n_units = int(units.max()) + 1
    if n_units < 2:
        return 1.0
    sums = np.bincount(units, gaps - gaps.mean())
    spread = np.sqrt(n_units / (n_units - 1) * float(sums @ sums))
    if spread <= 1e-12 * np.abs(gaps).sum():  # every row differs by the same
        return 0.0 if gaps[0] > 0 else 1.0
    return float(student.sf(gaps.sum() / spread, n_units - 1))


def is_sorted_by(y: NDArray[Any], by_class: bool) -> bool:
    """Whether targets that stand together are equal, or nearly in ascending or descending order."""
    if by_class:
        n_changes = int((y[1:] != y[:-1]).sum())
        return n_changes <= 2 * len(np.unique(y))
    steps = np.sign(np.diff(y))
    return bool(len(steps) and abs(steps.sum()) >= 0.9 * np.count_nonzero(steps) > 0)
