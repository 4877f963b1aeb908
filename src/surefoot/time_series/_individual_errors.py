"""Errors of each number of neighbours on held-out training series, and their estimates for new series."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from surefoot._search import complete_lists
from surefoot._typing import Floats, Ints, Mask
from surefoot.time_series._votes import Weights, class_occurrences, votes_by_size

Lists = tuple[Floats, Ints]
Search = Callable[[Ints, int], Lists]


@dataclass(frozen=True)
class Voting:
    """Candidate numbers of neighbours, candidate trusts in their labels, and the weights of votes."""

    sizes: Ints
    trusts: tuple[float, ...]
    weights: Weights

    @property
    def largest(self) -> int:
        """Largest number of neighbours: the length that lists need."""
        return int(self.sizes[-1])

    def occurrences(self, lists: Lists, codes: Ints, n_rows: int, n_classes: int) -> Floats:
        """Class occurrences in the lists of rows of classes `codes`; empty if no trust needs them."""
        if all(np.isinf(trust) for trust in self.trusts):
            return np.zeros((0, n_classes))
        return class_occurrences(lists[1][:, : self.largest], codes, n_rows, n_classes)

    def errors(
        self,
        lists: Lists,
        truth: Ints,
        labels: Ints,
        occurrences: Floats,
        *,
        own: bool,
    ) -> Mask:
        """Mask of mistakes, of shape (rows, trusts, sizes).

        `own` is True if the rows are among those whose occurrences were counted.
        """
        wrong = []
        for trust in self.trusts:
            votes = votes_by_size(
                lists,
                labels,
                occurrences,
                trust=trust,
                weights=self.weights,
                sizes=self.sizes,
                own_codes=truth if own else None,
            )
            wrong.append(votes.argmax(axis=2) != truth[:, None])
        return np.stack(wrong, axis=1)


def leave_one_out_errors(
    voting: Voting, lists: Lists, codes: Ints, n_classes: int
) -> tuple[Ints, Mask]:
    """Rows, and a mask of the mistakes on each, with neighbours among all other rows."""
    occurrences = voting.occurrences(lists, codes, len(codes), n_classes)
    errors = voting.errors(lists, codes, codes, occurrences, own=True)
    return np.arange(len(codes)), errors


def held_out_errors(
    voting: Voting,
    lists: Lists,
    codes: Ints,
    n_classes: int,
    *,
    splits: Iterable[tuple[Ints, Ints]],
    search_again: Search,
) -> tuple[Ints, Mask]:
    """Rows that any split holds out, and a mask of the mistakes on each, with neighbours in the training part.

    All splits use the same lists, without held-out neighbours; where too few remain, the search is repeated.
    """
    rows, errors = [], []
    for kept, held_out in splits:
        check_enough(len(kept), voting.largest, "in a training part of cv")
        allowed = np.zeros(len(codes), dtype=bool)
        allowed[kept] = True

        def among_kept(of: Ints, allowed: Mask = allowed) -> Lists:
            part = lists[0][of], lists[1][of]
            return complete_lists(
                *part,
                allowed,
                voting.largest,
                lambda short, length: search_again(of[short], length),
            )

        occurrences = voting.occurrences(among_kept(kept), codes[kept], len(codes), n_classes)
        errors.append(
            voting.errors(among_kept(held_out), codes[held_out], codes, occurrences, own=False)
        )
        rows.append(held_out)
    return np.concatenate(rows), np.concatenate(errors)


def check_enough(available: int, wanted: int, which: str) -> None:
    """Raise an error if there are fewer series than neighbours asked for."""
    if available < wanted:
        raise ValueError(
            f"n_neighbors={wanted} is more than the {available} series {which}: it may be at "
            f"most {available}."
        )


def mean_by_row(rows: Ints, errors: Mask, n_rows: int) -> tuple[Ints, Floats]:
    """Held-out rows in order, and the mean errors on each over the splits that hold it out."""
    times = np.bincount(rows, minlength=n_rows)
    total = np.zeros((n_rows, *errors.shape[1:]))
    np.add.at(total, rows, errors)
    held_out_rows = np.flatnonzero(times)
    return held_out_rows, total[held_out_rows] / times[held_out_rows, None]


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


def least(estimates: Floats, *, last: bool) -> Ints:
    """Position of the lowest estimate in each row; of several equal ones, the last or the first."""
    rounded = estimates.round(12)  # equal means may differ by rounding, after sums in another order
    if last:
        return estimates.shape[1] - 1 - rounded[:, ::-1].argmin(axis=1)
    return rounded.argmin(axis=1)
