"""Agreement of other, quickly fitted models with a prediction: trees, boosted trees, lines, a Gaussian and kernels."""

from collections.abc import Sequence
from itertools import chain
from math import prod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse
from scipy.special import expit, logit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.covariance import ledoit_wolf
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._kernels import boost_symmetric_trees
from surefoot._logistic import pool_weights, pooled
from surefoot._models import Outputs, SharedTrees, VotingTrees, share_of_columns, top_class
from surefoot._parallel import counted
from surefoot._sklearn_private import check_sample_weight
from surefoot._splits import learner_folds
from surefoot._typing import Floats, Ints
from surefoot.indicators._indicator import Indicator, Part, own_probabilities
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

Opinions = Sequence[tuple[str, Any]]

# What stands in `opinions` for the default ones.
DEFAULT = "default"

# Name of the default trees, which folds share.
TREES = "trees"

# Most classes for trees: with pure leaves, 100 trees of 10,000 rows and 100 classes keep 800 MB of shares.
MOST_CLASSES_OF_TREES = 100

# Most columns of dense rows for the Gaussian, whose covariance grows with their square.
MOST_GAUSSIAN_COLUMNS = 300

# Rows that the kernel compares a row with, and the inverse penalty of their weights.
N_LANDMARKS = 300
KERNEL_C = 3.0
# Most rows that the kernel machine learns from: so few weights hardly gain by more.
KERNEL = "kernel"
MOST_KERNEL_ROWS = 10_000

# Up to so many rows are sent through all boosted trees at once.
FEW_ROWS = 16
# The same for a regressor: kernels with their widths (times the number of columns), fitted one after the other, of
# which the best out of sample is taken, penalties, most rows to learn from, and what is added to the diagonal.
KERNELS = ((rbf_kernel, 0.3), (rbf_kernel, 0.5), (laplacian_kernel, 1.0))
KERNEL_PENALTIES = np.logspace(-3, 2, 11)
MOST_ROWS_OF_KERNELS = 1_500
JITTER = 1e-6
# Squared weight of a column along which the function does not change, where the mean is 1.
LEAST_WEIGHT = 0.05

