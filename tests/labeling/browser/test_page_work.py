"""A morning's work at the page of `surefoot label`, with a server that is killed on the way."""

import csv
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

COMMAND = [sys.executable, "-c", "from surefoot.cli import main; main()", "label"]


@pytest.fixture
def command(tmp_path):
    """Start `surefoot label`, always the same command but for the port; give the process and its address."""
    pytest.importorskip("fastapi", reason="the extra 'label' is not installed")
    started = []

    def start(port=0):
        options = ["--target", "kind", "--classes", "left,right", "--allow-new-classes"]
        files = ["--out", str(tmp_path / "labels.csv"), "--db", str(tmp_path / "answers.db")]
        process = subprocess.Popen(
            [*COMMAND, str(tmp_path / "pool.csv"), *options, *files, "--port", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def key_of(pool, row):
    """The person's rule: left of zero, right of it."""
    return "1" if pool["x"][row] < 0 else "2"


@pytest.mark.slow
def test_forty_rows_undo_a_class_the_curve_a_killed_server_and_the_file(command, tmp_path, work_at):
    pool = pd.DataFrame(np.random.default_rng(1).normal(size=(120, 3)), columns=["x", "y", "z"])
    pool.to_csv(tmp_path / "pool.csv", index=False)
    process, url = command()
    work = work_at(url)
    for _ in range(40):
        work.press(key_of(pool, work.row))
    work.press("u", "u")
    work.page.get_by_test_id("open-add").click()
    work.page.get_by_test_id("new-class").fill("middle")
    work.page.keyboard.press("Enter")
    work.page.get_by_role("button", name="middle 3").wait_for()
    work.press("3", "c")
    work.wait_until_saved()
    assert len(work.acknowledged) == 39
    work.page.get_by_test_id("curve").wait_for()
    work.page.get_by_test_id("curve-table").locator("summary").click()
    figures = work.page.locator("[data-test=curve-table] tbody tr").last.locator("th, td")
    n_labels, accuracy, _ = figures.all_inner_texts()
    assert 2 <= int(n_labels) <= 40
    assert 50 < float(accuracy.split()[0]) <= 100  # the rule is easy

    work.page.reload()
    work.page.wait_for_selector("dl.cells > div")
    assert work.row not in work.acknowledged
    work.wait_for("count", "39 labels, 1 × cannot tell. 80 rows of 120 left.")

    work.press("1")
    process.kill()  # the last answer may be on its way
    process.wait()
    work.press("2")
    work.wait_for("trouble", "not saved yet. The server does not answer.")
    _, url = command(port=url.split(":")[2].split("/")[0])
    work_at(url, context=work.page.context)
    work.wait_until_saved()
    assert len(work.acknowledged) == 41

    with work.page.expect_download() as download:
        work.page.get_by_test_id("export").click()
    lines = list(csv.DictReader(download.value.path().read_text("utf-8").splitlines()))
    assert {int(line["row"]): line["label"] for line in lines} == work.acknowledged
    assert len(lines) == 41
    assert {line["person"] for line in lines} == {"Ana"}
