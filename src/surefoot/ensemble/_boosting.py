"""AdaBoost in four variants, on presorted stumps or any learner."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier, is_regressor
from sklearn.utils import (
    assert_all_finite,
    check_consistent_length,
    check_random_state,
    check_scalar,
    get_tags,
)
from sklearn.utils.validation import (
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from surefoot._sklearn_private import check_sample_weight
from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_class_labels, check_option
from surefoot.ensemble._rounds import VARIANTS, Boosted, DiscreteRound, boost
from surefoot.ensemble._weak_learners import (
    LearnerFactory,
    ModelFactory,
    StumpFactory,
    takes_weights,
)

CRITERIA = ("gini", "error")


class BoostingClassifier(ClassifierMixin, BaseEstimator):
    """Boosted classifier: Discrete, Real, Gentle or Modest AdaBoost; a higher decision value is surer.

    "discrete" is AdaBoost as it stands in Duda, Hart and Stork (algorithm 9.1): with E the weighted
    error of a round's learner, α = ½ ln((1 − E)/E) is its vote, and the weights of rows are
    multiplied by e^α where it is wrong and e^−α where it is right. "real" adds half the log-odds of
    the learner's weighted class probabilities, "gentle" their difference P(+|x) − P(−|x). "modest"
    adds the difference of the classes' joint probabilities with the leaf, each reduced where rows are already
    classified well. With more than two classes "discrete" is SAMME; the others boost one class against the rest.

    Parameters
    ----------
    variant : {"discrete", "real", "gentle", "modest"}, default="discrete"
        How a round's learner is used.
    n_estimators : int, default=100
        Number of rounds; fewer if a learner makes no error, or is no better than chance.
    estimator : classifier, default=None
        The learner of a round; None is a stump (a tree with one split). "real" and
        "gentle" need its `predict_proba`; "gentle" also takes a regressor, fitted to −1 and 1.
    criterion : {"gini", "error"}, default="gini"
        What a stump minimises: weighted Gini impurity, as scikit-learn's tree of depth one does, or
        weighted error.
    resample : bool, default=False
        Draw each round's training rows with probabilities equal to the weights, instead of passing weights to the
        learner; for learners without `sample_weight`.
    random_state : int, RandomState or None, default=None
        Seed of the drawn rows, and of learners that draw.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimators_ : list
        The learners of the rounds; with more than two classes, one list for each class, except with "discrete".
    estimator_errors_ : ndarray of shape (n_rounds,), or list of those
        Weighted error of each learner.
    estimator_weights_ : ndarray of shape (n_rounds,)
        α of each learner; "discrete" only.
    training_error_bound_ : ndarray of shape (n_rounds,)
        ∏ 2√(E(1 − E)), an upper bound of the training error; "discrete" with two classes only.
    stop_reason_ : str or None
        Why there are fewer rounds than `n_estimators`; None if there are not.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Column names, if they are all strings.

    See Also
    --------
    surefoot.ensemble.FilterBoostingClassifier : Boosting with three classifiers on filtered rows.
    surefoot.recalibration.RecalibratedClassifier : Probabilities from decision values.

    Notes
    -----
    With G = ½ − E the bound is ∏ √(1 − 4G²) ≤ exp(−2ΣG²). If `sample_weight` is given it holds for
    the weighted training error.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot.ensemble import BoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostingClassifier("gentle", n_estimators=50).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 3)
    0.944
    """

    def __init__(
        self,
        variant: str = "discrete",
        n_estimators: int = 100,
        estimator: Any = None,
        *,
        criterion: str = "gini",
        resample: bool = False,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.criterion = criterion
        self.resample = resample
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learners of all rounds.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Training rows: numbers for stumps, else whatever the estimator takes.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows in the first round.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        X, y = self._check_rows(X, y)
        weights = _start_weights(sample_weight, X)
        if not weights.all():  # rows of weight 0 are left out
            counted = np.flatnonzero(weights)
            X, y, weights = take_rows(X, counted), y[counted], weights[counted]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise ValueError(
                f"y has one class only with any weight, {only!r}: a classifier needs two or more."
            )
        self._boost(X, codes, weights)
        return self

    def _boost(self, X: Any, codes: Ints, weights: Floats) -> None:
        n_classes = len(self.classes_)
        self._one_for_all = self.variant == "discrete" or n_classes == 2
        targets = [codes] if self._one_for_all else [1 * (codes == c) for c in range(n_classes)]
        n_codes = n_classes if self._one_for_all else 2
        random, factory = check_random_state(self.random_state), self._factory(X, n_codes)
        self._boosters = [
            boost(
                factory,
                target,
                weights,
                variant=self.variant,
                n_classes=n_codes,
                n_rounds=self.n_estimators,
                resample=self.resample,
                random=random,
            )
            for target in targets
        ]
        self._set_attributes(self._boosters)

    def _set_attributes(self, boosters: list[Boosted]) -> None:
        """Set the public attributes from the fitted rounds."""
        learners = [[round_.learner for round_ in booster.rounds] for booster in boosters]
        errors = [np.array(booster.errors) for booster in boosters]
        reasons = [booster.stop_reason for booster in boosters]
        self.estimators_: list[Any] = learners[0] if self._one_for_all else learners
        self.estimator_errors_: Any = errors[0] if self._one_for_all else errors
        self.stop_reason_ = reasons[0]
        if not self._one_for_all:
            by_class = [
                f"class {label!r}: {reason}"
                for label, reason in zip(self.classes_.tolist(), reasons, strict=True)
                if reason
            ]
            self.stop_reason_ = "; ".join(by_class) or None
        if self.variant == "discrete":
            self.estimator_weights_ = np.array(
                [r.weight for r in boosters[0].rounds if isinstance(r, DiscreteRound)]
            )
            if len(self.classes_) == 2:
                self.training_error_bound_ = np.cumprod(2 * np.sqrt(errors[0] * (1 - errors[0])))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Decision values after each round.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Rows to classify.

        Yields
        ------
        values : ndarray of shape (n_rows,), beyond two classes (n_rows, n_classes)
            Higher speaks for the second class; with more classes, each column for its class.
        """
        X = self._check_new_rows(X)
        shape = (X.shape[0],) if len(self.classes_) == 2 else (X.shape[0], len(self.classes_))
        scores = np.zeros(shape)
        for number in range(max(len(booster.rounds) for booster in self._boosters)):
            for c, booster in enumerate(self._boosters):
                if number < len(booster.rounds):
                    target = scores if self._one_for_all else scores[:, c]
                    target += booster.rounds[number](X)
            yield scores.copy()

    def decision_function(self, X: Any) -> Floats:
        """Decision values after the last round.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Rows to classify.

        Returns
        -------
        values : ndarray of shape (n_rows,), beyond two classes (n_rows, n_classes)
            Higher speaks for the second class; with more classes, each column for its class.
        """
        *_, values = self.staged_decision_function(X)
        return values

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Classes after each round.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Rows to classify.

        Yields
        ------
        labels : ndarray of shape (n_rows,)
        """
        for values in self.staged_decision_function(X):
            yield self._decide(values)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row after the last round."""
        return self._decide(self.decision_function(X))

    def member_codes(self, X: Any) -> Ints:
        """Predictions of each round's learner, as positions in `classes_`, of shape (n_rows, n_rounds)."""
        if not self._one_for_all:
            raise ValueError(
                f"With {len(self.classes_)} classes and variant={self.variant!r} each learner votes for one class "
                "or the rest: there is no vote among all classes."
            )
        X = self._check_new_rows(X)
        return np.column_stack([learner.codes(X) for learner in self.estimators_])

    def _decide(self, values: Floats) -> NDArray[Any]:
        best = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _factory(self, X: Any, n_codes: int) -> LearnerFactory:
        if self.estimator is None:
            return StumpFactory(X, n_codes, self.criterion)
        return ModelFactory(X, self.estimator)

    def _check_parameters(self) -> None:
        check_option(self.variant, "variant", VARIANTS)
        check_option(self.criterion, "criterion", CRITERIA)
        check_scalar(self.n_estimators, "n_estimators", Integral, min_val=1)
        if self.estimator is None:
            return
        model, fits = self.estimator, "a classifier"
        if self.variant == "gentle":
            fits += " with predict_proba, or a regressor"
            usable = is_regressor(model) or hasattr(model, "predict_proba")
        else:
            fits += " with predict_proba" if self.variant == "real" else ""
            usable = self.variant != "real" or hasattr(model, "predict_proba")
        if not (
            usable and (is_classifier(model) or is_regressor(model) == (self.variant == "gentle"))
        ):
            raise TypeError(
                f"estimator={model!r} does not fit variant={self.variant!r}: it may be {fits}."
            )
        if not self.resample and not takes_weights(model):
            raise ValueError(
                f"estimator={model!r} takes no sample_weight: with resample=True its rows are drawn by "
                "weight instead."
            )

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        if self.estimator is None:
            X, y = validate_data(self, X, y, dtype=np.float64)
        else:
            validate_data(self, X, y, skip_check_array=True)  # the model checks its own input
            X = as_table(X)
            check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_class_labels(y)
        return X, y

    def _check_new_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if self.estimator is None:
            return validate_data(self, X, reset=False, dtype=np.float64)
        X = as_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _start_weights(sample_weight: Any, X: Any) -> Floats:
    """Weights of the first round, which sum to 1."""
    weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return np.asarray(weights / weights.sum())
