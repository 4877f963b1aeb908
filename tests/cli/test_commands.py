"""The command line as a user meets it: help, version, completion, mistakes, and what a pipe or a terminal sees."""

import os
import pty
import resource
import subprocess
import sys

import pytest

import surefoot

COMMAND = [sys.executable, "-c", "from surefoot.cli import main; main()"]


def start(*arguments, **settings):
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=False, **settings
    )


def test_help_names_the_commands(run):
    result = run("--help")
    assert result.code == 0
    for command in ("report", "fit", "score", "--install-completion"):
        assert command in result.out


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


def test_version(run):
    assert run("--version").out.strip() == surefoot.__version__


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo"], "No such command 'demo'"),
        (["report", "--taget", "y"], "No such option: --taget"),
        (["fit", "table.csv"], "Missing option '--target'"),
        (["report", "--task", "guess"], "Invalid value for '--task'"),
        (["report", "--random-state", "-1"], "Invalid value for '--random-state'"),
    ],
)
def test_a_slip_of_the_pen_is_one_line_and_exit_code_2(run, arguments, words):
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(words)
    assert result.err.count("\n") == 1


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
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith(
        "The command surefoot needs skrub, which the extra 'cli' has: pip install "
    )


def test_no_process_to_work(run):
    result = run("report", "--jobs", "0")
    assert result.sentence.startswith("--jobs 0 is not allowed")
