"""A loaded model opens no other file and starts no crowd of processes, wherever its settings hide."""

import json
import os
from collections import OrderedDict
from functools import partial

import numpy as np
import pytest
from sklearn.cluster import FeatureAgglomeration
from sklearn.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import Bunch
from skops.io import dumps
from skrub._table_vectorizer import ShortReprDict

from surefoot.model_files import Stored, Writer, model_content

CACHE = "FILE is not loaded: its setting 'memory' would have it open other files."
BROKEN = "FILE is a broken skops file, or was saved by other versions."
FILES = "FILE is not loaded: its setting 'input' would have it open other files."

PIPELINE = make_pipeline(StandardScaler(), LogisticRegression())
TEXTS = Pipeline([("v", CountVectorizer()), ("m", LogisticRegression())])


def with_attribute(model, name, value):
    setattr(model, name, value)
    return model


# The attacks of which this is known to work with scikit-learn, and places where a setting can hide from a check.
CACHES = {
    "of a pipeline": make_pipeline(LogisticRegression(), memory="cache"),
    "of clusters": make_pipeline(FeatureAgglomeration(memory="cache"), LogisticRegression()),
    "set by a search": GridSearchCV(PIPELINE, {"memory": ["cache"]}),
    "set by a search of a search": GridSearchCV(
        GridSearchCV(PIPELINE, {}), {"param_grid": [{"memory": ["cache"]}]}
    ),
    "set three searches deep": GridSearchCV(
        GridSearchCV(GridSearchCV(PIPELINE, {}), {}),
        {"param_grid": [{"param_grid": [[{"memory": ["cache"]}]]}]},
    ),
    "of an inner pipeline": GridSearchCV(
        make_pipeline(PIPELINE), [{"pipeline__memory": [None, "cache"]}]
    ),
    "of an estimator that a search sets": GridSearchCV(
        PIPELINE,
        {"logisticregression": [make_pipeline(LogisticRegression(), memory="cache")]},
    ),
    "drawn by a search": RandomizedSearchCV(PIPELINE, {"memory": ["cache"]}),
    "in an array of texts": GridSearchCV(PIPELINE, {"memory": np.array(["cache"])}),
    "in an array of objects": GridSearchCV(PIPELINE, {"memory": np.array(["cache"], dtype=object)}),
    "in a tuple": GridSearchCV(PIPELINE, {"memory": ("cache",)}),
    "in a text of NumPy": make_pipeline(LogisticRegression(), memory=np.str_("cache")),
    "under a name of NumPy": GridSearchCV(PIPELINE, {np.str_("memory"): ["cache"]}),
    "in a dict of another type": GridSearchCV(PIPELINE, Bunch(memory=["cache"])),
    "in a dict that is an object": GridSearchCV(PIPELINE, ShortReprDict(memory=["cache"])),
    "in an object": make_pipeline(LogisticRegression(), memory=LogisticRegression()),
    "of a member of an ensemble": BaggingClassifier(
        VotingClassifier([("a", make_pipeline(LogisticRegression(), memory="cache"))])
    ),
    "that an ensemble gives its members": with_attribute(
        with_attribute(BaggingClassifier(PIPELINE), "estimator_params", ("memory",)),
        "memory",
        "cache",
    ),
    "that an ensemble gives inner members": with_attribute(
        with_attribute(BaggingClassifier(PIPELINE), "estimator_params", ("steps__a__memory",)),
        "steps__a__memory",
        "cache",
    ),
    "of what fit has made": with_attribute(
        LogisticRegression(), "fitted_", [make_pipeline(LogisticRegression(), memory="cache")]
    ),
    "in the arguments of a function": make_pipeline(
        FunctionTransformer(np.log1p, kw_args={"where": [{"memory": "cache"}]}),
        LogisticRegression(),
    ),
}

