"""Nearest-neighbour classifier of series that chooses the number of neighbours for each series."""

from collections.abc import Sequence
from math import ceil
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_number, check_option
from surefoot.time_series._kneighbors import (
    SeriesVoteClassifier,
    Weights,
    class_occurrences,
    votes_by_size,
)
from surefoot.time_series._series import complete_lists, drop_own

Lists = tuple[Floats, Ints]


class LocalKNeighborsDTWClassifier(SeriesVoteClassifier):
    """Nearest-neighbour classifier of series that chooses the number of neighbours for each series.

    For each series, the error of every candidate number of neighbours is estimated on the nearest
    training series, and the number with the lowest estimate is used (individualised
    error estimation, Buza et al. 2010). `predict_error` returns that estimate; lower is better.

    By default, two parts of the paper's method are changed, because it gains little without that. First, errors
    on training series are leave-one-out errors, which need no further search, and are shrunk towards the
    overall error, so that ties go to the number that is best overall. Second, a neighbour votes not only for its
    own label but also for the classes of the series that it is a neighbour of, so that hubs with a wrong label do
    little harm; the weight of the own label is chosen by the same errors.

    Parameters
    ----------
    n_neighbors : sequence of int, default=(1, 3, 5, 7, 9)
        Numbers of neighbours to choose from.
    error_neighbors : int, default=5
        Number of nearest training series on which the error of each candidate is estimated.
    cv : "loo" or splitter, default="loo"
        How errors on training series are measured: with neighbours among all other series, or in the training
        part of each split, such as `HoldoutSplit(4 / 9)`. Either needs one neighbour search.
    shrinkage : float, default=5.0
        Weight of the overall error, as a number of series beside the nearby ones. 0 uses the nearby series alone;
        inf gives every series the number that is best overall.
    label_trust : float or sequence of float, default=(1.0, 3.0, inf)
        Weight of a neighbour's own label in its vote. Beside it, each training series counts for its class: 1 if the
        voter is its nearest neighbour, 1/2 if its second, 1/3 if its third and so on. inf counts the own label
        alone, the ordinary vote. Of several values, the one with the lowest error is kept.
    weights : {"rank", "uniform", "distance"} or callable, default="rank"
        Weight of each vote: 1 / r for the r-th neighbour, equal, one over its distance, or a
        function from an array of distances to one of weights.
    tie_break : {"largest", "smallest"}, default="largest"
        Which number is taken if several have the lowest estimate.
    window : int, float or None, default=None
        Sakoe-Chiba radius in steps (int), or as a fraction of the longest training series (float);
        None sets no limit. See :class:`~surefoot.time_series.DTWNeighbors`.
    neighbors : object, default=None
        Neighbour search with the methods `fit` and `kneighbors`; None is
        :class:`~surefoot.time_series.DTWNeighbors`.
    n_jobs : int, default=None
        Threads over the series to search for.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_neighbors_ : ndarray of shape (n_candidates,)
        Candidate numbers of neighbours, ascending.
    errors_ : ndarray of shape (n_candidates,)
        Overall error of each number on held-out training series; lower is better.
    label_trust_ : float
        The value of `label_trust` with the lowest error.
    neighbors_ : DTWNeighbors
        The fitted search.
    n_features_in_ : int
        Length of the training series, where they came as a 2-D array.

    Notes
    -----
    The paper's method is ``LocalKNeighborsDTWClassifier(cv=HoldoutSplit(4 / 9), shrinkage=0,
    label_trust=np.inf, weights="uniform", tie_break="smallest")``. The paper states no rule for ties: `tie_break` may
    be "largest" too, and a shrinkage of 1e-6 takes the number with the lowest overall error.

    Examples
    --------
    >>> from surefoot.datasets import make_cylinder_bell_funnel
    >>> from surefoot.time_series import LocalKNeighborsDTWClassifier
    >>> X, y = make_cylinder_bell_funnel(60, random_state=0)
    >>> model = LocalKNeighborsDTWClassifier(window=0.1).fit(X[:45], y[:45])
    >>> model.score(X[45:], y[45:])
    1.0
    >>> model.predict_n_neighbors(X[45:48])
    array([3, 3, 3])
    """

    def __init__(
        self,
        n_neighbors: Sequence[int] = (1, 3, 5, 7, 9),
        *,
        error_neighbors: int = 5,
        cv: Any = "loo",
        shrinkage: float = 5.0,
        label_trust: float | Sequence[float] = (1.0, 3.0, np.inf),
        weights: Weights = "rank",
        tie_break: str = "largest",
        window: float | None = None,
        neighbors: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(window=window, weights=weights, neighbors=neighbors, n_jobs=n_jobs)
        self.n_neighbors = n_neighbors
        self.error_neighbors = error_neighbors
        self.cv = cv
        self.shrinkage = shrinkage
        self.label_trust = label_trust
        self.tie_break = tie_break

    def fit(self, X: Any, y: Any) -> Self:
        """Search the neighbours of the training series, and measure the error of each number of neighbours.

        Parameters
        ----------
        X : array of shape (cases, time) or (cases, channels, time), or list of series
            Training series; a list holds series of unequal lengths, 1-D or (channels, time).
        y : array-like of shape (cases,)
            Class labels: numbers or strings.

        Returns
        -------
        self : LocalKNeighborsDTWClassifier
        """
        check_scalar(self.error_neighbors, "error_neighbors", Integral, min_val=1)
        check_number(self.shrinkage, "shrinkage", min_val=0)
        check_option(self.tie_break, "tie_break", ("largest", "smallest"))
        if self.cv != "loo" and not hasattr(self.cv, "split"):
            raise ValueError(
                f"cv={self.cv!r} is not known: it may be 'loo' or a splitter such as "
                "HoldoutSplit(4 / 9)."
            )
        sizes = check_candidates(
            self.n_neighbors, "n_neighbors", Integral, "a sequence of ints of at least 1"
        )
        trusts = check_candidates(
            self.label_trust, "label_trust", Real, "a float above 0, or several"
        )
        self.n_neighbors_ = np.unique([int(size) for size in sizes])
        self._set_training_series(X, y)
        n_rows, largest = len(self._codes), int(self.n_neighbors_[-1])
        check_enough(n_rows - 1, largest, f"beside each, with n_samples = {n_rows}")
        # Long enough that hardly any list runs short when half of the series are held out.
        length = largest if self.cv == "loo" else min(4 * largest + 4, n_rows - 1)
        lists = self.neighbors_.kneighbors(n_neighbors=length)
        self._occurrences = self._count_occurrences(lists, self._codes, trusts)
        if self.cv == "loo":
            rows = np.arange(n_rows)
            errors = self._mistakes(lists, rows, self._occurrences, trusts, own=True)
        else:
            rows, errors = self._held_out_mistakes(X, lists, trusts)
        check_enough(len(rows), self.error_neighbors, "with a known error (error_neighbors)")
        overall = errors.mean(axis=0)
        kept = int(overall.min(axis=1).argmin())
        self.label_trust_, self.errors_ = float(trusts[kept]), overall[kept]
        # Mean over the splits that hold a row out.
        times, total = np.bincount(rows, minlength=n_rows), np.zeros((n_rows, errors.shape[2]))
        np.add.at(total, rows, errors[:, kept])
        self._error_rows = held_out = np.flatnonzero(times)
        self._errors = total[held_out] / times[held_out, None]
        return self

    def _count_occurrences(self, lists: Lists, codes: Ints, trusts: list[float]) -> Floats:
        """Class occurrences in the lists of rows of classes `codes`; empty if no trust needs them."""
        n_classes = len(self.classes_)
        if np.isinf(trusts).all():
            return np.zeros((0, n_classes))
        indices = lists[1][:, : self.n_neighbors_[-1]]
        return class_occurrences(indices, codes, len(self._codes), n_classes)

    def _mistakes(
        self, lists: Lists, rows: Ints, occurrences: Floats, trusts: list[float], *, own: bool
    ) -> Mask:
        """Mask of mistakes on training rows with these lists, of shape (rows, trusts, sizes).

        `own` is True if the rows are among those whose occurrences were counted.
        """
        truth = self._codes[rows]
        wrong = []
        for trust in trusts:
            votes = votes_by_size(
                lists,
                self._codes,
                occurrences,
                trust=trust,
                weights=self.weights,
                sizes=self.n_neighbors_,
                own_codes=truth if own else None,
            )
            wrong.append(votes.argmax(axis=2) != truth[:, None])
        return np.stack(wrong, axis=1)

    def _held_out_mistakes(self, X: Any, lists: Lists, trusts: list[float]) -> tuple[Ints, Mask]:
        """Rows that any split holds out, and a mask of the mistakes on each, with neighbours in the training part.

        All splits use the same lists, without held-out neighbours; where too few remain, the search is repeated.
        """
        largest = int(self.n_neighbors_[-1])
        rows, errors = [], []
        for kept, held_out in self.cv.split(X, self._codes):
            check_enough(len(kept), largest, "in a training part of cv")
            allowed = np.isin(np.arange(len(self._codes)), kept)

            def among_kept(of: Ints, allowed: Mask = allowed) -> Lists:
                def search_again(short: Ints, length: int) -> Lists:
                    # One more than wanted, because each series is its own nearest neighbour.
                    deeper = self._search(take_rows(X, of[short]), length + 1)
                    return drop_own(*deeper, of[short])

                return complete_lists(lists[0][of], lists[1][of], allowed, largest, search_again)

            occurrences = self._count_occurrences(among_kept(kept), self._codes[kept], trusts)
            errors.append(
                self._mistakes(among_kept(held_out), held_out, occurrences, trusts, own=False)
            )
            rows.append(held_out)
        return np.concatenate(rows), np.concatenate(errors)

    def _search(self, X: Any, length: int) -> Lists:
        """Distances and indices of the `length` nearest training series, or of all if they are fewer."""
        return self.neighbors_.kneighbors(X, n_neighbors=min(length, len(self._codes)))

    def _estimate_errors(self, X: Any) -> tuple[Lists, Floats]:
        """Neighbours of each series, and the estimated error of each number of neighbours."""
        check_is_fitted(self)
        n_rows = len(self._codes)
        wanted = max(int(self.n_neighbors_[-1]), self.error_neighbors)
        share = len(self._error_rows) / n_rows
        lists = self._search(X, wanted if share == 1 else ceil(2 * wanted / share))
        known = np.isin(np.arange(n_rows), self._error_rows)
        nearby = complete_lists(
            *lists,
            known,
            self.error_neighbors,
            lambda rows, length: self._search(take_rows(X, rows), length),
        )[1]
        place = np.cumsum(known) - 1
        return lists, shrunken_errors(self._errors, place[nearby], self.shrinkage)

    def _chosen(self, estimates: Floats) -> Ints:
        """Position in `n_neighbors_` of the number chosen for each series."""
        rounded = estimates.round(
            12
        )  # equal means may differ by rounding, after sums in another order
        if self.tie_break == "largest":
            return rounded.shape[1] - 1 - rounded[:, ::-1].argmin(axis=1)
        return rounded.argmin(axis=1)

    @property
    def list_length(self) -> int:
        """Neighbours that decide; 0 if errors are known of some training series only (`cv`)."""
        knows_all = len(self._error_rows) == len(self._codes)
        return max(int(self.n_neighbors_[-1]), self.error_neighbors) if knows_all else 0

    def _votes_of_lists(self, distances: Floats, indices: Ints) -> Floats:
        """Share of the votes for each class, from neighbours that are known already; higher is more likely."""
        nearby = indices[:, : self.error_neighbors]
        estimates = shrunken_errors(self._errors, nearby, self.shrinkage)
        return self._votes((distances, indices), estimates)

    def _vote(self, X: Any) -> Floats:
        return self._votes(*self._estimate_errors(X))

    def _votes(self, lists: Lists, estimates: Floats) -> Floats:
        """Votes of the number of neighbours with the lowest estimated error."""
        votes = votes_by_size(
            lists,
            self._codes,
            self._occurrences,
            trust=self.label_trust_,
            weights=self.weights,
            sizes=self.n_neighbors_,
        )
        return votes[np.arange(len(votes)), self._chosen(estimates)]

    def predict_n_neighbors(self, X: Any) -> Ints:
        """Number of neighbours chosen for each series.

        Parameters
        ----------
        X : array or list of series
            Series to classify, in any form that `fit` takes.

        Returns
        -------
        ndarray of shape (n_series,)
            One of `n_neighbors_` each.
        """
        return self.n_neighbors_[self._chosen(self._estimate_errors(X)[1])]

    def predict_error(self, X: Any) -> Floats:
        """Estimated probability that the prediction is wrong; lower is better.

        Parameters
        ----------
        X : array or list of series
            Series to classify, in any form that `fit` takes.

        Returns
        -------
        ndarray of shape (n_series,)
            From 0 to 1. It is the lowest of several estimates, and therefore a little too low on average.
        """
        return self._estimate_errors(X)[1].min(axis=1)


def check_candidates(value: Any, name: str, kind: Any, words: str) -> list[Any]:
    """Candidates to choose from, one or several; an error unless all are numbers of that kind above 0."""
    candidates = [value] if np.isscalar(value) else list(value)
    if not candidates or not all(
        type(one) is not bool and isinstance(one, kind) and one > 0 for one in candidates
    ):
        raise ValueError(f"{name}={value!r} is not known: it may be {words}.")
    return candidates


def check_enough(available: int, wanted: int, which: str) -> None:
    """Raise an error if there are fewer series than neighbours asked for."""
    if available < wanted:
        raise ValueError(
            f"n_neighbors={wanted} is more than the {available} series {which}: it may be at "
            f"most {available}."
        )


def shrunken_errors(errors: Floats, nearby: Ints, shrinkage: float) -> Floats:
    """Estimated error of each number of neighbours on new rows, of shape (rows, sizes); lower is better.

    The mean of the errors on the `nearby` training rows and of `shrinkage` further rows with the mean error of
    all training rows; with infinite shrinkage it is that overall mean.
    """
    overall = errors.mean(axis=0)
    if np.isinf(shrinkage):
        return np.broadcast_to(overall, (len(nearby), errors.shape[1])).copy()
    local = errors[nearby].sum(axis=1)
    return (local + shrinkage * overall) / (nearby.shape[1] + shrinkage)
