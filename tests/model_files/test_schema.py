"""A schema makes what it says that it makes, each type in its own way, and no more than it describes."""

import io
import json
import zipfile

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from skops.io import dumps, get_untrusted_types

from surefoot._model_files import TRUSTED

BROKEN = "FILE is a broken skops file, or was saved by other versions."


def described(kind, loader, content, number):
    module, _, name = kind.rpartition(".")
    state = {"__module__": module, "__class__": name, "__loader__": loader, "__id__": number}
    return {**state, "content": content, "key_types": None}


def schema_of(state, **more):
    return zipped_schema(json.dumps({**state, "protocol": 2, **more}))


def zipped_schema(text):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("schema.json", text)
    return archive.getvalue()


def test_lists_nested_200_000_deep(refusal):
    opened = "".join(
        f'{{"__module__": "builtins", "__class__": "list", "__loader__": "ListNode", "__id__": {i + 1}, '
        f'"content": ['
        for i in range(200_000)
    )
    text = f'{{"protocol": 2, {opened[1:]}{"]}" * 200_000}'
    assert refusal(zipped_schema(text)) == "FILE is not loaded: it is nested too deeply."


def test_plain_values_nested_deep(refusal, forge):
    forged = forge(LogisticRegression())
    forged.attributes("LogisticRegression")["C"]["content"] = "[" * 100_000
    assert refusal(forged.content()) == "FILE is not loaded: it is nested too deeply."


def test_an_object_that_contains_itself(refusal):
    inner = described("builtins.list", "ListNode", [], 1)
    content = schema_of(described("builtins.list", "ListNode", [inner], 1))
    assert refusal(content) == "FILE is not loaded: one of its objects contains itself."


def test_objects_that_refer_to_each_other_twice_on_each_of_many_levels(refusal):
    state = described("builtins.list", "ListNode", [], 1)
    for level in range(2, 60):
        again = described("builtins.list", "ListNode", [], level - 1)
        state = described("builtins.list", "ListNode", [state, again], level)
    assert refusal(schema_of(state)) == (
        "FILE is not loaded: its objects refer to each other too often."
    )


def test_a_later_description_of_an_object_counts_for_nothing(refusal, forge):
    """It would be checked, and the earlier one be made."""
    forged = forge(make_pipeline(FunctionTransformer(), StandardScaler()))
    function = described("sklearn.utils.validation.check_array", "FunctionNode", None, 77)
    forged.attributes("FunctionTransformer")["func"] = function
    forged.attributes("StandardScaler")["copy"] = {
        **function,
        "__loader__": "JsonNode",
        "content": "1",
    }
    assert refusal(forged.content()).startswith("FILE is not loaded: ")


@pytest.mark.parametrize(
    ("kind", "loader"),
    [
        ("sklearn.utils.validation.check_array", "ConstructorFromReduceNode"),
        ("functools.partial", "ConstructorFromReduceNode"),
        ("functools.partial", "ListNode"),
        ("functools.partial", "ObjectNode"),
        ("sklearn.neighbors._kd_tree.KDTree", "ConstructorFromReduceNode"),
        ("sklearn.tree._tree.Tree", "ObjectNode"),
        ("pandas.DataFrame", "ObjectNode"),
        ("sklearn.utils.validation.check_array", "TypeNode"),
        ("sklearn.linear_model._logistic.LogisticRegression", "MethodNode"),
        ("operator.methodcaller", "OperatorFuncNode"),
        ("scipy.sparse._matrix.spmatrix", "SparseMatrixNode"),
        ("os.system", "FunctionNode"),
        ("builtins.eval", "TypeNode"),
        ("builtins.dict", "NoSuchNode"),
    ],
)
def test_a_type_that_is_stored_as_it_never_is(refusal, kind, loader):
    state = described(kind, loader, [], 1)
    assert refusal(schema_of(state)) == (
        f"FILE is not loaded: it holds {kind!r}, which surefoot does not trust."
    )


def test_a_model_of_another_package_is_named_besides_what_it_holds(refusal):
    bytes_of_trees = described("builtins.bytearray", "BytearrayNode", [], 2)
    state = described("xgboost.core.Booster", "ObjectNode", [bytes_of_trees], 1)
    assert refusal(schema_of(state)) == (
        "FILE is not loaded: it holds 'builtins.bytearray' and 'xgboost.core.Booster', "
        "which surefoot does not trust."
    )


@pytest.mark.parametrize("protocol", [None, -1, 0, 1, 999, True, "2", 2.0])
def test_protocols_that_are_not_read(refusal, protocol):
    with zipfile.ZipFile(io.BytesIO(dumps(LogisticRegression()))) as archive:
        schema = json.loads(archive.read("schema.json"))
    assert refusal(schema_of(schema, protocol=protocol)) == BROKEN


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "1", '"text"', "{}", '{"a": 1', "\xff", "{" * 9]
)
def test_a_schema_that_describes_nothing(refusal, text):
    assert refusal(zipped_schema(text.encode("latin-1"))) == BROKEN


@pytest.mark.parametrize("number", [None, 0, -1, 1.5, "1", True, []])
def test_an_object_without_a_number(refusal, number):
    assert refusal(schema_of(described("builtins.list", "ListNode", [], number))) == BROKEN


def test_names_that_skops_does_not_trust_are_those_that_we_report(refusal, forge):
    """Our audit visits each object once; that of skops follows every path, and says the same."""
    forged = forge(make_pipeline(FunctionTransformer(), StandardScaler()))
    forged.state(__class__="StandardScaler").update(__module__="evil", __class__="Scaler")
    forged.attributes("FunctionTransformer")["func"] = described(
        "os.abort", "FunctionNode", None, 5
    )
    theirs = set(get_untrusted_types(data=forged.content()))
    assert theirs == {"evil.Scaler", "os.abort"}
    assert refusal(forged.content()) == (
        "FILE is not loaded: it holds 'evil.Scaler' and 'os.abort', which surefoot does not trust."
    )


@pytest.mark.parametrize(
    ("content", "kind"),
    [({"a": 1}, "dict"), ("text", "str"), ([1, 2], "list"), (None, "NoneType"), (1.5, "float")],
)
def test_a_file_that_holds_no_model(refusal, content, kind):
    assert refusal(dumps(content)) == f"FILE is not loaded: it holds a {kind}, which is no model."


def test_each_type_is_trusted_in_one_way():
    names = [name for names in TRUSTED.values() for name in names]
    assert len(names) == len(set(names))
