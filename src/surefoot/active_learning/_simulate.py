"""Learning curves of query strategies on data whose labels are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length, check_random_state, check_scalar

from surefoot._models import clone_model
from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_number
from surefoot.active_learning._query import query
from surefoot.active_learning._strategies import check_strategy


@dataclass(frozen=True)
class SimulationResult:
    """Test accuracy by number of labels, for each strategy; higher is better.

    Attributes
    ----------
    n_labels : ndarray of shape (n_steps,)
        Number of labels at each step.
    accuracy : dict of str to ndarray of shape (n_repeats, n_steps)
        Test accuracy of each strategy.
    full_accuracy : ndarray of shape (n_repeats,)
        Test accuracy with all labels of the pool.
    """

    n_labels: Ints
    accuracy: dict[str, Floats]
    full_accuracy: Floats

    def labels_needed(self, share: float = 0.95) -> dict[str, float]:
        """Number of labels until the mean accuracy reaches a share of the accuracy with all labels; fewer is better.

        Between two steps the curve is interpolated linearly.

        Parameters
        ----------
        share : float, default=0.95
            Of the accuracy with all labels of the pool.

        Returns
        -------
        needed : dict of str to float
            Number for each strategy; infinity if it never reaches the share.
        """
        check_number(share, "share", min_val=0, max_val=1, include_boundaries="right")
        goal = share * self.full_accuracy.mean()
        needed = {}
        for name, curves in self.accuracy.items():
            mean = curves.mean(axis=0)
            reached = np.flatnonzero(mean >= goal)
            if len(reached) == 0:
                needed[name] = np.inf
            elif reached[0] == 0:
                needed[name] = float(self.n_labels[0])
            else:
                step = [reached[0] - 1, reached[0]]
                needed[name] = float(np.interp(goal, mean[step], self.n_labels[step]))
        return needed


def simulate(
    estimator: Any,
    X: Any,
    y: Any,
    strategies: Sequence[Any] | Mapping[str, Any] = ("random", "confidence", "sensitivity"),
    *,
    n_initial: int = 10,
    n_labels: int = 100,
    batch_size: int = 1,
    n_repeats: int = 10,
    test_size: float = 0.5,
    diverse: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> SimulationResult:
    """Compare query strategies on data whose labels are known; higher accuracy is better.

    In each repeat the rows are split into a pool and a test set, and some rows of the pool are labelled at
    random. From the same start every strategy asks for the same number of labels, batch by batch,
    and the model is fitted anew after each.

    Parameters
    ----------
    estimator : classifier
        The model; a clone is fitted.
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Rows.
    y : array-like of shape (n_rows,)
        Their labels, which the oracle knows.
    strategies : sequence or mapping, default=("random", "confidence", "sensitivity")
        Strategies as for :func:`surefoot.active_learning.query`; a mapping gives each a name.
    n_initial : int, default=10
        Rows labelled at random to begin with, of two classes at least.
    n_labels : int, default=100
        Labels at the end.
    batch_size : int, default=1
        Labels asked for between two fits.
    n_repeats : int, default=10
        Splits and starts.
    test_size : float or int, default=0.5
        Share or number of rows that the accuracy is measured on.
    diverse : bool, default=True
        Whether batches are spread out among the most doubtful rows.
    random_state : int, RandomState or None, default=None
        Seed of the splits, the first labels and the strategies.
    n_jobs : int, default=None
        Parallel repeats.

    Returns
    -------
    result : SimulationResult
        Has `n_labels`, `accuracy`, `full_accuracy` and `labels_needed()`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.active_learning import simulate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = simulate(GaussianNB(), X, y, n_labels=40, batch_size=10, random_state=0)
    >>> {name: round(labels) for name, labels in result.labels_needed().items()}
    {'random': 17, 'confidence': 17, 'sensitivity': 18}
    """
    named = named_strategies(strategies)
    y = _check(estimator, X, y, n_initial, n_labels, batch_size, n_repeats)
    X = as_table(X)
    sizes = [*range(n_initial, n_labels, batch_size), n_labels]
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_repeats)
    repeats = Parallel(n_jobs=n_jobs)(
        delayed(_repeat)(estimator, X, y, named, sizes, test_size, seed, diverse=diverse)
        for seed in seeds
    )
    full, curves = zip(*repeats, strict=True)
    return SimulationResult(
        n_labels=np.array(sizes),
        accuracy={name: np.array([curve[name] for curve in curves]) for name in named},
        full_accuracy=np.array(full),
    )


def named_strategies(strategies: Any) -> dict[str, Any]:
    """Strategies by name; the name of one without a name is its own text, function or class name."""
    if isinstance(strategies, Mapping):
        named = {str(name): strategy for name, strategy in strategies.items()}
    else:
        listed = [strategies] if isinstance(strategies, str) else list(strategies)
        named = {_name(strategy): strategy for strategy in listed}
        if len(named) < len(listed):
            raise ValueError("strategies has two of the same name: a mapping can give them names.")
    if not named:
        raise ValueError("strategies is empty: there is nothing to compare.")
    for strategy in named.values():
        check_strategy(strategy)
    return named


def _name(strategy: Any) -> str:
    if isinstance(strategy, str):
        return strategy
    return getattr(strategy, "__name__", type(strategy).__name__)


def _check(
    estimator: Any, X: Any, y: Any, n_initial: int, n_labels: int, batch_size: int, n_repeats: int
) -> NDArray[Any]:
    if not is_classifier(estimator):
        raise TypeError(f"estimator={estimator!r} is no classifier.")
    check_consistent_length(X, y)
    labels = np.asarray(y)
    if len(np.unique(labels)) < 2:
        raise ValueError("y has one class only, or no rows: there is nothing to learn.")
    for name, value in (("batch_size", batch_size), ("n_repeats", n_repeats)):
        check_scalar(value, name, Integral, min_val=1)
    check_scalar(n_initial, "n_initial", Integral, min_val=2)
    check_scalar(n_labels, "n_labels", Integral, min_val=n_initial)
    return labels


def _repeat(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    strategies: dict[str, Any],
    sizes: list[int],
    test_size: float,
    seed: int,
    *,
    diverse: bool,
) -> tuple[float, dict[str, list[float]]]:
    """Accuracy with all labels of the pool, and the learning curve of each strategy."""
    pool, test = train_test_split(np.arange(len(y)), test_size=test_size, random_state=seed)
    start = with_two_classes(pool, y, sizes[0])
    X_test, y_test = take_rows(X, test), y[test]
    full = clone_model(estimator).fit(take_rows(X, pool), y[pool]).score(X_test, y_test)
    curves = {}
    for name, strategy in strategies.items():
        known, random, curve = start, np.random.RandomState(seed), []
        for size in [*sizes[1:], 0]:
            rows, labels = take_rows(X, known), y[known]
            model = clone_model(estimator).fit(rows, labels)
            curve.append(float(model.score(X_test, y_test)))
            left = np.setdiff1d(pool, known)
            n_wanted = min(size - len(known), len(left))
            if n_wanted > 0:
                X_left = take_rows(X, left)
                options = {"X": rows, "y": labels, "diverse": diverse, "random_state": random}
                chosen = query(strategy, model, X_left, n_wanted, **options)
                known = np.concatenate([known, left[chosen]])
        curves[name] = curve
    return float(full), curves


def with_two_classes(pool: Ints, y: NDArray[Any], n_rows: int) -> Ints:
    """First rows of a pool; if all are of one class, the last is replaced by a row of another class."""
    start = pool[:n_rows].copy()
    if len(np.unique(y[start])) < 2:
        start[-1] = pool[(y[pool] != y[start[0]]).argmax()]
    return start
