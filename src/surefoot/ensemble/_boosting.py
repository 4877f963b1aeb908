"""AdaBoost in four variants, on presorted stumps or any learner.

Discrete and its bound are by Freund and Schapire (1997; Duda, Hart and Stork 2001, algorithm 9.1), with
SAMME by Zhu et al. (2009) for more than two classes; Real and Gentle are by Friedman, Hastie and Tibshirani
(2000), Modest is by Vezhnevets and Vezhnevets (2005).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import (
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from surefoot._kernels import (
    many_class_split,
    presort_columns,
    two_class_error_split,
    two_class_gini_split,
)
from surefoot._models import TagsOfModel, fit_model
from surefoot._sklearn_private import check_sample_weight
from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import (
    check_class_labels,
    check_option,
    check_rows,
    check_target,
    check_training_rows,
)

VARIANTS = ("discrete", "real", "gentle", "modest")

# The log-odds of a pure leaf are infinite; this limit keeps it from outvoting all later rounds.
LEAST_SHARE = 1e-5

# Most draws of training rows until two classes are among them.
MOST_DRAWS = 20


class BoostingClassifier(TagsOfModel, ClassifierMixin, BaseEstimator):
    """Boosted classifier: Discrete, Real, Gentle or Modest AdaBoost; a higher decision value is surer.

    "discrete" is AdaBoost as in Duda, Hart and Stork (algorithm 9.1): with E the weighted
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
        weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        weights = weights / weights.sum()
        if not weights.all():  # rows of weight 0 are left out
            counted = np.flatnonzero(weights)
            X, y, weights = take_rows(X, counted), y[counted], weights[counted]
        self.classes_, codes = np.unique(y, return_inverse=True)
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(
                f"y has one class only with any weight, {self.classes_.tolist()[0]!r}: a classifier needs two or more."
            )
        self._one_for_all = self.variant == "discrete" or n_classes == 2
        targets = [codes] if self._one_for_all else [1 * (codes == c) for c in range(n_classes)]
        n_codes = n_classes if self._one_for_all else 2
        random = check_random_state(self.random_state)
        factory: LearnerFactory = (
            StumpFactory(X, n_codes, self.criterion)
            if self.estimator is None
            else ModelFactory(X, self.estimator)
        )
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
        self._set_attributes()
        return self

    def _check_parameters(self) -> None:
        check_option(self.variant, "variant", VARIANTS)
        check_option(self.criterion, "criterion", ("gini", "error"))
        check_scalar(self.n_estimators, "n_estimators", Integral, min_val=1)
        model = self.estimator
        if model is None:
            return
        needs_probabilities = self.variant in ("real", "gentle")
        if is_regressor(model):
            usable = self.variant == "gentle"
        else:
            usable = hasattr(model, "predict_proba") or not needs_probabilities
        if not usable:
            needed = " with predict_proba" if needs_probabilities else ""
            needed += ", or a regressor" if self.variant == "gentle" else ""
            raise TypeError(
                f"estimator={model!r} does not fit variant={self.variant!r}: it may be a classifier{needed}."
            )
        if not self.resample and not takes_weights(model):
            raise ValueError(
                f"estimator={model!r} takes no sample_weight: with resample=True its rows are drawn by "
                "weight instead."
            )

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        if self.estimator is None:
            X, y = validate_data(self, as_table(X), check_target(y), dtype=np.float64)
        else:
            X, y, _ = check_training_rows(self, X, y)  # the model checks its own input
        check_class_labels(y)
        return X, y

    def _check_new_rows(self, X: Any) -> Any:
        if self.estimator is not None:
            return check_rows(self, X)
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def _set_attributes(self) -> None:
        """Set the public attributes from the fitted rounds."""
        learners = [[round_.learner for round_ in booster.rounds] for booster in self._boosters]
        errors = [np.array(booster.errors) for booster in self._boosters]
        self.estimators_: list[Any] = learners[0] if self._one_for_all else learners
        self.estimator_errors_: Any = errors[0] if self._one_for_all else errors
        self.stop_reason_ = self._boosters[0].stop_reason
        if not self._one_for_all:
            by_class = [
                f"class {label!r}: {booster.stop_reason}"
                for label, booster in zip(self.classes_.tolist(), self._boosters, strict=True)
                if booster.stop_reason
            ]
            self.stop_reason_ = "; ".join(by_class) or None
        if self.variant == "discrete":
            self.estimator_weights_ = np.array([r.weight for r in self._boosters[0].rounds])
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
            Higher means the second class; with more classes, there is a column for each.
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
            Higher means the second class; with more classes, there is a column for each.
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


