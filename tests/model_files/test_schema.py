"""Nothing is made but what is on the list, each type in its own way, and nothing is called while it is made."""

import json
import operator
import os
from functools import partial

import numpy as np
import pytest
import sklearn
from forgeries import Forgery, zipped
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from skops.io import dumps, get_untrusted_types, loads
from skrub import StringEncoder

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor, model_files
from surefoot._models import FittedModel
from surefoot.model_files import LOADER_OF, TRUSTED

BROKEN = "FILE is a broken skops file, or was saved by other versions."
CACHE = "FILE is not loaded: its setting 'memory' would have it open other files."


def untrusted(kind):
    return f"FILE is not loaded: it holds {kind!r}, which surefoot does not trust."


def run_something(*_):
    raise AssertionError("nothing of a file may run")


class OfSomebody:
    """A type that surefoot does not know, which is made by calling it."""

    def __reduce__(self):
        return (OfSomebody, ())


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (run_something, f"{__name__}.run_something"),
        (os.system, "posix.system"),
        (partial(os.system, "true"), "posix.system"),
        (operator.methodcaller("mkdir"), "operator.methodcaller"),
        (operator.attrgetter("__class__"), "operator.attrgetter"),
        (StandardScaler().fit, "StandardScaler.fit"),
        (OfSomebody(), f"{__name__}.OfSomebody"),
    ],
)
def test_a_function_a_reduce_or_a_foreign_type_at_any_depth(refusal, function, kind):
    shallow = FunctionTransformer(function)
    grid = {"functiontransformer__func": [np.log1p, function]}
    deep = GridSearchCV(make_pipeline(FunctionTransformer(), LogisticRegression()), grid)
    for model in (shallow, make_pipeline(deep)):
        sentence = refusal(dumps(model))
        assert sentence.endswith("which surefoot does not trust.")
        assert kind in sentence
        assert refusal(model_files.model_content(model)) == sentence


def described(kind, loader, content=(), **more):
    module, _, name = kind.rpartition(".")
    return {
        "__module__": module,
        "__class__": name,
        "__loader__": loader,
        "__id__": 1,
        "content": content,
        "key_types": None,
        "attrs": None,
        "func": "fit",
        **more,
    }


@pytest.mark.parametrize(
    ("kind", "loader"),
    [
        ("sklearn.utils.validation.check_array", "ConstructorFromReduceNode"),
        ("surefoot._crossfit.Panel", "ConstructorFromReduceNode"),
        ("surefoot._crossfit.Panel", "ListNode"),
        ("surefoot._crossfit.Panel", "TypeNode"),
        ("functools.partial", "ObjectNode"),
        ("pandas.DataFrame", "ObjectNode"),
        ("os.system", "FunctionNode"),
        ("builtins.eval", "TypeNode"),
    ],
)
def test_a_type_that_is_stored_as_it_never_is(refusal, kind, loader):
    arguments = described("builtins.tuple", "TupleNode", [])
    content = {"ObjectNode": None, "ConstructorFromReduceNode": arguments}.get(loader, [])
    state = described(kind, loader, content)
    assert refusal(zipped({"schema.json": json.dumps({**state, "protocol": 2})})) == untrusted(kind)


def test_a_key_of_a_dict_is_made_by_a_type(refusal, rows, monkeypatch):
    """skops calls what makes a key: here a part of surefoot that asks a model."""
    called = []
    response = FittedModel(LogisticRegression().fit(*rows), "auto", 60)
    monkeypatch.setattr(FittedModel, "__call__", lambda _, key: called.append(key))
    forged = Forgery(GridSearchCV(LogisticRegression(), {"C": [1]}))
    grid = forged.attributes("GridSearchCV")["param_grid"]
    maker = Forgery(response)
    forged.members |= {**maker.members, **forged.members}
    # Two files may use one number for two objects, as these are places in memory: those of one get another digit.
    apart = json.dumps(maker.schema).replace('"__id__": ', '"__id__": 9')
    grid["key_types"]["content"] = [json.loads(apart)]
    assert refusal(forged.content()) == BROKEN
    assert called == []
    loads(forged.content(), trusted=get_untrusted_types(data=forged.content()))
    assert called == ["C"]


