"""Stacking with reliability indicators (Bennett 2007, sections 4.2 and 4.3)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold
from sklearn.utils import (
    Bunch,
    assert_all_finite,
    check_consistent_length,
    check_random_state,
    check_scalar,
)
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._crossfit import Outputs, cross_fit
from surefoot._sklearn_private import HeterogeneousEnsemble, check_sample_weight
from surefoot._splits import resolve_cv
from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints, Split
from surefoot._validation import (
    check_class_labels,
    check_number,
    check_option,
    check_rows,
    check_target,
)
from surefoot.ensemble._combination import Combination, beside, combine, combine_all
from surefoot.ensemble._topics import TopicModels, TopicPanel, build_topic_panels
from surefoot.indicators import Indicator

# Name of the block of the models' scores; the other blocks are indicators.
SCORES = "scores"


class HeldOutColumns(NamedTuple):
    """Out-of-fold columns of base models and indicators for the training rows.

    `rows` are positions in the training table, `columns` has shape (n_rows, n_topics, n_columns), NaN
    where a topic had no model, and `targets` (n_rows, n_topics) of zeros and ones.
    """

    rows: Ints
    columns: Floats
    targets: Ints


class SelectionStep(NamedTuple):
    """One step of a backward selection: the group left out, the groups that remain, and the score with these."""

    dropped: str | None
    remaining: tuple[str, ...]
    score: float


class StriveClassifier(ClassifierMixin, HeterogeneousEnsemble):
    """Stacking classifier that also uses indicators of how reliable each base model is on the row.

    Stacking trains a metaclassifier on the out-of-fold scores of the base models, which are like
    log-odds. STRIVE adds the columns of reliability indicators: how far each model can be trusted on the row
    (Bennett 2007, section 4.2). The default metaclassifier starts from the score of the best base model. It goes on to
    all scores, and then to all columns, only as far as that lowers the loss on held-out rows.

    Each topic (column) of an indicator matrix `y` has its own base models and metaclassifier, and so has
    each of more than two classes; one neighbour search serves all of them. The default metaclassifiers share what they
    learn: a topic with few rows starts from the weights of all topics.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Names and base models, as in scikit-learn's `StackingClassifier`; "drop" leaves one out.
    indicators : indicator, list of indicators or dict of them by model, default=None
        Indicators whose columns the metaclassifier gets besides the scores: of every model, or of the models
        named in the dict. `LocalSensitivity(per_class=True)` has the columns of the paper.
    final_estimator : classifier, default=None
        The metaclassifier, cloned for each topic. The default is a logistic regression in steps: the best base model's
        score, all scores, all columns, each with a ridge towards the step before that is chosen by out-of-fold Brier
        score; a step that saves less than its standard error is left out. The paper's is
        `LinearSVC(C=0.1)` on standardised columns, which is the default with `passthrough`.
    cv : int, splitter or iterable of splits, default=5
        How rows are held out. A number means shuffled folds; for an indicator matrix, the rarest topics are
        spread over the folds first.
    passthrough : bool, default=False
        Whether the metaclassifier also gets the columns of X.
    threshold : {"error", "f1"} or float, default="error"
        Score of the metaclassifier above which a topic is assigned: learned from held-out scores, topic by
        topic, for the least error or the best F1, or given. The default metaclassifier has log-odds: for the least
        error 0 stays, unless another saves more than its standard error. With more than two classes in a
        one-dimensional `y` the highest score wins, and there is no threshold.
    random_state : int, RandomState or None, default=None
        Seed of the folds, of the models and of the metaclassifiers, and of indicators without one.
    n_jobs : int, default=None
        Parallel folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; the numbers of the columns if `y` is a matrix.
    feature_names_out_ : ndarray of shape (n_columns,)
        Names of the metaclassifiers' columns: `<model>__score` of each model, then `<model>__<column>` of its
        indicators, then the columns of X if `passthrough` is set.
    final_estimators_ : list of classifiers
        Metaclassifier of each topic. None for a topic that fewer than two held-out rows have, or lack: its
        prediction is constant.
    thresholds_ : ndarray of shape (n_topics,)
        Score above which each topic is assigned.
    held_out_ : HeldOutColumns
        Out-of-fold columns that the metaclassifiers learned from.
    held_out_scores_ : ndarray of shape (n_rows, n_topics)
        Out-of-fold scores of the metaclassifiers for these rows, before the threshold; NaN where a
        topic had no model.
    named_estimators_ : Bunch
        Fitted base models by name, a list with one for each topic; None for a topic that all rows have, or none.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Column names, if they are all strings.

    See Also
    --------
    TrustWeightedClassifier : Lets models vote, each weighted by its trust in the row.
    surefoot.recalibration.RecalibratedClassifier : Uses scores and indicators of a single model.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import KernelKNeighborsClassifier, LocalSensitivity
    >>> from surefoot.datasets import make_friedman_problem
    >>> from surefoot.ensemble import StriveClassifier
    >>> X, y = make_friedman_problem(3, n_samples=400, random_state=0)
    >>> models = [("knn", KernelKNeighborsClassifier()), ("bayes", GaussianNB())]
    >>> strive = StriveClassifier(models, {"knn": LocalSensitivity(per_class=True)}, random_state=0)
    >>> strive = strive.fit(X, y)
    >>> strive.feature_names_out_.tolist()
    ['knn__score', 'bayes__score', 'knn__shift_1', 'knn__spread_1']
    """

    classes_: NDArray[Any]
    _panel: TopicPanel

    def __init__(
        self,
        estimators: Any,
        indicators: Any = None,
        *,
        final_estimator: Any = None,
        cv: Any = 5,
        passthrough: bool = False,
        threshold: str | float = "error",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.indicators = indicators
        self.final_estimator = final_estimator
        self.cv = cv
        self.passthrough = passthrough
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the base models, and the metaclassifiers on their out-of-fold scores and columns.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the models take them.
        y : array-like of shape (n_rows,), or array-like or CSR of shape (n_rows, n_topics)
            Class labels, or zeros and ones for each topic.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for all models and thresholds.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are never on both sides of a split.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        models = self._check_parameters()
        indicators = by_model(self.indicators, list(models), self.random_state)
        X = as_table(X, copy=True)
        validate_data(self, X, y, skip_check_array=True)
        topics = as_topics(y)
        check_consistent_length(X, topics.indicator)
        if sample_weight is not None:
            sample_weight = check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            if topics.kind != "multilabel":  # a topic of a matrix may have no weight
                totals = np.bincount(topics.codes, sample_weight)
                if (totals == 0).any():
                    label = topics.classes[totals == 0].tolist()[0]
                    raise ValueError(f"sample_weight leaves class {label!r} without weight.")
        by_kind = [indicators[name] for name in models]
        owners = [kind for kind, group in enumerate(by_kind) for _ in group]
        cross = cross_fit(
            TopicModels(list(models.values()), owners),
            list(chain(*by_kind)),
            X,
            topics.indicator,
            cv=topic_splits(self.cv, X, topics, groups, self.random_state),
            groups=groups,
            sample_weight=sample_weight,
            deploy_all=True,
            n_jobs=self.n_jobs,
            build=build_topic_panels,
        )
        held_out, rows = cross.held_out, cross.held_out.rows
        columns = by_topic(held_out, topics.indicator.shape[1])
        self.held_out_ = HeldOutColumns(rows, columns, topics.indicator[rows])
        self._panel = cross.deployed.panel
        self.named_estimators_ = Bunch(**dict(zip(models, self._panel.models, strict=True)))
        self._blocks = name_blocks(list(models), owners, self._panel)
        self._units, self._weight = cross.units, cross.weight
        self._passed = take_rows(X, rows) if self.passthrough else None
        self._topics = topics
        self.classes_ = topics.classes
        return self._fit_metaclassifiers(np.arange(columns.shape[2]))

    def _check_parameters(self) -> dict[str, Any]:
        """Models by name, without dropped ones; raise an error for a parameter that is not possible."""
        names, models = self._validate_estimators()
        kept = {name: model for name, model in zip(names, models, strict=True) if model != "drop"}
        for name, model in kept.items():
            if isinstance(model, FrozenEstimator):
                raise TypeError(
                    f"estimators has {name!r} in FrozenEstimator, but it is fitted for each fold and topic: "
                    "it may be the classifier itself."
                )
        if self.final_estimator is not None and not is_classifier(self.final_estimator):
            raise TypeError(
                f"final_estimator={self.final_estimator!r} is no classifier: it must be one."
            )
        if isinstance(self.threshold, str):
            check_option(self.threshold, "threshold", ["error", "f1"], other="a number")
        else:
            check_number(self.threshold, "threshold")
        return kept

    def _fit_metaclassifiers(self, chosen: Ints) -> Self:
        """Fit the metaclassifier of each topic on the chosen columns."""
        self._chosen, seed = chosen, self.random_state
        self._seed = int(
            seed if isinstance(seed, Integral) else check_random_state(seed).randint(2**31 - 1)
        )
        every = np.arange(self.held_out_.targets.shape[1])
        self._combinations = combinations = self._combine(chosen, every)
        self.final_estimators_ = [fitted.model for fitted in combinations]
        self.thresholds_ = np.array([fitted.threshold for fitted in combinations])
        self.held_out_scores_ = np.column_stack([fitted.held_out for fitted in combinations])
        names = list(self._column_names()[chosen])
        if self._passed is not None:
            own = [f"x{i}" for i in range(self._passed.shape[1])]
            names += list(getattr(self, "feature_names_in_", own))
        self.feature_names_out_ = np.array(names, dtype=object)
        return self

    def _column_names(self) -> NDArray[np.object_]:
        """Names of the scores and of all indicators' columns."""
        return np.array([name for block in self._blocks.values() for name in block], dtype=object)

    def _combine(self, chosen: Ints, topics: Ints) -> list[Combination]:
        """Fitted metaclassifiers of `topics`, on the columns at the positions `chosen`."""
        threshold = 0.0 if self._topics.kind == "multiclass" else self.threshold
        if self.final_estimator is None and self._passed is None:
            return combine_all(
                self.held_out_.columns[:, topics][:, :, chosen],
                self.held_out_.targets[:, topics],
                int((chosen < len(self._blocks[SCORES])).sum()),
                one_topic_each=self._topics.kind == "multiclass",
                threshold=threshold,
                units=self._units,
                sample_weight=self._weight,
                seed=self._seed,
            )
        return [
            combine(
                self.final_estimator,
                self.held_out_.columns[:, topic][:, chosen],
                self._passed,
                self.held_out_.targets[:, topic],
                threshold=threshold,
                units=self._units,
                sample_weight=self._weight,
                seed=self._seed,
            )
            for topic in topics
        ]

    def meta_columns(self, X: Any) -> Floats:
        """Columns of the metaclassifiers for each row, without the columns of X itself.

        Returns
        -------
        columns : ndarray of shape (n_rows, n_topics, n_columns_out)
            The columns that `feature_names_out_` names; NaN for a topic without models.
        """
        X = check_rows(self, X)
        return by_topic(self._panel(X), len(self._combinations))[:, :, self._chosen]

    def decision_function(self, X: Any) -> Floats:
        """Score of the metaclassifier minus the threshold; a value above 0 assigns the topic or class.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to classify.

        Returns
        -------
        scores : ndarray of shape (n_rows,) for two classes, else (n_rows, n_topics)
            One column for each topic, in the order of `classes_`.
        """
        X = check_rows(self, X)
        columns, passed = self.meta_columns(X), X if self.passthrough else None
        scores = [
            fitted.score(beside(columns[:, topic], passed)) - fitted.threshold
            for topic, fitted in enumerate(self._combinations)
        ]
        return scores[0] if self._topics.kind == "binary" else np.column_stack(scores)

    def predict(self, X: Any) -> Any:
        """Topics whose score is above the threshold, or the class with the highest score.

        They are returned in the form that `fit` was given.
        """
        scores = self.decision_function(X)
        return self._topics.targets(scores[:, None] if scores.ndim == 1 else scores)

    def with_columns(self, columns: Any) -> Self:
        """Copy whose metaclassifiers are fitted on some of the columns only.

        Parameters
        ----------
        columns : array-like of str
            Names among `feature_names_out_`; with the base models' scores alone it is stacking.

        Returns
        -------
        StriveClassifier
            A fitted copy, which shares the base models with this one.
        """
        check_is_fitted(self)
        names = self._column_names()
        if unknown := sorted(set(columns) - set(names[self._chosen])):
            raise ValueError(f"columns has {unknown[0]!r}: they may be among feature_names_out_.")
        if len(columns) == 0:
            raise ValueError("columns is empty: there must be something to combine.")
        copied, chosen = copy(self), np.flatnonzero(np.isin(names, list(columns)))
        return copied._fit_metaclassifiers(chosen)  # noqa: SLF001 - its own

    def backward_selection(
        self, groups: Mapping[str, Sequence[str]] | None = None, *, topics: Any = None
    ) -> list[SelectionStep]:
        """Leave out at each step the indicator whose absence lowers the score least; higher scores are better.

        Each score is the micro-averaged accuracy, or F1 with `threshold="f1"`, of the out-of-fold
        decisions of the metaclassifiers.

        Parameters
        ----------
        groups : dict of str to columns, default=None
            Columns that are left out together, by names among `feature_names_out_`. By default each
            indicator of each model; the base models' scores always stay.
        topics : array-like of int, default=None
            Topics whose decisions count; all by default.

        Returns
        -------
        list of SelectionStep
            `dropped`, `remaining` and `score`; the first step leaves out nothing.
        """
        check_is_fitted(self)
        names = self._column_names()
        if groups is None:
            groups = {key: block for key, block in self._blocks.items() if key != SCORES}
        places = {
            key: np.intersect1d(self._chosen, np.flatnonzero(np.isin(names, list(block))))
            for key, block in groups.items()
        }
        remaining = {key: columns for key, columns in places.items() if len(columns)}
        every = np.arange(len(self._combinations)) if topics is None else np.asarray(topics)
        chosen = self._chosen
        steps = [SelectionStep(None, tuple(remaining), self._held_out_score(chosen, every))]
        while remaining:
            scores = {
                name: self._held_out_score(np.setdiff1d(chosen, columns), every)
                for name, columns in remaining.items()
            }
            dropped = max(scores, key=lambda name: scores[name])
            chosen = np.setdiff1d(chosen, remaining.pop(dropped))
            steps.append(SelectionStep(dropped, tuple(remaining), scores[dropped]))
        return steps

    def _held_out_score(self, chosen: Ints, topics: Ints) -> float:
        """Micro-averaged accuracy, or F1, of the decisions on held-out rows with the columns `chosen`."""
        combinations = self._combine(chosen, topics)
        scores = np.column_stack([fitted.held_out - fitted.threshold for fitted in combinations])
        truth, assigned = self.held_out_.targets[:, topics] == 1, scores > 0
        if self._topics.kind == "multiclass":
            assigned = scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])
        if self.threshold == "f1":
            return float(2 * (truth & assigned).sum() / (truth.sum() + assigned.sum()))
        return float((truth == assigned).mean())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags


