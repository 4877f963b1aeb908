"""Choice of the rows of a pool to have labelled next: how doubtful each is, and a batch of different ones."""

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from surefoot._copies import hash_rows
from surefoot._models import MixedInput, class_votes, clone_with_seed, offered_by
from surefoot._refits import bootstrap_models
from surefoot._tables import as_numbers, as_table, count_rows, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import Confidence, Indicator, LocalSensitivity, VoteDisagreement
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Members of the committee that is formed where the model has none of its own.
COMMITTEE = 10

# Added to the spread of the lead within a cell, so that a spread of 0 can be divided by.
TINY_SPREAD = 1e-9

# Most rows that the first ones are chosen from: a random part of a larger pool has every class that is not very rare.
MOST_CANDIDATES = 4000

# Neighbours by which a group is told from an outlier: fewer rows than that, alone, count as outliers.
N_NEIGHBORS = 5

# A batch of n rows is chosen among the CANDIDATES * n most doubtful rows.
CANDIDATES = 5

# Weight of the least doubtful candidate in its cluster; that of the most doubtful is 1.
LEAST_WEIGHT = 0.5

# Rows of the pool that the columns are scaled by.
MOST_REFERENCE_ROWS = 1000

# Stands in for a model where there is none yet: the neighbour space is then made from the table as it is.
NO_MODEL = DummyClassifier().fit([[0], [1]], [0, 1])


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
        return first_rows(X_pool, n_wanted, X, random)
    check_is_fitted(estimator)
    if callable(strategy) and not isinstance(strategy, Indicator):
        return _check_positions(
            strategy(estimator, X_pool, X, y, n_wanted, random), n_wanted, n_pool
        )
    model = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    labels = None if y is None else np.asarray(y)
    situation = Situation(model, X_pool, X, labels, random, n_jobs)
    if isinstance(strategy, Indicator):
        doubt = -situation.fit_indicator(strategy).score_samples(X_pool)
    else:
        doubt = STRATEGIES[strategy](situation)
    return choose_batch(doubt, n_wanted, estimator, X_pool, diverse=diverse and not is_random)


def _check_positions(chosen: Any, n_wanted: int, n_pool: int) -> Ints:
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


def check_strategy(strategy: Any) -> None:
    """Raise an error unless this is a strategy."""
    if not isinstance(strategy, Indicator) and not callable(strategy):
        check_option(strategy, "strategy", list(STRATEGIES), "an indicator or a function")


class Situation(NamedTuple):
    """A fitted model, a pool of rows to choose from, the labelled rows or None, and how to draw and fit."""

    model: Any
    X_pool: Any
    X: Any
    y: NDArray[Any] | None
    random: Any
    n_jobs: int | None

    def fit_indicator(self, indicator: Indicator) -> Indicator:
        """Indicator fitted around the model, with neighbours among the labelled rows."""
        rows = self.X_pool if self.X is None else self.X
        chosen = clone_with_seed(indicator, self.random)
        chosen.set_params(estimator=FrozenEstimator(self.model))
        return chosen.fit(rows, self.y)

    def labelled(self, strategy: str) -> tuple[Any, NDArray[Any]]:
        """Labelled rows and their labels; raise an error if they were not given."""
        if self.X is None or self.y is None:
            raise ValueError(
                f"strategy={strategy!r} looks at the rows that are labelled: X and y must be given."
            )
        return self.X, self.y


def at_random(situation: Situation) -> Floats:
    """Random doubts, the baseline."""
    return np.asarray(situation.random.uniform(size=count_rows(situation.X_pool)))


def small_margin(situation: Situation) -> Floats:
    """Doubt that is higher the smaller the lead of the predicted class over the runner-up is.

    The lead is one of probabilities, or of decision values where there are none. Of two classes only its order
    matters, which is that of the log-odds.
    """
    model = situation.model
    if len(model.classes_) > 2 and hasattr(model, "predict_proba"):
        two = np.partition(class_votes(model, situation.X_pool), -2, axis=1)[:, -2:]
        return np.asarray(two[:, 0] - two[:, 1])
    return -situation.fit_indicator(Confidence()).transform(situation.X_pool)[:, 1]


def low_confidence(situation: Situation) -> Floats:
    """Doubt that is higher the less probable the predicted class is."""
    return -situation.fit_indicator(Confidence()).transform(situation.X_pool)[:, 0]


