"""Agreement of other, quickly fitted models with a prediction, and the pool of what they say of its class."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import clone
from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from surefoot._logistic import pool_weights, pooled
from surefoot._models import FittedModel, SharedTrees, VotingTrees, top_class
from surefoot._parallel import counted
from surefoot._splits import learner_folds
from surefoot._typing import Floats, Ints
from surefoot.indicators._indicator import Indicator
from surefoot.indicators._opinions import TREES, fit_default_opinions, has_trees, tree_settings
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

Opinions = Sequence[str | tuple[str, Any]]

# What stands in `opinions` for the default ones.
DEFAULT = "default"


class SecondOpinion(Indicator):
    """Agreement of other models with each prediction; a higher score is more agreement.

    Quick models are fitted on the training rows, without weights, in the coordinates of the neighbour space. For a
    classifier there is one column, `log_odds`: the log-odds of the *predicted* class by a pool of these models, the
    mean of the logarithms of their probabilities. An error estimator learns on held-out rows what each of them is
    worth, the model itself among them, so that a further opinion needs no prior of its own. For a regressor
    `<name>_gap` is the prediction of another model minus the model's, and, for an ensemble with members of
    its own, `<name>_spread` is the standard deviation of the members' predictions.

    `score_samples` is the log-odds, or minus the mean absolute gap.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The model: cloned and fitted, or used as it is inside `FrozenEstimator`. In an action, the action's
        model is used instead.
    opinions : sequence of (str, estimator) or "default", default=("default",)
        The other models, with their names; "default" stands for the default ones, as in
        ``["default", ("colleague", model)]``. These are `n_trees` extremely randomised trees, which learn
        thresholds and interactions, a penalised linear model, which learns trends, and for dense rows boosted trees,
        which learn both where there is enough to learn from, and a kernel machine, which learns smooth functions;
        for dense rows of a classifier also Gaussian classes with a common covariance. With more than 100 classes there
        are no trees, whose size grows with the number of classes.
    n_trees : int, default=50
        Number of the default trees. The folds of an error estimator share twice as many, each fitted on some of the
        folds, where the labels cannot have shaped the space.
    space : "auto", "scaled" or transformer, default="auto"
        Coordinates that the other models are fitted on; see `LocalSensitivity`.
    metric : "auto", str or callable, default="auto"
        Metric of the neighbour search that the space is shared with.
    random_state : int, RandomState or None, default=None
        Seed of the default trees.
    n_jobs : int, default=None
        Number of threads over batches of rows.

    Attributes
    ----------
    index_ : NeighborhoodIndex
        The fitted model and its training rows.
    opinions_ : list of (str, estimator)
        The other models, fitted.
    weights_ : ndarray of shape (n_opinions + 1,)
        Weights of the model's own probabilities and of the others' in the pool of a classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> opinion = SecondOpinion(GaussianNB(), random_state=0).fit(X, y)
    >>> opinion.get_feature_names_out()
    array(['log_odds'], dtype=object)
    >>> [name for name, _ in opinion.opinions_]
    ['trees', 'boosting', 'linear', 'gaussian', 'kernel']
    """

    doubt = "other models disagree"

    needs_rows = True

    directions: ClassVar[dict[str, int]] = {"log_odds": -1}

    learns = True

    opinions_: list[tuple[str, Any]]
    weights_: Floats

    def __init__(
        self,
        estimator: Any = None,
        *,
        opinions: Opinions = (DEFAULT,),
        n_trees: int = 50,
        space: Any = "auto",
        metric: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.opinions = opinions
        self.n_trees = n_trees
        self.space = space
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Raise an error for a wrong parameter, before a model is fitted."""
        check_scalar(self.n_trees, "n_trees", Integral, min_val=1)
        are_models = [
            (isinstance(each, str) and each == DEFAULT)
            or (
                isinstance(each, tuple)
                and len(each) == 2
                and isinstance(each[0], str)
                and hasattr(each[1], "fit")
            )
            for each in self.opinions
        ]
        if not are_models or not all(are_models):
            raise ValueError(
                f"opinions={self.opinions!r} are no models: they may be several pairs (name, estimator), or 'default'."
            )

    def learn(
        self,
        rows: Any,
        labels: NDArray[Any] | None,
        trees: VotingTrees | None = None,
    ) -> Self:
        """Fit the other models on rows in the neighbour space and their targets.

        `trees` are fitted already, in the space of the deployed rows: the pipeline of a fold's model may scale rows
        otherwise, where their thresholds would mean something else.
        """
        if labels is None:
            raise ValueError("SecondOpinion needs labels: fit was called without y.")
        is_regression, fitted = self.index_.model.is_regression, []
        for each in self.opinions:
            if isinstance(each, str):
                settings = is_regression, self.n_trees, self.random_state
                are_few = has_trees(self.index_.model)
                fitted += fit_default_opinions(rows, labels, *settings, trees, may_be_trees=are_few)
                continue
            name, model = each
            if not is_regression and not hasattr(model, "predict_proba"):
                raise TypeError(f"opinions has {name}={model!r} without predict_proba.")
            fitted.append((name, clone(model).fit(rows, labels)))
        names = [name for name, _ in fitted]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"opinions has several models named {twice[0]!r}: names must differ.")
        self.opinions_, self._has_shared_trees = fitted, trees is not None
        self.weights_ = np.array([0.0, *[1 / len(fitted)] * len(fitted)])
        return self

    def fit_folds(
        self,
        indexes: Sequence[NeighborhoodIndex],
        rows: Sequence[Any],
        folds: Ints | None = None,
        n_jobs: int | None = None,
    ) -> list[Self]:
        """Fitted copy for each model; the folds share the default trees if they may.

        These trees are fitted in the space of the deployed model, each on some of the folds.
        """
        coordinates, labels = rows[0]
        shares = DEFAULT in self.opinions and has_trees(indexes[0].model)
        if folds is None or not shares or len(np.unique(labels)) < 2:
            return super().fit_folds(indexes, rows, folds, n_jobs)
        is_regression = indexes[0].model.is_regression
        kind = ExtraTreeRegressor if is_regression else ExtraTreeClassifier
        tree = kind(**tree_settings(coordinates, is_regression, self.random_state))
        shared = SharedTrees(tree, coordinates, labels, folds, self.n_trees)
        tasks = (
            delayed(clone(self).attach(index).learn)(*own, shared.for_rows_of(number))
            for number, (index, own) in enumerate(zip(indexes, rows, strict=True), start=-1)
        )
        return list(counted(Parallel(n_jobs=n_jobs, return_as="generator")(tasks), "learn"))

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Pooled log-odds of the predicted class, or gap and spread of each regressor."""
        columns: list[Floats] = []
        model, outputs = neighborhood.index.model, neighborhood.opinions
        for name, opinion in self.opinions_:
            rows = neighborhood.rows
            if name == TREES and self._has_shared_trees and self.index_.like is not None:
                rows = self.index_.like.coordinates(neighborhood.table)
            if model.is_regression:
                outputs[name], spread = prediction_and_spread(opinion, rows)
                columns.append(outputs[name] - neighborhood.scores[:, 0])
                columns += [] if spread is None else [spread]
            else:
                outputs[name] = probabilities_of(opinion, rows, model.classes)
        if not model.is_regression:
            others = [outputs[name] for name, _ in self.opinions_]
            opinions = log_opinions(model, [neighborhood.probabilities, *others])
            predicted = top_class(neighborhood.scores)
            columns = [self.log_odds(np.exp(pooled(opinions, self.weights_)), predicted)]
        return np.column_stack(columns)

    def learn_pool(
        self,
        probabilities: Sequence[Floats],
        codes: Ints,
        weight: Floats | None = None,
        groups: Any = None,
        random_state: Any = None,
    ) -> tuple[Floats, Floats]:
        """Weights of the pool, learned on held-out rows, and its class probabilities for these rows, out of fold.

        Parameters
        ----------
        probabilities : sequence of ndarrays of shape (n_rows, n_classes)
            Held-out probabilities of the model itself and of each other model.
        codes : ndarray of shape (n_rows,)
            Numbers of the true classes.
        weight, groups : array-like of shape (n_rows,), default=None
            Weights of the rows, and groups that stay together in a fold.
        random_state : int, default=None
            Seed of the folds.
        """
        opinions = log_opinions(self.index_.model, probabilities)
        of_pool = np.empty(opinions.shape[1:])
        for train, test in learner_folds(len(codes), groups, random_state):
            of_train = None if weight is None else weight[train]
            weights = pool_weights(opinions[:, train], codes[train], of_train)
            of_pool[test] = np.exp(pooled(opinions[:, test], weights))
        return pool_weights(opinions, codes, weight), of_pool

    def log_odds(self, probabilities: Floats, predicted: Ints) -> Floats:
        """Clipped log-odds of the predicted classes by the probabilities of the pool."""
        # Several opinions together may be surer than each of them.
        least = self.index_.model.least_probability**2
        of_predicted = probabilities[np.arange(len(predicted)), predicted]
        return np.asarray(logit(np.clip(of_predicted, least, 1 - least)))

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Pooled log-odds of the predicted class, or minus the mean absolute gap."""
        columns = self.columns(neighborhood)
        if not neighborhood.index.model.is_regression:
            return columns[:, 0]
        gaps = [name.endswith("_gap") for name in self.get_feature_names_out()]
        return -np.abs(columns[:, gaps]).mean(axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        if not self.index_.model.is_regression:
            return np.array(["log_odds"], dtype=object)
        kinds = [(n, ["gap", "spread"] if count_members(m) else ["gap"]) for n, m in self.opinions_]
        return np.array([f"{name}_{kind}" for name, own in kinds for kind in own], dtype=object)


def log_opinions(model: FittedModel, probabilities: Sequence[Floats]) -> Floats:
    """Logarithms of class probabilities by several models, (n_models, n_rows, n_classes), none below what rows show."""
    least = model.least_probability
    return np.log(np.clip(np.stack(probabilities), least, 1 - least))


def probabilities_of(opinion: Any, rows: Any, classes: NDArray[Any]) -> Floats:
    """Probabilities of all classes by another model, 0 for those that it does not know."""
    known = np.asarray(opinion.predict_proba(rows))
    if n_members := count_members(opinion):
        # Half a vote more for either side: of few members all may agree by chance, and their log-odds
        # stay comparable with those of many.
        known = (known * n_members + 0.5) / (n_members + 1)
    probabilities = np.zeros((len(known), len(classes)))
    probabilities[:, np.searchsorted(classes, opinion.classes_)] = known / known.sum(
        axis=1, keepdims=True
    )
    return probabilities


def count_members(opinion: Any) -> int:
    """Number of the members of an ensemble; 0 for any other model."""
    members = getattr(opinion, "estimators_", None)
    return getattr(opinion, "n_members", len(members) if isinstance(members, list) else 0)


def prediction_and_spread(opinion: Any, rows: Any) -> tuple[Floats, Floats | None]:
    """Prediction of a regressor, and the standard deviation of those of its members; None if it has none."""
    if isinstance(opinion, VotingTrees):
        mean, spread = opinion.mean_and_spread(rows)
        return mean[:, 0], spread[:, 0]
    if not count_members(opinion):
        return opinion.predict(rows), None
    return opinion.predict(rows), np.std([one.predict(rows) for one in opinion.estimators_], axis=0)
