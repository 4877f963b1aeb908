"""Run every script of this folder, or those that are named, one after the other: `python -m benchmarks one_row`.

A line a script: its minutes, and how many of its ratios are as good as asked. What it printed is in build/bench. A
script whose peer or data set is not installed is named with the reason, and the others run.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parent / "build" / "bench"
NOT_SCRIPTS = {"__main__", "timing"}


def run(name):
    """Run a script; returns its exit code and what it printed."""
    command = [sys.executable, str(HERE / f"{name}.py")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parent)
    return ended.returncode, ended.stdout + ended.stderr


def outcome(code, text):
    """How many ratios are as asked, or the last line of a script that failed."""
    if code:
        return f"failed: {text.strip().splitlines()[-1]}"
    held = re.findall(r"asked: .* (yes|NO)$", text, re.MULTILINE)
    return f"{held.count('yes')} of {len(held)} ratios as asked" if held else "done"


def main():
    """Run the scripts and print a line for each."""
    names = sys.argv[1:] or sorted({path.stem for path in HERE.glob("*.py")} - NOT_SCRIPTS)
    OUT.mkdir(parents=True, exist_ok=True)
    has_failed = False
    for name in names:
        start = time.perf_counter()
        code, text = run(name)
        (OUT / f"{name}.txt").write_text(text)
        minutes = (time.perf_counter() - start) / 60
        print(f"{name:<26}{minutes:6.1f} min   {outcome(code, text)}", flush=True)
        has_failed |= code != 0
    sys.exit(has_failed)


if __name__ == "__main__":
    main()