FILE_NAMES = {
    "of a vectorizer": make_pipeline(CountVectorizer(input="filename"), LogisticRegression()),
    "of open files": make_pipeline(HashingVectorizer(input="file"), LogisticRegression()),
    "of a union": make_pipeline(
        FeatureUnion([("a", TfidfVectorizer(input="filename"))]), LogisticRegression()
    ),
    "set by a search": GridSearchCV(TEXTS, {"v__input": ["filename"]}),
    "set by a search of a search": GridSearchCV(
        GridSearchCV(TEXTS, {}), {"param_grid": [{"v__input": ["content", "filename"]}]}
    ),
    "halved by a search": HalvingGridSearchCV(TEXTS, {"v__input": ["filename"]}),
    "in an array without dimensions": make_pipeline(
        CountVectorizer(input=np.array("filename")), LogisticRegression()
    ),
    "in an array with a mask": make_pipeline(
        CountVectorizer(input=np.ma.masked_array(["filename"])), LogisticRegression()
    ),
    "in a text of NumPy": GridSearchCV(TEXTS, {"v__input": [np.str_("filename")]}),
    "in a dict that is an object": RandomizedSearchCV(
        TEXTS, {"v__input": ShortReprDict({0: "filename"})}
    ),
    "in a dict of numbers": RandomizedSearchCV(TEXTS, {"v__input": {0: "filename"}}),
}


@pytest.mark.parametrize("write", [dumps, model_content], ids=["skops", "surefoot"])
@pytest.mark.parametrize("model", CACHES.values(), ids=CACHES)
def test_a_cache_is_refused(refusal, write, model):
    assert refusal(write(model)) == CACHE


@pytest.mark.parametrize("write", [dumps, model_content], ids=["skops", "surefoot"])
@pytest.mark.parametrize("model", FILE_NAMES.values(), ids=FILE_NAMES)
def test_a_file_name_is_refused(refusal, write, model):
    assert refusal(write(model)) == FILES


@pytest.mark.parametrize("write", [dumps, model_content], ids=["skops", "surefoot"])
def test_a_method_of_an_array_that_writes_is_refused(refusal, write, rows, tmp_path, monkeypatch):
    """A stack calls the methods that it names, and what it calls them of need not be models."""
    monkeypatch.chdir(tmp_path)
    stack = StackingClassifier([("a", LogisticRegression())], cv=2).fit(*rows)
    stack.estimators_, stack.stack_method_ = [np.array([7])], ["tofile"]
    model = Pipeline([("text", FunctionTransformer(str)), ("stack", stack)])
    assert refusal(write(model)) == (
        "FILE is not loaded: its setting 'stack_method_' would have it open other files."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]
    with pytest.raises(AttributeError, match="ndim"):  # the attack works
        model.predict(np.zeros((1, 1)))
    assert (tmp_path / "[[0.]]").read_bytes() == np.array([7]).tobytes()


@pytest.mark.parametrize("write", [dumps, model_content], ids=["skops", "surefoot"])
def test_a_stack_is_loaded(load, write, rows):
    members = [("a", LogisticRegression()), ("b", "drop")]
    stack = StackingClassifier(members, cv=2).fit(*rows)
    np.testing.assert_array_equal(load(write(stack)).predict(rows[0]), stack.predict(rows[0]))


@pytest.mark.parametrize("write", [dumps, model_content], ids=["skops", "surefoot"])
def test_words_and_columns_may_have_the_names_of_settings(load, write):
    texts = ["memory input n_jobs", "file filename", "input", "memory"]
    words = CountVectorizer().fit(texts)
    model = make_pipeline(words, LogisticRegression()).fit(texts, [0, 1, 0, 1])
    fixed = make_pipeline(CountVectorizer(vocabulary={"memory": 0, "input": 1, "n_jobs": 99}))
    columns = with_attribute(LogisticRegression(), "kinds_", {"memory": "file", "input": "file"})
    assert load(write(model)).predict(texts).tolist() == model.predict(texts).tolist()
    assert load(write(fixed))[0].vocabulary == {"memory": 0, "input": 1, "n_jobs": 99}
    assert load(write(columns)).kinds_ == {"memory": "file", "input": "file"}