def by_model(indicators: Any, names: list[str], random_state: Any) -> dict[str, list[Indicator]]:
    """Indicators of each model, with fixed seeds, from None, one indicator, several, or a dict by model."""
    given = indicators if isinstance(indicators, Mapping) else dict.fromkeys(names, indicators)
    if unknown := [name for name in given if name not in names]:
        raise ValueError(f"indicators names {unknown[0]!r}, which is none of the estimators.")
    return {name: _checked_indicators(given.get(name), random_state) for name in names}


def _checked_indicators(indicators: Any, random_state: Any) -> list[Indicator]:
    several = indicators if isinstance(indicators, (list, tuple)) else [indicators]
    given = [] if indicators is None else several
    for indicator in given:
        if not isinstance(indicator, Indicator):
            raise TypeError(
                f"indicators={indicator!r} is no indicator: it may be one of surefoot.indicators, several, "
                "or a dict of them by the names of the estimators."
            )
    return [indicator.prepared(random_state) for indicator in given]


class Topics(NamedTuple):
    """Targets as topics, with the classes, kind and type that turn topics back into targets.

    `kind` is "binary" (one topic, the second class), "multiclass" (one topic for each class; a row has exactly one)
    or "multilabel" (a row has any number of topics).
    """

    indicator: Ints
    classes: NDArray[Any]
    kind: str
    dtype: Any
    sparse: bool

    @property
    def codes(self) -> Ints:
        """Position of each row's class among the classes, of a binary or multiclass target."""
        return self.indicator[:, 0] if self.kind == "binary" else self.indicator.argmax(axis=1)

    def targets(self, scores: Floats) -> Any:
        """Targets in the form that `fit` was given; a score above 0 assigns a topic."""
        if self.kind == "multiclass":
            return self.classes[scores.argmax(axis=1)]
        assigned = scores > 0
        if self.kind == "binary":
            return self.classes[assigned[:, 0].astype(np.int64)]
        targets = assigned.astype(self.dtype)
        return csr_array(targets) if self.sparse else targets


