"""Every test and every docstring example draws the same numbers, whatever ran before it."""

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pytest

# They hold fixtures, and no examples: several modules of one name cannot all be looked through for these.
collect_ignore_glob = ["tests/conftest.py", "tests/**/conftest.py"]
if find_spec("mlflow") is None:  # their examples run in `make mlflow`
    collect_ignore_glob += ["src/surefoot/integrations/*mlflow*.py", "docs/guide/mlflow.rst"]
if find_spec("distributed") is None:  # the extra dask
    collect_ignore_glob += [
        "tests/clusters",
        "src/surefoot/scoring/_dask.py",
        "docs/guide/many_machines.rst",
    ]
if find_spec("pyspark") is None:  # its example runs in `make spark`
    collect_ignore_glob += ["docs/guide/spark.rst"]


@pytest.fixture(autouse=True)
def _same_draws() -> Iterator[None]:
    """Seed what `random_state=None` draws from, as one test must not depend on another."""
    before = np.random.get_state()  # noqa: NPY002 (scikit-learn draws from this one)
    np.random.seed(0)  # noqa: NPY002
    yield
    np.random.set_state(before)  # noqa: NPY002
