"""A loaded model runs nothing that lies elsewhere, reads no files and writes none."""

import operator
import os
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from skops.io import dumps


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def remembering(folder):
    return make_pipeline(StandardScaler(), LogisticRegression(), memory=str(folder))


def plant(folder, payload):
    """Replace whatever joblib remembers in a folder by a pickle that writes a file."""
    outputs = list(folder.rglob("output.pkl"))
    for output in outputs:
        joblib.dump(payload, output)
    return outputs


def fit_quietly(model, X, y):
    try:
        model.fit(X, y)
    except (TypeError, ValueError):  # what the payload left is no transformed table
        return


def test_the_attack_works_on_a_model_that_was_not_loaded_by_us(tmp_path, rows):
    cache, written = tmp_path / "cache", tmp_path / "written"
    remembering(cache).fit(*rows)
    assert plant(cache, Payload(written))
    fit_quietly(remembering(cache), *rows)
    assert written.exists()


@pytest.mark.parametrize("is_fitted", [False, True])
def test_a_planted_cache_is_neither_run_nor_written_to(tmp_path, load, rows, is_fitted):
    cache, written = tmp_path / "cache", tmp_path / "written"
    model = remembering(cache).fit(*rows)
    plant(cache, Payload(written))
    before = sorted((path, path.stat().st_mtime_ns) for path in cache.rglob("*"))
    loaded = load(dumps(model if is_fitted else clone(model)))
    fit_quietly(loaded, *rows)
    loaded.predict(rows[0])
    assert not written.exists()
    assert sorted((path, path.stat().st_mtime_ns) for path in cache.rglob("*")) == before


def test_memory_is_cleared_at_every_depth(load):
    inner = Pipeline([("model", LogisticRegression())], memory="a")
    grouped = AgglomerativeClustering(memory="b")
    steps = [("groups", grouped), ("pipeline", inner)]
    search = GridSearchCV(Pipeline(steps, memory="c"), {"pipeline__model__C": [1, 2]}, cv=2)
    outer = BaggingClassifier(search, n_estimators=2)
    loaded = load(dumps(outer))
    memories = {key: value for key, value in loaded.get_params().items() if key.endswith("memory")}
    assert len(memories) == 3
    assert set(memories.values()) == {None}


def test_a_search_that_sets_memory_is_refused(refusal):
    search = GridSearchCV(remembering("a"), {"memory": ["cache"]})
    nested = GridSearchCV(make_pipeline(remembering("a")), [{"pipeline__memory": ["cache"]}])
    assert refusal(dumps(search)) == "FILE is not loaded: its param_grid sets 'memory'."
    assert refusal(dumps(nested)) == "FILE is not loaded: its param_grid sets 'pipeline__memory'."


@pytest.mark.parametrize("source", ["filename", "file"])
def test_a_vectorizer_that_opens_files_is_refused(refusal, source):
    model = make_pipeline(CountVectorizer(input=source), LogisticRegression())
    assert refusal(dumps(model)) == (
        f"FILE is not loaded: it would read files, as its input is {source!r}."
    )


def test_a_pattern_that_never_ends_is_refused(refusal, load):
    sentence = refusal(dumps(TfidfVectorizer(token_pattern="(a+)+$")))  # noqa: S106 - a pattern
    assert sentence == "FILE is not loaded: its token_pattern is '(a+)+$'."
    assert load(dumps(TfidfVectorizer(token_pattern=r"\w+"))).token_pattern == r"\w+"  # noqa: S105, S106


def test_no_more_processes_than_processors(load):
    most = os.cpu_count()
    assert load(dumps(BaggingClassifier(n_jobs=10**9))).n_jobs == most
    assert load(dumps(BaggingClassifier(n_jobs=-(10**9)))).n_jobs == -most
    assert load(dumps(BaggingClassifier(n_jobs=-1))).n_jobs == -1
    assert load(dumps(BaggingClassifier())).n_jobs is None


def test_what_joblib_would_evaluate_is_refused(refusal, load):
    search = GridSearchCV(LogisticRegression(), {"C": [1]}, pre_dispatch="9**9**9*n_jobs")
    assert refusal(dumps(search)) == "FILE is not loaded: its pre_dispatch is '9**9**9*n_jobs'."
    assert load(dumps(search.set_params(pre_dispatch="2*n_jobs"))).pre_dispatch == "2*n_jobs"


def test_a_function_is_refused_where_no_model_of_ours_has_it(refusal, forge):
    model = make_pipeline(FunctionTransformer(np.log1p), LogisticRegression())
    forged = forge(model)
    function = forged.state(__loader__="FunctionNode")
    as_stored = dict(function)
    function.update(__module__="sklearn.utils.validation", __class__="check_array")
    assert refusal(forged.content()) == (
        "FILE is not loaded: func of FunctionTransformer is 'sklearn.utils.validation.check_array'."
    )
    another = {**function, "__id__": 10**15}
    function.update(as_stored)
    forged.set("LogisticRegression", predict=another)
    assert refusal(forged.content()) == (
        "FILE is not loaded: predict of LogisticRegression is 'sklearn.utils.validation.check_array'."
    )


def test_a_ufunc_of_a_users_own_model_is_kept(load, rows):
    model = make_pipeline(FunctionTransformer(np.expm1), LogisticRegression()).fit(*rows)
    np.testing.assert_array_equal(load(dumps(model)).predict(rows[0]), model.predict(rows[0]))


def boosting_with_a_partial(rows):
    frame = pd.DataFrame(rows[0]).astype({0: "int64"}).astype({0: "category"})
    return HistGradientBoostingClassifier(max_iter=2).fit(frame, rows[1])


def test_a_partial_function_wraps_only_the_check_of_boosting(refusal, forge, load, rows):
    model = boosting_with_a_partial(rows)
    assert load(dumps(model)).n_iter_ == 2
    forged = forge(model)
    for wrapping in forged.states(__loader__="PartialNode"):
        wrapped = wrapping["content"]["func"]
        wrapped.update(__module__="surefoot._models._vectorizer", __class__="_as_objects")
    assert refusal(forged.content()) == (
        "FILE is not loaded: it holds a partial 'surefoot._models._vectorizer._as_objects'."
    )


def test_a_partial_function_has_plain_arguments(refusal, forge, rows):
    forged = forge(boosting_with_a_partial(rows))
    for wrapping in list(forged.states(__loader__="PartialNode")):
        encoder = forged.state(__class__="OrdinalEncoder")
        wrapping["content"]["kwds"]["content"]["dtype"] = encoder
    assert refusal(forged.content()) == (
        "FILE is not loaded: it holds a partial 'sklearn.utils.validation.check_array'."
    )


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (operator.methodcaller("mkdir"), "operator.methodcaller"),
        (operator.attrgetter("__class__"), "operator.attrgetter"),
        (StandardScaler().fit, "StandardScaler.fit"),
        (partial(os.system, "true"), "os.system"),
    ],
)
def test_methods_operators_and_system_functions_are_refused(refusal, function, kind):
    sentence = refusal(dumps(FunctionTransformer(function)))
    assert sentence.endswith("which surefoot does not trust.")
    assert kind.rpartition(".")[0].rpartition(".")[2] in sentence
