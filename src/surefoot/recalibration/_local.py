"""Local recalibration: separate weights for every row (Bennett 2007, equations 1 and 2)."""

from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.preprocessing import StandardScaler

from surefoot._crossfit import CrossFit
from surefoot._logistic import best_departure, fit_logistic, smoothed_targets, with_ones
from surefoot._tables import take_rows
from surefoot._typing import Floats
from surefoot._validation import canonical_metric, check_number, check_rows, resolve_n_neighbors
from surefoot.indicators import Indicator
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex
from surefoot.recalibration._recalibrated import (
    CrossFittedClassifier,
    HeldOutRows,
    as_probabilities,
)

# Shares of the local weights that are tried, from the global weights alone to the local ones alone.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)

# Distances this small, relative to that of the furthest neighbour, are those of a row to itself.
SAME = 1e-6


class LocallyRecalibratedClassifier(CrossFittedClassifier):
    """Classifier with recalibrated probabilities, learned from the out-of-fold scores of each row's neighbours.

    The recalibrated log-odds of x are W0(x) + W1(x)·λ̂(x) (Bennett 2007, equation 1). The paper's
    weights (equation 2) regress the true log-odds, which are unknown; here they come from a
    logistic regression of the neighbours' labels on their out-of-fold λ̂, weighted by a Gaussian kernel
    of the distance, as wide as half the distance to the furthest neighbour, with a ridge towards the global (b, a).
    These are those of `RecalibratedClassifier`, and local weights replace them only as far as that pays on held-out
    rows (`local_share_`).

    Parameters
    ----------
    estimator : classifier
        The model to recalibrate. In `FrozenEstimator` it is used as it is, and must not have been trained on
        the rows given to `fit`.
    n_neighbors : int or "log", default=100
        Number of nearest training rows that the weights are learned from; "log" is 2⌈log2 n⌉ + 1 for n training rows.
    ridge : float, default=10.0
        Weight of the global recalibration, as a number of neighbours that count as much; higher is smoother.
    space : "auto", "scaled" or transformer, default="auto"
        Coordinates in which distances are measured; see `LocalSensitivity`.
    metric : "auto", str or callable, default="auto"
        "auto" is "cosine" for sparse rows, else "euclidean".
    response : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method that λ̂ is computed from; "auto" is `predict_proba` if the model has it.
    cv : int, splitter or iterable of splits, default=10
        Splitter for the out-of-fold scores. A number means shuffled folds, at most as many as the rarest
        class has rows.
    random_state : int, RandomState or None, default=None
        Seed of the folds.
    n_jobs : int, default=None
        Number of parallel folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimator_ : classifier
        The model, fitted on all rows.
    global_weights_ : ndarray of shape (n_calibrated, 2)
        b and a of the global recalibration a·λ̂ + b, of the positive class or of every class.
    local_share_ : float
        Share of the weights learned from the neighbours; the rest is that of the global weights. 0 if they save nothing
        on held-out rows, or too little to be sure.
    is_unchanged_ : bool
        Whether the model's own probabilities are returned, because nothing else lowers the loss on held-out rows.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, where they are strings.

    Examples
    --------
    >>> from surefoot import KernelKNeighborsClassifier
    >>> from surefoot.datasets import make_friedman_problem
    >>> X, y = make_friedman_problem(4, n_samples=500, random_state=0)
    >>> model = LocallyRecalibratedClassifier(KernelKNeighborsClassifier(), random_state=0).fit(X, y)
    >>> offset, slope = model.local_weights(X[:1])
    >>> bool(slope[0] > 0)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        n_neighbors: int | str = 100,
        ridge: float = 10.0,
        space: Any = "auto",
        metric: Any = "auto",
        response: str = "auto",
        cv: Any = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.space = space
        self.metric = metric
        self.response = response
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _prepare(self) -> list[Indicator]:
        check_number(self.ridge, "ridge", min_val=0, include_boundaries="neither")
        resolve_n_neighbors(self.n_neighbors, 2)
        if self.metric != "auto":
            canonical_metric(self.metric)
        return []

    def _learn(self, X: Any, cross: CrossFit, rows: HeldOutRows) -> None:
        held_out, y = cross.held_out, cross.training.y
        self._weight = rows.weight
        self._targets = np.column_stack([smoothed_targets(t, rows.weight) for t in rows.targets])
        scores = held_out.scores
        fitted = self._fit_steps([scores[:, [c]] for c in range(scores.shape[1])], rows)
        self.global_weights_ = np.array([[line.intercept, line.coef[0]] for line in fitted.lines_])
        scaler = StandardScaler().fit(scores, sample_weight=rows.weight)
        self._center, self._scale = scaler.mean_, scaler.scale_
        b, a = self.global_weights_.T
        self._prior = np.column_stack([b + a * self._center, a * self._scale])
        self._n_local = resolve_n_neighbors(self.n_neighbors, len(held_out.rows))
        self._index = NeighborhoodIndex(
            self.estimator_,
            take_rows(X, held_out.rows),
            y[held_out.rows],
            n_neighbors=self._n_local,
            space=self.space,
            metric=self.metric,
            response=self._response,
            held_out_scores=scores,
            n_trained=len(y),
            n_jobs=self.n_jobs,
            copy=False,
        )
        # The share of the local weights, the global ones being the start, that pays on held-out rows.
        offset, slope, _ = self._local_lines(take_rows(X, held_out.rows), without_itself=True)
        truth, losses = np.column_stack(rows.targets), []
        for share in SHARES:
            w0, w1 = self._mixed(offset, slope, share)
            losses.append(((expit(w0 + w1 * scores) - truth) ** 2).sum(axis=1))
        self.local_share_ = SHARES[best_departure(np.column_stack(losses), rows.weight, rows.units)]
        self.is_unchanged_ = self.is_unchanged_ and self.local_share_ == 0

    def _mixed(self, offset: Floats, slope: Floats, share: float) -> tuple[Floats, Floats]:
        """Local weights mixed with the global ones."""
        b, a = self.global_weights_.T
        return (1 - share) * b + share * offset, (1 - share) * a + share * slope

    def local_weights(self, X: Any) -> tuple[Floats, Floats]:
        """Offset W0(x) and slope W1(x) of each row's recalibration W0 + W1·λ̂.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to recalibrate.

        Returns
        -------
        offset, slope : ndarrays of shape (n_rows,) for two classes, else (n_rows, n_classes)
            The weights; log-odds of the positive class, or of each class.
        """
        offset, slope, _ = self._weights_and_scores(check_rows(self, X))
        return (offset[:, 0], slope[:, 0]) if offset.shape[1] == 1 else (offset, slope)

    def _probabilities(self, X: Any) -> Floats:
        offset, slope, scores = self._weights_and_scores(X)
        return as_probabilities(expit(offset + slope * scores))

    def _weights_and_scores(self, X: Any) -> tuple[Floats, Floats, Floats]:
        """Offsets, slopes and scores of checked rows."""
        offset, slope, scores = self._local_lines(X)
        return *self._mixed(offset, slope, self.local_share_), scores

    def _local_lines(
        self, X: Any, *, without_itself: bool = False
    ) -> tuple[Floats, Floats, Floats]:
        """Offsets and slopes learned from the neighbours alone, and scores of checked rows."""
        function = partial(self._local_fits, without_itself=without_itself)
        parts = self._index.map(function, X, n_samples=self._index.n_neighbors)
        offset, slope, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
        return offset, slope, scores

    def _local_fits(
        self, near: Neighborhood, *, without_itself: bool
    ) -> tuple[Floats, Floats, Floats]:
        """Offsets, slopes and scores of the rows of a neighbourhood."""
        rows = near.indices[:, : self._n_local]  # the model itself may need more
        distances = near.distances[:, : self._n_local]
        furthest = distances.max(axis=1, keepdims=True)
        # exp(−½(d/h)²) with h half the distance to the furthest neighbour; 1 if all distances are 0.
        ratio = np.divide(distances, furthest / 2, out=np.zeros_like(distances), where=furthest > 0)
        weight = np.exp(-0.5 * ratio**2) * self._weight[rows]
        if without_itself:  # neither the row nor copies of it
            weight[distances <= SAME * furthest] = 0.0
        scores = near.neighbor_scores[:, : self._n_local]
        standard = (scores - self._center) / self._scale
        # A ridge of r counts as r rows: at even odds each adds ¼ to the curvature.
        fits = [
            fit_logistic(
                with_ones(standard[:, :, [c]])[None],
                self._targets[rows, c][None],
                weight,
                self.ridge / 4,
                prior,
            ).weights
            for c, prior in enumerate(self._prior)
        ]
        offset, slope = np.stack(fits, axis=1).transpose(2, 0, 1)
        # From the standardised scores to the scores.
        return offset - slope * self._center / self._scale, slope / self._scale, near.scores
