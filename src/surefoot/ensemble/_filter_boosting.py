"""Boosting by filtering: three classifiers, each fitted on rows that the ones before select."""

from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state, check_scalar

from surefoot._models import TagsOfModel
from surefoot._tables import take_rows
from surefoot._typing import Ints, Mask
from surefoot._validation import check_class_labels, check_rows, check_training_rows
from surefoot.ensemble._boosting import clone_with_drawn_seeds

# Sets count as equal in size if the largest is at most this many times the smallest.
ALIKE = 1.25
MOST_TRIES = 8


class FilterBoostingClassifier(TagsOfModel, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Ensemble of three classifiers: where the first two agree, their class is predicted, else that of the third.

    C1 learns from n1 rows drawn at random. C2 learns from rows of which C1 gets about half right and half
    wrong, chosen by coin flips. C3 learns from the remaining rows on which C1 and C2 disagree (Schapire
    1990; Duda, Hart and Stork 2001, section 9.5.2).

    Parameters
    ----------
    estimator : classifier, default=None
        The component to boost; None is a decision tree of depth one.
    n_first : int, default=None
        n1, the number of rows that C1 learns from. None starts from a third of the rows and searches for the number
        that makes the three sets about equal in size.
    depth : int, default=1
        Levels of recursion: with 2, each component is itself made of three, and so on; 3^depth components in all.
    random_state : int, RandomState or None, default=None
        Seed of the drawn rows and of the coin flips.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimators_ : list of three classifiers
        C1, C2 and C3; with `depth` above 1 each is a `FilterBoostingClassifier`.
    set_sizes_ : tuple of three ints
        Sizes n1, n2 and n3 of their training sets.
    notes_ : list of str
        Sentences about sets that are empty or have one class only, and what was done instead.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Column names, if they are all strings.

    See Also
    --------
    surefoot.ensemble.BoostingClassifier : AdaBoost, which weights rows instead of selecting them.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefoot.ensemble import FilterBoostingClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> alone = DecisionTreeClassifier(max_depth=1).fit(X[:1000], y[:1000])
    >>> boosted = FilterBoostingClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> [round(model.score(X[1000:], y[1000:]), 3) for model in (alone, boosted)]
    [0.813, 0.909]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_first: int | None = None,
        depth: int = 1,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_first = n_first
        self.depth = depth
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Draw the three sets and fit a component to each.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the components take them.
        y : array-like of shape (n_rows,)
            Class labels.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        if self.estimator is not None and not is_classifier(self.estimator):
            raise TypeError(f"estimator={self.estimator!r} is no classifier.")
        check_scalar(self.depth, "depth", Integral, min_val=1)
        X, y, _ = check_training_rows(self, X, y)  # the components check their own input
        check_class_labels(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class only, {self.classes_.tolist()}: a classifier needs two or more."
            )
        if self.n_first is not None:
            check_scalar(self.n_first, "n_first", Integral, min_val=1, max_val=len(y) - 1)
        random = check_random_state(self.random_state)
        sets = self._choose_sets(X, y, random)
        self.set_sizes_ = sets.sizes
        self.notes_: list[str] = []
        if len(sets.third) == 0:
            sets = sets._replace(third=np.arange(len(y)))
            self.notes_.append(
                "D3 is empty: C1 and C2 agree on all rows that were left, and C3 learned from all rows."
            )
        if sets.sizes[1] == 0:
            self.notes_.append(
                "D2 is empty: C1 does not get both right and wrong any of the rows that were left, and C2 "
                "learned from all rows."
            )
        self.estimators_ = [*sets.fitted, self._component(X, y, sets.third, random)]
        for name, component in zip(("D1", "D2", "D3"), self.estimators_, strict=True):
            if isinstance(component, DummyClassifier):
                only = component.classes_.tolist()[0]
                self.notes_.append(
                    f"{name} has class {only!r} only, which its component always answers."
                )
        return self

    def _choose_sets(self, X: Any, y: NDArray[Any], random: Any) -> "_Sets":
        """Sets for the given n1, or the sets most equal in size among a few tries."""
        if self.n_first is not None:
            return self._draw_sets(X, y, self.n_first, random)
        tried: dict[int, _Sets] = {}
        n_first = max(1, len(y) // 3)
        while n_first not in tried and len(tried) < MOST_TRIES:
            sets = tried[n_first] = self._draw_sets(X, y, n_first, random)
            if sets.unevenness <= ALIKE:
                break
            n_first = min(max(1, round(sum(sets.sizes) / 3)), len(y) - 1)
        return min(tried.values(), key=lambda sets: sets.unevenness)

    def _draw_sets(self, X: Any, y: NDArray[Any], n_first: int, random: Any) -> "_Sets":
        order = random.permutation(len(y))
        first, rest = order[:n_first], order[n_first:]
        one = self._component(X, y, first, random)
        picked = flip_coins(one.predict(take_rows(X, rest)) == y[rest], n_first, random)
        second, left = rest[picked], np.delete(rest, picked)
        two = self._component(X, y, second if len(second) else np.arange(len(y)), random)
        if len(left):
            rows = take_rows(X, left)
            left = left[one.predict(rows) != two.predict(rows)]
        return _Sets([one, two], (len(first), len(second), len(left)), third=left)

    def _component(self, X: Any, y: NDArray[Any], rows: Ints, random: Any) -> Any:
        """Component fitted to some rows; a constant classifier if they are all of one class."""
        table, labels = take_rows(X, rows), y[rows]
        if len(np.unique(labels)) == 1:
            return DummyClassifier(strategy="most_frequent").fit(table, labels)
        if self.depth > 1 and len(rows) >= 3:
            inner = clone(self).set_params(depth=self.depth - 1, n_first=None, random_state=random)
            return inner.fit(table, labels)
        model = DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator
        return clone_with_drawn_seeds(model, random).fit(table, labels)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: C1's where C2 agrees, else C3's."""
        X = check_rows(self, X)
        one, two, three = (component.predict(X) for component in self.estimators_)
        return np.where(one == two, one, three)


class _Sets(NamedTuple):
    """C1 and C2, the sizes n1, n2 and n3 of all training sets, and the rows for C3."""

    fitted: list[Any]
    sizes: tuple[int, int, int]
    third: Ints

    @property
    def unevenness(self) -> float:
        """Size of the largest set divided by that of the smallest."""
        return max(self.sizes) / max(min(self.sizes), 0.5)


def flip_coins(right: Mask, most: int, random: Any) -> Ints:
    """Positions chosen by coin flips: heads takes the next wrong row, tails the next right one.

    It ends when `most` rows are chosen, or when no row of the kind that the coin asks for is left. If all
    rows are right, or all wrong, none is chosen.
    """
    if right.all() or not right.any():
        return np.empty(0, dtype=np.int64)
    heads = random.randint(0, 2, size=most).astype(bool)
    wrong_ones, right_ones = np.flatnonzero(~right), np.flatnonzero(right)
    nth_wrong, nth_right = np.cumsum(heads) - 1, np.cumsum(~heads) - 1
    missing = np.where(heads, nth_wrong >= len(wrong_ones), nth_right >= len(right_ones))
    end = int(missing.argmax()) if missing.any() else most
    heads = heads[:end]
    return np.concatenate([wrong_ones[: heads.sum()], right_ones[: (~heads).sum()]])
