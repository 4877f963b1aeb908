"""Stored models to forge: taken apart, changed, and put together again."""

import io
import json
import zipfile

import numpy as np
import pytest
from skops.io import dumps

from surefoot._model_files import ModelFileError, load_model


class Forgery:
    """A stored model whose schema, arrays and objects a test changes before it is loaded."""

    def __init__(self, model):
        with zipfile.ZipFile(io.BytesIO(dumps(model))) as archive:
            self.members = {name: archive.read(name) for name in archive.namelist()}
        self.schema = json.loads(self.members["schema.json"])
        self.n_replaced = 0

    def states(self, **wanted):
        """Every description of an object with these entries, e.g. __class__="Tree"."""
        waiting = [self.schema]
        while waiting:
            value = waiting.pop()
            is_object = isinstance(value, dict) and "__loader__" in value
            if is_object and all(value.get(key) == wanted[key] for key in wanted):
                yield value
            parts = value.values() if isinstance(value, dict) else value
            waiting.extend(part for part in parts if isinstance(part, (dict, list)))

    def state(self, **wanted):
        return next(self.states(**wanted))

    def attributes(self, kind):
        """Descriptions of the attributes of the first object of a type, by name."""
        return self.state(__class__=kind)["content"]["content"]

    def set(self, kind, **values):
        """Give the first object of a type other attributes: descriptions of objects, or plain values."""
        attributes = self.state(__class__=kind)["content"]
        for number, (name, value) in enumerate(values.items()):
            is_description = isinstance(value, dict) and "__loader__" in value
            if name not in attributes["content"]:
                text = {"__module__": "builtins", "__class__": "str", "__loader__": "TypeNode"}
                attributes["key_types"]["content"].append({**text, "__id__": 10**14 + number})
            described = value if is_description else plain(value, 10**15 + number)
            attributes["content"][name] = described
        return self

    def replace(self, state, value):
        """Turn the description of an object into that of a plain value, which is no other's."""
        state.clear()
        self.n_replaced += 1
        state.update(plain(value, 10**16 + self.n_replaced))
        return self

    def change(self, state, function):
        """Replace an array by what a function makes of it."""
        name = state["file"]
        out = io.BytesIO()
        values = np.load(io.BytesIO(self.members[name]))
        np.save(out, function(values.copy()), allow_pickle=False)
        self.members[name] = out.getvalue()
        return self

    def content(self):
        members = {**self.members, "schema.json": json.dumps(self.schema).encode()}
        return zipped(members)


def zipped(members, method=zipfile.ZIP_STORED):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return archive.getvalue()


def plain(value, number):
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "__id__": number,
        "content": json.dumps(value),
    }


@pytest.fixture
def forge():
    return Forgery


@pytest.fixture
def load(tmp_path):
    """Model from these contents of a file."""

    def call(content):
        path = tmp_path / "model.skops"
        path.write_bytes(content)
        return load_model(path)

    return call


@pytest.fixture
def refusal(load, tmp_path):
    """Sentence with which contents are refused."""

    def call(content):
        with pytest.raises(ModelFileError) as caught:
            load(content)
        sentence = str(caught.value)
        assert sentence.count("\n") == 0
        assert sentence.endswith(".")
        return sentence.replace(str(tmp_path / "model.skops"), "FILE")

    return call


@pytest.fixture(scope="session")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)
