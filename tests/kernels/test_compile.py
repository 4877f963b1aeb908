"""Compiled kernels are stored where a folder can be written, until their source changes."""

import os
import shutil
import subprocess
import sys

import pytest

from surefoot._kernels import _compile

# A package with two kernels, as compiling those of surefoot takes many seconds.
LOOPS = """
from small._compile import entry, kernel


@kernel
def square(value):
    return value * value


@entry
def sum_of_squares(values):
    total = 0.0
    for value in values:
        total += square(value)
    return total
"""
SUM = "import numpy as np; from small.loops import sum_of_squares; print(sum_of_squares(np.arange(3.0)))"
# Files of at most 100 bytes: writing more fails, as on a full disk.
FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
REMARK = (
    "surefoot compiles its loops again in every process, because no folder can be written to store them: "
    "set NUMBA_CACHE_DIR to one that can.\n"
)


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "__init__.py").touch()
    shutil.copy(_compile.__file__, folder / "_compile.py")
    (folder / "loops.py").write_text(LOOPS)
    return folder


def run(package, code, **variables):
    """Standard output and standard error of a new process with the package, in which warnings are errors."""
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
    """Names of the files of machine code, and when they were written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


def block_folders(package):
    """Put a file where the folder for compiled kernels would be, which stops even a superuser."""
    (package / "__pycache__").touch()
    return {"HOME": os.devnull}


def test_without_a_folder_to_write_to_loops_run_and_one_remark_says_why(package):
    assert run(package, SUM, **block_folders(package)) == ("5.0\n", REMARK)


def test_without_room_on_the_disk_loops_run_and_one_remark_says_why(package):
    assert run(package, FULL + SUM) == ("5.0\n", REMARK)
    assert not stored(package)


def test_the_workers_of_a_process_do_not_repeat_the_remark(package):
    code = (
        "from joblib import Parallel, delayed\n"
        "import numpy as np\n"
        "def add():\n"
        "    from small.loops import sum_of_squares\n"
        "    sum_of_squares(np.arange(3.0))\n"
        "add()\n"
        "Parallel(2)(delayed(add)() for _ in range(2))"
    )
    assert run(package, code, **block_folders(package)) == ("", REMARK)


def test_a_folder_of_the_users_choice_is_used_where_the_package_has_none(package, tmp_path):
    chosen = tmp_path / "chosen"
    variables = {**block_folders(package), "NUMBA_CACHE_DIR": str(chosen)}
    assert run(package, SUM, **variables) == ("5.0\n", "")
    assert any(name.startswith("loops.sum_of_squares") for name in stored(chosen))


def test_stored_code_is_used_until_the_source_changes(package):
    assert run(package, SUM) == ("5.0\n", "")
    first = stored(package)
    assert run(package, SUM) == ("5.0\n", "")
    assert stored(package) == first

    source = package / "loops.py"  # `sum_of_squares` calls `square`
    source.write_text(LOOPS.replace("value * value", "value * value / 2"))
    assert run(package, SUM) == ("2.5\n", "")
    assert stored(package).keys() == first.keys()  # new code takes the place of the old
