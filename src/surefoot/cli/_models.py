"""Models that can be chosen by name, each behind skrub's preprocessing of any table."""

from importlib import import_module
from pathlib import Path
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

# Endings of files that other libraries write, and which those are.
FOREIGN = {".txt": "LightGBM", ".json": "XGBoost", ".ubj": "XGBoost", ".cbm": "CatBoost"}
PICKLED = (".pkl", ".pickle", ".joblib")

MORE_STEPS: dict[str, dict[str, Any]] = {"LogisticRegression": {"max_iter": 1000}}


def build_model(name: str, task: str, random_state: int, *, early_stopping: bool = True) -> Any:
    """Unfitted pipeline that accepts any table: numbers, texts, categories, dates, missing values.

    Boosting that stops early, as it does by default on large tables, cannot learn a class with one row.
    """
    from skrub import tabular_pipeline  # noqa: PLC0415 - the names alone are for --help, which is fast

    check_name(name)
    package, _, kind = MODELS[name][task == "regression"].rpartition(".")
    settings = dict(MORE_STEPS.get(kind, {}))
    if kind == "HistGradientBoostingClassifier" and not early_stopping:
        settings["early_stopping"] = False
    model = tabular_pipeline(getattr(import_module(package), kind)(**settings))
    seeded = [step for step in model.get_params() if step.endswith("random_state")]
    return model.set_params(**dict.fromkeys(seeded, random_state))


def check_name(name: str) -> None:
    """Raise one sentence unless there is a model of that name."""
    if name not in MODELS:
        raise Mistake(why_not_used(name))


def why_not_used(name: str) -> str:
    """Sentence for what is neither the name of a model nor a skops file."""
    ending = Path(name).suffix.lower()
    if ending in PICKLED:
        return f"{name} is a pickle, and loading a pickle runs any code in it: save the model with skops.io.dump."
    if ending in FOREIGN:
        return (
            f"{name} is not loaded, as surefoot cannot check what the parser of {FOREIGN[ending]} does with a "
            "harmful file: load the model in Python, and pass it to surefoot.report.ReliabilityReport."
        )
    return f"--estimator {name} is not known: pass {', '.join(MODELS)}, or a .skops file."
