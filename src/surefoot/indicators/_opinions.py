"""Models that give second opinions: trees, boosted trees, lines, Gaussian classes and kernel machines."""

from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse
from scipy.special import expit, logit, softmax
from sklearn.base import BaseEstimator, clone
from sklearn.covariance import ledoit_wolf
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from surefoot._kernels import boost_symmetric_trees
from surefoot._models import VotingTrees, share_of_columns
from surefoot._sklearn_private import check_sample_weight
from surefoot._typing import Floats, Ints

# Name of the default trees, which folds share.
TREES = "trees"

# Most columns of dense rows for the Gaussian, whose covariance grows with their square.
MOST_GAUSSIAN_COLUMNS = 300

# Rows that a kernel compares a row with, and the inverse penalty of their weights in the machine for classes.
N_LANDMARKS = 300
KERNEL_C = 3.0
# Most rows that the kernel machine learns from: so few weights hardly gain by more.
KERNEL = "kernel"
MOST_KERNEL_ROWS = 10_000
# Kernels of the machine for numbers with their widths (times the number of columns), fitted one after the other, of
# which the best out of sample is taken, penalties, most rows to learn from, and what is added to the diagonal.
KERNELS = ((rbf_kernel, 0.3), (rbf_kernel, 0.5), (laplacian_kernel, 1.0))
KERNEL_PENALTIES = np.logspace(-3, 2, 11)
MOST_ROWS_OF_KERNELS = 1_500
JITTER = 1e-6
# Squared weight of a column along which the function does not change, where the mean is 1.
LEAST_WEIGHT = 0.05

# Boosted trees: bins of a column, least and most levels for classes, and rows for each leaf of more.
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
# Up to so many rows are sent through all boosted trees at once.
FEW_ROWS = 16


# Most classes for trees: with pure leaves, 100 trees of 10,000 rows and 100 classes keep 800 MB of shares.
MOST_CLASSES_OF_TREES = 100


def has_trees(model: Any) -> bool:
    """Whether trees are among the default opinions about a fitted model: not if it has very many classes."""
    return model.is_regression or len(model.classes) <= MOST_CLASSES_OF_TREES


def fit_default_opinions(
    rows: Any,
    labels: NDArray[Any],
    is_regression: bool,
    n_trees: int,
    random_state: Any,
    trees: VotingTrees | None = None,
    *,
    may_be_trees: bool = True,
) -> list[tuple[str, Any]]:
    """Trees, a penalised linear model, for dense rows boosted trees and a kernel, and for classes also a Gaussian.

    Folds may share `trees` that are fitted already; there may be none, boosted ones neither.
    """
    settings = tree_settings(rows, is_regression, random_state)
    if trees is None and may_be_trees:
        kind = ExtraTreesRegressor if is_regression else ExtraTreesClassifier
        forest = kind(n_trees, **settings).fit(rows, labels)
        # As arrays they take a tenth of the room, and answer at once.
        trees = VotingTrees(forest.estimators_, getattr(forest, "classes_", None))
    models = default_models(rows, is_regression, settings["random_state"])
    if not may_be_trees:
        models.pop("boosting", None)
    if not is_regression and len(np.unique(labels)) < 2:
        models = {name: DummyClassifier() for name in models}
    drawn = draw(check_random_state(random_state), (), len(labels), MOST_KERNEL_ROWS)
    keeps_all = len(np.unique(labels[drawn])) == len(np.unique(labels))
    parts = {KERNEL: drawn} if keeps_all else {}
    fitted: list[tuple[str, Any]] = [] if trees is None else [(TREES, trees)]
    for name, model in models.items():
        part = parts.get(name, slice(None))
        fitted.append((name, model.fit(rows[part], labels[part])))
    return fitted


def default_models(rows: Any, is_regression: bool, seed: int) -> dict[str, Any]:
    """Default opinions but for the trees, not fitted: for sparse rows a linear model alone."""
    line = RidgeCV(np.logspace(-2, 4, 7))
    if not is_regression:
        line = LogisticRegression(max_iter=1000, tol=1e-2)
    if issparse(rows):
        return {"linear": line}
    linear = make_pipeline(StandardScaler(), line)
    if is_regression:
        boosting: Any = BoostedTreesRegressor(random_state=seed)
        return {"boosting": boosting, "linear": linear, KERNEL: KernelRegressor(seed)}
    # Deeper trees, and larger steps, where there are enough rows for their leaves.
    depth = int(np.clip(np.log2(len(rows) / ROWS_OF_A_LEAF), *DEPTHS))
    sizes = (200, 0.12, depth, 8) if depth > DEPTHS[0] else (150, 0.06, depth, 6)
    models = {"boosting": BoostedTrees(*sizes, random_state=seed), "linear": linear}
    if rows.shape[1] <= MOST_GAUSSIAN_COLUMNS:
        models["gaussian"] = GaussianClasses()
    landmarks = Nystroem(n_components=min(N_LANDMARKS, len(rows)), random_state=seed)
    weights = clone(line).set_params(C=KERNEL_C)
    return models | {KERNEL: make_pipeline(StandardScaler(), landmarks, weights)}


def tree_settings(rows: Any, is_regression: bool, random_state: Any) -> dict[str, Any]:
    """Settings of extremely randomised trees of the model's kind; their seed is that of all default opinions."""
    seed = {"random_state": check_random_state(random_state).randint(np.iinfo(np.int32).max)}
    share = {"min_samples_leaf": 3, "max_features": share_of_columns(rows.shape[1])}
    return seed | (share if is_regression else {})


