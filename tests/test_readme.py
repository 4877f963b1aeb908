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


def test_the_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