# Weak learners are fitted to one table, with different weights. They are over class codes 0, 1, ..., and predict these
# (`codes`), the probability of the second class (`positive_share`), and the number of each row's region, its leaf or
# its predicted class (`regions`).


class Stump(NamedTuple):
    """A split of one column, with the weight of each class on either side.

    Attributes
    ----------
    column : int
        Position of the column.
    threshold : float
        Rows with at most this value are on the left.
    weights : ndarray of shape (2, n_classes)
        Weight of each class on the left and on the right.
    """

    column: int
    threshold: float
    weights: Floats

    def regions(self, X: Floats) -> Ints:
        """Side of each row: 0 for the left, 1 for the right."""
        return (X[:, self.column] > self.threshold).astype(np.int64)

    def codes(self, X: Floats) -> Ints:
        """Class with the most weight on each row's side."""
        shares = self.weights / self.weights.sum(axis=1, keepdims=True)
        heaviest = shares.round(12).argmax(axis=1)  # rounded: a tie goes to the first class
        return heaviest[self.regions(X)]

    def positive_share(self, X: Floats) -> Floats:
        """Share of the second class on each row's side."""
        return (self.weights[:, 1] / self.weights.sum(axis=1))[self.regions(X)]


class StumpFactory:
    """Factory of stumps; the columns are sorted once, for all weights."""

    def __init__(self, X: Floats, n_classes: int, criterion: str) -> None:
        self.X = np.asfortranarray(X)  # a stump reads one column
        self.n_classes, self.by_error = n_classes, criterion == "error"
        self.order, self.cuts = presort_columns(np.ascontiguousarray(self.X.T))

    def fit(self, codes: Ints, weights: Floats, random: Any) -> Stump:
        """Fit the stump with the lowest weighted impurity or error; without a split if none helps."""
        column, place = self._best_split(codes, weights)
        if column < 0:
            column, threshold = 0, np.inf
        else:
            low, high = self.X[self.order[column, place : place + 2].astype(np.int64), column]
            middle = low + (high - low) / 2
            threshold = float(middle if middle < high else low)
        sides = self.n_classes * (self.X[:, column] > threshold)
        counts = np.bincount(sides + codes, weights, 2 * self.n_classes).astype(np.float64)
        table = counts.reshape(2, self.n_classes)
        if not table[1].any():  # no row is on the right: predict there as on the left
            table[1] = table[0]
        return Stump(int(column), threshold, table)

    def fit_drawn(self, codes: Ints, drawn: Ints, random: Any) -> Stump:
        """Fit a stump with weights proportional to how often each row was drawn."""
        return self.fit(codes, np.bincount(drawn, minlength=len(codes)) / len(drawn), random)

    def _best_split(self, codes: Ints, weights: Floats) -> tuple[int, int]:
        if self.n_classes > 2:
            return many_class_split(
                self.order, self.cuts, codes, weights, self.n_classes, self.by_error
            )
        split = two_class_error_split if self.by_error else two_class_gini_split
        return split(self.order, self.cuts, weights * (2.0 * codes - 1.0))