def as_topics(y: Any) -> Topics:
    """Topics from labels, one for each row, or from an indicator matrix, dense or sparse."""
    given, y = y, y if issparse(y) else np.asarray(y)
    if y.shape[:1] == (0,):
        raise ValueError("X and y have no rows: a minimum of two is required.")
    if issparse(y) or (y.ndim == 2 and type_of_target(y) == "multilabel-indicator"):
        dense = y.toarray() if issparse(y) else np.asarray(y)
        if not np.isin(dense, (0, 1)).all():
            raise ValueError(
                "y is a matrix with other values than 0 and 1: it must have one column for each topic, of zeros and "
                "ones."
            )
        indicator = dense.astype(np.int64)
        if (indicator.min(axis=0) == indicator.max(axis=0)).all():
            raise ValueError(
                "y has one class only in every column: a classifier needs two or more."
            )
        return Topics(indicator, np.arange(dense.shape[1]), "multilabel", dense.dtype, issparse(y))
    y = check_target(given)
    assert_all_finite(y, input_name="y")
    check_class_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}: a classifier needs two or more."
        )
    if len(classes) == 2:
        return Topics(codes[:, None].astype(np.int64), classes, "binary", y.dtype, sparse=False)
    indicator = (codes[:, None] == np.arange(len(classes))).astype(np.int64)
    return Topics(indicator, classes, "multiclass", y.dtype, sparse=False)