def divided_votes(situation: Situation) -> Floats:
    """Disagreement of the ensemble's members, or of refits to bootstraps of the labelled rows."""
    predictor = situation.fit_indicator(
        Confidence()
    ).index_.model.predictor  # the last step of a pipeline
    if hasattr(predictor, "estimators_"):
        return situation.fit_indicator(VoteDisagreement()).transform(situation.X_pool)[:, 1]
    X, y = situation.labelled("votes")
    models = bootstrap_models(
        situation.model,
        X,
        y,
        n_resamples=COMMITTEE,
        random=situation.random,
        n_jobs=situation.n_jobs,
    )
    votes = np.stack([class_votes(model, situation.X_pool) for model in models])
    # Entropy of the members' mean probabilities minus the mean of their entropies (Jensen-Shannon divergence).
    return np.asarray(entr(votes.mean(axis=0)).sum(axis=1) - entr(votes).sum(axis=2).mean(axis=0))


def unstable(situation: Situation) -> Floats:
    """Doubt that is higher the smaller the lead of the predicted class is, relative to its spread within the cell.

    A row that is only borderline has a small lead and also a small spread. Where the lead itself
    is uncertain, a label is more useful (Bennett 2007, section 5).
    """
    situation.labelled("sensitivity")
    spread = situation.fit_indicator(LocalSensitivity()).transform(situation.X_pool)[:, 1]
    return low_confidence(situation) / (spread + TINY_SPREAD)


def likely_wrong(situation: Situation) -> Floats:
    """Estimated probability of an error for each row of the pool.

    The error is learned on held-out rows. A class with a single label cannot be held out and learned from,
    so it is left out; if fewer than two classes remain, `low_confidence` is used instead.
    """
    X, y = situation.labelled("error")
    labels, counts = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, labels[counts > 1]))
    if (counts > 1).sum() < 2:
        return low_confidence(situation)
    error_estimator = IndividualErrorClassifier(
        situation.model, random_state=situation.random, n_jobs=situation.n_jobs
    )
    error_estimator.fit(take_rows(X, rows), y[rows])
    return np.asarray(error_estimator.predict_error(situation.X_pool))


STRATEGIES: dict[str, Callable[[Situation], Floats]] = {
    "margin": small_margin,
    "confidence": low_confidence,
    "votes": divided_votes,
    "error": likely_wrong,
    "sensitivity": unstable,
    "random": at_random,
}


def first_rows(X_pool: Any, n_wanted: int, X: Any, random: Any) -> Ints:
    """Choose rows that are far from each other and from the labelled rows, but no outliers.

    Rows far from all others come from other groups, so a rare class is soon among them. Outliers are far from
    everything too, and the answer for an outlier says nothing about other rows: so what counts is how much farther
    a row is from the chosen rows than from its own neighbours. Strings without columns have no distances:
    they are drawn at random.
    """
    n_pool = count_rows(X_pool)
    drawn = np.asarray(random.permutation(n_pool), dtype=np.int64)
    if getattr(X_pool, "ndim", 2) == 1 or n_pool <= n_wanted:
        return drawn[:n_wanted]
    candidates = drawn[: max(MOST_CANDIDATES, 2 * n_wanted)]
    coordinates = Coordinates(None, X_pool)
    rows = coordinates(take_rows(X_pool, candidates))
    order, n_different = copies_last(rows)
    if n_different <= n_wanted:
        return candidates[order[:n_wanted]]
    search = NearestNeighbors(
        n_neighbors=min(N_NEIGHBORS + 1, rows.shape[0]), metric=coordinates.metric
    )
    radii = search.fit(rows).kneighbors(rows)[0][:, -1]
    different = order[:n_different]
    labelled = None if X is None or count_rows(X) == 0 else coordinates(X)
    chosen = farthest_first(
        take_rows(rows, different), n_wanted, radii[different], labelled, coordinates.metric
    )
    return candidates[different[chosen]]


def farthest_first(rows: Any, n_wanted: int, radii: Floats, labelled: Any, metric: Any) -> Ints:
    """Choose the row whose distance to all chosen rows exceeds its radius most, again and again.

    Labelled rows count as chosen; without them the first row is the first choice.
    """

    def distances_to(others: Any) -> Floats:
        return np.asarray(pairwise_distances(rows, others, metric=metric).min(axis=1))

    chosen = [0] if labelled is None else list[int]()
    nearest = distances_to(take_rows(rows, [0]) if labelled is None else labelled)
    while len(chosen) < n_wanted:
        gains = nearest - radii
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        nearest = np.minimum(nearest, distances_to(take_rows(rows, chosen[-1:])))
    return np.array(chosen, dtype=np.int64)