def test_an_object_is_what_its_own_description_says(load):
    """For skops it is the one that was described earlier under the same number: here a cache."""
    forged = Forgery(make_pipeline(StandardScaler(), LogisticRegression()))
    first_step = forged.attributes("Pipeline")["steps"]["content"][0]
    first_step["content"][0].update(__id__=77, content='"cache"')
    forged.attributes("Pipeline")["memory"].update(__id__=77)
    assert loads(forged.content()).memory == "cache"
    assert load(forged.content()).memory is None


def test_attributes_that_are_given_in_another_way(refusal):
    """As a tuple of pairs, or as plain JSON, the settings are seen, too."""
    forged = Forgery(make_pipeline(LogisticRegression()))
    hidden = json.dumps({"steps": [], "memory": "cache", "_sklearn_version": sklearn.__version__})
    forged.state("Pipeline")["content"] = described("builtins.str", "JsonNode", hidden)
    assert refusal(forged.content()) == CACHE
    forged = Forgery(StringEncoder())
    pair = [described("builtins.str", "JsonNode", text) for text in ('"memory"', '"cache"')]
    pairs = [described("builtins.tuple", "TupleNode", pair)]
    forged.schema["content"] = described("builtins.tuple", "TupleNode", pairs)
    assert refusal(forged.content()) == CACHE


def test_a_setting_is_not_hidden_in_plain_json(refusal):
    forged = Forgery(GridSearchCV(make_pipeline(LogisticRegression()), {}))
    forged.attributes("GridSearchCV")["param_grid"] = described(
        "builtins.str", "JsonNode", '[{"memory": ["cache"]}]'
    )
    assert refusal(forged.content()) == CACHE


def test_an_array_is_not_described_as_empty(refusal, rows):
    """skops reads the file of the array; the content beside it is there to mislead."""
    grid = {"memory": np.array(["cache"])}
    forged = Forgery(GridSearchCV(make_pipeline(LogisticRegression()), grid))
    forged.state("ndarray")["content"] = []
    assert refusal(forged.content()) == CACHE


@pytest.mark.parametrize("protocol", [None, -1, 0, 1, 999, "2"])
def test_protocols_that_are_not_read(refusal, protocol):
    forged = Forgery(LogisticRegression())
    forged.schema["protocol"] = protocol
    assert refusal(forged.content()) == BROKEN


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "1", '"text"', "{}", '{"a": 1', "\xff", "{" * 9]
)
def test_a_schema_that_describes_nothing(refusal, text):
    assert refusal(zipped({"schema.json": text.encode("latin-1")})) == BROKEN


def test_lists_nested_200_000_deep(refusal):
    opened = '"__module__": "builtins", "__class__": "list", "__loader__": "ListNode", "content": ['
    text = f'{{"protocol": 2, {opened}' + f"{{{opened}" * 200_000 + "]}" * 200_001
    assert refusal(zipped({"schema.json": text})) == (
        "FILE is not loaded: it is nested too deeply, or too large for the memory."
    )


@pytest.mark.parametrize(
    ("content", "kind"),
    [({"a": 1}, "dict"), ("text", "str"), ([1, 2], "list"), (None, "NoneType"), (1.5, "float")],
)
def test_a_file_that_holds_no_model(refusal, content, kind):
    sentence = f"FILE is not loaded: it holds a {kind}, which is no model."
    assert refusal(dumps(content)) == sentence
    assert refusal(model_files.model_content(content)) == sentence


@pytest.mark.parametrize("kind", [IndividualErrorClassifier, IndividualErrorRegressor])
def test_an_error_estimator_that_is_not_fitted(refusal, kind):
    assert refusal(dumps(kind(LogisticRegression()))) == (
        f"FILE is not loaded: it holds an unfitted {kind.__name__}."
    )


def test_each_type_is_trusted_in_one_way():
    names = [
        f"{module}.{name}"
        for modules in TRUSTED.values()
        for module, names in modules.items()
        for name in names
    ]
    assert len(names) == len(set(names))
    assert set(names) < LOADER_OF.keys()
