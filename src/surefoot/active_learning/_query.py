"""Choice of the rows of a pool to have labelled next."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from surefoot._tables import as_table, count_rows
from surefoot._typing import Ints
from surefoot.active_learning._batches import choose_batch
from surefoot.active_learning._start import start
from surefoot.active_learning._strategies import Situation, check_strategy, doubts
from surefoot.indicators import Indicator


def query(
    strategy: Any,
    estimator: Any,
    X_pool: Any,
    batch_size: int = 1,
    *,
    X: Any = None,
    y: Any = None,
    diverse: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Ints:
    """Choose the rows of a pool whose labels would improve a fitted classifier most, best first.

    Without a classifier, while fewer than two classes are known, the rows chosen are typical of the pool, and far
    from each other and from the labelled rows: every class is likely to be among them soon.

    Parameters
    ----------
    strategy : str, indicator or callable
        Which rows are asked about first. "margin", the default of everything that asks: rows whose two most
        probable classes are closest. "confidence": rows whose predicted class is least probable (uncertainty
        sampling); for two classes it is the same as "margin". "votes": rows on which the members of an ensemble
        disagree, or those of a committee fitted to bootstraps of `X` and `y` (query by committee). "error": rows
        with a high estimated error. "sensitivity": rows whose prediction changes within their Voronoi cell.
        "random": any rows. An indicator: rows with a low score. A function is called with the model, the pool, `X`,
        `y`, `batch_size` and a RandomState, and returns positions itself.
    estimator : fitted classifier or None
        The model, fitted to `X` and `y`; None if there is none yet.
    X_pool : array-like, CSR or frame of shape (n_pool, n_columns)
        Rows without labels.
    batch_size : int, default=1
        How many to choose.
    X, y : table and labels, default=None
        Labelled rows, to which the model was fitted; "votes" (without an ensemble), "error" and "sensitivity" need
        them. Without a model, the rows chosen are far from those in `X`.
    diverse : bool, default=True
        Whether a batch has rows from the middles of different clusters of the most doubtful rows. The most doubtful
        rows alone may be very similar, or outliers.
    random_state : int, RandomState or None, default=None
        Seed of strategies that draw.
    n_jobs : int, default=None
        Parallel fits of a committee or of an error estimate.

    Returns
    -------
    chosen : ndarray of int of shape (min(batch_size, n_pool),)
        Positions in `X_pool`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefoot.active_learning import query
    >>> model = LogisticRegression().fit([[0.0], [10.0]], [0, 1])
    >>> query("confidence", model, [[1.0], [4.0], [5.2], [9.0]], batch_size=2, diverse=False)
    array([2, 1])
    """
    check_strategy(strategy)
    check_scalar(batch_size, "batch_size", Integral, min_val=1)
    X_pool = as_table(X_pool)
    n_pool = count_rows(X_pool)
    if n_pool == 0:
        raise ValueError("X_pool has no rows: there is nothing left to ask about.")
    n_wanted, random = min(int(batch_size), n_pool), check_random_state(random_state)
    is_random = isinstance(strategy, str) and strategy == "random"
    if estimator is None or len(getattr(estimator, "classes_", (0, 1))) < 2:
        if is_random:
            return np.asarray(random.permutation(n_pool)[:n_wanted], dtype=np.int64)
        return start(X_pool, n_wanted, X, random)
    check_is_fitted(estimator)
    if callable(strategy) and not isinstance(strategy, Indicator):
        return _checked(strategy(estimator, X_pool, X, y, n_wanted, random), n_wanted, n_pool)
    doubt = doubts(strategy, Situation(estimator, X_pool, X, y, random, n_jobs))
    return choose_batch(doubt, n_wanted, estimator, X_pool, diverse=diverse and not is_random)


def _checked(chosen: Any, n_wanted: int, n_pool: int) -> Ints:
    """Positions returned by a user's function; raise an error if they are not valid."""
    positions = np.asarray(chosen)
    if (
        positions.ndim != 1
        or positions.dtype.kind not in "iu"
        or len(np.unique(positions)) != len(positions)
        or len(positions) not in range(1, n_wanted + 1)
        or positions.min() < 0
        or positions.max() >= n_pool
    ):
        raise ValueError(
            f"strategy returned {chosen!r}: it must return up to {n_wanted} different positions below {n_pool}."
        )
    return positions.astype(np.int64)