class ModelLearner:
    """A fitted scikit-learn model as a weak learner."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def codes(self, X: Any) -> Ints:
        """Predicted class codes."""
        return np.asarray(self.model.predict(X), dtype=np.int64)

    def positive_share(self, X: Any) -> Floats:
        """Estimated probability of the second class; a regressor's output is mapped from [−1, 1] to [0, 1]."""
        if is_regressor(self.model):
            return (np.asarray(self.model.predict(X), dtype=np.float64) + 1) / 2
        probabilities = self.model.predict_proba(X)
        shares = np.zeros((len(probabilities), 2))  # the drawn rows may lack a class
        shares[:, self.model.classes_] = probabilities
        return shares[:, 1]

    def regions(self, X: Any) -> Ints:
        """Leaves of a tree, else the predicted class."""
        if hasattr(self.model, "apply") and hasattr(self.model, "tree_"):
            return np.asarray(self.model.apply(X), dtype=np.int64)
        return self.codes(X)


class ModelFactory:
    """Factory of weak learners that are clones of a scikit-learn model."""

    def __init__(self, X: Any, estimator: Any) -> None:
        self.X, self.estimator = X, estimator

    def fit(self, codes: Ints, weights: Floats, random: Any) -> ModelLearner:
        """Fit to rows whose weights are 1 on average, as most learners expect."""
        return self._fitted(self.X, codes, weights * len(weights), random)

    def fit_drawn(self, codes: Ints, drawn: Ints, random: Any) -> ModelLearner:
        """Fit to the drawn rows."""
        return self._fitted(take_rows(self.X, drawn), codes[drawn], None, random)

    def _fitted(self, X: Any, codes: Ints, weights: Floats | None, random: Any) -> ModelLearner:
        model = clone_with_drawn_seeds(self.estimator, random)
        target = 2.0 * codes - 1.0 if is_regressor(model) else codes
        return ModelLearner(fit_model(model, X, target, weights))


WeakLearner = Stump | ModelLearner
LearnerFactory = StumpFactory | ModelFactory


def takes_weights(estimator: Any) -> bool:
    """True if a model, or the last step of a pipeline, can be fitted with `sample_weight`."""
    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    return bool(has_fit_parameter(estimator, "sample_weight"))


def clone_with_drawn_seeds(estimator: Any, random: Any) -> Any:
    """Clone of a model, and a new seed for each `random_state` in it."""
    seeded = [n for n in estimator.get_params() if n.split("__")[-1] == "random_state"]
    seeds = {name: random.randint(np.iinfo(np.int32).max) for name in seeded}
    return clone(estimator).set_params(**seeds)


class Boosted(NamedTuple):
    """Rounds of one booster, their weighted errors, and the reason if it stopped early."""

    rounds: list[Any]
    errors: list[float]
    stop_reason: str | None


def boost(
    factory: LearnerFactory,
    codes: Ints,
    weights: Floats,
    *,
    variant: str,
    n_classes: int,
    n_rounds: int,
    resample: bool,
    random: Any,
) -> Boosted:
    """Fit the rounds, starting from weights that sum to 1; `codes` are 0 and 1, for SAMME also higher.

    A round is a fitted learner that, called with rows, returns the terms that it adds to their scores, of shape (n,),
    for SAMME (n, n_classes).
    """
    rounds: list[Any] = []
    errors: list[float] = []
    chance = 1 - 1 / n_classes
    for number in range(1, n_rounds + 1):
        learner = _fit_learner(factory, codes, weights, random, resample=resample)
        if learner is None:
            reason = f"round {number}: the rows drawn by weight are of one class only"
            if number == 1:
                raise ValueError(f"Boosting cannot begin, {reason}.")
            return Boosted(rounds, errors, reason)
        round_: Any
        if variant == "discrete":
            wrong = learner.codes(factory.X) != codes
            error = float(weights @ wrong)
            useless = error >= chance - 1e-12
            if useless:
                alpha = 1.0
            elif error == 0:
                # α would be infinite; any weight that outvotes all earlier rounds predicts alike.
                alpha = 1 + sum(before.weight for before in rounds)
            else:
                alpha = float(np.log((1 - error) / error * (n_classes - 1)) / 2)
            round_, growth = (
                DiscreteRound(learner, alpha, n_classes),
                np.where(wrong, alpha, -alpha),
            )
        else:
            round_ = _additive_round(variant, learner, factory.X, codes, weights)
            gain = round_(factory.X)
            error = float(weights @ ((gain > 0) != (codes == 1)))
            useless = not gain.any() if variant == "modest" else error >= chance - 1e-12
            growth = np.where(codes == 1, -gain, gain)
        if useless and number == 1 and error > chance + 1e-9:
            raise ValueError(
                f"The first learner's weighted error is {error:.3g}, worse than chance: boosting needs an "
                "estimator that learns something."
            )
        if number == 1 or not useless:
            rounds.append(round_)
            errors.append(error)
        if useless or error == 0:
            what = f"'s weighted error {error:.3g} is no better than chance"
            what = what if useless else " makes no error and is the last"
            return Boosted(rounds, errors, f"round {number}: its learner{what}")
        weights = weights * np.exp(growth)
        weights /= weights.sum()
    return Boosted(rounds, errors, None)


