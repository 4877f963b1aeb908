"""The README is short, and its examples print what it shows."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def test_it_is_short():
    assert len(README.splitlines()) <= 90


def test_the_example_prints_what_is_shown():
    code, shown = (
        re.search(rf"```{kind}\n(.*?)```", README, re.DOTALL)[1] for kind in ("python", "text")
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == shown


def shown_report():
    """Lines that the README shows of the report on the built-in example."""
    return re.search(r"\$ make demo\n(.*?)```", README, re.DOTALL)[1]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """First lines that the command prints, as many as the README shows, and its table of rows."""
    folder = tmp_path_factory.mktemp("report")
    command = [Path(sys.executable).with_name("surefoot"), "report"]
    files = ["--out", folder / "r.html", "--scores", folder / "s.csv"]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines(keepends=True)[: shown_report().count("\n")]
    return "".join(lines), pd.read_csv(folder / "s.csv")


@pytest.mark.slow
def test_the_report_prints_the_words_shown(report):
    printed, _ = report
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown_report())


@pytest.mark.slow
@pytest.mark.parametrize("source", ["shown", "printed"])
def test_the_numbers_are_those_of_the_rows(report, source):
    printed, rows = report
    words = printed if source == "printed" else shown_report()
    numbers = map(float, NUMBER.findall(words.replace("1,000", "1000")))
    right, per, answered, wrong, left, found, risk, confidence = numbers
    # Chosen, not measured: these cannot move.
    assert [per, risk, confidence] == [1000, 7.5, 95]
    assert answered + left == 1000
    # On another processor a few rows, or mistakes, may change sides.
    row, accepted = 100 / len(rows), rows[rows["accepted"]]
    assert right == pytest.approx(100 * (1 - rows["loss"].mean()), abs=0.5 + row)
    assert answered == pytest.approx(1000 * len(accepted) / len(rows), abs=0.5 + 10 * row)
    lost = 1000 * accepted["loss"].sum() / len(rows)
    assert wrong == pytest.approx(lost, abs=0.5 + 10 * row)
    assert found == pytest.approx(1000 * rows["loss"].mean() - lost, abs=0.5 + 10 * row)


def test_the_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"\bmake (demo|test|docs)\b", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert re.search(r"^demo:.*\n\t\S+ report --out surefoot-report.html$", makefile, re.MULTILINE)


def test_the_pages_that_it_links_to_exist():
    for path in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / path).exists(), path


def test_how_good_it_is_agrees_with_the_results():
    how_good = README.partition("## How good is it?")[2]
    results = (ROOT / "docs" / "results" / "finding-mistakes.rst").read_text()
    numbers = re.findall(r"\*\*([\d.]+)\*\*", how_good)
    assert len(numbers) == 3
    for number in numbers:
        assert number in results, number