def choose_batch(
    doubt: Floats, n_wanted: int, estimator: Any, X_pool: Any, *, diverse: bool
) -> Ints:
    """Positions in the pool of the rows to ask about, the most doubtful first.

    A diverse batch has no two copies of a row as long as the pool has other rows.
    """
    # The highest doubt first. Doubts that differ by rounding errors only are equal, and come in an order that looks
    # random, always the same: a forest has the same doubt about many rows, and those at the top of a sorted pool would
    # always come first.
    order = np.random.RandomState(0).permutation(len(doubt))
    order = order[np.argsort(-doubt[order].astype(np.float32), kind="stable")]
    if not diverse or n_wanted == 1 or n_wanted >= len(order):
        return order[:n_wanted]
    coordinates, n_candidates = Coordinates(estimator, X_pool), CANDIDATES * n_wanted
    n_read, n_different = n_candidates, 0
    while n_different < n_candidates:
        rows = coordinates(take_rows(X_pool, order[:n_read]))
        positions, n_different = copies_last(rows)
        if n_read >= len(order):
            break
        n_read *= 4
    if n_different <= n_wanted:
        return order[np.sort(positions[:n_wanted])]
    candidates = positions[: min(n_candidates, n_different)]
    rows = take_rows(rows, candidates)
    if coordinates.metric == "cosine":
        rows = normalize(rows)
    return order[candidates[np.sort(middles_of_clusters(rows, n_wanted))]]


def middles_of_clusters(rows: Any, n_clusters: int) -> Ints:
    """Row nearest to the centre of each cluster of the candidates, which are all different, most doubtful first.

    The rows of a batch are then different, as each is from another cluster, and typical, as each is in the middle of
    other doubtful rows (Zhdanov 2019, "Diverse mini-batch active learning").
    """
    weights = np.linspace(1.0, LEAST_WEIGHT, rows.shape[0])
    clusters = KMeans(n_clusters, n_init=1, random_state=0)
    with warnings.catch_warnings():
        # Rows that differ by rounding errors only make fewer clusters; the rest are then chosen among all rows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters.fit(rows, sample_weight=weights)
    distances, chosen = clusters.transform(rows), list[int]()
    for cluster in range(n_clusters):
        distances[chosen, cluster] = np.inf
        chosen.append(int(distances[:, cluster].argmin()))
    return np.array(chosen, dtype=np.int64)


class Coordinates:
    """Rows in a scaled neighbour space.

    Parameters
    ----------
    estimator : fitted classifier or None
        Rows are compared as its last step gets them; without a model, as they are.
    X_pool : table
        All rows, a part of which decides how columns are scaled and categories are encoded.
    """

    def __init__(self, estimator: Any, X_pool: Any) -> None:
        reference = np.random.RandomState(0).permutation(count_rows(X_pool))[:MOST_REFERENCE_ROWS]
        rows = take_rows(X_pool, reference)
        model, space = (NO_MODEL, own_space(rows)) if estimator is None else (estimator, "scaled")
        # Clusters and distances are those of points: rows that the model compares under DTW have none.
        metric = "euclidean" if offered_by(model, "neighbor_search") else "auto"
        self.index = NeighborhoodIndex(
            model, rows, n_neighbors=1, space=space, metric=metric, copy=False
        )
        self.metric = self.index.metric

    def __call__(self, table: Any) -> Any:
        """Coordinates of the rows of a table."""
        return Neighborhood(self.index, table).rows


def own_space(table: Any) -> Any:
    """Space of a table without a model.

    A string that occurs once is a category like no other: a column of names or notes would set every row apart.
    """
    if as_numbers(table) is not None:
        return "scaled"
    return MixedInput(None, table).vectorizer().set_params(min_frequency=2)


def copies_last(rows: Any) -> tuple[Ints, int]:
    """Positions of all rows, copies of earlier rows after all others; and the number of different rows."""
    first = np.unique(hash_rows(rows), return_index=True)[1]
    is_copy = np.ones(rows.shape[0], dtype=bool)
    is_copy[first] = False
    return np.argsort(is_copy, kind="stable"), len(first)