class GaussianClasses(BaseEstimator):
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
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        means = np.array([X[codes == code].mean(axis=0) for code in range(len(counts))])
        covariance = ledoit_wolf(X - means[codes], assume_centered=True)[0]
        # A direction without any variance, such as that of equal columns, tells nothing.
        self.coef_ = np.linalg.lstsq(covariance, means.T)[0]
        self.intercept_ = np.log(counts / len(y)) - 0.5 * (means.T * self.coef_).sum(axis=0)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class."""
        return np.asarray(softmax(X @ self.coef_ + self.intercept_, axis=1))


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
        binned = X[draw(random, (), len(X), MOST_BINNED)]
        edges = [bin_edges(column) for column in binned.T]
        bins = np.array(
            [np.searchsorted(cut, column) for cut, column in zip(edges, X.T, strict=True)],
            dtype=np.uint8,
        )
        n_drawn = int(np.clip(MOST_VALUES // targets.shape[1], LEAST_DRAWN, MOST_DRAWN))
        considered = draw(random, (self.n_rounds, self.depth), X.shape[1], self.max_columns)
        # A generator does not permute all of many rows to draw some.
        generator = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
        drawn = draw(generator, (self.n_rounds,), len(X), n_drawn)
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

    def outputs(self, X: Any) -> Floats:
        """Sum of the start and of the values of each row's leaves, (n_rows, n_outputs)."""
        rows = np.asarray(X, dtype=np.float64)
        if len(rows) <= FEW_ROWS:  # all trees at once, added in the same order
            reached = rows[:, np.maximum(self.columns_, 0)] > self.thresholds_
            powers = 2 ** np.arange(self.columns_.shape[1])[::-1]
            places = ((reached & (self.columns_ >= 0)) * powers).sum(axis=2)
            values = self.leaves_[np.arange(len(self.columns_)), places]
            return np.asarray(self.start_ + np.cumsum(values, axis=1)[:, -1])
        outputs = np.zeros((len(rows), len(self.start_)))
        by_column = np.ascontiguousarray(rows.T)
        for columns, thresholds, leaves in zip(
            self.columns_, self.thresholds_, self.leaves_, strict=True
        ):
            place = np.zeros(len(rows), dtype=np.int64)
            for column, threshold in zip(columns, thresholds, strict=True):
                place *= 2
                if column >= 0:
                    place += by_column[column] > threshold
            outputs += leaves[place]
        return self.start_ + outputs


class BoostedTrees(SymmetricTrees):
    """Classifier by boosted symmetric trees, a fraction of a second to fit; `classes_` are the class labels.

    One output is the log-odds of the second of two classes, several are those of a softmax.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the trees on complete rows of numbers."""
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        targets = np.eye(len(self.classes_))[codes]
        shares = np.clip(weight @ targets / weight.sum(), 1e-12, 1)
        if len(self.classes_) == 2:
            targets, self.start_ = targets[:, 1:], logit(shares[1:])
        else:
            self.start_ = np.log(shares)
        return self._boost(X, targets, weight, squared=False)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class."""
        outputs = self.outputs(X)
        if outputs.shape[1] > 1:
            return np.asarray(softmax(outputs, axis=1))
        positive = expit(outputs[:, 0])
        return np.column_stack([1 - positive, positive])


class BoostedTreesRegressor(SymmetricTrees):
    """Regressor by boosted symmetric trees, with the squared loss: a fraction of a second to fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the trees on complete rows of numbers."""
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        self.start_ = np.average(y, weights=weight, keepdims=True)
        return self._boost(X, np.asarray(y, dtype=np.float64)[:, None], weight, squared=True)

    def predict(self, X: Any) -> Floats:
        """Estimated target of each row."""
        return self.outputs(X)[:, 0]


def draw(
    random: np.random.RandomState | np.random.Generator, shape: tuple[int, ...], n: int, most: int
) -> Ints:
    """Numbers below n, ascending and different, for each place of a shape: all, or `most` drawn evenly."""
    if n <= most:
        return np.broadcast_to(np.arange(n), (*shape, n)).copy()
    draws = [random.choice(n, most, replace=False) for _ in range(prod(shape))]
    return np.sort(np.reshape(draws, (*shape, most)), axis=-1)


def bin_edges(column: Floats) -> Floats:
    """Thresholds between the bins of a column, at most 31: half way between two values, near quantiles of many."""
    values = np.unique(column)
    below = np.arange(len(values) - 1)
    if len(values) > N_BINS:
        shares = np.arange(1, N_BINS) / N_BINS
        quantiles = np.quantile(column, shares, method="lower")
        below = np.unique(np.searchsorted(values[:-1], quantiles[quantiles < values[-1]]))
    return values[below] / 2 + values[below + 1] / 2  # halves first: their sum is never too large


class KernelRegressor(BaseEstimator):
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
        near = _compare((X - self.center_) / self.scale_, self.landmarks_, self.kernel_)
        return np.asarray(near @ self.coef_ + self.intercept_)


def _compare(rows: Floats, landmarks: Floats, number: int) -> Floats:
    """Kernel of scaled rows with the landmarks."""
    kernel, width = KERNELS[number]
    return np.asarray(kernel(rows, landmarks, gamma=width / rows.shape[1]))
