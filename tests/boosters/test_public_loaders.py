"""A model from a file predicts as its library's own loader would, or one sentence refuses it: a table of cases."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import surefoot
from surefoot import assess

for library in ("catboost", "lightgbm", "onnxruntime", "skl2onnx", "xgboost"):
    pytest.importorskip(library, reason=f"{library} is not installed: make boosters")

N_ROWS = 240
RNG = np.random.default_rng(0)
# Numbers that are the same in 32 bits, as ONNX takes them.
X = pd.DataFrame(RNG.normal(size=(N_ROWS, 3)).astype(np.float32), columns=["a", "b", "c"]).astype(
    float
)
NUMBERS = X.to_numpy()
SIGNAL = 2 * X["a"].to_numpy() + RNG.normal(size=N_ROWS)
GAPS = X.mask(RNG.random(X.shape) < 0.2)
WORDS = X.assign(plan=pd.Categorical(RNG.choice(["free", "paid", "trial"], N_ROWS)))
LEVELS = np.digitize(SIGNAL, [-1.5, 1.5])
TWELVE = np.digitize(SIGNAL, np.quantile(SIGNAL, np.arange(1, 12) / 12)) + 1

TARGETS = {
    "number": SIGNAL,
    "positive": np.exp(SIGNAL / 2),
    "count": RNG.poisson(np.exp(SIGNAL / 2)).astype(float),
    "share": 1 / (1 + np.exp(-SIGNAL)),
    "two": (SIGNAL > 0).astype(int),
    "three": LEVELS,
    "twelve": TWELVE,
    "spaced": LEVELS * 2 + 5,
    "words": np.array(["low", "mid", "top"])[LEVELS],
    "yes": np.where(SIGNAL > 0, "yes", "no"),
    "several": np.column_stack([SIGNAL, X["b"]]),
    "labels": np.column_stack([SIGNAL > 0, X["b"] > 0, X["c"] > 0]).astype(int),
}

Public = Callable[[Any], Any]


class Case(NamedTuple):
    """How a file is written and loaded by its library, and what surefoot makes of it.

    `write(path, rows, target)` returns the library's own predictions of rows, from the file: numbers, or probabilities
    in the order of `classes`. `refusal` is a part of the sentence that refuses the file.
    """

    write: Callable[..., Public]
    target: str
    ending: str
    classes: Any = None
    rows: pd.DataFrame = X
    refusal: str | None = None
    labels: Any = None


def lightgbm(target, classes=None, rows=X, refusal=None, early=False, **settings):
    def write(path, rows, y):
        package = import_module("lightgbm")
        group = [len(y)] if settings["objective"] in ("lambdarank", "rank_xendcg") else None
        data = package.Dataset(rows, y, group=group)
        parameters = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5, **settings}
        if early:
            start = {"early_stopping_round": 3, "learning_rate": 0.9, "metric": "l2"}
            held_out = package.Dataset(rows[:60], y[60:120])
            model = package.train(
                {**parameters, **start}, data, 60, [held_out], keep_training_booster=True
            )
            assert model.best_iteration < model.current_iteration()
        else:
            model = package.train(parameters, data, 12)
        model.save_model(str(path))
        return package.Booster(model_file=str(path)).predict

    return Case(write, target, ".txt", classes, rows, refusal)


def xgboost(target, kind="XGBRegressor", classes=None, rows=X, refusal=None, **settings):
    def write(path, rows, y):
        package = import_module("xgboost")
        early = settings.get("early_stopping_rounds")
        more = {"eval_set": [(rows[:60], y[60:120])], "verbose": False} if early else {}
        more |= {"qid": np.zeros(len(y))} if kind == "XGBRanker" else {}
        own = {"n_estimators": 12, "n_jobs": 1, "enable_categorical": True}
        model = getattr(package, kind)(**own | settings).fit(rows, y, **more)
        model.save_model(path)
        if early:
            assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
        public = getattr(package, kind)()
        public.load_model(path)
        return public.predict_proba if kind == "XGBClassifier" else public.predict

    return Case(write, target, ".ubj", classes, rows, refusal)


def survival(objective, refusal=None):
    def write(path, rows, y):
        package = import_module("xgboost")
        data = package.DMatrix(rows, y)
        for bound in ("label_lower_bound", "label_upper_bound"):
            data.set_float_info(bound, y)
        package.train({"objective": objective, "nthread": 1}, data, 12).save_model(path)
        public = package.Booster(model_file=path)
        return lambda rows: public.predict(package.DMatrix(rows))

    return Case(write, "positive", ".json", refusal=refusal)


def catboost(target, loss, rows=X, refusal=None, early=False, plain=False, **settings):
    is_class = target in ("two", "three", "spaced", "words", "yes", "labels")

    def write(path, rows, y):
        package = import_module("catboost")
        kind = package.CatBoostClassifier if is_class else package.CatBoostRegressor
        quiet = {"allow_writing_files": False, "verbose": False, "thread_count": 1}
        own = {"iterations": 12, "loss_function": loss, "depth": 4, **quiet, **settings}
        names = [name for name in rows if name == "plan"]
        is_ranker = loss == "YetiRank"
        group = np.zeros(len(y), dtype=int) if is_ranker else None
        if early:
            own |= {"iterations": 60, "learning_rate": 0.9, "early_stopping_rounds": 5}
        pool = package.Pool(rows, y, cat_features=names, group_id=group)
        held_out = package.Pool(rows[:60], y[60:120], cat_features=names) if early else None
        model = package.CatBoost(own) if plain or is_ranker else kind(**own)
        model.fit(pool, eval_set=held_out).save_model(str(path))
        public = kind().load_model(str(path))
        return public.predict_proba if is_class else public.predict

    classes = np.unique(TARGETS[target]) if is_class else None
    return Case(write, target, ".cbm", classes, rows, refusal)


def onnx(
    target, model=None, options=None, rows=NUMBERS, refusal=None, trained_on=None, classes=None
):
    """A scikit-learn model, converted; `trained_on` makes other targets of those of the table."""

    def write(path, rows, y):
        skl2onnx, runtime = import_module("skl2onnx"), import_module("onnxruntime")
        y = y if trained_on is None else trained_on(y)
        types = skl2onnx.common.data_types
        inputs = [("rows", types.FloatTensorType([None, rows.shape[1]]))]
        graph = skl2onnx.to_onnx(model.fit(rows, y), initial_types=inputs, options=options)
        path.write_bytes(graph.SerializeToString())
        session = runtime.InferenceSession(path.read_bytes())

        def public(rows):
            last = session.run(None, {"rows": rows.astype(np.float32)})[-1]
            return [[*row.values()] for row in last] if isinstance(last, list) else last

        return public

    return Case(write, target, ".onnx", classes, rows, refusal)


def catboost_onnx(target, loss, classes=None, refusal=None):
    def write(path, rows, y):
        package, runtime = import_module("catboost"), import_module("onnxruntime")
        quiet = {"allow_writing_files": False, "verbose": False, "thread_count": 1}
        kind = package.CatBoostClassifier if classes is not None else package.CatBoostRegressor
        model = kind(iterations=12, loss_function=loss, **quiet).fit(rows, y)
        model.save_model(str(path), format="onnx")
        session = runtime.InferenceSession(path.read_bytes())

        def public(rows):
            name = session.get_inputs()[0].name
            last = session.run(None, {name: rows.astype(np.float32)})[-1]
            return [[*row.values()] for row in last] if isinstance(last, list) else last

        return public

    return Case(write, target, ".onnx", classes, X.to_numpy(), refusal)


RANKS, SEVERAL = "is a model that ranks rows", "predicts several numbers or labels of each row"
SCALE = "has outputs that are not on the scale of the target"
ALONE = "gives each class a probability of its own"
ZIPPED, PLAIN = {"zipmap": True}, {"zipmap": False}

CASES = {
    "LightGBM squared": lightgbm("number", objective="regression"),
    "LightGBM square root": lightgbm("positive", objective="regression", reg_sqrt=True),
    "LightGBM absolute": lightgbm("number", objective="regression_l1"),
    "LightGBM huber": lightgbm("number", objective="huber"),
    "LightGBM poisson": lightgbm("count", objective="poisson"),
    "LightGBM tweedie": lightgbm("count", objective="tweedie"),
    "LightGBM gamma": lightgbm("positive", objective="gamma"),
    "LightGBM quantile": lightgbm("number", objective="quantile", alpha=0.9),
    "LightGBM mape": lightgbm("positive", objective="mape"),
    "LightGBM cross entropy": lightgbm("share", objective="cross_entropy"),
    "LightGBM cross entropy lambda": lightgbm(
        "share", objective="cross_entropy_lambda", refusal=SCALE
    ),
    "LightGBM two classes": lightgbm("two", [0, 1], objective="binary"),
    "LightGBM three classes": lightgbm("three", [0, 1, 2], objective="multiclass", num_class=3),
    "LightGBM one versus all": lightgbm(
        "three", objective="multiclassova", num_class=3, refusal=ALONE
    ),
    "LightGBM ranking": lightgbm("three", objective="lambdarank", refusal=RANKS),
    "LightGBM ranking by cross entropy": lightgbm("three", objective="rank_xendcg", refusal=RANKS),
    "LightGBM early stopping": lightgbm("number", objective="regression", early=True),
    "LightGBM dart": lightgbm("number", objective="regression", boosting="dart"),
    "LightGBM forest": lightgbm(
        "number", objective="regression", boosting="rf", bagging_freq=1, bagging_fraction=0.5
    ),
    "LightGBM lines in leaves": lightgbm("number", objective="regression", linear_tree=True),
    "LightGBM categories": lightgbm("number", rows=WORDS, objective="regression"),
    "LightGBM missing values": lightgbm("two", [0, 1], rows=GAPS, objective="binary"),
    "XGBoost squared": xgboost("number"),
    "XGBoost absolute": xgboost("number", objective="reg:absoluteerror"),
    "XGBoost huber": xgboost("number", objective="reg:pseudohubererror"),
    "XGBoost logistic": xgboost("share", objective="reg:logistic"),
    "XGBoost poisson": xgboost("count", objective="count:poisson"),
    "XGBoost tweedie": xgboost("count", objective="reg:tweedie"),
    "XGBoost gamma": xgboost("positive", objective="reg:gamma"),
    "XGBoost quantile": xgboost("number", objective="reg:quantileerror", quantile_alpha=0.9),
    "XGBoost base score": xgboost("number", base_score=100.0),
    "XGBoost three quantiles": xgboost(
        "number", objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9], refusal=SEVERAL
    ),
    "XGBoost two targets": xgboost("several", refusal=SEVERAL),
    "XGBoost two targets in a tree": xgboost(
        "several", multi_strategy="multi_output_tree", refusal=SEVERAL
    ),
    "XGBoost several labels": xgboost("labels", "XGBClassifier", refusal=SEVERAL),
    "XGBoost two classes": xgboost("two", "XGBClassifier", [0, 1]),
    "XGBoost hinge": xgboost("two", "XGBClassifier", [0, 1], objective="binary:hinge"),
    "XGBoost three classes": xgboost("three", "XGBClassifier", [0, 1, 2]),
    "XGBoost three classes, softmax": xgboost(
        "three", "XGBClassifier", [0, 1, 2], objective="multi:softmax"
    ),
    "XGBoost ranking": xgboost("three", "XGBRanker", refusal=RANKS),
    "XGBoost ranking of pairs": xgboost(
        "three", "XGBRanker", objective="rank:pairwise", refusal=RANKS
    ),
    "XGBoost early stopping": xgboost(
        "number", n_estimators=60, learning_rate=0.9, early_stopping_rounds=5
    ),
    "XGBoost early stopping of classes": xgboost(
        *("two", "XGBClassifier", [0, 1]),
        n_estimators=60,
        early_stopping_rounds=5,
    ),
    "XGBoost early stopping of a forest": xgboost(
        "number", n_estimators=60, early_stopping_rounds=5, num_parallel_tree=3, subsample=0.5
    ),
    "XGBoost dart": xgboost("number", booster="dart", rate_drop=0.5),
    "XGBoost dart, early stopping": xgboost(
        *("three", "XGBClassifier", [0, 1, 2]),
        booster="dart",
        rate_drop=0.5,
        n_estimators=40,
        early_stopping_rounds=5,
    ),
    "XGBoost forest": xgboost("number", "XGBRFRegressor"),
    "XGBoost line": xgboost("number", booster="gblinear", refusal="is a linear model of XGBoost"),
    "XGBoost categories": xgboost("number", rows=WORDS),
    "XGBoost missing values": xgboost("two", "XGBClassifier", [0, 1], rows=GAPS),
    "XGBoost survival, hazards": survival("survival:cox", refusal=SCALE),
    "XGBoost survival, times": survival("survival:aft"),
    "CatBoost squared": catboost("number", "RMSE"),
    "CatBoost absolute": catboost("number", "MAE"),
    "CatBoost huber": catboost("number", "Huber:delta=1"),
    "CatBoost poisson": catboost("count", "Poisson"),
    "CatBoost poisson, plain": catboost("count", "Poisson", plain=True),
    "CatBoost tweedie": catboost("count", "Tweedie:variance_power=1.5"),
    "CatBoost quantile": catboost("number", "Quantile:alpha=0.9"),
    "CatBoost log-linear quantile": catboost("positive", "LogLinQuantile:alpha=0.7"),
    "CatBoost three quantiles": catboost(
        "number", "MultiQuantile:alpha=0.1,0.5,0.9", refusal=SEVERAL
    ),
    "CatBoost uncertainty": catboost("number", "RMSEWithUncertainty", refusal=SEVERAL),
    "CatBoost two targets": catboost("several", "MultiRMSE", refusal=SEVERAL),
    "CatBoost several labels": catboost("labels", "MultiLogloss", refusal=SEVERAL),
    "CatBoost two classes": catboost("two", "Logloss"),
    "CatBoost two words": catboost("yes", "Logloss"),
    "CatBoost three words": catboost("words", "MultiClass"),
    "CatBoost three numbers, plain": catboost("spaced", "MultiClass", plain=True),
    "CatBoost one versus all": catboost("words", "MultiClassOneVsAll", refusal=ALONE),
    "CatBoost ranking": catboost("three", "YetiRank", refusal=RANKS),
    "CatBoost survival": catboost("positive", "Cox", refusal=SCALE),
    "CatBoost early stopping": catboost("number", "RMSE", early=True),
    "CatBoost categories": catboost("number", "RMSE", rows=WORDS),
    "CatBoost missing values": catboost("two", "Logloss", rows=GAPS),
    "ONNX line": onnx("number", LinearRegression()),
    "ONNX poisson": onnx("count", PoissonRegressor()),
    "ONNX quantile": onnx(
        "number", GradientBoostingRegressor(loss="quantile", alpha=0.9, n_estimators=9)
    ),
    "ONNX missing values": onnx(
        "number", make_pipeline(SimpleImputer(), LinearRegression()), rows=GAPS.to_numpy()
    ),
    "ONNX two targets": onnx("several", LinearRegression(), refusal="gives several numbers"),
    "ONNX two words": onnx("yes", LogisticRegression(), PLAIN, classes=["no", "yes"]),
    "ONNX two words, zipmap": onnx("yes", LogisticRegression(), ZIPPED, classes=["no", "yes"]),
    "ONNX three classes": onnx("three", LogisticRegression(), PLAIN, classes=[0, 1, 2]),
    "ONNX numbers with gaps": onnx("spaced", LogisticRegression(), PLAIN, classes=[5, 7, 9]),
    "ONNX numbers with gaps, zipmap": onnx(
        "spaced", LogisticRegression(), ZIPPED, classes=[5, 7, 9]
    ),
    "ONNX log-odds": onnx(
        "words", LogisticRegression(), {**PLAIN, "raw_scores": True}, classes=["low", "mid", "top"]
    ),
    "ONNX texts that are numbers": onnx(
        "twelve",
        LogisticRegression(),
        PLAIN,
        trained_on=lambda y: y.astype(str),
        classes=sorted(range(1, 13), key=str),
    ),
    "ONNX texts that are numbers, zipmap": onnx(
        "twelve",
        LogisticRegression(),
        ZIPPED,
        trained_on=lambda y: y.astype(str),
        classes=sorted(range(1, 13), key=str),
    ),
    "ONNX one versus all": onnx(
        "words", OneVsRestClassifier(LogisticRegression()), PLAIN, classes=["low", "mid", "top"]
    ),
    "ONNX scores": onnx("words", LinearSVC(), classes=["low", "mid", "top"]),
    "ONNX several labels": onnx(
        "labels", KNeighborsClassifier(), PLAIN, refusal="gives several labels"
    ),
    "ONNX of CatBoost": catboost_onnx("number", "RMSE"),
    "ONNX of CatBoost, poisson": catboost_onnx("count", "Poisson"),
    "ONNX of CatBoost, two classes": catboost_onnx("two", "Logloss", [0, 1]),
    "ONNX of CatBoost, words": catboost_onnx("words", "MultiClass", ["low", "mid", "top"]),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_file_predicts_as_in_its_own_library(case, tmp_path):
    path, target = tmp_path / f"model{case.ending}", TARGETS[case.target]
    public = case.write(path, case.rows, target)
    if case.refusal is not None:
        with pytest.raises(ValueError, match=case.refusal):
            assess(surefoot.load(path), case.rows, target if target.ndim == 1 else target[:, 0])
        return
    error_estimator = assess(surefoot.load(path), case.rows, target, random_state=0)
    surefoot.save(error_estimator, tmp_path / "model.skops")
    own = np.asarray(public(case.rows))
    for each in (error_estimator, surefoot.load(tmp_path / "model.skops")):
        if case.classes is None:
            np.testing.assert_allclose(each.predict(case.rows), own.ravel(), rtol=1e-6, atol=1e-6)
            continue
        places = np.searchsorted(each.classes_, case.classes)
        np.testing.assert_array_equal(each.classes_[places], case.classes)
        if own.min() < 0:
            own = softmax(own, axis=1)
        own = own if own.ndim == 2 else np.column_stack([1 - own, own])
        np.testing.assert_allclose(each.predict_proba(case.rows)[:, places], own, atol=1e-6)
        expected = np.asarray(case.classes)[own.argmax(axis=1)]
        np.testing.assert_array_equal(each.predict(case.rows), expected)


def test_a_booster_in_python_predicts_with_all_of_its_trees(tmp_path):
    """As its own `predict` does, whichever iteration was the best; a file of it, as XGBRegressor loads it."""
    package = pytest.importorskip("xgboost", reason="xgboost is not installed: make boosters")
    data, held_out = package.DMatrix(X, SIGNAL), package.DMatrix(X[:60], SIGNAL[60:120])
    settings = {"eta": 0.9, "nthread": 1}
    options = {"evals": [(held_out, "others")], "early_stopping_rounds": 5, "verbose_eval": False}
    model = package.train(settings, data, 60, **options)
    assert model.best_iteration == 0
    model.save_model(tmp_path / "model.ubj")
    given = assess(model, X, SIGNAL, random_state=0)
    surefoot.save(given, tmp_path / "model.skops")
    for each in (given, surefoot.load(tmp_path / "model.skops")):
        np.testing.assert_allclose(each.predict(X), model.predict(data), atol=1e-6)
    public = package.XGBRegressor()
    public.load_model(tmp_path / "model.ubj")
    best = assess(surefoot.load(tmp_path / "model.ubj"), X, SIGNAL, random_state=0)
    np.testing.assert_allclose(best.predict(X), public.predict(X), atol=1e-6)
    assert np.abs(best.predict(X) - given.predict(X)).max() > 0.1