@pytest.mark.parametrize("write", [dumps, model_content], ids=["skops", "surefoot"])
def test_searches_that_open_nothing_are_loaded(load, write, rows):
    scorer = make_scorer(fbeta_score, beta=2)
    for scoring in (None, "accuracy", scorer, ["accuracy", "neg_log_loss"]):
        grid = {"memory": [None], "logisticregression__C": np.array([0.1, 1.0])}
        refit = "accuracy" if isinstance(scoring, list) else True
        search = GridSearchCV(PIPELINE, grid, scoring=scoring, refit=refit, cv=2)
        search.fit(*rows)
        again = load(write(search))
        np.testing.assert_array_equal(again.predict(rows[0]), search.predict(rows[0]))
        assert again.fit(*rows).best_params_ == search.best_params_


@pytest.mark.parametrize("write", [dumps, model_content], ids=["skops", "surefoot"])
def test_no_more_processes_than_processors(load, write):
    most = os.cpu_count()
    forest = RandomForestClassifier(n_jobs=10**9)
    grid = {"estimator__n_jobs": [None, -1, 10**9], "n_jobs": (10**9,), "C": [10**9]}
    search = GridSearchCV(BaggingClassifier(forest, n_jobs=np.int64(10**9)), grid, n_jobs=-1)
    loaded = load(write(make_pipeline(search)))[0]
    assert loaded.n_jobs == -1
    assert loaded.estimator.n_jobs == most
    assert loaded.estimator.estimator.n_jobs == most
    assert loaded.param_grid["estimator__n_jobs"] == [None, -1, most]
    assert loaded.param_grid["n_jobs"] == (most,)
    assert loaded.param_grid["C"] == [10**9]


def test_a_ufunc_of_a_users_own_model_is_kept(load, rows):
    model = make_pipeline(FunctionTransformer(np.expm1), LogisticRegression()).fit(*rows)
    np.testing.assert_array_equal(load(dumps(model)).predict(rows[0]), model.predict(rows[0]))


def test_an_estimator_in_a_partial_function_is_checked(refusal):
    hidden = make_pipeline(LogisticRegression(), memory="cache")
    model = make_pipeline(FunctionTransformer(partial(np.log1p, where=hidden)))
    assert refusal(dumps(model)) == CACHE


HIDDEN = {
    "in a part that skops writes": ({"leaf": -1}, {"memory": ["cache"]}),
    "in a dict of another type there": ({"leaf": -1}, OrderedDict(memory=["cache"])),
    "in an object there": ({"leaf": -1}, ShortReprDict(memory=["cache"])),
    "under a key there": ({"dict": [[[{"leaf": -1}, ["cache"]]]]}, np.str_("memory")),
    "under a key that is made of it": (
        {"dict": [[[{"scalar": ["<U6", {"leaf": -1}]}, ["cache"]]]]},
        np.str_("memory"),
    ),
    "in a value there": ({"dict": [[["memory", [{"leaf": -1}]]]]}, np.str_("cache")),
    "in the last object so far": ({"object": -1}, None),
}


@pytest.mark.parametrize(("code", "leaf"), HIDDEN.values(), ids=HIDDEN)
def test_a_cache_is_not_hidden_from_the_check_of_a_written_file(refusal, load, code, leaf):
    """As `Writer` never writes it: a setting in what is no JSON, or in another object than the check looks at."""
    model = GridSearchCV(LogisticRegression(), {"C": [1]})
    stored = Writer().store(with_attribute(model, "made_", ShortReprDict(memory=["cache"])))
    states, root = json.loads(stored.text)
    (search,) = (state for _, state in states if "param_grid" in state)
    assert load(dumps(stored)).made_ == {"memory": ["cache"]}
    search["param_grid"] = code
    forged = Stored(stored.kinds, [*stored.leaves, leaf], json.dumps([states, root]).encode())
    assert refusal(dumps(forged)) in (CACHE, BROKEN)
