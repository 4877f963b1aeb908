"""Measure how soon the labelling page asks, and how fast and large it is, with 100,000 rows and 50 columns.

Half of the columns are numbers, half are texts of a few kinds. 300 rows have labels at the start. One person labels
with hardly a pause while the model learns again and again in its own process.

python research/labeling_speed.py [--rows 100000] [--columns 50] [--answers 1000]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pandas as pd

COMMAND = [sys.executable, "-c", "from surefoot.cli import main; main()", "label", "pool.csv"]
PAUSE = 0.03  # seconds between two answers: as fast as sixty quick people
TICKS = os.sysconf("SC_CLK_TCK")


def write_pool(path, n_rows, n_columns):
    """Write a pool whose classes depend on a few of its columns."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, n_columns // 2)).round(4)
    table = pd.DataFrame(numbers).add_prefix("number ")
    for i in range(n_columns - n_columns // 2):
        words = [f"word {j}" for j in range(3 + i)]
        table[f"text {i}"] = rng.choice(words, size=n_rows)
    score = numbers[:, 0] + 2 * (table["text 0"] == "word 1") + rng.normal(size=n_rows)
    kind = np.where(score > 1.2, "high", np.where(score > 0.2, "middle", "low")).astype(object)
    table["kind"] = [label if i % (n_rows // 300) == 0 else None for i, label in enumerate(kind)]
    table.to_csv(path, index=False)
    return kind


def processor_seconds(process):
    """Processor time of a process by itself."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mebibytes(process):
    """Largest resident memory of a process by itself."""
    (line,) = [
        line
        for line in Path(f"/proc/{process}/status").read_text().splitlines()
        if line.startswith("VmHWM")
    ]
    return int(line.split()[1]) / 1024


def others():
    """Load of the machine, and the number of processes that run or wait for a processor."""
    fields = Path("/proc/loadavg").read_text().split()
    return float(fields[0]), int(fields[3].split("/")[0])


class Server:
    """The command, and requests to it."""

    def __init__(self, folder, kind):
        self.kind, self.times = kind, {"next": [], "answer": []}
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            [*COMMAND, "--target", "kind"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        base, token = self.process.stdout.readline().decode().strip().split("/?token=")
        headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=base, headers=headers, timeout=60)

    def ask(self):
        """Next rows of one person, as the page asks for them."""
        begin = time.perf_counter()
        reply = self.http.get("/api/next", params={"person": "ann", "count": 3})
        self.times["next"].append(time.perf_counter() - begin)
        assert reply.status_code == 200, reply.text
        return reply.json()["items"]

    def answer(self, item, number):
        """Label one row with its class."""
        body = {"key": f"key {number}", "row": item["row"], "lease": item["lease"]}
        body |= {"person": "ann", "kind": "label", "label": self.kind[item["row"]]}
        begin = time.perf_counter()
        reply = self.http.post("/api/answers", json=body)
        self.times["answer"].append(time.perf_counter() - begin)
        assert reply.status_code == 200, reply.text

    def progress(self):
        """How far the labelling has come."""
        return self.http.get("/api/progress").json()


def measure(n_rows, n_columns, n_answers, folder):
    """Start, label and stop; figures by name."""
    kind = write_pool(folder / "pool.csv", n_rows, n_columns)
    server = Server(folder, kind)
    number = server.process.pid
    try:
        server.ask()
        usable = time.monotonic() - server.begin
        start = processor_seconds(number)
        loads, done = [], threading.Event()

        def watch():
            while not done.wait(0.5):
                loads.append(others())

        thread = threading.Thread(target=watch)
        thread.start()
        before, learning = processor_seconds(number), 0
        server.times = {"next": [], "answer": []}
        for i in range(n_answers):
            server.answer(server.ask()[0], i)
            learning += server.progress()["training"]
            time.sleep(PAUSE)
        spent = processor_seconds(number) - before
        done.set()
        thread.join()
        progress, peak = server.progress(), peak_mebibytes(number)
    finally:
        server.http.close()
        server.process.terminate()
        server.process.wait(60)
        server.process.stdout.close()
    next_times, answer_times = (np.array(server.times[name]) for name in ("next", "answer"))
    return {
        "seconds from the start to the first question": usable,
        "processor seconds of the server until then": start,
        "next question, milliseconds: median": 1000 * np.median(next_times),
        "next question, milliseconds: 95th percentile": 1000 * np.quantile(next_times, 0.95),
        "next question, milliseconds: longest": 1000 * next_times.max(),
        "answer saved, milliseconds: 95th percentile": 1000 * np.quantile(answer_times, 0.95),
        "processor milliseconds of the server a request": 1000 * spent / (3 * n_answers),
        "peak memory of the server, MiB": peak,
        "share of the time in which the model learned": learning / n_answers,
        "rounds of learning": float(progress["round"]),
        "load of the machine, mean": float(np.mean([load for load, _ in loads])),
        "processes that run or wait, mean": float(np.mean([waiting for _, waiting in loads])),
    }


ASKED = {
    "seconds from the start to the first question": 5.0,
    "next question, milliseconds: 95th percentile": 50.0,
    "peak memory of the server, MiB": 1024.0,
}


def main():
    """Print the figures, beside what is asked of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--answers", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(arguments.rows, arguments.columns, arguments.answers, Path(folder))
    for name, figure in figures.items():
        asked = ASKED.get(name)
        beside = (
            ""
            if asked is None
            else f"   asked: at most {asked:g}: {'yes' if figure <= asked else 'NO'}"
        )
        print(f"{name:<52} {figure:9.2f}{beside}")


if __name__ == "__main__":
    main()
