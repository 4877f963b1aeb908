"""Models around which cases are collected: scikit-learn's, behind what encodes and scales a table."""

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from surefoot.experiments._case_tables import Task

# Models of the arena; the others are learned from too.
ARENA_MODELS = ("logistic", "forest", "boosting", "svm", "knn")


def models(task: Task, random_state: int) -> dict[str, Any]:
    """Models by name; those of a neural network and a tree have settings that keep them small."""
    if task == "regression":
        return _regressors(random_state)
    return {
        "logistic": LogisticRegression(max_iter=2000),
        "forest": RandomForestClassifier(random_state=random_state),
        "boosting": HistGradientBoostingClassifier(random_state=random_state),
        "svm": CalibratedClassifierCV(SVC(), ensemble=False),
        "knn": KNeighborsClassifier(),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=random_state),
        "mlp": MLPClassifier(
            hidden_layer_sizes=(50,), batch_size=50, max_iter=50, random_state=random_state
        ),
    }


def _regressors(random_state: int) -> dict[str, Any]:
    network = MLPRegressor(
        hidden_layer_sizes=(50,), batch_size=50, max_iter=50, random_state=random_state
    )
    return {
        "ridge": Ridge(),
        "forest": RandomForestRegressor(random_state=random_state),
        "boosting": HistGradientBoostingRegressor(random_state=random_state),
        "knn": KNeighborsRegressor(),
        "svr": TransformedTargetRegressor(SVR(), transformer=StandardScaler()),
        "mlp": TransformedTargetRegressor(network, transformer=StandardScaler()),
    }


def encoded(model: Any, X: Any) -> Any:
    """Pipeline of the model behind what encodes the categories of X, fills its gaps and scales its numbers."""
    if hasattr(X, "columns"):
        categories = make_column_selector(dtype_include="category")
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        columns = make_column_transformer((encoder, categories), remainder=StandardScaler())
        return make_pipeline(columns, model)
    gaps = [SimpleImputer(strategy="median")] if np.isnan(X).any() else []
    return make_pipeline(*gaps, StandardScaler(), model)