def topic_splits(cv: Any, X: Any, topics: Topics, groups: Any, random_state: Any) -> Any:
    """Splits, or a splitter, that all topics share."""
    if topics.kind != "multilabel":
        splitter = resolve_cv(
            cv, topics.codes, stratified=True, random_state=random_state, groups=groups
        )
        return list(splitter.split(X, topics.codes, groups))
    if not isinstance(cv, Integral):
        return cv
    n_folds = int(check_scalar(cv, "cv", Integral, min_val=2))
    if groups is not None:
        return GroupKFold(min(n_folds, len(np.unique(groups))))
    return deal_folds(topics.indicator, min(n_folds, len(topics.indicator)), random_state)


def deal_folds(indicator: Ints, n_folds: int, random_state: Any) -> list[Split]:
    """Splits that spread every topic evenly over the folds, the rarest first.

    Rows are shuffled, sorted by their rarest topic, and dealt to the folds in turn, like cards.
    """
    rarity = np.where(indicator == 1, indicator.sum(axis=0), len(indicator) + 1)
    rarest = np.where(indicator.any(axis=1), rarity.argmin(axis=1), -1)
    shuffled = check_random_state(random_state).permutation(len(indicator))
    order = shuffled[np.lexsort((rarest[shuffled], rarity.min(axis=1)[shuffled]))]
    folds = np.argsort(order) % n_folds
    return [
        (np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_folds)
    ]


