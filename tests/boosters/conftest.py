"""Tables with categories and gaps, and the same boosters for all tests."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

# Small and on one thread: what is tested is how they are used, not how well they predict.
SETTINGS = {
    "lightgbm": {"n_estimators": 15, "n_jobs": 1, "verbose": -1, "random_state": 0},
    "xgboost": {"n_estimators": 15, "n_jobs": 1, "enable_categorical": True, "random_state": 0},
    "catboost": {
        "n_estimators": 15,
        "thread_count": 1,
        "cat_features": ("plan",),  # a list could not be cloned
        "allow_writing_files": False,
        "verbose": False,
        "random_state": 0,
    },
}
PREFIXES = {"lightgbm": "LGBM", "xgboost": "XGB", "catboost": "CatBoost"}


def pytest_collection_modifyitems(items):
    for item in items:
        if "boosters" in item.path.parts:
            item.add_marker(pytest.mark.boosters)


class Booster(NamedTuple):
    """A library, and how its models are made."""

    library: str
    make: Callable[..., Any]

    def rows(self, table):
        """The table as the library takes it: CatBoost takes no missing category."""
        if self.library != "catboost":
            return table
        plan = table["plan"].cat.add_categories("missing").fillna("missing")
        return table.assign(plan=plan)


@pytest.fixture(params=SETTINGS)
def booster(request):
    library = request.param
    package = pytest.importorskip(library, reason=f"{library} is not installed: make boosters")

    def make(kind, **settings):
        return getattr(package, PREFIXES[library] + kind)(**SETTINGS[library] | settings)

    return Booster(library, make)


@pytest.fixture
def catboost():
    pytest.importorskip("catboost", reason="catboost is not installed: make boosters")
    return import_module("catboost")


@pytest.fixture(scope="session")
def table():
    """240 rows: two numbers and a category, all with gaps but one."""
    rng = np.random.default_rng(0)
    n = 240
    plan = rng.choice(["free", "paid", "trial"], n)
    table = pd.DataFrame({"age": rng.normal(40, 10, n), "spent": rng.gamma(2, 10, n)})
    table["plan"] = pd.Categorical(plan)
    table.loc[::7, "age"] = np.nan
    table.loc[::11, "plan"] = None
    return table


@pytest.fixture(scope="session")
def numbers(table):
    """A number to predict, with noise."""
    noise = np.random.default_rng(1).normal(0, 8, len(table))
    return (
        table["age"].fillna(40) + 12 * (table["plan"] == "paid").astype(float) + noise
    ).to_numpy()


@pytest.fixture(scope="session")
def classes(numbers):
    """0 or 1: XGBoost takes no other labels."""
    return (numbers > np.median(numbers)).astype(int)
