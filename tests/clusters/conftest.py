"""Scheduler and workers of Dask as processes of their own, on this machine only; a model, and rows for it."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from surefoot import IndividualErrorClassifier

# The machine may be busy: importing everything then takes a worker half a minute.
PATIENCE = 120.0


class Cluster:
    """Scheduler with workers that can be killed; each has one thread and no nanny that would start it again."""

    def __init__(self, folder):
        self.folder, self.processes, self.workers = folder, [], []
        self.file = folder / "scheduler.json"
        where = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(self.file)]
        self._start("scheduler", "--port", "0", *where)
        self.worker_options = ["--no-nanny", "--nthreads", "1", *where]

    def start_worker(self):
        folder = self.folder / f"worker-{len(self.processes)}"
        options = [*self.worker_options, "--local-directory", str(folder), "--death-timeout", "300"]
        self.workers.append(self._start("worker", *options))

    def _start(self, kind, *options):
        with (self.folder / f"{kind}-{len(self.processes)}.log").open("wb") as log:
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        self.processes.append(process)
        return process

    def wait_until(self, holds, what):
        """Wait until a condition holds, for a bounded time."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, f"Waited {PATIENCE:g} s for {what}."
            time.sleep(0.02)

    @property
    def address(self):
        self.wait_until(lambda: self.file.exists() and self.file.read_text(), "the scheduler")
        return json.loads(self.file.read_text())["address"]

    def kill_worker(self):
        """End a worker as a crash does, start another one, and return the id of the one that is gone."""
        victim = self.workers.pop(0)
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait(PATIENCE)
        self.start_worker()
        return victim.pid

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
        for process in self.processes:
            process.wait(PATIENCE)


@contextmanager
def running(folder):
    """Cluster that is stopped in the end."""
    cluster = Cluster(folder)
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Scheduler and two workers."""
    with running(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.start_worker()
        cluster.start_worker()
        yield cluster


@pytest.fixture
def own_cluster(tmp_path):
    """Scheduler of one test, without workers."""
    with running(tmp_path) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """Client that both workers are there for."""
    with (
        dask.config.set({"distributed.comm.timeouts.connect": f"{PATIENCE:g}s"}),
        Client(cluster.address, timeout=PATIENCE) as client,
    ):
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client


def make_rows(n_rows, seed):
    """Two numbers and a text; the index does not begin with 0."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"age": rng.normal(40, 10, n_rows), "spent": rng.normal(size=n_rows)})
    rows["plan"] = rng.choice(["free", "paid", "team"], n_rows)
    return rows.set_index(np.arange(n_rows) * 10 + 7)


@pytest.fixture(scope="session")
def rows():
    return make_rows(600, seed=1)


@pytest.fixture(scope="session")
def sure():
    X = make_rows(200, seed=2)
    noise = np.random.default_rng(3).normal(size=len(X))
    y = np.where(X["spent"] + (X["plan"] == "paid") + noise > 0, "yes", "no")
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["plan"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=1000))
    return IndividualErrorClassifier(model, cv=2, random_state=0).fit(X, y)
