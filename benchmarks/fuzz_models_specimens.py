"""Models to forge: small, and between them made of every part that is read by compiled code."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot._model_files import save_model
from surefoot.indicators import Confidence, LocalSensitivity, NeighborDistance, SecondOpinion


class Specimen(NamedTuple):
    """A stored model, rows to ask it about, and whether it is an error estimator."""

    name: str
    path: Path
    rows: pd.DataFrame
    is_sure: bool


def table_of(n_rows: int) -> pd.DataFrame:
    """Numbers, categories and texts, with a class and a number to predict."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.integers(0, 9, n_rows).astype(float),
            "kind": rng.choice(["x", "y", "z"], n_rows),
            "note": rng.choice(["good day", "bad night", "good night"], n_rows),
        }
    )
    table["number"] = table["a"] + rng.normal(size=n_rows) * 0.3
    table["label"] = np.where(table["number"] > 0, "yes", "no")
    return table


def plain_models() -> dict[str, tuple[Any, list[str], str]]:
    """Models of scikit-learn, the columns they see, and what they predict."""
    numbers = ["a", "b"]
    ordinal = OrdinalEncoder().set_output(transform="default")
    kinds = make_column_transformer((ordinal, ["kind"]), remainder="passthrough")
    by_kind = HistGradientBoostingClassifier(
        max_iter=3, categorical_features=[0], min_samples_leaf=3
    )
    frame = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3)
    return {
        "forest": (RandomForestRegressor(3, random_state=0), numbers, "number"),
        "trees": (ExtraTreesClassifier(3, random_state=0), numbers, "label"),
        "boosting": (GradientBoostingClassifier(n_estimators=3, random_state=0), numbers, "note"),
        "hist": (frame, numbers, "label"),
        "hist_kind": (make_pipeline(kinds, by_kind), ["kind", "a"], "label"),
        "isolation": (
            IsolationForest(n_estimators=3, max_features=0.5, random_state=0),
            numbers,
            "label",
        ),
        "svc": (SVC(), numbers, "note"),
        "svr": (make_pipeline(StandardScaler(), SVR()), numbers, "number"),
        "neighbors": (KNeighborsClassifier(3, algorithm="kd_tree"), numbers, "label"),
        "brute": (KNeighborsClassifier(3, algorithm="brute"), numbers, "label"),
        "clusters": (KMeans(3, n_init=1, random_state=0), numbers, "label"),
        "one_hot": (
            make_pipeline(OneHotEncoder(), LogisticRegression()),
            ["kind", "note"],
            "label",
        ),
        "words": (
            make_pipeline(make_column_transformer((TfidfVectorizer(), "note")), Ridge()),
            ["note"],
            "number",
        ),
        "spline": (make_pipeline(SplineTransformer(n_knots=4), Ridge()), numbers, "number"),
    }


def sure_models() -> dict[str, tuple[Any, list[str], str]]:
    """Error estimators around them."""
    numbers = ["a", "b"]
    opinions = [("trees", ExtraTreesClassifier(3, random_state=0)), ("line", LogisticRegression())]
    indicators = [
        LocalSensitivity(),
        NeighborDistance(),
        Confidence(),
        SecondOpinion(opinions=opinions),
    ]
    nearby = [LocalSensitivity(), NeighborDistance()]
    given = {"cv": 2, "random_state": 0}
    forest, ridge = (
        RandomForestRegressor(3, random_state=0),
        make_pipeline(StandardScaler(), Ridge()),
    )
    hist = HistGradientBoostingClassifier(
        max_iter=3, min_samples_leaf=3, categorical_features="from_dtype"
    )
    return {
        "sure_knn": (
            IndividualErrorClassifier(KNeighborsClassifier(3), indicators=indicators, **given),
            numbers,
            "label",
        ),
        "sure_hist": (
            IndividualErrorClassifier(hist, indicators=indicators, **given),
            [*numbers, "kind"],
            "label",
        ),
        "sure_forest": (
            IndividualErrorRegressor(forest, Ridge(), indicators=nearby, **given),
            numbers,
            "number",
        ),
        "sure_ridge": (
            IndividualErrorRegressor(ridge, Ridge(), indicators=nearby, **given),
            numbers,
            "number",
        ),
    }


def build_specimens(folder: Path) -> list[Specimen]:
    """Fit and store every model."""
    table = table_of(90)
    table["kind"] = table["kind"].astype("category")
    specimens = []
    for is_sure, models in ((False, plain_models()), (True, sure_models())):
        for name, (model, columns, target) in models.items():
            is_frame = is_sure or not {"kind", "note"}.isdisjoint(columns)
            rows = table[columns] if is_frame else table[columns].to_numpy()
            model.fit(rows, table[target])
            save_model(model, folder / f"{name}.skops")
            (folder / f"{name}.csv").touch()
            specimens.append(Specimen(name, folder / f"{name}.skops", rows[:15], is_sure))
    return specimens
