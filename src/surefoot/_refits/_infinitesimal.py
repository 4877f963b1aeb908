"""Infinitesimal jackknife: variance of a forest's prediction over training sets (Wager et al. 2014)."""

from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from surefoot._typing import Floats

FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)


class InfinitesimalJackknife:
    """Variance of a fitted forest's prediction over training sets, from its trees, without refits.

    With N how often each tree drew each row, the sum over rows of Cov(N, prediction)² estimates the variance.
    The bias of this sum due to the limited number of trees is subtracted. The Monte Carlo variance, by which
    another forest on the same rows would differ (the trees' variance over their number), is added.
    """

    def __init__(self, forest: Any) -> None:
        n_rows = int(forest._n_samples)  # noqa: SLF001 - number of rows that trees drew from
        counts = np.array(
            [np.bincount(drawn, minlength=n_rows) for drawn in forest.estimators_samples_],
            dtype=np.float64,
        )
        counts -= counts.mean(axis=0)
        self.n_trees = len(counts)
        # Σᵢ Cov(Nᵢ, t)² = tᵀ(NNᵀ)t / B²: the matrix is trees by trees, however many rows there are.
        self.products = counts @ counts.T

    def variance(self, answers: Floats) -> Floats:
        """Variance of the mean of the trees' predictions, given with shape (n, n_trees)."""
        around = answers - answers.mean(axis=1, keepdims=True)
        tree_variance = (around**2).mean(axis=1)
        raw = np.einsum("nb,bc,nc->n", around, self.products, around, optimize=True)
        bias = np.trace(self.products) * tree_variance
        from_rows = np.maximum(raw - bias, 0.0) / self.n_trees**2
        return np.asarray(from_rows + tree_variance / self.n_trees)


def infinitesimal_jackknife(model: Any) -> InfinitesimalJackknife | None:
    """Infinitesimal jackknife of a fitted forest; None for any other model, or if its trees did not draw rows."""
    if model.__class__ not in FORESTS or not model.bootstrap or len(model.estimators_) < 2:
        return None
    return InfinitesimalJackknife(model)


def tree_answers(model: Any, X: Any) -> Floats:
    """Class probabilities or predictions of each tree, shape (n, n_trees, n_outputs)."""
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    rows = model._validate_X_predict(X)  # noqa: SLF001 - rows in the form that the trees take
    outputs = [getattr(tree, method)(rows, check_input=False) for tree in model.estimators_]
    answers = np.stack(outputs, axis=1)
    return answers if answers.ndim == 3 else answers[:, :, None]
