"""A network of normalised radial basis functions, a regressor that scikit-learn lacks."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._typing import Floats
from surefoot._validation import check_number

# Strengths of the ridge penalty to choose from by leave-one-out error.
ALPHAS = np.logspace(-6, 3, 10)
# No Gaussian is narrower than this share of the widest: a cluster of equal rows has no width.
LEAST_WIDTH = 0.01


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

    Examples
    --------
    >>> X, y = [[0], [1], [10], [11]], [1, 3, 20, 22]
    >>> network = RBFNetworkRegressor(2, alpha=0, random_state=0).fit(X, y)
    >>> network.predict([[0.5], [10.5]]).round(2)
    array([ 2., 21.])
    """

    def __init__(
        self, n_centers: int = 50, *, alpha: float | None = None, random_state: Any = None
    ) -> None:
        self.n_centers = n_centers
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the centres, then fit the regression to how near the rows are to them."""
        check_scalar(self.n_centers, "n_centers", Integral, min_val=1)
        if self.alpha is not None:
            check_number(self.alpha, "alpha", min_val=0)
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
        predicted: Floats = self.output_.predict(shares(X, self.centers_, self.widths_))
        return predicted


def cluster_widths(X: Floats, centers: Floats, labels: NDArray[Any]) -> Floats:
    """Root mean squared distance of each cluster's rows to its centre."""
    squares = ((X - centers[labels]) ** 2).sum(axis=1)
    widths = np.sqrt(np.bincount(labels, squares) / np.bincount(labels))
    # Centres on every row leave no width at all, and any then will do.
    return np.maximum(widths, LEAST_WIDTH * widths.max() or 1.0)


def shares(X: Floats, centers: Floats, widths: Floats) -> Floats:
    """How near each row is to each centre: Gaussians, divided by their sum."""
    # softmax, since far from all centres every Gaussian is below the smallest float.
    result: Floats = softmax(
        -euclidean_distances(X, centers, squared=True) / (2 * widths**2), axis=1
    )
    return result
