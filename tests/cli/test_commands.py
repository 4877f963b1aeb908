"""The command line as a user meets it: help, completion, slips, a terminal, and processes that end with it."""

import gzip
import io
import os
import pty
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

COMMAND = [sys.executable, "-c", "from surefoot.cli import main; main()"]


def start(*arguments, **settings):
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=False, **settings
    )


def test_help_answers_without_numba_or_scikit_learn():
    code = (
        "import sys; from surefoot.cli._app import run; run(['--help']); run(['report', '--help']);"
        "sys.exit(bool({'numba', 'sklearn', 'numpy', 'pandas'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_help_takes_less_than_half_a_second_of_user_time():
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        assert start("--help").returncode == 0
        spent.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    assert min(spent) < 0.5


def test_the_shell_completes_names_of_models():
    settings = {"COMP_WORDS": "surefoot report --estimator f", "COMP_CWORD": "3"}
    code = "import sys; sys.argv[0] = 'surefoot'; from surefoot.cli import main; main()"
    asked = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | settings | {"_SUREFOOT_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.stdout.split() == ["forest"]


def test_a_mistake_leaves_a_process_with_one_sentence():
    result = start("report", "no-such-table.csv", "--target", "y")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "no-such-table.csv cannot be read: no such file or directory.\n"


def test_a_terminal_sees_within_two_seconds_that_something_happens(tmp_path):
    ours, theirs = pty.openpty()
    command = [*COMMAND, "report", "--out", str(tmp_path / "page.html")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with subprocess.Popen(command, stdout=theirs, stderr=theirs) as process:
        seen = b""
        while b"Starting" not in seen:
            seen += os.read(ours, 1000)
        process.kill()
    os.close(theirs)
    os.close(ours)
    # In time of its own, as the machine may have others to serve.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 2


def test_a_package_that_is_missing_is_named(tmp_path):
    (tmp_path / "skrub.py").write_text("raise ModuleNotFoundError('gone', name='skrub')")
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "1,a\n2,b\n" * 20)
    settings = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    result = start("report", str(table), "--target", "y", env=settings)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith(
        "The command surefoot needs skrub, which the extra 'cli' has: pip install "
    )


def test_mlflow_that_is_missing_is_named(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.delitem(sys.modules, "surefoot.integrations._mlflow_flavor", raising=False)
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20)
    model = ("--estimator", f"mlflow:{tmp_path / 'model'}")
    sentence = run("report", tmp_path / "t.csv", "--target", "y", *model, "--json").sentence
    assert "needs mlflow, which the extra 'mlflow' has: pip install " in sentence


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
@pytest.mark.slow
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
    settings = {k: v for k, v in os.environ.items() if k != "SKB_DATA_DIRECTORY"}
    settings |= {"HOME": os.devnull, "MPLCONFIGDIR": str(tmp_path)}
    quick = ("--estimator", "logistic")
    done = start("fit", str(table), "--target", "y", *quick, "--out", str(model), env=settings)
    assert done.returncode == 0, done.stderr
    assert model.exists()


@pytest.fixture
def pipe(monkeypatch):
    def call(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return call


def test_every_command_reads_standard_input(run, pipe, customers, tmp_path):
    content = customers[["age", "spent", "leaves"]].to_csv(index=False).encode()
    model, scores = tmp_path / "m.skops", tmp_path / "s.csv"
    pipe(content)
    fitted = run("fit", "-", "--target", "leaves", "--estimator", "logistic", "--out", model)
    assert fitted.code == 0
    pipe(content)
    assert run("score", model, "-", "--out", scores).code == 0
    assert len(pd.read_csv(scores)) == len(customers)
    pipe(content)
    reported = run("report", "-", "--target", "leave")
    assert reported.sentence == "standard input has no column 'leave': is it 'leaves'?"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "standard input is empty."),
        (b"a,b\n", "standard input has column names but no rows."),
        (b"a,b\n1,2,3\n", "Line 2 of standard input has 3 fields where the header has 2."),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "standard input is a compressed file that is cut off or damaged."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_standard_input_is_told(run, pipe, content, sentence):
    pipe(content)
    assert run("report", "-", "--target", "b").sentence == sentence


def test_standard_input_that_is_closed(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    result = run("report", "-", "--target", "b")
    assert result.sentence == "Standard input is closed: name a table instead of -."
