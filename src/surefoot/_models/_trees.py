"""Forests as plain arrays, and trees that folds share: some of them have not seen the rows of any given fold."""

from collections.abc import Sequence
from copy import copy
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from surefoot._kernels import (
    Forest,
    is_worth_compiling,
    mean_and_spread,
    mean_and_spread_of_few,
    store_trees,
)
from surefoot._parallel import row_batches
from surefoot._typing import Floats, Ints

# Most groups that folds are put into: with more, most trees would have seen any given fold.
MOST_GROUPS = 5


class VotingTrees:
    """Fitted trees of a forest as plain arrays, which predict as the forest does.

    Parameters
    ----------
    trees : sequence of fitted trees
        Members of a forest of scikit-learn.
    classes : ndarray, default=None
        Class labels; None for regression.

    Attributes
    ----------
    forest : Forest
        The trees.
    n_members, n_columns : int
        Number of trees, and of the columns of a row.
    """

    def __init__(self, trees: Sequence[Any], classes: NDArray[Any] | None = None) -> None:
        self.forest, self.n_members = store_trees([tree.tree_ for tree in trees]), len(trees)
        self.n_columns, self.classes_ = int(trees[0].n_features_in_), classes

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore from a file, whose arrays may be anything; all is None where only the type is written."""
        if state["forest"] is not None and not is_sound(state["forest"], state["n_columns"]):
            raise ValueError("These arrays are no trees.")
        vars(self).update(state)

    def mean_and_spread(self, rows: Any) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the trees' predictions, or class probabilities: (n_rows, n_outputs) each."""
        if rows.shape[1] != self.n_columns:
            raise ValueError(f"X has {rows.shape[1]} columns, and the trees take {self.n_columns}.")
        parts = []
        compiles = is_worth_compiling(rows.shape[0])
        walk = mean_and_spread if compiles else mean_and_spread_of_few
        for batch in row_batches(rows.shape[0], 4 * rows.shape[1]):
            some = rows[batch].toarray() if issparse(rows) else rows[batch]
            parts.append(walk(self.forest, np.ascontiguousarray(some, np.float32)))
        means, spreads = zip(*parts, strict=True)
        return np.concatenate(means), np.concatenate(spreads)

    def predict(self, rows: Any) -> NDArray[Any]:
        """Mean prediction, or the most probable class."""
        means, _ = self.mean_and_spread(rows)
        return means[:, 0] if self.classes_ is None else self.classes_[means.argmax(axis=1)]

    def predict_proba(self, rows: Any) -> Floats:
        """Mean probability of each class."""
        return self.mean_and_spread(rows)[0]


def is_sound(forest: Forest, n_columns: int) -> bool:
    """Whether a walk through the trees stays within their arrays, and comes to an end: nodes lead to later ones."""
    columns, thresholds, onward, values, roots = forest
    arrays: list[NDArray[Any]] = list(forest)
    kinds = [np.int32, np.float32, np.int32, np.float64, np.int32]
    n_nodes, leaves = len(columns), columns < 0
    after = np.where(leaves, -1, np.arange(n_nodes))
    return bool(
        [array.dtype for array in arrays] == kinds
        and [array.ndim for array in arrays] == [1, 1, 1, 2, 1]
        and len(thresholds) == len(onward) == n_nodes
        and leaves[-1]
        and columns.max() < n_columns
        and ((roots >= 0) & (roots < n_nodes)).all()
        and ((onward > after) & (onward < np.where(leaves, len(values), n_nodes))).all()
    )


# Most rows that one tree learns from; each tree draws others.
MOST_ROWS_OF_A_TREE = 10_000


class SharedTrees:
    """Trees of which some have not seen the rows of a fold, whichever fold it is.

    The folds are put into at most five groups, and each tree learns from the rows of some of them: from three of five,
    of which there are ten choices. Rows of a fold are described by the trees that have not seen its group.

    Parameters
    ----------
    tree : tree of scikit-learn
        Kind of the trees, not fitted; its `random_state` is the seed of all.
    rows : array or CSR of shape (n_rows, n_columns)
        Rows to learn from.
    targets : ndarray of shape (n_rows,), or sequence of as many as there are choices
        Their classes or numbers, of which a row may have several; they may differ between choices.
    folds : ndarray of shape (n_rows,)
        Number of the fold that holds a row out; -1 for a row that all trees may see.
    n_trees : int
        Most trees that describe a row, new or held out; about twice as many are fitted.
    sample_weight : ndarray of shape (n_rows,), default=None
        Weights of the rows.
    """

    def __init__(
        self,
        tree: Any,
        rows: Any,
        targets: NDArray[Any] | Sequence[NDArray[Any]],
        folds: Ints,
        n_trees: int,
        sample_weight: Floats | None = None,
    ) -> None:
        n_groups = int(min(folds.max() + 1, MOST_GROUPS))
        # Groups to learn from, in each choice about half of them.
        self.choices = list(combinations(range(n_groups), (n_groups + 1) // 2))
        group_of_row = np.where(folds < 0, -1, folds % MOST_GROUPS)
        # A share n_unseen / n_groups of the choices leaves a group out. New rows meet that share of each choice's
        # trees, so that as many trees vote on them as on held-out rows: with more, all may agree more strongly.
        n_unseen = n_groups // 2
        times = max(1, n_trees // (len(self.choices) * n_unseen))
        self.n_new, self.n_each = times * n_unseen, times * n_groups
        self.classes = None
        if is_classifier(tree):
            self.classes, targets = np.unique(targets, return_inverse=True)
        is_dense = not issparse(rows)
        rows = rows.astype(np.float32)
        by_choice = [targets] * len(self.choices) if isinstance(targets, np.ndarray) else targets
        seeds = iter(
            check_random_state(tree.random_state).randint(
                2**31 - 1, size=len(self.choices) * self.n_each
            )
        )
        self.trees = []
        for choice, target in zip(self.choices, by_choice, strict=True):
            # A row of weight 0 is not seen, but the trees know of its class.
            weight = np.isin(group_of_row, [-1, *choice]).astype(np.float64)
            weight *= 1.0 if sample_weight is None else sample_weight
            seen = np.flatnonzero(weight)
            for _ in range(self.n_each):
                seed, own = next(seeds), weight.copy()
                own[np.random.default_rng(seed).permutation(seen)[MOST_ROWS_OF_A_TREE:]] = 0.0
                member = copy(tree).set_params(random_state=seed)
                self.trees.append(member.fit(rows, target, own, check_input=not is_dense))

    def for_rows_of(self, fold: int) -> VotingTrees:
        """Trees that have not seen a fold; for -1, equally many trees of each choice, for new rows."""
        n_each = self.n_new if fold < 0 else self.n_each
        starts = [
            number * self.n_each
            for number, groups in enumerate(self.choices)
            if fold < 0 or fold % MOST_GROUPS not in groups
        ]
        members = [tree for start in starts for tree in self.trees[start : start + n_each]]
        return VotingTrees(members, self.classes)

    def held_out(self, rows: Any, folds: Ints) -> Floats:
        """Mean of each row's numbers by the trees that have not seen its fold, (n_rows, n_numbers)."""
        parts = {
            fold: self.for_rows_of(fold).mean_and_spread(rows[folds == fold])[0]
            for fold in np.unique(folds)
        }
        means = np.empty((len(folds), next(iter(parts.values())).shape[1]))
        for fold, part in parts.items():
            means[folds == fold] = part
        return means
