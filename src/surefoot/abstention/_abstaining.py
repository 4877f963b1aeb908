"""Classifier that abstains (selective prediction) so that few of its answers are wrong."""

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if

from surefoot._copies import group_copies
from surefoot._crossfit import cross_fit
from surefoot._models import (
    TagsOfModel,
    check_model,
    clone_with_seed,
    fit_model,
    predict_labels,
)
from surefoot._tables import MissingInputs, take_rows
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import (
    check_class_labels,
    check_class_risks,
    check_number,
    check_rows,
    check_share,
    check_training_rows,
    risks_by_class,
)
from surefoot.abstention._promise import (
    NOTHING,
    Threshold,
    group_numbers,
    has_large_groups,
    risk_bound,
    threshold_for_coverage,
    threshold_for_risk,
    too_few_sentence,
)
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import Indicator, NeighborDistance
from surefoot.resampling import HoldoutSplit

# Share of the rows set aside that are novel: further from training rows than the others.
NOVEL_SHARE = 0.01

# Folds for indicators that need the model's held-out predictions.
FOLDS = 5


def _has_probabilities(self: Any) -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class AbstainingClassifier(TagsOfModel, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier that abstains from doubtful predictions (selective prediction), so that few answers are wrong.

    The model and its score are fitted on one part of the rows. The other part is set aside: the deployed model
    and score are applied to it, and the threshold on the score is chosen there.

    With `max_risk`, of all thresholds that are known to keep the limit, the one that answers most rows is chosen.
    The promise: with probability at least `confidence` over draws of the rows set aside, the error among
    all future rows with a score at or above `threshold_` is at most `max_risk`. It holds for any model and any
    number of rows, if they are drawn independently from one population and
    errors do not become more frequent as the score rises; if they do, each single test still has its level.
    The tests are exact binomial ones, from the threshold that answers fewest rows to the one that answers
    all (fixed-sequence testing in the form of Wiens' fallback procedure). That answers more rows than
    the binary search of Geifman and El-Yaniv, which has to correct for ⌈log2 n⌉ tests.

    With `groups`, for example one group for each person, whole groups are set aside, and the promise is about
    groups: with probability at least `confidence` over draws of the groups set aside, the error among all
    answered rows of all future groups is at most `max_risk`. Groups must be drawn
    independently from one population in which none is larger than the largest one set aside; the rows within a
    group may depend on each other in any way. The tests are then bets on the groups (Waudby-Smith and
    Ramdas), valid for any number of groups. Many rows do not help if there are few groups: with N groups of equal
    size no promise is below 1 − (1 − confidence)^(1/N), about 3 / N for 0.95.

    With a dict of classes as `max_risk`, the error among future answered rows whose *true* class it is stays within the
    limit of each class in it, for all of them at once with probability at least `confidence` (1 − `confidence` is
    divided among the limits). One threshold on the score serves all rows; a class with few rows set aside can promise
    little.

    With `coverage` the threshold answers that share of the rows set aside, and about that share of
    future rows; `risk_bound_` is then an upper bound of their error with `confidence`, by groups if there are any.

    Parameters
    ----------
    estimator : classifier
        The model. In `FrozenEstimator` it is used as it is, and the rows given to `fit` must be new to it.
    indicator : indicator, default=None
        Its `score_samples` is the score. With None the score is the probability of being right:
        one minus `predict_error` of an `IndividualErrorClassifier`, or of the model itself if it has that
        method. A fitted indicator in `FrozenEstimator` is used as it is.
    max_risk : float or dict of class to float, default=None
        Largest permitted share of errors among the answered rows, or among those of each class in the dict; the key
        None is for all answered rows.
    coverage : float, default=None
        Share of rows to answer. Either this or `max_risk` must be given.
    confidence : float, default=0.95
        Probability with which the limit is kept.
    held_out : float or splitter, default=0.3
        Share of the rows to set aside, or a splitter with a single split. With `groups` whole groups are
        set aside. If model and score are frozen, there is nothing to learn from the others,
        and all rows choose the threshold.
    random_state : int, RandomState or None, default=None
        Seed of the choice of the rows set aside, and of the error estimation.
    n_jobs : int, default=None
        Parallel folds of the error estimation.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimator_ : classifier
        The deployed model, fitted without the rows set aside.
    indicator_ : estimator
        The indicator that scores its predictions, or the error estimator in its place.
    threshold_ : float
        Lowest score that is answered; −inf answers every row, inf none.
    coverage_ : float
        Share of the rows set aside that are answered.
    risk_ : float
        Share of errors among them; NaN if there are none.
    risk_bound_ : float
        Upper bound, with `confidence`, of the error of the answered rows: `max_risk` as given; or, with `coverage`,
        the bound of Clopper and Pearson, and with groups the lowest risk that the test by groups rejects. NaN if no
        row is answered.
    n_held_out_ : int
        Number of rows on which the threshold was chosen.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Column names, if they are all strings.

    See Also
    --------
    DeferringClassifier : Asks another model where this one would abstain.

    References
    ----------
    Geifman and El-Yaniv, "Selective classification for deep neural networks", 2017.
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024.
    Wiens and Dmitrienko, "The fallback procedure for evaluating a single family of hypotheses", 2005.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.abstention import AbstainingClassifier
    >>> from surefoot.datasets import make_friedman_problem
    >>> X, y = make_friedman_problem(3, n_samples=2000, random_state=0)
    >>> X_new, y_new = make_friedman_problem(3, n_samples=2000, random_state=1)
    >>> model = AbstainingClassifier(GaussianNB(), max_risk=0.03, random_state=0).fit(X, y)
    >>> accepted = model.predict_accepted(X_new)
    >>> wrong = model.predict(X_new) != y_new
    >>> bool(wrong[accepted].mean() < 0.03 < wrong.mean())
    True
    """

    def __init__(
        self,
        estimator: Any,
        indicator: Any = None,
        *,
        max_risk: float | Mapping[Any, float] | None = None,
        coverage: float | None = None,
        confidence: float = 0.95,
        held_out: Any = 0.3,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.indicator = indicator
        self.max_risk = max_risk
        self.coverage = coverage
        self.confidence = confidence
        self.held_out = held_out
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model and its score on one part of the rows, and choose the threshold on the other part.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the model takes them.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for fitting. Each row set aside counts once, or not at all if its weight is 0:
            the promise is about rows without weights.
        groups : array-like of shape (n_rows,), default=None
            Groups that were sampled as a whole, such as all rows of one person. A group is set aside as a whole or
            not at all, and the promise is about groups, not about single rows.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        X, y, sample_weight = check_training_rows(self, X, y, sample_weight)
        check_class_labels(y)
        check_consistent_length(y, groups)
        if self.max_risk is not None:
            check_class_risks(self.max_risk, np.unique(y), most=1)
        groups, distinct, *_ = group_copies(X, groups)
        training, aside = self._split(X, y, groups)
        parts = (X, y, sample_weight, groups)
        self.estimator_, self.indicator_ = self._fit_model_and_score(
            *(None if part is None else take_rows(part, training) for part in parts)
        )
        self.classes_ = self.estimator_.classes_
        aside = aside[distinct[aside]]
        if sample_weight is not None:
            aside = aside[sample_weight[aside] > 0]
            if len(aside) == 0:
                raise ValueError("All rows that were set aside have weight 0: some must count.")
        self.n_held_out_ = len(aside)
        self._missing = MissingInputs.of(take_rows(X, training if len(training) else aside))
        self._near: NeighborDistance | None = None
        if len(training):
            near = NeighborDistance(space="scaled", estimator=FrozenEstimator(self.estimator_))
            self._near = near.fit(take_rows(X, training), y[training])
            nearness = self._near.score_samples(take_rows(X, aside))
            self._least_near = np.quantile(nearness, NOVEL_SHARE)
        aside = aside[~self._are_novel(take_rows(X, aside))]
        rows, labels = take_rows(X, aside), y[aside]
        groups = None if groups is None else take_rows(groups, aside)
        wrong = predict_labels(self.estimator_, rows) != labels
        scores = self._scores(rows)
        bound: Any = self.max_risk
        if self.coverage is not None:
            chosen = threshold_for_coverage(scores, wrong, self.coverage)
            bound = risk_bound(scores, wrong, chosen, self.confidence, groups)
        else:
            chosen = threshold_for_risk(
                scores, wrong, bound, self.confidence, groups=groups, labels=labels
            )
            if chosen is NOTHING:
                sentence = _no_threshold_sentence(labels, bound, self.confidence, groups)
                warnings.warn(sentence, UserWarning, stacklevel=2)
        self.threshold_, self.coverage_ = chosen.score, chosen.n_answered / self.n_held_out_
        answers_any = chosen.n_answered > 0
        self.risk_ = chosen.lost / chosen.n_answered if answers_any else np.nan
        self.risk_bound_ = bound if answers_any else np.nan
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row as predicted by the model, whether the row is answered or not."""
        X = check_rows(self, X)
        return predict_labels(self.estimator_, X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row, from the model."""
        X = check_rows(self, X)
        return self.estimator_.predict_proba(X)

    def predict_accepted(self, X: Any) -> Mask:
        """Mask of the rows whose prediction is accepted (answered).

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to decide on.

        Returns
        -------
        accepted : ndarray of bool of shape (n_rows,)
            True where the score is at or above `threshold_` and the row is not novel: not further from training rows
            than 99 % of the rows set aside, and without missing inputs that training rows have.
        """
        X = check_rows(self, X)
        return (self._scores(X) >= self.threshold_) & ~self._are_novel(X)

    def decide(self, X: Any) -> NDArray[np.object_]:
        """Class of each answered row, and None for the rows that are left out.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to decide on.

        Returns
        -------
        decisions : ndarray of objects of shape (n_rows,)
            Class labels, or None.
        """
        decisions = self.predict(X).astype(object)
        decisions[~self.predict_accepted(X)] = None
        return decisions

    def _check_parameters(self) -> None:
        check_model(self.estimator)
        if not is_classifier(self.estimator):
            raise ValueError(
                f"estimator={self.estimator!r} is no classifier, and only classifiers can abstain."
            )
        is_frozen = isinstance(self.indicator, FrozenEstimator)
        indicator = self.indicator.estimator if is_frozen else self.indicator
        if indicator is not None and not isinstance(indicator, Indicator):
            raise TypeError(
                f"indicator={self.indicator!r} is no indicator: it may be one of surefoot.indicators, or None."
            )
        if is_frozen and not isinstance(self.estimator, FrozenEstimator):
            raise ValueError(
                "indicator is frozen and estimator is not: a fitted indicator scores a fitted model."
            )
        if (self.max_risk is None) == (self.coverage is None):
            raise ValueError(
                f"max_risk={self.max_risk} and coverage={self.coverage}: exactly one of them must be given."
            )
        check_share(self.confidence, "confidence")
        if self.coverage is not None:
            check_number(
                self.coverage, "coverage", min_val=0, max_val=1, include_boundaries="right"
            )

    def _split(self, X: Any, y: NDArray[Any], groups: Any) -> tuple[Ints, Ints]:
        """Rows to fit on, and rows set aside: a share of the rows, whole groups, or the split of a splitter."""
        is_frozen = isinstance(self.estimator, FrozenEstimator)
        has_score = (
            hasattr(self.estimator, "predict_error")
            if self.indicator is None
            else isinstance(self.indicator, FrozenEstimator)
        )
        if is_frozen and has_score:  # there is nothing to fit
            return np.arange(0), np.arange(len(y))
        labels = np.unique(y).tolist()
        if len(labels) < 2 and not is_frozen:
            raise ValueError(
                f"y has one class only, {labels[0]!r}: a classifier needs two or more."
            )
        if hasattr(self.held_out, "split"):
            splits = list(self.held_out.split(X, y, groups))
            if len(splits) != 1:
                raise ValueError(
                    f"held_out={self.held_out!r} makes {len(splits)} splits: it may make one only."
                )
            return splits[0]
        check_share(self.held_out, "held_out")
        splitter = (
            HoldoutSplit(self.held_out, random_state=self.random_state)
            if groups is None
            else GroupShuffleSplit(1, test_size=self.held_out, random_state=self.random_state)
        )
        return next(splitter.split(X, y, groups))

    def _fit_model_and_score(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[Any, Any]:
        """Fitted model, and the fitted indicator or error estimator that scores it; frozen ones as they are."""
        model, indicator, random_state = self.estimator, self.indicator, self.random_state
        if indicator is None:
            if not hasattr(model, "predict_error"):
                model = IndividualErrorClassifier(
                    model, random_state=random_state, n_jobs=self.n_jobs
                )
            if not isinstance(model, FrozenEstimator):
                metadata = {"sample_weight": sample_weight, "groups": groups}
                given = {name: value for name, value in metadata.items() if value is not None}
                model = clone_with_seed(model, random_state).fit(X, y, **given)
            return getattr(model, "estimator_", model), model
        if isinstance(indicator, FrozenEstimator):
            return fit_model(model, X, y, sample_weight), indicator
        indicator = clone_with_seed(indicator, random_state)
        if indicator.needs_held_out_scores:
            known = {"groups": groups, "sample_weight": sample_weight, "random_state": random_state}
            deployed = cross_fit(
                model, [indicator], X, y, cv=FOLDS, deploy_all=True, **known
            ).deployed
            [fitted] = deployed.panel.indicators.values()
            return deployed.model, fitted
        model = fit_model(model, X, y, sample_weight)
        return model, indicator.set_params(estimator=FrozenEstimator(model)).fit(X, y)

    def _are_novel(self, X: Any) -> Mask:
        """Mask of the rows that lack inputs that training rows have, or are far from these, if there are any."""
        unusual = self._missing.are_unusual(X)
        if self._near is None:
            return unusual
        return np.asarray(unusual | (self._near.score_samples(X) < self._least_near))

    def _scores(self, X: Any) -> Floats:
        """Score of each prediction, higher is better: the probability of being right, or the indicator's score."""
        if hasattr(self.indicator_, "predict_error"):
            return 1 - self.indicator_.predict_error(X)
        return self.indicator_.score_samples(X)


def _no_threshold_sentence(labels: Any, max_risk: Any, confidence: float, groups: Any) -> str:
    """Sentence for the warning that no threshold keeps the risk, with the reason."""
    n_rows = len(labels)
    none_wrong = Threshold(-np.inf, n_rows, 0)
    least = risk_bound(np.zeros(n_rows), np.zeros(n_rows), none_wrong, confidence, groups)
    units, among = "rows", f"the {n_rows} rows set aside"
    if has_large_groups(groups):
        units = "groups"
        among = f"the {group_numbers(groups).max() + 1} groups set aside, of {n_rows} rows"
    reason = "there are too many errors, or the score does not separate them well enough from right answers"
    if least > max(risks_by_class(max_risk).values()):
        reason = f"so few {units} can promise {least:.2g} at best, even if none is wrong"
    too_few = too_few_sentence(max_risk, labels, confidence) or ""
    return (
        f"No threshold is known to keep max_risk={max_risk} with confidence={confidence} by {among}, "
        f"and no row will be answered: {reason}.{' ' if too_few else ''}{too_few}"
    )
