"""Regressors of the kinds that Buza et al. (2010) took from WEKA, under one roof."""

from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from surefoot.experiments._locally_weighted import LocallyWeightedRegressor
from surefoot.experiments._rbf_network import RBFNetworkRegressor

RBF_NETWORK, SVM = "RBF network", "SVM"


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
    network = RBFNetworkRegressor(2, alpha=1e-8, random_state=0)
    defaults = {
        "kNN": (MinMaxScaler(), KNeighborsRegressor(1)),
        RBF_NETWORK: (StandardScaler(), network),
        SVM: (MinMaxScaler(), svm),
    }
    pipelines = {name: make_pipeline(SimpleImputer(), *steps) for name, steps in defaults.items()}
    return todays_models(n_columns) | pipelines


def scaled_target(regressor: Any) -> Any:
    """A regressor for targets of any scale: residuals have another one than the data."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())
