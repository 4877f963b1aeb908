"""Error of each number of neighbours, on held-out training series and around a new one."""

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
    """Numbers of neighbours, trusts in their labels and vote weights that are compared."""

    sizes: Ints
    trusts: tuple[float, ...]
    weights: Weights

    @property
    def largest(self) -> int:
        """The largest number of neighbours, which a list must hold."""
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
        """Whether each trust and each size errs on each row: (rows, trusts, sizes).

        `own` says that the rows are among those whose occurrences were counted.
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
    """Rows, and the errors on each by its neighbours among all others."""
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
    """Rows that any split holds out, and the errors on each by its neighbours among the rest.

    All splits are read off the same lists; a list that a split leaves too short is searched again.
    """
    rows, errors = [], []
    for kept, held_out in splits:
        check_enough(len(kept), voting.largest, "that cv leaves to learn from")
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
    """Raise one sentence if there are fewer series than neighbours asked for."""
    if available < wanted:
        raise ValueError(
            f"n_neighbors={wanted} is more than the {available} series {which}: it may be at "
            f"most {available}."
        )


def mean_by_row(rows: Ints, errors: Mask, n_rows: int) -> tuple[Ints, Floats]:
    """Rows in order, and the mean of the errors on each over the splits that held it out."""
    times = np.bincount(rows, minlength=n_rows)
    total = np.zeros((n_rows, *errors.shape[1:]))
    np.add.at(total, rows, errors)
    seen = np.flatnonzero(times)
    return seen, total[seen] / times[seen, None]


def shrunken_errors(errors: Floats, nearby: Ints, shrinkage: float) -> Floats:
    """Estimated error of each size on new rows: (rows, sizes); lower is better.

    The mean of the errors on the `nearby` training rows, with the mean over all training rows
    counted `shrinkage` times beside them; infinite shrinkage leaves the latter alone.
    """
    overall = errors.mean(axis=0)
    if np.isinf(shrinkage):
        return np.broadcast_to(overall, (len(nearby), errors.shape[1])).copy()
    local = errors[nearby].sum(axis=1)
    return (local + shrinkage * overall) / (nearby.shape[1] + shrinkage)


def least(estimates: Floats, *, last: bool) -> Ints:
    """Position of the least estimate in each row; of several, the last or the first."""
    rounded = estimates.round(12)  # equal means that were summed in another order
    if last:
        return estimates.shape[1] - 1 - rounded[:, ::-1].argmin(axis=1)
    return rounded.argmin(axis=1)
