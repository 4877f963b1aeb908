"""Packages keep their modules private, public names are documented, and the library stays small.

`make check` prints how large it is, beside the limits.
"""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"

# The most that there may be of each; docstrings are no statements.
LIMITS = {
    "statements in src/surefoot": 18_912,
    "statements in reproduction": 2_361,
    "modules in src/surefoot": 164,
    "public names": 100,
}

# Names that tests, benchmarks and studies import from private modules. The number may only become smaller.
PRIVATE_NAMES_IN_TESTS = 40


@cache
def nodes_of(text):
    """Every node of the text of a module."""
    return tuple(ast.walk(ast.parse(text)))


def imported_names(text, package):
    """Line and dotted name of every import in the text of a module of `package`, wherever it stands."""
    for node in nodes_of(text):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            own = package.split(".")
            parents = own[: len(own) + 1 - node.level] if node.level else []
            origin = [*parents, node.module] if node.module else parents
            yield from ((node.lineno, ".".join([*origin, alias.name])) for alias in node.names)


def is_private_elsewhere(name, package):
    """Whether a dotted name has a private part whose owner `package` is no part of."""
    parts, own = name.split("."), package.split(".")
    owners = [parts[:i] for i, part in enumerate(parts) if re.match(r"_(?!_)", part)]
    return parts[0] == "surefoot" and any(own[: len(owner)] != owner for owner in owners)


def private_imports(text, package):
    """Line and name of each import that reaches into another package."""
    return [
        (line, name)
        for line, name in imported_names(text, package)
        if is_private_elsewhere(name, package)
    ]


def reaching_in(texts):
    """Place and name of each import by which a module, given by its path, reaches into another package."""
    return [
        f"{path}:{line}: {name}"
        for path, text in texts.items()
        for line, name in private_imports(text, ".".join(path.parent.parts[1:]))
    ]


def exported_names(text):
    """Names in a module's `__all__`."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise ValueError("The package has no __all__.")


def names_of_packages(pattern):
    """Whole name of everything that the packages whose folders match export."""
    return {
        f"{'.'.join(path.relative_to(SRC).parent.parts)}.{name}"
        for path in SRC.glob(f"surefoot/{pattern}/__init__.py")
        for name in exported_names(path.read_text())
    }


def public_names():
    return names_of_packages("[!_]*")


def documented_names(text):
    """Whole name of every entry of the autosummaries of a page, under the module that is current there."""
    names, module, in_summary = [], None, False
    for line in text.splitlines():
        if directive := re.match(r"\.\. (\w+)::\s*(\S*)", line):
            in_summary = directive[1] == "autosummary"
            module = directive[2] if directive[1] == "currentmodule" else module
        elif in_summary and re.fullmatch(r"   [\w.]+", line):
            names.append(f"{module}.{line.strip()}")
        elif line and not line.startswith(" "):
            in_summary = False
    return names


def name_in_package(name):
    """Where a name of a private module is if its package exports it."""
    parts = name.split(".")
    return ".".join([*parts[:2], *(part for part in parts[2:] if not part.startswith("_"))])


def count_statements(text):
    """Number of statements of a module, docstrings aside."""
    nodes = nodes_of(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [ast.get_docstring(node) for node in nodes if isinstance(node, documented)]
    n_statements = sum(isinstance(node, ast.stmt) for node in nodes)
    return n_statements - sum(docstring is not None for docstring in docstrings)


def read(*patterns):
    """Texts of the files that match, by their path in the repository."""
    paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    return {path.relative_to(ROOT): path.read_text() for path in paths}


def read_tests():
    return read("tests/**/*.py", "benchmarks/*.py", "research/*.py")


def test_no_package_imports_a_private_module_of_another():
    places = reaching_in(read("src/**/*.py"))
    assert not places, "\n".join(places)


def test_the_reproduction_uses_public_names_alone():
    texts = read("reproduction/*.py")
    places = [
        f"{path}:{line}: {name}"
        for path, text in texts.items()
        for line, name in imported_names(text, "reproduction")
        if name.startswith("surefoot.") and "._" in name
    ]
    assert len(texts) > 15
    assert not places, "\n".join(places)


def test_every_way_to_reach_into_a_package_is_noticed():
    text = """
import surefoot.a._one
from surefoot.a._two import thing
from surefoot.a import _three
from surefoot._shared._four import thing
from ..a._five import thing
def late():
    from surefoot.a._six import thing
if TYPE_CHECKING:
    import surefoot.a.part._seven as seven
"""
    assert [line for line, _ in private_imports(text, "surefoot.b")] == [2, 3, 4, 5, 6, 8, 10]
    texts = {Path("src/surefoot/b/_x.py"): "from surefoot.b.part._own import thing"}
    assert reaching_in(texts) == ["src/surefoot/b/_x.py:1: surefoot.b.part._own.thing"]


def test_tests_import_fewer_and_fewer_private_names():
    imported = [
        name for text in read_tests().values() for _, name in private_imports(text, "surefoot")
    ]
    assert len(imported) <= PRIVATE_NAMES_IN_TESTS


def test_tests_import_what_a_package_exports_from_the_package():
    exported = names_of_packages("**")
    roundabout = [
        f"{path}:{line}: {name}"
        for path, text in read_tests().items()
        for line, name in private_imports(text, "surefoot")
        if name_in_package(name) in exported
    ]
    assert not roundabout, "\n".join(roundabout)


def test_the_reference_lists_exactly_the_public_names():
    documented = documented_names((ROOT / "docs/api.rst").read_text())
    missing, unknown = public_names() - set(documented), set(documented) - public_names()
    assert not missing, f"exported, not in docs/api.rst: {sorted(missing)}"
    assert not unknown, f"in docs/api.rst, not exported: {sorted(unknown)}"
    assert len(documented) == len(set(documented))


def test_the_library_stays_within_its_limits():
    texts, names = read("src/surefoot/**/*.py"), public_names()
    sizes = {
        "statements in src/surefoot": sum(map(count_statements, texts.values())),
        "statements in reproduction": sum(
            map(count_statements, read("reproduction/**/*.py").values())
        ),
        "modules in src/surefoot": len(texts),
        "public names": len(names),
    }
    rows = [f"{name:<28}{size:>9,.6g}{LIMITS[name]:>9,.6g}" for name, size in sizes.items()]
    print("", f"{'':<28}{'is':>9}{'at most':>9}", *rows, sep="\n")
    too_large = {name: size for name, size in sizes.items() if size > LIMITS[name]}
    assert not too_large


def test_every_statement_counts_but_no_docstring():
    text = '''
"""A module."""
import a, b
x = 1; y = 2
class C:
    """A class."""
    z = (
        1
    )
    def f(self):
        """A function."""
        if x:
            return 1
        "no docstring"
    async def g(self):
        """Another."""
'''
    # import; x; y; class; z; f; if; return; the lone text; g
    assert count_statements(text) == 10
    assert count_statements("") == 0


def test_every_public_name_has_an_example():
    """Examples of classes and functions are doctests: the suite runs all of them."""
    objects = {
        name: getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
        for name in public_names()
    }
    assert (
        sorted(name for name, each in objects.items() if ">>> " not in (each.__doc__ or "")) == []
    )
