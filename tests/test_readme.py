"""The README's example prints what the README says, and its commands are the Makefile's."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
FIGURE = re.compile(r"\d+(?:\.\d+)?")


def test_the_example_prints_what_is_shown():
    code, shown = (
        re.search(rf"```{kind}\n(.*?)```", README, re.DOTALL)[1] for kind in ("python", "text")
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == shown


def shown_report():
    """The README's words between the command and the name of the page."""
    return re.search(r"\$ surefoot report\n(.*?)The page:", README, re.DOTALL)[1]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Words that the command prints before the name of the page, and its table of rows."""
    folder = tmp_path_factory.mktemp("report")
    command = [Path(sys.executable).with_name("surefoot"), "report"]
    files = ["--out", folder / "r.html", "--scores", folder / "s.csv"]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=True)
    return done.stdout.partition("The page:")[0], pd.read_csv(folder / "s.csv")


def percent_caught(rows, doubt):
    """Percent of the mistakes among the tenth of the rows with the highest `doubt`."""
    checked = rows.nlargest(len(rows) // 10, doubt)
    return 100 * checked["loss"].sum() / rows["loss"].sum()


@pytest.mark.slow
def test_the_report_prints_the_words_shown(report):
    printed, _ = report
    assert FIGURE.sub("#", printed) == FIGURE.sub("#", shown_report())


@pytest.mark.slow
@pytest.mark.parametrize("source", ["shown", "printed"])
def test_the_figures_are_those_of_the_rows(report, source):
    printed, rows = report
    words = printed if source == "printed" else shown_report()
    right, share, caught, own, answered, risk, confidence = map(float, FIGURE.findall(words)[:7])
    # Chosen, not measured: these cannot move.
    assert [share, risk, confidence] == [10, 7.5, 95]
    # Rounded to 1 %. On another processor one row, or one mistake, may change sides.
    row, mistake = 100 / len(rows), 100 / rows["loss"].sum()
    assert right == pytest.approx(100 * (1 - rows["loss"].mean()), abs=0.5 + row)
    assert caught == pytest.approx(percent_caught(rows, "estimated_error"), abs=0.5 + mistake)
    assert own == pytest.approx(percent_caught(rows, "own_error"), abs=0.5 + mistake)
    assert answered == pytest.approx(100 * rows["accepted"].mean(), abs=0.5 + row)


@pytest.mark.slow
def test_the_gains_shown_are_those_printed(report):
    printed, rows = report
    shown, measured = (
        [float(figure) for figure in FIGURE.findall(words)[7:]]
        for words in (shown_report(), printed)
    )
    # Of more than 500 mistakes, one more or less is under a fifth of a percent: at most the last digit moves.
    assert rows["loss"].sum() > 400
    assert measured == pytest.approx(shown, abs=1 + 1e-9)


def test_the_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
