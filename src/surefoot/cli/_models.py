"""The models that can be asked for by name, each around skrub's preparation of any table."""

from importlib import import_module
from pathlib import Path
from typing import Any

from surefoot.cli._mistakes import Mistake

# For each name what it is for classes, and for numbers.
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

MORE_STEPS = {"LogisticRegression": {"max_iter": 1000}}


def build_model(name: str, task: str, random_state: int) -> Any:
    """An unfitted pipeline that takes a table as it is: numbers, texts, categories, dates, gaps."""
    from skrub import tabular_pipeline  # noqa: PLC0415 - the names alone are for --help, which is fast

    check_name(name)
    package, _, kind = MODELS[name][task == "regression"].rpartition(".")
    model = getattr(import_module(package), kind)(**MORE_STEPS.get(kind, {}))
    if "random_state" in model.get_params():
        model.set_params(random_state=random_state)
    return tabular_pipeline(model)


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
