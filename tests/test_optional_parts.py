"""Whatever lacks a package says which extra to install, and the extra is one that brings the package."""

import json
import re
import shlex
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from surefoot import IndividualErrorClassifier
from surefoot._optional import install_command, needed_for
from surefoot.cli import main
from surefoot.datasets import make_subscriptions
from surefoot.plots import RiskCoverageDisplay
from surefoot.report import ReliabilityReport

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
DISTRIBUTIONS = {"vl_convert": "vl-convert-python", "markupsafe": "jinja2"}
HINT = re.compile(r"pip install (?:--editable )?'[^'\[]+\[([\w,]+)\]'")

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
MODEL = LogisticRegression()


def write_page(folder):
    ReliabilityReport(MODEL, X, y).write_html(folder / "page.html")


def judge_as_frame(_):
    IndividualErrorClassifier(MODEL, cv=2, random_state=0).fit(X, y).judge(X).to_frame()


PARTS = {
    "page, altair": ("altair", write_page),
    "page, jinja2": ("jinja2", write_page),
    "page, vl_convert": ("vl_convert", write_page),
    "rows of a report": ("pandas", lambda _: ReliabilityReport(MODEL, X, y).to_frame()),
    "judgement": ("pandas", judge_as_frame),
    "generated table": ("pandas", lambda _: make_subscriptions(10)),
    "display": ("matplotlib", lambda _: RiskCoverageDisplay.from_predictions(y, X[:, 0]).plot()),
}


def requirements(extra):
    """Names of the distributions that an extra brings, also through another extra."""
    for entry in EXTRAS[extra]:
        name, inner = re.match(r"([\w-]+)(?:\[(\w+)\])?", entry).groups()
        yield from requirements(inner) if name == "surefoot" else [name]


@pytest.fixture
def without(monkeypatch):
    """Make a package missing, also for modules of surefoot that were imported with it."""

    def block(package):
        for name in list(sys.modules):
            if name.partition(".")[0] == package or name.startswith("surefoot.report.page"):
                monkeypatch.delitem(sys.modules, name)
        finders = [Without(package, finder) for finder in sys.meta_path]
        monkeypatch.setattr(sys, "meta_path", finders)

    return block


class Without:
    """Finder that does not find one package."""

    def __init__(self, package, finder):
        self.package, self.finder = package, finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, *where):
        blocked = name.partition(".")[0] == self.package
        return None if blocked else self.finder.find_spec(name, *where)


@pytest.mark.parametrize(("package", "use"), PARTS.values(), ids=PARTS)
def test_the_extra_to_install_brings_the_package(without, tmp_path, package, use):
    without(package)
    with pytest.raises(ModuleNotFoundError) as caught:
        use(tmp_path)
    sentence = str(caught.value)
    assert f"needs {package}, which the extra" in sentence
    [extra] = HINT.findall(sentence)
    assert DISTRIBUTIONS.get(package, package) in requirements(extra)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("part", ["pandas", "pandas.core"])
def test_a_part_that_is_missing_is_told_by_the_name_of_its_package(monkeypatch, part):
    monkeypatch.setitem(sys.modules, part, None)
    with pytest.raises(ModuleNotFoundError) as caught, needed_for("Anything", "report"):
        import_module(part)
    assert str(caught.value).startswith("Anything needs pandas, which the extra 'report' has: ")


def test_the_command_names_its_extra(without, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("surefoot.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    without("typer")
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    sentence = capsys.readouterr().err
    assert left.value.code == 2
    assert sentence.startswith("The command surefoot needs typer, which the extra 'cli' has: pip ")
    assert HINT.findall(sentence) == ["cli"]


def test_what_is_no_package_of_an_extra_is_not_hidden(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "surefoot.report.page", None)
    with pytest.raises(ModuleNotFoundError, match=r"surefoot\.report\.page") as caught:
        write_page(tmp_path)
    assert "pip install" not in str(caught.value)


def test_every_hint_names_an_extra_that_exists():
    places = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/**/*.rst"), *ROOT.glob("*.md")]
    texts = [re.sub(r"\{extra\}", "report", path.read_text()) for path in places]
    named = {name for text in texts for hint in HINT.findall(text) for name in hint.split(",")}
    spoken = {name for text in texts for name in re.findall(r"extra `(\w+)`|`(\w+)` extra", text)}
    assert {"cli", "plots", "report"} <= named <= set(EXTRAS)
    assert {first or second for first, second in spoken} <= set(EXTRAS)


def test_a_report_is_summarized_without_any_extra(without):
    for extra in EXTRAS:
        for package in requirements(extra):
            without(package.replace("-python", "").replace("-", "_"))
    summary = ReliabilityReport(MODEL, X, y, random_state=0).summarize()
    assert summary["task"] == "classification"


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("record", "requirement"),
    [
        (None, "surefoot[report]"),
        ({"url": "FOLDER", "dir_info": {}}, "FOLDER[report]"),
        ({"url": "FOLDER", "dir_info": {"editable": True}}, "FOLDER[report]"),
        ({"url": "file:///no/such/folder", "dir_info": {}}, "surefoot[report]"),
        ({"url": "file:///a/b.whl", "archive_info": {}}, "surefoot[report] @ file:///a/b.whl"),
        (
            {"url": "https://a.b/c", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"surefoot[report] @ git+https://a.b/c@{COMMIT}",
        ),
    ],
    ids=["index", "folder", "editable", "folder that is gone", "file", "repository"],
)
def test_the_command_installs_from_where_surefoot_came_from(tmp_path, record, requirement):
    folder = tmp_path / "it's here"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    text = None if record is None else json.dumps(record).replace("FOLDER", folder.as_uri())
    *command, last = shlex.split(install_command("report", text))
    editable = ["--editable"] if record and record.get("dir_info", {}).get("editable") else []
    assert command == ["pip", "install", *editable]
    assert last == requirement.replace("FOLDER", str(folder))
