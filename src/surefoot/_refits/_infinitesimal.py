"""The infinitesimal jackknife: how far a forest's answer hangs on its training rows (Wager et al. 2014)."""

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
    """Variance of a fitted forest's answer over training sets, from the trees that it has.

    With N how often each tree drew each row, the sum over rows of Cov(N, answer)² is the variance, less what the
    trees' own number adds to it by chance; and another forest on the same rows would differ by the
    trees' variance over their number, which is added. Nothing is fitted.
    """

    def __init__(self, forest: Any) -> None:
        n_rows = int(forest._n_samples)  # noqa: SLF001 - the rows that the drawn numbers point to
        counts = np.array(
            [np.bincount(drawn, minlength=n_rows) for drawn in forest.estimators_samples_],
            dtype=np.float64,
        )
        counts -= counts.mean(axis=0)
        self.n_trees = len(counts)
        # Σᵢ Cov(Nᵢ, t)² = tᵀ(NNᵀ)t / B²: trees by trees, however many rows there are.
        self.products = counts @ counts.T

    def variance(self, answers: Floats) -> Floats:
        """Variance of the mean of the trees' answers, which have shape (n, n_trees)."""
        around = answers - answers.mean(axis=1, keepdims=True)
        of_trees = (around**2).mean(axis=1)
        drawn = np.einsum("nb,bc,nc->n", around, self.products, around, optimize=True)
        by_chance = np.trace(self.products) * of_trees
        from_rows = np.maximum(drawn - by_chance, 0.0) / self.n_trees**2
        return np.asarray(from_rows + of_trees / self.n_trees)


def infinitesimal_jackknife(model: Any) -> InfinitesimalJackknife | None:
    """The infinitesimal jackknife of a fitted forest, or None where its trees drew no rows."""
    if model.__class__ not in FORESTS or not model.bootstrap or len(model.estimators_) < 2:
        return None
    return InfinitesimalJackknife(model)


def tree_answers(model: Any, X: Any) -> Floats:
    """What each tree says, shape (n, n_trees, n_outputs): class probabilities, or predictions."""
    ask = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    rows = model._validate_X_predict(X)  # noqa: SLF001 - as the forest hands them to its trees
    found = [getattr(tree, ask)(rows, check_input=False) for tree in model.estimators_]
    answers = np.stack(found, axis=1)
    return answers if answers.ndim == 3 else answers[:, :, None]
