"""Models that can be chosen by name, each behind skrub's preprocessing of any table."""

from importlib import import_module
from typing import Any

from surefoot.cli._mistakes import Mistake

# Classifier and regressor for each name.
MODELS = {
    "boosting": (
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "sklearn.ensemble.HistGradientBoostingRegressor",
    ),
    "forest": (
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.ensemble.RandomForestRegressor",
    ),
    "logistic": ("sklearn.linear_model.LogisticRegression", "sklearn.linear_model.RidgeCV"),
    "svm": ("sklearn.svm.SVC", "sklearn.svm.SVR"),
    "knn": ("sklearn.neighbors.KNeighborsClassifier", "sklearn.neighbors.KNeighborsRegressor"),
}

MORE_STEPS = {"LogisticRegression": {"max_iter": 1000}}


def build_model(name: str, task: str, random_state: int) -> Any:
    """Unfitted pipeline that accepts any table: numbers, texts, categories, dates, missing values."""
    from skrub import tabular_pipeline  # noqa: PLC0415 - the names alone are for --help, which is fast

    if name not in MODELS:
        raise Mistake(
            f"--estimator {name} is not known: pass {', '.join(MODELS)}, or a .skops file."
        )
    package, _, kind = MODELS[name][task == "regression"].rpartition(".")
    model = tabular_pipeline(getattr(import_module(package), kind)(**MORE_STEPS.get(kind, {})))
    seeded = [step for step in model.get_params() if step.endswith("random_state")]
    return model.set_params(**dict.fromkeys(seeded, random_state))
