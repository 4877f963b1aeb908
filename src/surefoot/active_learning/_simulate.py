"""Learning curves of query strategies on data whose labels are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length, check_random_state, check_scalar

from surefoot._models import clone_model, predict_labels
from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_number, check_target
from surefoot.active_learning._learner import TOLERANCE, StoppingRule
from surefoot.active_learning._query import check_strategy, query


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
        Test accuracy with all labels of the pool, wrong answers included.
    changed : dict of str to ndarray of shape (n_repeats, n_steps)
        Share of predictions that the last doubling of labels changed: the stopping rule compares it with its tolerance.
    """

    n_labels: Ints
    accuracy: dict[str, Floats]
    full_accuracy: Floats
    changed: dict[str, Floats] = field(default_factory=dict)

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
            first = int((mean >= goal).argmax())
            step = [max(first - 1, 0), first]
            reached = float(np.interp(goal, mean[step], self.n_labels[step]))
            needed[name] = reached if mean[first] >= goal else np.inf
        return needed

    def labels_at_stop(self, tolerance: float = TOLERANCE) -> dict[str, Floats]:
        """Number of labels at which the stopping rule would first stop, in each repeat; fewer is better.

        Parameters
        ----------
        tolerance : float, default=0.07
            Largest share of predictions that the last doubling of labels may have changed.

        Returns
        -------
        n_labels : dict of str to ndarray of shape (n_repeats,)
            Numbers for each strategy; infinity if it never stops.
        """
        check_number(tolerance, "tolerance", min_val=0, max_val=1)
        stops = {name: changed <= tolerance for name, changed in self.changed.items()}
        return {
            name: np.where(stop.any(axis=1), self.n_labels[stop.argmax(axis=1)], np.inf)
            for name, stop in stops.items()
        }


def simulate(
    estimator: Any,
    X: Any,
    y: Any,
    strategies: Sequence[Any] | Mapping[str, Any] = ("random", "margin"),
    *,
    n_initial: int = 10,
    n_labels: int = 100,
    batch_size: int = 1,
    n_repeats: int = 10,
    test_size: float = 0.5,
    wrong: float = 0.0,
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
    strategies : sequence or mapping, default=("random", "margin")
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
    wrong : float, default=0.0
        Share of wrong answers: each label of the pool is replaced, with this probability, by another class drawn
        at random. The test labels stay right.
    diverse : bool, default=True
        Whether a batch has rows from different clusters of the most doubtful rows.
    random_state : int, RandomState or None, default=None
        Seed of the splits, the first labels and the strategies.
    n_jobs : int, default=None
        Parallel repeats.

    Returns
    -------
    result : SimulationResult
        Has `n_labels`, `accuracy`, `full_accuracy`, `labels_needed()` and `labels_at_stop()`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.active_learning import simulate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = simulate(GaussianNB(), X, y, n_labels=40, batch_size=10, random_state=0)
    >>> {name: round(labels) for name, labels in result.labels_needed().items()}
    {'random': 18, 'margin': 17}
    """
    named = named_strategies(strategies)
    if not is_classifier(estimator):
        raise TypeError(f"estimator={estimator!r} is no classifier.")
    X, y = as_table(X), check_target(y)
    check_consistent_length(X, y)
    if len(np.unique(y)) < 2:
        raise ValueError("y has one class only, or no rows: there is nothing to learn.")
    check_scalar(batch_size, "batch_size", Integral, min_val=1)
    check_scalar(n_repeats, "n_repeats", Integral, min_val=1)
    check_scalar(n_initial, "n_initial", Integral, min_val=2)
    check_scalar(n_labels, "n_labels", Integral, min_val=n_initial)
    check_number(wrong, "wrong", min_val=0, max_val=1)
    sizes = [*range(n_initial, n_labels, batch_size), n_labels]
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_repeats)
    repeats = Parallel(n_jobs=n_jobs)(
        delayed(_repeat)(
            estimator, X, y, named, sizes, seed, test_size=test_size, wrong=wrong, diverse=diverse
        )
        for seed in seeds
    )
    full, runs = zip(*repeats, strict=True)
    return SimulationResult(
        n_labels=np.array(sizes),
        accuracy={name: np.array([run[name][0] for run in runs]) for name in named},
        full_accuracy=np.array(full),
        changed={name: np.array([run[name][1] for run in runs]) for name in named},
    )


def named_strategies(strategies: Any) -> dict[str, Any]:
    """Strategies by name; the name of one without a name is its own text, function or class name."""
    if isinstance(strategies, Mapping):
        named = {str(name): strategy for name, strategy in strategies.items()}
    else:
        listed = [strategies] if isinstance(strategies, str) else list(strategies)
        named = {
            each if isinstance(each, str) else getattr(each, "__name__", type(each).__name__): each
            for each in listed
        }
        if len(named) < len(listed):
            raise ValueError("strategies has two of the same name: a mapping can give them names.")
    if not named:
        raise ValueError("strategies is empty: there is nothing to compare.")
    for strategy in named.values():
        check_strategy(strategy)
    return named


def _repeat(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    strategies: dict[str, Any],
    sizes: list[int],
    seed: int,
    *,
    test_size: float,
    wrong: float,
    diverse: bool,
) -> tuple[float, dict[str, tuple[list[float], list[float]]]]:
    """Accuracy with all labels of the pool; of each strategy the learning curve and the shares changed."""
    pool, test = train_test_split(np.arange(len(y)), test_size=test_size, random_state=seed)
    X_pool, answers = take_rows(X, pool), answers_of_people(y[pool], np.unique(y), wrong, seed)
    start = np.arange(min(sizes[0], len(answers)))
    if len(np.unique(answers[start])) < 2:  # the last is replaced by a row of another class
        start[-1] = (answers != answers[0]).argmax()

    def score(model: Any) -> float:
        return float(model.score(take_rows(X, test), y[test]))

    runs = {}
    for name, strategy in strategies.items():
        known, random, rule = start, np.random.RandomState(seed), StoppingRule()
        curve, changed = list[float](), list[float]()
        for size in [*sizes[1:], 0]:
            rows, labels = take_rows(X_pool, known), answers[known]
            model = clone_model(estimator).fit(rows, labels)
            curve.append(score(model))
            is_known = np.isin(np.arange(len(pool)), known)
            rule.look(predict_labels(model, X_pool), len(known), labelled=is_known)
            changed.append(rule.changed)
            left = np.flatnonzero(~is_known)
            n_wanted = min(size - len(known), len(left))
            if n_wanted > 0:
                options = {"X": rows, "y": labels, "diverse": diverse, "random_state": random}
                chosen = query(strategy, model, take_rows(X_pool, left), n_wanted, **options)
                known = np.concatenate([known, left[chosen]])
        runs[name] = curve, changed
    return score(clone_model(estimator).fit(X_pool, answers)), runs


def answers_of_people(
    truth: NDArray[Any], classes: NDArray[Any], wrong: float, seed: int
) -> NDArray[Any]:
    """True classes, a share of them replaced by another class, drawn at random."""
    random = np.random.RandomState(seed)
    is_wrong = random.uniform(size=len(truth)) < wrong
    shift = random.randint(1, len(classes), size=len(truth))
    codes = np.searchsorted(classes, truth) + np.where(is_wrong, shift, 0)
    return np.asarray(classes[codes % len(classes)])
