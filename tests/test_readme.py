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


@pytest.mark.slow
def test_the_report_prints_the_words_shown(report):
    printed, _ = report
    assert FIGURE.sub("#", printed) == FIGURE.sub("#", shown_report())


@pytest.mark.slow
@pytest.mark.parametrize("source", ["shown", "printed"])
def test_the_figures_are_those_of_the_rows(report, source):
    printed, rows = report
    words = printed if source == "printed" else shown_report()
    right, per, *decision = map(float, FIGURE.findall(words.replace("1,000", "1000")))
    (
        answered,
        wrong,
        left,
        found,
        risk,
        confidence,
        n_found,
        n_rows,
        recall,
        _,
        _,
        n_own,
        n_missed,
        gain,
        _,
        most_gained,
        level,
    ) = decision
    # Chosen, not measured: these cannot move.
    assert [per, risk, confidence, level] == [1000, 7.5, 95, 95]
    assert answered + left == 1000
    # On another processor a few rows, or mistakes, may change sides.
    row, accepted = 100 / len(rows), rows[rows["accepted"]]
    assert right == pytest.approx(100 * (1 - rows["loss"].mean()), abs=0.5 + row)
    assert answered == pytest.approx(1000 * len(accepted) / len(rows), abs=0.5 + 10 * row)
    lost = 1000 * accepted["loss"].sum() / len(rows)
    assert wrong == pytest.approx(lost, abs=0.5 + 10 * row)
    assert found == pytest.approx(1000 * rows["loss"].mean() - lost, abs=0.5 + 10 * row)
    leaving = rows[rows["truth"] == "leaves"]
    assert n_rows == len(leaving)
    assert n_found == pytest.approx((leaving["loss"] == 0).sum(), abs=2)
    assert recall == pytest.approx(100 * n_found / n_rows, abs=0.5)
    assert n_own == pytest.approx(leaving["accepted"].sum(), abs=4)
    assert n_missed == pytest.approx(leaving["loss"][leaving["accepted"]].sum(), abs=3)
    assert 0 < gain < most_gained < 100  # of another model, which the table of rows does not have


def test_the_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
