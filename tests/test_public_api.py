"""Exported names exist, and `import surefoot` costs nothing until one of them is used."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import surefoot

PACKAGES = [m.name for m in iter_modules(surefoot.__path__) if m.name[0] != "_"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_exists_and_is_exported_once(package):
    module = import_module(f"surefoot.{package}")
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert sorted(set(module.__all__)) == sorted(module.__all__)


@pytest.mark.parametrize("name", sorted(set(surefoot.__all__) - {"__version__"}))
def test_a_top_level_name_is_that_of_the_one_package_that_exports_it(name):
    modules = [import_module(f"surefoot.{package}") for package in PACKAGES]
    (home,) = (module for module in modules if name in module.__all__)
    assert getattr(surefoot, name) is getattr(home, name)


def test_type_checkers_and_completion_see_the_top_level_names():
    tree = ast.parse(Path(surefoot.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.name for node in block.body for alias in node.names}
    assert imported | {"__version__"} == set(dir(surefoot)) == set(surefoot.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'surefoot' has no attribute 'Sensitivity'"):
        surefoot.Sensitivity  # noqa: B018


def loaded_after(code):
    """Modules that a new interpreter has loaded after some code."""
    command = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_importing_surefoot_imports_none_of_its_dependencies():
    assert loaded_after("import surefoot").isdisjoint({"numpy", "scipy", "sklearn", "numba"})


def test_a_top_level_name_loads_only_the_packages_below_it():
    loaded = loaded_after("import surefoot; surefoot.Confidence")
    assert "surefoot.indicators" in loaded
    unneeded = {"surefoot.error_estimation", "surefoot.report", "matplotlib", "altair", "typer"}
    assert loaded.isdisjoint(unneeded)
