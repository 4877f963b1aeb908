"""Regressors of the kinds that Buza et al. (2010) took from WEKA; two of them scikit-learn lacks."""

from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from reproduction.results import Floats, Ints, Mask

RBF_NETWORK, SVM = "RBF network", "SVM"

# Strengths of the network's ridge penalty to choose from by leave-one-out error.
ALPHAS = np.logspace(-6, 3, 10)
# No Gaussian is narrower than this share of the widest: a cluster of equal rows has no width.
LEAST_WIDTH = 0.01

# Rows that locally weighted learning predicts at a time, which bounds the memory, and quantiles of each column at
# which a stump may cut.
BATCH_SIZE, N_CUTS = 256, 32
# Share of the weight below which a side of a stump counts as empty.
TRACE = 1e-9


def todays_models(n_columns: int) -> dict[str, Any]:
    """Eleven kinds of regressors with settings of today; missing cells become the column's mean."""
    tree = DecisionTreeRegressor(min_samples_leaf=20, random_state=0)
    network = MLPRegressor(
        hidden_layer_sizes=((n_columns + 1) // 2,),
        learning_rate_init=0.01,
        early_stopping=True,
        max_iter=100,
        random_state=0,
    )
    # With the hyperparameters fixed there is one matrix to factor, and no row is left out.
    process = GaussianProcessRegressor(RBF(np.sqrt(n_columns)), alpha=1, optimizer=None)
    kinds = {
        "linear regression": LinearRegression(),
        "kNN": KNeighborsRegressor(),
        RBF_NETWORK: RBFNetworkRegressor(random_state=0),
        "LWL": LocallyWeightedRegressor(),
        SVM: scaled_target(SVR()),
        "MLP": scaled_target(network),
        "regression tree": tree,
        "stump": DecisionTreeRegressor(max_depth=1, random_state=0),
        "bagging": BaggingRegressor(tree, n_estimators=10, random_state=0),
        "additive regression": GradientBoostingRegressor(
            n_estimators=10, max_depth=1, learning_rate=1, random_state=0
        ),
        "Gaussian process": scaled_target(process),
    }
    return {
        name: make_pipeline(SimpleImputer(), StandardScaler(), kind) for name, kind in kinds.items()
    }


def weka_models(n_columns: int) -> dict[str, Any]:
    """The same kinds, with WEKA's default settings of those three that differ most from ours."""
    svm = TransformedTargetRegressor(
        SVR(kernel="linear", C=1, epsilon=0.001), transformer=MinMaxScaler()
    )
    defaults = {
        "kNN": (MinMaxScaler(), KNeighborsRegressor(1)),
        RBF_NETWORK: (StandardScaler(), RBFNetworkRegressor(2, alpha=1e-8, random_state=0)),
        SVM: (MinMaxScaler(), svm),
    }
    pipelines = {name: make_pipeline(SimpleImputer(), *steps) for name, steps in defaults.items()}
    return todays_models(n_columns) | pipelines


def scaled_target(regressor: Any) -> Any:
    """Regressor for targets of any scale: residuals have another one than the data."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


class RBFNetworkRegressor(RegressorMixin, BaseEstimator):
    """Regressor that is linear in how near a row is to each of a few centres.

    The centres are those of k-means. Each has a Gaussian as wide as its rows are far from it, root
    mean square (Moody and Darken 1989); a row's Gaussians, divided by their sum, are the input of a
    ridge regression. Columns should be on one scale.

    Parameters
    ----------
    n_centers : int, default=50
        Number of centres; there are never more than different rows.
    alpha : float, default=None
        Strength of the ridge penalty, at least 0; None means the one with the least leave-one-out
        error.
    random_state : int, RandomState instance or None, default=None
        Where k-means starts.
    """

    def __init__(
        self, n_centers: int = 50, *, alpha: float | None = None, random_state: Any = None
    ) -> None:
        self.n_centers = n_centers
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the centres, then fit the regression to how near the rows are to them."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        n_centers = min(self.n_centers, len(np.unique(X, axis=0)))
        clusters = KMeans(n_centers, n_init=1, random_state=self.random_state).fit(X)
        self.centers_ = clusters.cluster_centers_
        self.widths_ = cluster_widths(X, self.centers_, clusters.labels_)
        output = RidgeCV(ALPHAS) if self.alpha is None else Ridge(self.alpha)
        self.output_ = output.fit(shares(X, self.centers_, self.widths_), y)
        return self

    def predict(self, X: Any) -> Floats:
        """Predict the target of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(self.output_.predict(shares(X, self.centers_, self.widths_)))


def cluster_widths(X: Floats, centers: Floats, labels: Ints) -> Floats:
    """Root mean squared distance of each cluster's rows to its centre."""
    squares = ((X - centers[labels]) ** 2).sum(axis=1)
    widths = np.sqrt(np.bincount(labels, squares) / np.bincount(labels))
    # Centres on every row leave no width at all, and any then will do.
    return np.maximum(widths, LEAST_WIDTH * widths.max() or 1.0)


def shares(X: Floats, centers: Floats, widths: Floats) -> Floats:
    """How near each row is to each centre: Gaussians, divided by their sum."""
    # softmax, since far from all centres every Gaussian is below the smallest float.
    distances = euclidean_distances(X, centers, squared=True)
    return np.asarray(softmax(-distances / (2 * widths**2), axis=1))


class LocallyWeightedRegressor(RegressorMixin, BaseEstimator):
    """Regressor that fits a decision stump for every row it predicts, to the rows around it.

    A training row's weight falls linearly with its distance, from 1 at the row to predict to almost
    nothing at the farthest row (locally weighted learning, Atkeson, Moore and Schaal 1997, as
    WEKA's `LWL` does it by default). Columns should be on one scale.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows, and note on which side of each cut they are."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.cuts_ = np.quantile(X, np.arange(1, N_CUTS + 1) / (N_CUTS + 1), axis=0)
        self.offset_ = float(y.mean())  # sums of small numbers lose fewer digits
        self._X_fit, self._y_fit = X, y - self.offset_
        self._below = below_cuts(X, self.cuts_).astype(np.float64)
        return self

    def predict(self, X: Any) -> Floats:
        """Predict the target of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        predicted = np.empty(len(X))
        for batch in gen_batches(len(X), BATCH_SIZE):
            distances = euclidean_distances(X[batch], self._X_fit)
            reach = distances.max(axis=1, keepdims=True)
            # The farthest row keeps a trace of weight, lest a single one have none.
            weights = 1.0001 - distances / np.where(reach > 0, reach, 1)
            below = below_cuts(X[batch], self.cuts_)
            predicted[batch] = stump_predictions(weights, self._y_fit, self._below, below)
        return predicted + self.offset_


def below_cuts(X: Floats, cuts: Floats) -> Mask:
    """Whether each row is at or below each cut through each column, shape (rows, all cuts)."""
    return (X[:, None, :] <= cuts).reshape(len(X), -1)


def stump_predictions(weights: Floats, y: Floats, below: Floats, asked: Mask) -> Floats:
    """For each row of weights, the prediction of the stump with the least weighted squared error.

    `below` says which training rows are below which cut, `asked` which rows to predict are. The
    error is least where the sum of m² / w over a stump's two sides is greatest, with w the weight
    of a side and m the weighted sum of its targets.
    """
    weight, moment = weights.sum(axis=1, keepdims=True), (weights @ y)[:, None]
    left, left_moment = weights @ below, (weights * y) @ below
    right, right_moment = weight - left, moment - left_moment
    empty = np.minimum(left, right) < TRACE * weight
    left, right = np.where(empty, 1, left), np.where(empty, 1, right)
    scores = np.where(empty, -np.inf, left_moment**2 / left + right_moment**2 / right)
    best = scores.argmax(axis=1)[:, None]
    answer = np.where(asked, left_moment / left, right_moment / right)
    answer = np.where(empty, moment / weight, answer)  # every side of every cut may be empty
    return np.take_along_axis(answer, best, axis=1)[:, 0]
