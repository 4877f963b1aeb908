"""Models of other kinds than the reported one, on the same columns."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline

from surefoot._models import MixedInput, default_vectorizer, split_model
from surefoot._tables import as_table, same_table, take_rows
from surefoot._typing import Ints

N_TREES = 50

# Few neighbours, because some fits use only a third of the rows.
N_NEIGHBORS = 5


class AnyTable(TransformerMixin, BaseEstimator):
    """Transformer of any table to complete, scaled numbers; a sparse table is unchanged.

    Attributes
    ----------
    vectorizer_ : ColumnTransformer or None
        Imputes and scales numbers, and gives each category a column; None for sparse rows.
    """

    vectorizer_: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which columns are numeric, their scales and their categories."""
        table = as_table(X)
        self.vectorizer_ = None
        if not issparse(table):
            self.vectorizer_ = default_vectorizer(MixedInput(None, table)).fit(table)
        return self

    def transform(self, X: Any) -> Any:
        """Rows as numbers."""
        table = as_table(X)
        return table if self.vectorizer_ is None else self.vectorizer_.transform(table)


def transform_once(
    estimator: Any, X: Any, y: NDArray[Any], learn: Ints, random: Any
) -> dict[str, Any]:
    """Last step of a pipeline, and the rows transformed for it by steps that are fitted on the learning rows.

    Transformers that depend on the targets, or that draw random numbers, stay with the model: a model fitted on
    part of the rows must not know other targets. A model that is no pipeline is returned unchanged.
    """
    transformers, predictor = split_model(estimator)
    if isinstance(estimator, FrozenEstimator):
        for step in transformers:
            X = step.transform(X)
        return {"estimator": FrozenEstimator(predictor), "X": as_table(X)}
    unchanged = {"estimator": estimator, "X": as_table(X)}
    if not isinstance(estimator, Pipeline) or len(transformers) != 1:
        return unchanged
    rows, targets = take_rows(X, learn), y[learn]
    tables = [
        clone(transformers[0]).fit(rows, labels).transform(X)
        for labels in (targets, random.permutation(targets))
    ]
    return {"estimator": predictor, "X": as_table(tables[0])} if same_table(*tables) else unchanged


def other_models(estimator: Any, task: str, seed: int) -> dict[str, Any]:
    """Two models of other kinds, by their names in sentences, after the same preprocessing."""
    transformers, predictor = split_model(estimator)
    own = _kind(predictor)
    chosen = [pair for kind, pair in _candidates(task, seed).items() if kind != own][:2]
    return {
        name: make_pipeline(*(clone(step) for step in transformers), AnyTable(), model)
        for name, model in chosen
    }


def _candidates(task: str, seed: int) -> dict[str, tuple[str, Any]]:
    """Models to try by kind, with their names in sentences; the most promising first."""
    if task == "classification":
        return {
            "forest": (
                "a forest",
                ExtraTreesClassifier(N_TREES, min_samples_leaf=2, random_state=seed),
            ),
            "linear": ("a logistic regression", LogisticRegression(max_iter=1000, tol=1e-3)),
            "neighbors": ("nearest neighbours", KNeighborsClassifier(N_NEIGHBORS)),
        }
    return {
        "forest": (
            "a forest",
            ExtraTreesRegressor(N_TREES, min_samples_leaf=2, random_state=seed),
        ),
        "linear": ("a linear regression", RidgeCV(np.logspace(-2, 4, 7))),
        "neighbors": ("nearest neighbours", KNeighborsRegressor(N_NEIGHBORS)),
    }


def _kind(predictor: Any) -> str:
    """Kind of the model itself among those of `_candidates`, or "other"."""
    while hasattr(predictor, "estimator"):  # a search, or a model around another
        predictor = predictor.estimator
    name, module = type(predictor).__name__, type(predictor).__module__
    if "Forest" in name or "ExtraTrees" in name:
        return "forest"
    if "linear_model" in module or name.startswith("Linear"):
        return "linear"
    return "neighbors" if "Neighbors" in name else "other"
