"""Classes that saved models hold have the module of their package, whichever file they are in."""

import sys
from importlib import import_module
from types import ModuleType

import pytest

from surefoot._typing import settle
from surefoot.model_files import TRUSTED

OWN = [
    (package, name)
    for modules in TRUSTED.values()
    for package, names in modules.items()
    if package.startswith("surefoot.")
    for name in names
]


@pytest.mark.parametrize(("package", "name"), OWN)
def test_every_trusted_type_of_surefoot_is_found_in_a_package(package, name):
    assert package.count(".") == 1
    assert getattr(import_module(package), name).__module__ == package


def test_two_classes_of_one_name_are_refused(monkeypatch):
    for module in ("house", "house._one", "house._two"):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
    for module in ("house._one", "house._two"):
        sys.modules[module].Door = type("Door", (), {"__module__": module})
    with pytest.raises(TypeError, match="house has two classes of the name Door"):
        settle("house")
