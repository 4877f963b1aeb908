"""The command line, as a user types it."""

import csv
import subprocess
import sys

import surefoot


def run(*arguments, cwd=None):
    command = [sys.executable, "-c", "from surefoot.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_help_names_the_commands():
    result = run("--help")
    assert result.returncode == 0
    assert "reproduce" in result.stdout
    assert "demo" in result.stdout


def test_help_answers_without_numba_or_scikit_learn():
    code = (
        "import sys, typer.testing; from surefoot.cli._app import app;"
        "r = typer.testing.CliRunner().invoke(app, ['--help']); assert 'reproduce' in r.output, r.output;"
        "sys.exit(bool({'numba', 'sklearn', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_version():
    assert run("--version").stdout.strip() == surefoot.__version__


def test_the_demo_says_what_it_found_and_writes_every_row(tmp_path):
    result = run("demo", cwd=tmp_path)
    path = tmp_path / "surefoot-demo.csv"
    assert str(path.resolve()) in result.stdout
    with path.open(newline="") as file:
        table = list(csv.DictReader(file))
    assert f"asked about {len(table)} others" in result.stdout
    wrong = [row["truth"] != row["prediction"] for row in table]
    tenth = len(table) // 10
    assert f"it made {sum(wrong)}" in result.stdout
    assert f"{sum(wrong[:tenth])} of them are in the tenth that surefoot doubts" in result.stdout
    by_own = sorted(table, key=lambda row: float(row["own_probability"]))[:tenth]
    found = sum(row["truth"] != row["prediction"] for row in by_own)
    assert f"{found} are in the tenth that the model itself doubts" in result.stdout
    assert sum(wrong[:tenth]) > found


def test_the_experiments_are_listed():
    assert "bennett-table-2" in run("reproduce", "--list").stdout


def test_an_unknown_experiment_gets_one_sentence_and_exit_code_2():
    result = run("reproduce", "table-9")
    assert result.returncode == 2
    assert result.stderr.startswith("There is no experiment 'table-9': it may be bennett-table-1")
    assert "Traceback" not in result.stderr


def test_no_experiment_gets_one_sentence_and_exit_code_2():
    result = run("reproduce")
    assert result.returncode == 2
    assert result.stderr.startswith("Name an experiment")


def test_a_folder_that_is_not_there_gets_one_sentence_and_exit_code_2(tmp_path):
    result = run("demo", "--out", str(tmp_path / "no" / "such" / "table.csv"))
    assert result.returncode == 2
    assert "No such file or directory" in result.stderr
    assert "Traceback" not in result.stderr


def test_no_process_to_work_gets_one_sentence_and_exit_code_2():
    result = run("reproduce", "bennett-cell", "--jobs", "0")
    assert result.returncode == 2
    assert result.stderr.startswith("--jobs 0 leaves nobody to work")
