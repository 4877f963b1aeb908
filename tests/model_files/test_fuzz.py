"""Forged and damaged models, those that once went wrong first: each ends in a result or in one sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz_models.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each case runs in a copy of the process")
def test_ten_seconds_of_forged_models(tmp_path):
    command = [sys.executable, SCRIPT, "--seconds", "10", "--seed", "7", "--keep", tmp_path]
    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **alone},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["cases"] == counts["sentence"] + counts["success"]
    assert min(counts["sentence"], counts["success"]) >= 5