def by_topic(output: Outputs, n_topics: int) -> Floats:
    """Columns by topic, of shape (n_rows, n_topics, n_columns): scores first, then indicator by indicator."""
    n_rows = len(output.scores)
    scores = output.scores.reshape(n_rows, -1, n_topics).transpose(0, 2, 1)
    blocks = [block.reshape(n_rows, n_topics, -1) for block in output.columns.values()]
    return np.concatenate([scores, *blocks], axis=2)


def name_blocks(names: list[str], owners: list[int], panel: TopicPanel) -> dict[str, list[str]]:
    """Names of the columns by block: the scores, then each model's indicators; a repeated name gets a number."""
    blocks = {SCORES: [f"{name}__score" for name in names]}
    taken = Counter(blocks[SCORES])
    keys: Counter[str] = Counter()
    for owner, indicator, columns in zip(
        owners, panel.indicators.values(), panel.column_names(), strict=True
    ):
        key = _numbered(f"{names[owner]}__{type(indicator).__name__}", keys)
        blocks[key] = [_numbered(f"{names[owner]}__{column}", taken) for column in columns]
    return blocks


def _numbered(name: str, taken: "Counter[str]") -> str:
    taken[name] += 1
    return name if taken[name] == 1 else f"{name}_{taken[name]}"
