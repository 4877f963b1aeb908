"""Compiled kernels are stored where a folder can be written, until their source changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot

DISTANCE = (
    "from surefoot.time_series import dtw_distance; print(dtw_distance([0, 0, 1], [0, 1, 3]))"
)
REMARK = (
    "surefoot compiles its loops again in every process, because no folder can be written to store them: "
    "set NUMBA_CACHE_DIR to one that can.\n"
)


@pytest.fixture
def package(tmp_path):
    """Copy of the sources, without anything compiled."""
    ignored = shutil.ignore_patterns("__pycache__")
    copied = shutil.copytree(Path(surefoot.__file__).parent, tmp_path / "surefoot", ignore=ignored)
    return Path(copied)


def run(package, code, **variables):
    """Standard output and standard error of a new process with a copied package, in which warnings are errors."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    settings = {**kept, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**settings, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def stored(folder):
    return {path.name for path in folder.rglob("*.nbc")}


def block_folders(package):
    """Put a file where the folder for compiled kernels would be, which stops even a superuser."""
    (package / "_kernels" / "__pycache__").touch()
    return {"HOME": os.devnull}


def test_without_a_folder_to_write_to_loops_run_and_one_remark_says_why(package):
    output, remarks = run(package, DISTANCE, **block_folders(package))
    assert output == "2.0\n"  # 0-0, 0-0, 1-1 and 1-3: the square root of 4
    assert remarks == REMARK


def test_the_workers_of_a_process_do_not_repeat_the_remark(package):
    code = (
        "from joblib import Parallel, delayed\n"
        "def load():\n"
        "    import surefoot._kernels\n"
        "load()\n"
        "Parallel(2)(delayed(load)() for _ in range(2))"
    )
    assert run(package, code, **block_folders(package)) == ("", REMARK)


def test_a_folder_of_the_users_choice_is_used_where_the_package_has_none(package, tmp_path):
    chosen = tmp_path / "chosen"
    variables = {**block_folders(package), "NUMBA_CACHE_DIR": str(chosen)}
    assert run(package, DISTANCE, **variables) == ("2.0\n", "")
    assert any(name.startswith("_dtw.search") for name in stored(chosen))


def test_stored_code_is_used_until_the_source_changes(package):
    assert run(package, DISTANCE) == ("2.0\n", "")
    names = stored(package)
    times = {path: path.stat().st_mtime_ns for path in package.rglob("*.nbc")}
    assert run(package, DISTANCE) == ("2.0\n", "")
    assert {path: path.stat().st_mtime_ns for path in package.rglob("*.nbc")} == times

    source = package / "_kernels" / "_dtw.py"  # `search` calls `_advance`
    changed = source.read_text().replace("(gap * gap + costs[c])", "(gap * gap / 2 + costs[c])")
    assert changed != source.read_text()
    source.write_text(changed)
    output, _ = run(package, DISTANCE)
    assert float(output) == pytest.approx(2**0.5)  # every squared gap counts half
    assert stored(package) == names  # new code takes the place of the old
