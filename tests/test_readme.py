"""The README's example prints what the README says, and its commands are the Makefile's."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_example_prints_what_is_shown():
    code, shown = (
        re.search(rf"```{kind}\n(.*?)```", README, re.DOTALL)[1] for kind in ("python", "text")
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == shown


def test_the_report_says_what_is_shown(tmp_path):
    shown = re.search(r"\$ surefoot report\n(.*?)The page:", README, re.DOTALL)[1]
    command = [Path(sys.executable).with_name("surefoot"), "report", "--out", tmp_path / "r.html"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    figures, printed = (re.findall(r"\d+(?:\.\d+)?", text) for text in (shown, told))
    # The same words; figures may move by a row or two where another processor sums in another order.
    assert re.sub(r"\d+(\.\d+)?", "#", told).startswith(re.sub(r"\d+(\.\d+)?", "#", shown))
    assert all(abs(float(a) - float(b)) <= 2 for a, b in zip(figures, printed, strict=False))


def test_the_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
