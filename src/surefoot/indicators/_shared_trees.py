"""Randomised trees that are fitted once for all folds: each has learned from some of the folds only."""

from collections.abc import Collection
from copy import copy
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier

from surefoot._typing import Ints

# Most groups that folds are put into: with more, most trees would have seen any given fold.
MOST_GROUPS = 5


class SharedTrees:
    """Extremely randomised trees of which some have not seen the rows of a fold, whichever fold it is.

    The folds are put into at most five groups, and each tree learns from the rows of some of them: from three of five,
    of which there are ten choices. Rows of a fold are described by the trees that have not seen its group.

    Parameters
    ----------
    rows, labels : array or CSR of shape (n_rows, n_columns), and ndarray of shape (n_rows,)
        Rows to learn from.
    folds : ndarray of shape (n_rows,)
        Number of the fold that holds a row out; -1 for a row that all trees may see.
    n_trees : int
        Most trees that describe a row, new or held out; about twice as many are fitted.
    random_state : int
        Seed of the trees.
    """

    def __init__(
        self, rows: Any, labels: NDArray[Any], folds: Ints, n_trees: int, random_state: int
    ) -> None:
        n_groups = int(min(folds.max() + 1, MOST_GROUPS))
        self.choices = list(combinations(range(n_groups), (n_groups + 1) // 2))
        # A share n_unseen / n_groups of the choices leaves a group out. New rows meet that share of each choice's
        # trees, so that as many trees vote on them as on held-out rows: with more, all may agree more strongly.
        n_unseen = n_groups // 2
        times = max(1, n_trees // (len(self.choices) * n_unseen))
        self.n_new, self.n_each = times * n_unseen, times * n_groups
        self.forest = ExtraTreesClassifier(random_state=random_state, warm_start=True)
        groups = np.where(folds < 0, -1, folds % MOST_GROUPS)
        for number, choice in enumerate(self.choices, start=1):
            # A row of weight 0 is not seen, but the trees know of its class.
            seen = np.isin(groups, [-1, *choice]).astype(np.float64)
            self.forest.set_params(n_estimators=number * self.n_each)
            self.forest.fit(rows, labels, sample_weight=seen)

    def for_new_rows(self) -> ExtraTreesClassifier:
        """Forest of equally many trees of each choice."""
        return self._forest(range(len(self.choices)), self.n_new)

    def without(self, fold: int) -> ExtraTreesClassifier:
        """Forest of the trees that have not seen a fold."""
        group = fold % MOST_GROUPS
        unseen = [i for i, choice in enumerate(self.choices) if group not in choice]
        return self._forest(unseen, self.n_each)

    def _forest(self, numbers: Collection[int], n_each: int) -> ExtraTreesClassifier:
        """Forest of the first trees of some choices."""
        starts = [number * self.n_each for number in numbers]
        forest = copy(self.forest)
        forest.estimators_ = [
            tree for start in starts for tree in self.forest.estimators_[start : start + n_each]
        ]
        return forest.set_params(n_estimators=len(forest.estimators_), warm_start=False)
