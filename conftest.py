"""No test or docstring example depends on what ran before it, on other machines, or on data that may not be there."""

import os
import runpy
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

# A busy machine takes longer now and then, which is no fault of the example.
if find_spec("hypothesis") is not None:  # `make mlflow` does without
    from hypothesis import settings

    settings.register_profile("any machine", deadline=None)
    settings.load_profile("any machine")

# They hold fixtures, and no examples: several modules of one name cannot all be looked through for these.
collect_ignore_glob = ["tests/conftest.py", "tests/**/conftest.py"]
if find_spec("mlflow") is None:  # their examples run in `make mlflow`
    collect_ignore_glob += ["src/surefoot/integrations/*mlflow*.py"]
if find_spec("distributed") is None:  # the extra dask
    collect_ignore_glob += ["tests/clusters", "src/surefoot/scoring/_dask.py"]
if find_spec("pooch") is None:  # the dependency group reproduction
    collect_ignore_glob += ["tests/reproduction"]

# A Python imports a `sitecustomize` when it starts: those that tests start are guarded, too.
GUARD = Path(__file__).parent / "tests" / "local_connections"
collect_ignore_glob += [str(GUARD)]
runpy.run_path(str(GUARD / "sitecustomize.py"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(GUARD), *filter(None, [os.environ.get("PYTHONPATH")])]
)


@pytest.fixture(autouse=True)
def _data_for_marked_tests(request: pytest.FixtureRequest) -> Iterator[None]:
    """Skip a test that is marked `data` where there is none, and hide the data sets from all others."""
    home = os.environ.get("SUREFOOT_DATA")
    if request.node.get_closest_marker("data"):
        if not home:
            pytest.skip("$SUREFOOT_DATA is not set")
        yield
        return
    os.environ.pop("SUREFOOT_DATA", None)
    yield
    if home:
        os.environ["SUREFOOT_DATA"] = home


@pytest.fixture(autouse=True)
def _same_draws() -> Iterator[None]:
    """Seed what `random_state=None` draws from, as one test must not depend on another."""
    before = np.random.get_state()  # noqa: NPY002 (scikit-learn draws from this one)
    np.random.seed(0)  # noqa: NPY002
    yield
    np.random.set_state(before)  # noqa: NPY002


@pytest.fixture(autouse=True)
def _no_open_figures() -> Iterator[None]:
    """Close the figures that a test, or the examples of a page, have drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
