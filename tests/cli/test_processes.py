"""A command ends with its worker processes, and needs no home that it can write to."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from surefoot.cli import main; main()"]

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are listed in /proc"
)


def processes_of(session):
    """Folders in /proc of the running processes of a session."""
    folders = []
    for folder in Path("/proc").glob("[0-9]*"):
        state, _, _, own = read(folder / "stat").rpartition(b")")[2].split()[:4] or (b"Z", 0, 0, 0)
        if int(own) == session and state != b"Z":
            folders.append(folder)
    return folders


def read(path):
    try:
        return path.read_bytes()
    except OSError:  # the process has just ended
        return b""


def working_workers(session):
    """Worker processes that have got as far as to load scikit-learn for their work."""
    workers = [f for f in processes_of(session) if b"popen_loky" in read(f / "cmdline")]
    return [folder for folder in workers if b"sklearn" in read(folder / "maps")]


def shared_files(process):
    """Semaphores and shared tables of a process that joblib starts workers for."""
    names = [path.name for path in Path("/dev/shm").glob("*")]  # noqa: S108 - joblib's, not ours
    return [n for n in names if f"loky-{process}-" in n or f"folder_{process}_" in n]


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@needs_proc
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=str)
def test_a_command_that_is_stopped_leaves_nothing_running_and_nothing_behind(
    tmp_path, number, code
):
    command = [*COMMAND, "report", "--jobs", "2", "--out", str(tmp_path / "page.html")]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, start_new_session=True, **streams) as process:
        try:
            wait_until(lambda: len(working_workers(process.pid)) == 2, 120)
            assert shared_files(process.pid)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            wait_until(lambda: processes_of(process.pid) == [], 20)
        finally:
            if processes_of(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out, err) == (code, b"", b"")
    assert shared_files(process.pid) == []
    assert list(tmp_path.iterdir()) == []


def test_a_command_runs_without_a_home_to_write_to(tmp_path):
    table, model = tmp_path / "rows.csv", tmp_path / "model.skops"
    table.write_text("x,y\n" + "".join(f"{i % 7}.5,{'ab'[i % 3 > 0]}\n" for i in range(60)))
    command = [*COMMAND, "fit", str(table), "--target", "y", "--out", str(model)]
    settings = {k: v for k, v in os.environ.items() if k != "SKB_DATA_DIRECTORY"}
    settings |= {"HOME": os.devnull, "MPLCONFIGDIR": str(tmp_path)}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert model.exists()
