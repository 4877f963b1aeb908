"""The model learns in another process: whatever it does there, labels go on, and it ends with the server."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


class Moody(LogisticRegression):
    """Classifier whose fit raises an error, ends its process, never ends, or works, as a file has it."""

    def __init__(self, file):
        super().__init__()
        self.file = file

    def fit(self, X, y):
        mood = Path(self.file).read_text()
        if mood == "raises":
            raise ValueError("The columns do not please me.\nNot at all.")
        if mood == "ends":
            os._exit(7)
        if mood == "hangs":
            time.sleep(600)
        return super().fit(X, y)


def half_labelled(n_rows=40):
    x = np.arange(n_rows) % 13
    kind = np.where(x > 6, "a", "b").astype(object)
    kind[n_rows // 2 :] = None
    return pd.DataFrame({"x": x, "kind": kind})


SENTENCES = {
    "raises": "The model could not learn from the labels so far: The columns do not please me.",
    "ends": "The process that learns was ended, perhaps for want of memory; labels are saved, and go on.",
    "hangs": "The model had not learned from the labels after 0 minutes, and was stopped; labels are saved, and go on.",
}


@pytest.mark.parametrize(
    "moods", [["raises"], pytest.param(["raises", "ends", "hangs"], marks=pytest.mark.slow)]
)
def test_whatever_the_model_does_labels_go_on_and_one_sentence_tells_of_it(
    serve_pool, monkeypatch, tmp_path, moods
):
    mood = tmp_path / "mood"
    mood.write_text("raises")
    served = serve_pool(half_labelled(80), estimator=Moody(str(mood)))
    n_labels = 0
    for name in moods:
        sentence = SENTENCES[name]
        mood.write_text(name)
        if name == "hangs":
            monkeypatch.setattr("surefoot.labeling._trainer.MOST_SECONDS", 0.5)
        served.label(5, lambda row: "b")
        n_labels += 5
        wait_until(lambda sentence=sentence: served.progress()["failure"] == sentence)
        progress = served.progress()
        assert (progress["n_labels"], progress["round"]) == (n_labels, 0)
    mood.write_text("works")
    wait_until(lambda: not served.progress()["training"])
    monkeypatch.undo()
    served.label(5, lambda row: "b")
    wait_until(lambda: served.progress()["round"] > 0)
    assert served.progress()["failure"] is None
    mood.write_text("hangs")
    served.label(5, lambda row: "b")
    wait_until(lambda: served.progress()["training"])
    begin = time.monotonic()
    served.page.stop()
    assert time.monotonic() - begin < 60  # and not ten minutes
    assert served.session.trainer._executor is None


def test_an_error_of_the_database_does_not_end_the_thread(serve_pool, monkeypatch):
    asked = []

    def next_work(session):
        asked.append(session)
        if len(asked) == 1:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("surefoot.labeling._session.Session._next_work", next_work)
    served = serve_pool(half_labelled())
    wait_until(lambda: served.progress()["failure"] is not None)
    sentence = "What the model learned could not be kept: [Errno 28] No space left on device."
    assert served.progress()["failure"] == sentence
    served.label(1, lambda row: "a")
    wait_until(lambda: len(asked) == 2)


def test_a_restart_goes_on_with_the_curve_and_the_claim(serve_pool, does_not_learn, tmp_path):
    table = half_labelled(60)
    served = serve_pool(table)
    served.label(1, lambda row: "a")
    latest = served.session.latest
    done = type(latest)(
        [],
        measured=(0.75, 0.5, 0.9, 8),
        changed={"n_labels": 40, "share": 0.125},
        measured_models=[
            {
                "n_labels": 40,
                "n_rows": 9,
                "rows": [59],
                "predictions": ["a"],
                "low": 0.8,
                "high": 0.9,
            }
        ],
    )
    served.session._learned(done)
    before = served.progress()
    served.page.stop()
    again = serve_pool(table)
    after = again.progress()
    for name in ("accuracy", "curve", "changed", "claim", "n_labels"):
        assert after[name] == before[name], name
    assert after["curve"][0]["accuracy"] == 0.75
    assert after["claim"]["low"] == 0.8
    work = again.session._next_work()
    assert work["measured_models"] == done.measured_models
    assert sorted(work["rows"])[:30] == list(range(30))


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are listed in /proc"
)


def children(process):
    """Numbers of the processes that a process has started, and these again."""
    try:
        files = Path(f"/proc/{process}/task").glob("*/children")
        listed = [each for file in files for each in file.read_text().split()]
    except OSError:
        return []
    return [int(each) for each in listed] + [more for each in listed for more in children(each)]


def is_running(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.slow
@needs_proc
def test_the_process_that_learns_ends_when_the_server_is_killed(tmp_path):
    half_labelled().to_csv(tmp_path / "pool.csv", index=False)
    command = [sys.executable, "-c", "from surefoot.cli import main; main()"]
    command += ["label", "pool.csv", "--target", "kind"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=tmp_path, **streams) as process:
        try:
            assert process.stdout.readline().startswith(b"http://127.0.0.1:")
            wait_until(lambda: children(process.pid))
            workers = children(process.pid)
        finally:
            process.kill()
    wait_until(lambda: not any(map(is_running, workers)))
