"""Every example of the gallery runs without a warning, in a few seconds."""

import os
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))

# Processor time in seconds, of one thread. On 2026-11-18 all took 62 s together, the longest 9 s.
LONGEST = 15.0


def test_there_are_examples():
    assert len(EXAMPLES) >= 17


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_takes_at_most_15_seconds(path):
    variables = {**os.environ, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", str(path)]
    process = os.posix_spawn(command[0], command, variables)
    _, status, used = os.wait4(process, 0)  # with all its processes that have ended
    assert os.waitstatus_to_exitcode(status) == 0
    assert used.ru_utime + used.ru_stime <= LONGEST
