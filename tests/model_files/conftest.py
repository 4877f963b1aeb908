"""Contents of files, loaded or refused."""

import numpy as np
import pytest

import surefoot
from surefoot.model_files import ModelFileError


@pytest.fixture
def load(tmp_path):
    """Model from these contents of a file."""

    def call(content):
        path = tmp_path / "model.skops"
        path.write_bytes(content)
        return surefoot.load(path)

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