# Boosted symmetric trees: bins of a column, least and most levels for classes, and rows for each leaf of more.
N_BINS = 32
DEPTHS = (4, 7)
ROWS_OF_A_LEAF = 100
# Curvature added to each leaf, about that of four rows that are even odds.
PENALTY = 1.0
# The same with the squared loss, where the curvature of a row is 1.
PENALTY_OF_NUMBERS = 4.0
# Most rows that a tree learns from, and rows times outputs where there are many classes, but at least 1,000 rows: of
# more, some are drawn for each tree (stochastic gradient boosting, Friedman 2002), so that the cost hardly grows with
# the table.
LEAST_DRAWN, MOST_DRAWN = 1_000, 8_000
MOST_VALUES = 100_000
# Most rows that the bins of the columns are taken from.
MOST_BINNED = 10_000


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
    opinions : sequence of (str, estimator) or "default", default=None
        The other models, with their names; "default" means the default ones, as in
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

    # Index in whose space shared trees were fitted: that of the deployed model. The pipeline of a fold's model may
    # scale rows otherwise, where the thresholds of these trees would mean something else.
    _index_of_trees: NeighborhoodIndex | None = None

    def __init__(
        self,
        estimator: Any = None,
        *,
        opinions: Opinions | None = None,
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
            for each in self._chosen
        ]
        if not are_models or not all(are_models):
            raise ValueError(
                f"opinions={self.opinions!r} are no models: they may be several pairs (name, estimator), or 'default'."
            )

    @property
    def _chosen(self) -> Sequence[Any]:
        return [DEFAULT] if self.opinions is None else self.opinions

    def learn(self, rows: Any, labels: NDArray[Any] | None, trees: Any = None) -> Self:
        """Fit the other models on rows in the neighbour space and their targets; `trees` are fitted already."""
        if labels is None:
            raise ValueError("SecondOpinion needs labels: fit was called without y.")
        is_regression = self.index_.outputs.is_regression
        opinions: list[tuple[str, Any]] = []
        for each in self._chosen:
            if not isinstance(each, str):
                opinions.append(each)
                continue
            default = default_opinions(
                rows, labels, is_regression, self.n_trees, self.random_state, trees
            )
            are_few = has_trees(self.index_.outputs)
            opinions += [pair for pair in default if are_few or pair[0] not in (TREES, "boosting")]
        names = [name for name, _ in opinions]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"opinions has several models named {twice[0]!r}: names must differ.")
        for name, model in opinions:
            if not is_regression and not hasattr(model, "predict_proba"):
                raise TypeError(f"opinions has {name}={model!r} without predict_proba.")
        has_default = DEFAULT in self._chosen
        parts = {KERNEL: rows_of_kernel(labels, self.random_state)} if has_default else {}
        fitted = []
        for name, model in opinions:
            part = parts.get(name, slice(None))
            learned = model if model is trees else clone(model).fit(rows[part], labels[part])
            fitted.append((name, learned))
        if has_default:  # trees as arrays take a tenth of the room, and answer at once
            fitted = [
                (name, VotingTrees(members, getattr(model, "classes_", None)))
                if (members := _members(model)) and name == TREES
                else (name, model)
                for name, model in fitted
            ]
        self.opinions_ = fitted
        self.weights_ = np.array([0.0, *[1 / len(fitted)] * len(fitted)])
        return self

    def fit_parts(self, parts: Sequence[Part], n_jobs: int | None = None) -> list[Self]:
        """Fitted copy for each part.

        The folds share the default trees, if the first part is the deployed one and no label can have
        shaped its rows: the trees are fitted in its space, each on some of the folds.
        """
        first, *rest = parts
        shares = DEFAULT in self._chosen and first.folds is not None and first.fold < 0
        is_folds = all(part.fold >= 0 for part in rest)
        shares = shares and is_folds and has_trees(first.index.outputs)
        if not shares or len(np.unique(first.labels)) < 2:
            return super().fit_parts(parts, n_jobs)
        is_regression = first.index.outputs.is_regression
        kind = ExtraTreeRegressor if is_regression else ExtraTreeClassifier
        tree = kind(**tree_settings(first.rows, is_regression, self.random_state))
        shared = SharedTrees(tree, first.rows, first.labels, first.folds, self.n_trees)
        deployed = clone(self).attach(first.index)
        deployed.learn(first.rows, first.labels, shared.for_rows_of(-1))
        tasks = (
            delayed(self._fit_fold)(part, shared.for_rows_of(part.fold), first) for part in rest
        )
        rest = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
        return list(counted(chain([deployed], rest), "learn"))

    def _fit_fold(self, part: Part, trees: Any, deployed: Part) -> Self:
        """Fitted copy for a fold, with trees that have not seen it but were fitted in the deployed space."""
        fitted = clone(self).attach(part.index)
        fitted._index_of_trees = deployed.index  # noqa: SLF001 - a copy of this
        return fitted.learn(part.rows, part.labels, trees)

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Pooled log-odds of the predicted class, or gap and spread of each regressor."""
        return self.columns_and_opinions(neighborhood)[0]

    def columns_and_opinions(
        self, neighborhood: Neighborhood
    ) -> tuple[Floats, dict[str, NDArray[Any]]]:
        """Columns, and the output of each other model by name: of a classifier its probability of each class."""
        columns: list[Floats] = []
        outputs: dict[str, NDArray[Any]] = {}
        model = neighborhood.index.outputs
        for name, opinion in self.opinions_:
            rows = neighborhood.rows
            if name == TREES and self._index_of_trees is not None:
                rows = self._index_of_trees.coordinates(neighborhood.table)
            if model.is_regression:
                outputs[name], spread = _prediction_and_spread(opinion, rows)
                columns.append(outputs[name] - neighborhood.scores[:, 0])
                columns += [] if spread is None else [spread]
            else:
                outputs[name] = _probabilities(opinion, rows, model.classes)
        if not model.is_regression:
            opinions = log_opinions(model, [own_probabilities(neighborhood), *outputs.values()])
            predicted = top_class(neighborhood.scores)
            columns = [pooled_log_odds(model, opinions, self.weights_, predicted)]
        return np.column_stack(columns), outputs

    def learn_pool(
        self,
        probabilities: Sequence[Floats],
        predicted: Ints,
        codes: Ints,
        weight: Floats | None = None,
        groups: Any = None,
        random_state: Any = None,
    ) -> Floats:
        """Learn the weights of the pool on held-out rows, and return their column `log_odds`, out of fold.

        Parameters
        ----------
        probabilities : sequence of ndarrays of shape (n_rows, n_classes)
            Held-out probabilities of the model itself and of each other model.
        predicted, codes : ndarray of shape (n_rows,)
            Numbers of the predicted and of the true classes.
        weight, groups : array-like of shape (n_rows,), default=None
            Weights of the rows, and groups that stay together in a fold.
        random_state : int, default=None
            Seed of the folds.
        """
        model = self.index_.outputs
        opinions = log_opinions(model, probabilities)
        column = np.empty((len(codes), 1))
        for train, test in learner_folds(len(codes), groups, random_state):
            of_train = None if weight is None else weight[train]
            weights = pool_weights(opinions[:, train], codes[train], of_train)
            column[test, 0] = pooled_log_odds(model, opinions[:, test], weights, predicted[test])
        self.weights_ = pool_weights(opinions, codes, weight)
        return column

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Pooled log-odds of the predicted class, or minus the mean absolute gap."""
        columns = self.columns(neighborhood)
        if not neighborhood.index.outputs.is_regression:
            return columns[:, 0]
        gaps = [name.endswith("_gap") for name in self.get_feature_names_out()]
        return -np.abs(columns[:, gaps]).mean(axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        if not self.index_.outputs.is_regression:
            return np.array(["log_odds"], dtype=object)
        kinds = [
            (n, ["gap", "spread"] if _count_members(m) else ["gap"]) for n, m in self.opinions_
        ]
        return np.array([f"{name}_{kind}" for name, own in kinds for kind in own], dtype=object)


def log_opinions(model: Outputs, probabilities: Sequence[Floats]) -> Floats:
    """Logarithms of class probabilities by several models, (n_models, n_rows, n_classes), none below what rows show."""
    least = model.least_probability
    return np.log(np.clip(np.stack(probabilities), least, 1 - least))


def pooled_log_odds(model: Outputs, opinions: Floats, weights: Floats, predicted: Ints) -> Floats:
    """Clipped log-odds of the predicted classes by a pool of opinions."""
    probabilities = np.exp(pooled(opinions, weights))[np.arange(len(predicted)), predicted]
    least = model.least_probability**2  # several opinions together may be surer than each of them
    return np.asarray(logit(np.clip(probabilities, least, 1 - least)))


def _probabilities(opinion: Any, rows: Any, classes: NDArray[Any]) -> Floats:
    """Probabilities of all classes by another model, 0 for those that it does not know."""
    known = np.asarray(opinion.predict_proba(rows))
    if n_members := _count_members(opinion):
        # Half a vote more for either side: of few members all may agree by chance, and their log-odds
        # stay comparable with those of many.
        known = (known * n_members + 0.5) / (n_members + 1)
    probabilities = np.zeros((len(known), len(classes)))
    probabilities[:, np.searchsorted(classes, opinion.classes_)] = known / known.sum(
        axis=1, keepdims=True
    )
    return probabilities


def default_opinions(
    rows: Any,
    labels: NDArray[Any],
    is_regression: bool,
    n_trees: int,
    random_state: Any,
    trees: VotingTrees | None = None,
) -> Opinions:
    """Trees, a penalised linear model, for dense rows boosted trees and a kernel, and for classes also a Gaussian.

    Folds may share `trees` that are fitted already.
    """
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    if trees is None:
        forest = ExtraTreesRegressor if is_regression else ExtraTreesClassifier
        trees = forest(n_trees, **tree_settings(rows, is_regression, random_state))
    if is_regression:
        lines = _scaled(RidgeCV(np.logspace(-2, 4, 7)), rows)
        if issparse(rows):
            return [(TREES, trees), ("linear", lines)]
        boosting, kernel = BoostedTreesRegressor(random_state=seed), KernelRegressor(seed)
        return [(TREES, trees), ("boosting", boosting), ("linear", lines), (KERNEL, kernel)]
    line = LogisticRegression(max_iter=1000, tol=1e-2)
    opinions: list[tuple[str, Any]] = [("linear", _scaled(line, rows))]
    if not issparse(rows):
        landmarks = Nystroem(n_components=min(N_LANDMARKS, len(rows)), random_state=seed)
        # Deeper trees, and larger steps, where there are enough rows for their leaves.
        depth = int(np.clip(np.log2(len(labels) / ROWS_OF_A_LEAF), *DEPTHS))
        sizes = (200, 0.12, depth, 8) if depth > DEPTHS[0] else (150, 0.06, depth, 6)
        opinions = [("boosting", BoostedTrees(*sizes, random_state=seed)), *opinions]
        if rows.shape[1] <= MOST_GAUSSIAN_COLUMNS:
            opinions.append(("gaussian", GaussianClasses()))
        kernel = make_pipeline(StandardScaler(), landmarks, clone(line).set_params(C=KERNEL_C))
        opinions.append((KERNEL, kernel))
    if len(np.unique(labels)) < 2:
        opinions = [(name, DummyClassifier()) for name, _ in opinions]
    return [(TREES, trees), *opinions]


def has_trees(outputs: Outputs) -> bool:
    """Whether trees are among the default opinions about such outputs: not if there are very many classes."""
    return outputs.is_regression or len(outputs.classes) <= MOST_CLASSES_OF_TREES


def tree_settings(rows: Any, is_regression: bool, random_state: Any) -> dict[str, Any]:
    """Settings of extremely randomised trees of the model's kind."""
    seed = {"random_state": check_random_state(random_state).randint(np.iinfo(np.int32).max)}
    share = share_of_columns(rows.shape[1])
    return seed | ({"min_samples_leaf": 3, "max_features": share} if is_regression else {})


def _scaled(model: Any, rows: Any) -> Any:
    return model if issparse(rows) else make_pipeline(StandardScaler(), model)


def _members(opinion: Any) -> list[Any]:
    """Fitted members of an ensemble; none for any other model."""
    members = getattr(opinion, "estimators_", None)
    return list(members) if isinstance(members, list) else []


def _count_members(opinion: Any) -> int:
    """Number of the members of an ensemble; 0 for any other model."""
    return opinion.n_members if isinstance(opinion, VotingTrees) else len(_members(opinion))


def _prediction_and_spread(opinion: Any, rows: Any) -> tuple[Floats, Floats | None]:
    """Prediction of a regressor, and the standard deviation of those of its members; None if it has none."""
    if isinstance(opinion, VotingTrees):
        mean, spread = opinion.mean_and_spread(rows)
        return mean[:, 0], spread[:, 0]
    members = [member.predict(rows) for member in _members(opinion)]
    return opinion.predict(rows), np.std(members, axis=0) if members else None


class GaussianClasses(ClassifierMixin, BaseEstimator):
    """Classes with normal rows of a common covariance, shrunk (Ledoit and Wolf 2004): linear discriminant analysis.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_, intercept_ : ndarray of shape (n_columns, n_classes), (n_classes,)
        Log-probability of each class, up to a constant per row, is linear in the row.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit means and covariance to complete rows of numbers."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        means = np.array([X[codes == code].mean(axis=0) for code in range(len(counts))])
        covariance = ledoit_wolf(X - means[codes], assume_centered=True)[0]
        # A direction without any variance, such as that of equal columns, tells nothing.
        self.coef_ = np.linalg.lstsq(covariance, means.T)[0]
        self.intercept_ = np.log(counts / len(y)) - 0.5 * (means.T * self.coef_).sum(axis=0)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(softmax(X @ self.coef_ + self.intercept_, axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class SymmetricTrees(BaseEstimator):
    """Base of classifiers and regressors by boosted symmetric trees (oblivious trees, as in CatBoost).

    Parameters
    ----------
    n_rounds : int
        Number of trees.
    rate : float
        Step of each round.
    depth : int
        Levels of a tree.
    max_columns : int
        Most columns that a level of a tree chooses from: of more, some are drawn.
    random_state : int, RandomState or None, default=None
        Seed of the rows and columns that each tree learns from, where there are many.

    Attributes
    ----------
    columns_, thresholds_ : ndarray of shape (n_rounds, depth)
        Split of each level: rows with a value above the threshold go to the upper half. Column -1 splits none.
    leaves_ : ndarray of shape (n_rounds, 2 ** depth, n_outputs)
        Values that each tree adds to the outputs.
    start_ : ndarray of shape (n_outputs,)
        Outputs before the first tree.
    """

    def __init__(
        self,
        n_rounds: int = 60,
        rate: float = 0.15,
        depth: int = 5,
        max_columns: int = 16,
        *,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.rate = rate
        self.depth = depth
        self.max_columns = max_columns
        self.random_state = random_state

    def _boost(self, X: Floats, targets: Floats, weight: Floats, *, squared: bool) -> Self:
        """Fit the trees from `start_` on, to shares of the outputs or, if `squared`, to numbers."""
        random = check_random_state(self.random_state)
        binned = X[_draws(random, (), len(X), MOST_BINNED)]
        edges = [bin_edges(column) for column in binned.T]
        bins = np.array(
            [np.searchsorted(cut, column) for cut, column in zip(edges, X.T, strict=True)],
            dtype=np.uint8,
        )
        n_drawn = int(np.clip(MOST_VALUES // targets.shape[1], LEAST_DRAWN, MOST_DRAWN))
        considered = _draws(random, (self.n_rounds, self.depth), X.shape[1], self.max_columns)
        # A generator does not permute all of many rows to draw some.
        generator = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
        drawn = _draws(generator, (self.n_rounds,), len(X), n_drawn)
        penalty = PENALTY_OF_NUMBERS if squared else PENALTY
        self.columns_, cuts, self.leaves_ = boost_symmetric_trees(
            bins,
            targets,
            weight,
            self.start_,
            drawn,
            considered,
            N_BINS,
            self.rate,
            penalty,
            squared,
        )
        # The upper edge of the bin that a split is at; the last bin has none.
        limits = [np.append(edge, np.inf) for edge in edges]
        thresholds = [
            limits[column][cut] if column >= 0 else np.inf
            for column, cut in zip(self.columns_.ravel(), cuts.ravel(), strict=True)
        ]
        self.thresholds_ = np.reshape(thresholds, self.columns_.shape)
        return self

    def _outputs(self, X: Any) -> Floats:
        """Sum of the start and the values of all trees, (n_rows, n_outputs)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self.start_ + sum_of_leaves(X, self.columns_, self.thresholds_, self.leaves_)


class BoostedTrees(ClassifierMixin, SymmetricTrees):
    """Classifier by boosted symmetric trees, a fraction of a second to fit; `classes_` are the class labels.

    One output is the log-odds of the second of two classes, several are those of a softmax.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the trees on complete rows of numbers."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has one class only: there is nothing to learn.")
        targets = np.eye(len(self.classes_))[codes]
        shares = np.clip(weight @ targets / weight.sum(), 1e-12, 1)
        if len(self.classes_) == 2:
            targets, self.start_ = targets[:, 1:], logit(shares[1:])
        else:
            self.start_ = np.log(shares)
        return self._boost(X, targets, weight, squared=False)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class."""
        outputs = self._outputs(X)
        if outputs.shape[1] > 1:
            return np.asarray(softmax(outputs, axis=1))
        positive = expit(outputs[:, 0])
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class BoostedTreesRegressor(RegressorMixin, SymmetricTrees):
    """Regressor by boosted symmetric trees, with the squared loss: a fraction of a second to fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the trees on complete rows of numbers."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        self.start_ = np.average(y, weights=weight, keepdims=True)
        return self._boost(X, y[:, None].astype(np.float64), weight, squared=True)

    def predict(self, X: Any) -> Floats:
        """Estimated target of each row."""
        return self._outputs(X)[:, 0]


class KernelRegressor(RegressorMixin, BaseEstimator):
    """Kernel ridge regression on some of the rows (landmarks); kernel and penalty by their leave-one-out error.

    Each kernel weighs the columns by how much the function of the kernel before it changes along them: the root mean
    square of its derivatives (recursive feature machines, Radhakrishnan et al. 2024, with a diagonal matrix).

    Attributes
    ----------
    kernel_ : int
        Place of the kernel in `KERNELS`.
    center_, scale_ : ndarray of shape (n_columns,)
        Means of the columns, and their standard deviations over their weights.
    landmarks_, coef_, intercept_ : ndarray of shape (n_landmarks, n_columns), (n_landmarks,), float
        Scaled rows that a row is compared with, their weights, and what is added.
    """

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on complete rows of numbers, or on some of many rows."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        random = check_random_state(self.random_state)
        rows = random.permutation(len(X))[:MOST_ROWS_OF_KERNELS]
        X, y = X[rows], y[rows]
        self.center_, spread = X.mean(axis=0), X.std(axis=0)
        unit, weight, mean = np.where(spread > 0, spread, 1.0), np.ones(X.shape[1]), float(y.mean())
        least = np.inf
        for number in range(len(KERNELS)):
            scaled = (X - self.center_) / unit * weight
            landmarks = scaled[:N_LANDMARKS]
            near = _compare(scaled, landmarks, number)
            root = np.linalg.cholesky(near[:N_LANDMARKS] + JITTER * np.eye(len(landmarks)))
            features = solve_triangular(root, near.T, lower=True).T
            average = features.mean(axis=0)
            features -= average
            sizes, directions = np.linalg.eigh(features.T @ features)
            kept = 1 / (np.maximum(sizes, 0)[:, None] + KERNEL_PENALTIES)
            turned = features @ directions
            shrunk = kept * (turned.T @ (y - mean))[:, None]
            remaining = (y - mean)[:, None] - turned @ shrunk
            own = np.minimum(turned**2 @ kept + 1 / len(y), 1 - 1e-9)
            errors = np.mean((remaining / (1 - own)) ** 2, axis=0)
            slopes = directions @ shrunk[:, errors.argmin()]
            coef = solve_triangular(root.T, slopes)
            if errors.min() < least:
                least, self.kernel_, self.scale_ = errors.min(), number, unit / weight
                self.landmarks_, self.coef_ = landmarks, coef
                self.intercept_ = mean - float(average @ slopes)
            # Derivatives of a sum of Gaussians, but for a factor; those of the last kernel are not used.
            changes = scaled * (near @ coef)[:, None] - near @ (coef[:, None] * landmarks)
            squares = np.mean((changes * weight) ** 2, axis=0)
            relative = squares / max(squares.mean(), 1e-300)
            weight = np.sqrt((relative + LEAST_WEIGHT) / (1 + LEAST_WEIGHT))
        return self

    def predict(self, X: Any) -> Floats:
        """Estimated target of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        near = _compare((X - self.center_) / self.scale_, self.landmarks_, self.kernel_)
        return np.asarray(near @ self.coef_ + self.intercept_)


def _compare(rows: Floats, landmarks: Floats, number: int) -> Floats:
    """Kernel of scaled rows with the landmarks."""
    kernel, width = KERNELS[number]
    return np.asarray(kernel(rows, landmarks, gamma=width / rows.shape[1]))


def rows_of_kernel(labels: NDArray[Any], random_state: Any) -> Any:
    """Places of the rows that the kernel machine learns from: some of many, or all if a class would be lost."""
    drawn = _draws(check_random_state(random_state), (), len(labels), MOST_KERNEL_ROWS)
    keeps_all = len(np.unique(labels[drawn])) == len(np.unique(labels))
    return drawn if keeps_all else slice(None)


def _draws(
    random: np.random.RandomState | np.random.Generator, shape: tuple[int, ...], n: int, most: int
) -> Ints:
    """Numbers below n, ascending and different, for each place of a shape: all, or `most` drawn evenly."""
    if n <= most:
        return np.broadcast_to(np.arange(n), (*shape, n)).copy()
    draws = [random.choice(n, most, replace=False) for _ in range(prod(shape))]
    return np.sort(np.reshape(draws, (*shape, most)), axis=-1)


def sum_of_leaves(rows: Floats, columns: Ints, thresholds: Floats, leaves: Floats) -> Floats:
    """Sum over the trees of the values of each row's leaf, (n_rows, n_outputs)."""
    if len(rows) <= FEW_ROWS:  # all trees at once, added in the same order
        bits = (columns >= 0) & (rows[:, np.maximum(columns, 0)] > thresholds)
        powers = 2 ** np.arange(columns.shape[1])[::-1]
        reached = leaves[np.arange(len(columns)), (bits * powers).sum(axis=2)]
        return np.asarray(np.cumsum(reached, axis=1)[:, -1])
    outputs = np.zeros((len(rows), leaves.shape[2]))
    by_column = np.ascontiguousarray(rows.T)
    for splits, limits, values in zip(columns, thresholds, leaves, strict=True):
        leaf = np.zeros(len(rows), dtype=np.int64)
        for column, limit in zip(splits, limits, strict=True):
            leaf *= 2
            if column >= 0:
                leaf += by_column[column] > limit
        outputs += values[leaf]
    return outputs


def bin_edges(column: Floats) -> Floats:
    """Thresholds between the bins of a column, at most 31: half way between two values, near quantiles of many."""
    values = np.unique(column)
    below = np.arange(len(values) - 1)
    if len(values) > N_BINS:
        shares = np.arange(1, N_BINS) / N_BINS
        quantiles = np.quantile(column, shares, method="lower")
        below = np.unique(np.searchsorted(values[:-1], quantiles[quantiles < values[-1]]))
    return values[below] / 2 + values[below + 1] / 2  # halves first: their sum is never too large
