"""Classifier that chooses the rows to have labelled, and stops when predictions no longer change."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._copies import hash_rows
from surefoot._models import TagsOfModel, check_model, clone_model, predict_labels
from surefoot._tables import as_table, count_rows, stack_rows, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_class_labels, check_number, check_training_rows
from surefoot.active_learning._query import Coordinates, check_strategy, query

# Most rows that need be watched: enough to see a change of a few in a hundred.
MOST_WATCHED = 1000

# Share of predictions that the last doubling of labels may have changed; see the results on queries.
TOLERANCE = 0.07


class StoppingRule:
    """Advice when to stop, as further labels will hardly improve a classifier (Bloodgood and Vijay-Shanker 2009).

    After each fit it gets the predictions for the same rows of the pool, and compares them with those of the model
    that had half as many labels. Accuracy cannot change by more than the share of predictions that change. So where
    the last doubling of labels changed few predictions, the next doubling will probably gain little: it is a
    forecast, and a later fit may take the advice back. How many rows are labelled between two fits does not matter.

    Parameters
    ----------
    tolerance : float, default=0.07
        Largest share of predictions that the last doubling of labels may have changed.

    Examples
    --------
    >>> from surefoot.active_learning._learner import StoppingRule
    >>> rule = StoppingRule()
    >>> rule.look(["a", "b"] * 50, n_labels=20)
    >>> rule.look(["a", "a"] * 50, n_labels=40)
    >>> rule.should_stop
    False
    >>> rule.look(["a", "a"] * 49 + ["a", "b"], n_labels=80)
    >>> rule.should_stop
    True
    >>> rule.reason
    'Stop: the last 40 labels, which doubled their number, changed 1.0% of 100 predictions,
    and the accuracy on these rows by no more.'
    """

    def __init__(self, *, tolerance: float = TOLERANCE) -> None:
        self.tolerance = tolerance
        self._looks: list[tuple[int, NDArray[Any]]] = []
        self._compared: tuple[int, int] | None = None

    def look(self, predictions: Any, n_labels: int, *, labelled: Any = None) -> None:
        """Compare the predictions of a newly fitted model with those of the model that had half as many labels.

        Parameters
        ----------
        predictions : array-like of shape (n_rows,)
            Predicted classes of the watched rows: each time those of the same rows, drawn at random from the
            pool before any was labelled; a thousand are enough.
        n_labels : int
            Number of labels that the model was fitted to.
        labelled : array-like of bool of shape (n_rows,), default=None
            Which of the watched rows are labelled by now. They are left out: a model may know them by heart.
        """
        classes = np.asarray(predictions)
        is_open = ~np.asarray([False] * len(classes) if labelled is None else labelled)
        earlier = [look for look in self._looks if look[0] < n_labels]
        n_halves = sum(2 * look[0] <= n_labels for look in earlier)
        # Of the looks at half of the labels or fewer, only the last will be needed again.
        self._looks = [*earlier[max(n_halves - 1, 0) :], (int(n_labels), classes)]
        self._compared = None
        if n_halves:
            changed = self._looks[0][1] != classes
            self._compared = int(changed[is_open].sum()), int(is_open.sum())

    @property
    def changed(self) -> float:
        """Share of predictions that the last doubling of labels changed; 1 before the labels have doubled.

        By the rule of succession: one changed and one unchanged row are added, so that a few rows prove nothing.
        """
        if self._compared is None:
            return 1.0
        n_changed, n_rows = self._compared
        return (n_changed + 1) / (n_rows + 2) if n_rows else 0.0

    @property
    def should_stop(self) -> bool:
        """True if the last doubling of labels changed few predictions, or no watched row is left to label."""
        return self._compared is not None and self.changed <= self.tolerance

    @property
    def reason(self) -> str:
        """Reason to stop, or not to stop, in one sentence."""
        if self._compared is None:
            return "Go on: the number of labels has not doubled since the first model."
        n_changed, n_rows = self._compared
        if n_rows == 0:
            return "Stop: all rows that were watched are labelled."
        n_before, n_after = self._looks[0][0], self._looks[-1][0]
        times = "which doubled" if n_after == 2 * n_before else "which more than doubled"
        changes = (
            f"the last {n_after - n_before} labels, {times} their number, changed {n_changed / n_rows:.1%} "
            f"of {n_rows} predictions"
        )
        if self.should_stop:
            return f"Stop: {changes}, and the accuracy on these rows by no more."
        if n_changed / n_rows <= self.tolerance:
            return f"Go on: {changes}, but so few rows prove nothing."
        return f"Go on: {changes}; {self.tolerance:.0%} or fewer would be a reason to stop."


def _estimator_has(name: str) -> Any:
    def check(self: "ActiveLearner") -> bool:
        getattr(self.estimator, name)  # its AttributeError names the model without the method
        return True

    return check


class ActiveLearner(TagsOfModel, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier that chooses which rows to have labelled, and decides when to stop.

    `query` chooses rows of a pool, typical and different ones until the first `fit`; `teach` adds their labels; `fit`
    without arguments fits the model to all labelled rows. Only `fit` fits the model.

    Parameters
    ----------
    estimator : classifier
        The model to teach.
    strategy : str, indicator or callable, default="margin"
        Rule that ranks the rows to ask about, as for :func:`surefoot.active_learning.query`.
    diverse : bool, default=True
        Whether a batch has rows from different clusters of the most doubtful rows.
    tolerance : float, default=0.07
        Largest share of predictions that the last doubling of labels may have changed, for `should_stop_` to be
        true. Accuracy cannot change by more than the share of predictions that change.
    random_state : int, RandomState or None, default=None
        Seed of the first random rows, and of the strategy.
    n_jobs : int, default=None
        Parallel fits of a committee or of an error estimate.

    Attributes
    ----------
    estimator_ : classifier
        The model, fitted to the rows labelled so far.
    classes_ : ndarray of shape (n_classes,)
        Class labels seen so far.
    n_labels_ : int
        Number of rows labelled so far.
    should_stop_ : bool
        True if further labels hardly change the predictions for the pool.
    stop_reason_ : str
        Reason to stop, or not to stop, in one sentence.
    expected_gain_ : float
        Most that twice as many labels will probably add to the accuracy: the share of predictions that the last
        doubling of labels changed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.active_learning import ActiveLearner
    >>> X, y = load_iris(return_X_y=True)
    >>> learner = ActiveLearner(GaussianNB(), random_state=0)
    >>> left = np.arange(150)
    >>> for _ in range(6):
    ...     asked = left[learner.query(X[left], batch_size=5)]
    ...     learner = learner.teach(X[asked], y[asked]).fit()
    ...     left = np.setdiff1d(left, asked)
    >>> learner.n_labels_, round(learner.score(X, y), 2)
    (30, 0.95)
    """

    _X: Any
    _y: NDArray[Any]
    _watched: Any = None

    def __init__(
        self,
        estimator: Any,
        strategy: Any = "margin",
        *,
        diverse: bool = True,
        tolerance: float = TOLERANCE,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.diverse = diverse
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs

    def query(self, X_pool: Any, batch_size: int = 1) -> Ints:
        """Choose rows of a pool to have labelled, the most useful first.

        Parameters
        ----------
        X_pool : array-like, CSR or frame of shape (n_pool, n_columns)
            Rows without labels.
        batch_size : int, default=1
            How many to choose.

        Returns
        -------
        chosen : ndarray of int of shape (min(batch_size, n_pool),)
            Positions in `X_pool`.
        """
        self._check_parameters()
        X_pool = as_table(X_pool)
        if not hasattr(self, "_generator"):
            self._generator = check_random_state(self.random_state)
        model, X, y = (getattr(self, name, None) for name in ("estimator_", "_X", "_y"))
        if model is not None:
            validate_data(self, X_pool, reset=False, skip_check_array=True)
            if (
                self._watched is None
            ):  # to count how many of their predictions further labels change
                rows = np.sort(self._generator.permutation(count_rows(X_pool))[:MOST_WATCHED])
                self._watched = take_rows(X_pool, rows)
                self._rule = StoppingRule(tolerance=self.tolerance)
                self._look()
        return query(
            self.strategy,
            model,
            X_pool,
            batch_size,
            X=X,
            y=y,
            diverse=self.diverse,
            random_state=self._generator,
            n_jobs=self.n_jobs,
        )

    def teach(self, X: Any, y: Any) -> Self:
        """Add labelled rows; the model stays as it is until `fit`.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows that were asked about.
        y : array-like of shape (n_rows,)
            Their labels.

        Returns
        -------
        self : object
            The learner.
        """
        has_rows = hasattr(self, "_X")
        X, y = self._check_rows(X, y, first=not has_rows)
        self._X = stack_rows([self._X, X]) if has_rows else X
        self._y = np.concatenate([self._y, y]) if has_rows else y
        self.n_labels_ = len(self._y)
        return self

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Fit the model to all labelled rows, or start again with the rows given.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns), default=None
            Labelled rows to start with; None keeps the rows added by `teach`.
        y : array-like of shape (n_rows,), default=None
            Their labels.

        Returns
        -------
        self : object
            The learner, fitted.
        """
        self._check_parameters()
        if X is not None:
            self._X, self._y = self._check_rows(X, y, first=True)
            self._generator = check_random_state(self.random_state)
            self._watched = None
        elif not hasattr(self, "_X"):
            raise ValueError("There is nothing to fit yet: teach rows first, or pass X and y.")
        self.n_labels_ = len(self._y)
        labels = np.unique(self._y)
        if len(labels) < 2:
            raise ValueError(
                f"y has one class only so far, {labels.tolist()[0]!r}: teach another before fit."
            )
        self.estimator_ = clone_model(self.estimator).fit(self._X, self._y)
        self.classes_ = self.estimator_.classes_
        self._look()
        return self

    def _look(self) -> None:
        """Set `should_stop_`, `expected_gain_` and `stop_reason_`."""
        if self._watched is None:
            self.should_stop_, self.expected_gain_ = False, 1.0
            self.stop_reason_ = "Continue: no pool was queried yet."
            return
        coordinates = Coordinates(self.estimator_, self._watched)
        watched, known = (hash_rows(coordinates(each)) for each in (self._watched, self._X))
        labelled = np.isin(watched, known)
        predictions = predict_labels(self.estimator_, self._watched)
        self._rule.look(predictions, self.n_labels_, labelled=labelled)
        self.should_stop_, self.expected_gain_ = self._rule.should_stop, self._rule.changed
        self.stop_reason_ = self._rule.reason

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row."""
        return predict_labels(self._fitted(X), X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row."""
        return np.asarray(self._fitted(X).predict_proba(X))

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Floats:
        """Decision values of each row."""
        return np.asarray(self._fitted(X).decision_function(X))

    def _fitted(self, X: Any) -> Any:
        check_is_fitted(self, "estimator_")
        validate_data(self, as_table(X), reset=False, skip_check_array=True)
        return self.estimator_

    def _check_parameters(self) -> None:
        check_model(self.estimator)
        if not is_classifier(self.estimator):
            raise TypeError(f"estimator={self.estimator!r} is no classifier.")
        check_strategy(self.strategy)
        check_number(self.tolerance, "tolerance", min_val=0, max_val=1)

    def _check_rows(self, X: Any, y: Any, *, first: bool) -> tuple[Any, NDArray[Any]]:
        X, y, _ = check_training_rows(self, X, y, reset=first)
        check_class_labels(y)
        return X, y
