"""The wheel holds what is needed at run time, the sdist what is needed to work on it, and versions agree."""

import re
import tarfile
import tomllib
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

import surefoot

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NEEDS_HATCHLING = "hatchling is not installed: make test"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Names in the wheel, and its metadata."""
    builder = pytest.importorskip("hatchling.builders.wheel", reason=NEEDS_HATCHLING).WheelBuilder
    [path] = builder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")))
    with ZipFile(path) as archive:
        [metadata] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return set(archive.namelist()), Parser().parsestr(archive.read(metadata).decode())


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """Paths in the sdist, without its own folder."""
    builder = pytest.importorskip("hatchling.builders.sdist", reason=NEEDS_HATCHLING).SdistBuilder
    [path] = builder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("sdist")))
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def files_in(folder):
    """Paths of the files in a folder of the repository, without what Python has compiled."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not re.search(r"__pycache__|\.(nbi|nbc|pyc)$", path.as_posix())
    }


def test_the_wheel_holds_every_file_of_the_package(wheel):
    names, _ = wheel
    package = {name.removeprefix("src/") for name in files_in("src/surefoot")}
    assert package == {name for name in names if ".dist-info/" not in name}
    assert "surefoot/py.typed" in package
    assert {
        "surefoot/report/page/templates/page.html",
        "surefoot/report/page/templates/style.css",
    } < package


def test_the_metadata_are_those_of_the_project(wheel):
    names, metadata = wheel
    assert metadata["Name"] == "surefoot"
    assert metadata["Version"] == surefoot.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert set(metadata.get_all("Provides-Extra")) == set(
        PROJECT["project"]["optional-dependencies"]
    )
    assert metadata.get_payload() == (ROOT / "README.md").read_text()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert any(name.endswith(".dist-info/entry_points.txt") for name in names)


def test_the_sdist_holds_the_tests_and_all_that_make_uses(sdist):
    for folder in ("src/surefoot", "tests", "reproduction"):
        assert files_in(folder) <= sdist
    assert {"Makefile", "constraints.txt", "constraints-lowest.txt", "conftest.py"} <= sdist
    assert set(re.findall(r"\.ci/[\w-]+", (ROOT / "Makefile").read_text())) <= sdist
    assert not any(re.search(r"(^|/)(\.venv[^/]*|build|dist|_build)/", name) for name in sdist)


def requirements():
    """Name and lowest version of what the library, its extras or most tests need; MLflow is tested elsewhere."""
    extras = PROJECT["project"]["optional-dependencies"]
    groups = [
        PROJECT["project"]["dependencies"],
        *(extra for name, extra in extras.items() if name != "mlflow"),
        PROJECT["dependency-groups"]["test-core"],
    ]
    for entry in (entry for group in groups for entry in group):
        if not entry.startswith("surefoot["):
            name, version = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", entry).groups()
            yield name, version


def pinned(file):
    """Version of each package in a file of constraints, by its name in small letters."""
    lines = (ROOT / file).read_text().splitlines()
    return {name.lower(): version for name, version in (line.split("==") for line in lines)}


def as_numbers(version):
    """Release of a version, without the zeros at its end: 1.8 is 1.8.0."""
    numbers = [int(part) for part in re.match(r"[\d.]+", version)[0].strip(".").split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def test_the_lowest_versions_are_the_ones_that_the_matrix_tries():
    lowest = pinned("constraints-lowest.txt")
    assert {name for name, _ in requirements()} <= set(lowest)
    for name, version in requirements():
        assert as_numbers(lowest[name]) == as_numbers(version), name


def test_the_versions_of_development_are_allowed():
    newest = pinned("constraints.txt")
    for name, version in requirements():
        assert as_numbers(newest[name]) >= as_numbers(version), name


def test_the_files_of_constraints_hold_names_and_versions_only():
    for file in ("constraints.txt", "constraints-lowest.txt"):
        lines = (ROOT / file).read_text().splitlines()
        assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