def _fit_learner(
    factory: LearnerFactory, codes: Ints, weights: Floats, random: Any, *, resample: bool
) -> WeakLearner | None:
    """Learner of a round; None if no draw of training rows has two classes."""
    if not resample:
        return factory.fit(codes, weights, random)
    for _ in range(MOST_DRAWS):
        drawn = random.choice(len(codes), size=len(codes), p=weights)
        if np.ptp(codes[drawn]) > 0:
            return factory.fit_drawn(codes, drawn, random)
    return None


def _additive_round(
    variant: str, learner: WeakLearner, X: Any, codes: Ints, weights: Floats
) -> "ShareRound | ModestRound":
    if variant != "modest":
        return ShareRound(learner, variant)
    # Joint probabilities of class and region, under the weights D and under inverted ones ∝ 1 − D.
    regions, places = np.unique(learner.regions(X), return_inverse=True)
    inverted = 1 - weights
    inverted = inverted / inverted.sum() if inverted.sum() > 0 else weights
    joint, joint_inverted = (
        np.bincount(places + len(regions) * codes, row_weights, 2 * len(regions)).reshape(2, -1)
        for row_weights in (weights, inverted)
    )
    negative, positive = joint * (1 - joint_inverted)
    return ModestRound(learner, regions, positive - negative)


@dataclass(frozen=True)
class DiscreteRound:
    """Round of Discrete AdaBoost: adds ±α, or with more than two classes α in the predicted class's column."""

    learner: WeakLearner
    weight: float
    n_classes: int

    def __call__(self, X: Any) -> Floats:
        """Terms to add to the scores of rows."""
        codes = self.learner.codes(X)
        if self.n_classes == 2:
            return np.where(codes == 1, self.weight, -self.weight)
        return np.where(codes[:, None] == np.arange(self.n_classes), self.weight, 0.0)


@dataclass(frozen=True)
class ShareRound:
    """Round of Real AdaBoost, which adds half the log-odds of the positive class, or of Gentle AdaBoost.

    Gentle AdaBoost adds P(+|x) − P(−|x), the weighted least-squares fit of ±1.
    """

    learner: WeakLearner
    variant: str

    def __call__(self, X: Any) -> Floats:
        """Terms to add to the scores of rows."""
        share = self.learner.positive_share(X)
        if self.variant == "gentle":
            return 2 * share - 1
        return np.asarray(logit(np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE)) / 2)


@dataclass(frozen=True)
class ModestRound:
    """Round of Modest AdaBoost: adds P⁺(1 − P̄⁺) − P⁻(1 − P̄⁻) of the region; 0 in one without training rows."""

    learner: WeakLearner
    regions: Ints
    values: Floats

    def __call__(self, X: Any) -> Floats:
        """Terms to add to the scores of rows."""
        regions = self.learner.regions(X)
        places = np.minimum(np.searchsorted(self.regions, regions), len(self.regions) - 1)
        return np.where(self.regions[places] == regions, self.values[places], 0.0)
