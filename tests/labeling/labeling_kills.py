"""Check that no acknowledged answer is lost while four people label and the server is killed again and again.

`surefoot label` runs as a process of its own. It is killed with SIGKILL after every so many answers, at a random
moment, and started again with the same command. Each person answers what they are given. A request that gets no reply
is sent again with the same key until there is one; some that had a reply are sent twice all the same. A fifth person
takes rows and never answers: these must come back to the others.

python tests/labeling/labeling_kills.py [--answers 2000] [--kills 20]
"""

import argparse
import csv
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import httpx

CLASSES = ("a", "b", "c", "d")
LEASE_SECONDS = 3
PEOPLE = ("ann", "bob", "cy", "dee")
IDLER = "eve"
PATIENCE = 600  # seconds for the whole run, and for one start of the server


class Deal(NamedTuple):
    """Row that a person was given: between `sent` and `received` the server's lease began, or began anew."""

    row: int
    person: str
    sent: float
    received: float


def label_of(row):
    """Class that every person gives to a row."""
    return CLASSES[row * 7 % len(CLASSES)]


class Server:
    """The command, started again after each kill."""

    def __init__(self, folder):
        self.command = [
            *(sys.executable, "-c", "from surefoot.cli import main; main()", "label", "pool.csv"),
            *("--target", "kind", "--classes", ",".join(CLASSES), "--lease", str(LEASE_SECONDS)),
        ]
        self.folder, self.url, self.process = folder, None, None
        self.seconds = []  # from each start to the first line printed

    def start(self):
        """Start the command, and wait for the address that it prints."""
        begin = time.monotonic()
        with (self.folder / "stderr.txt").open("ab") as errors:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, stdout=subprocess.PIPE, stderr=errors
            )
        self.url = self.process.stdout.readline().decode().strip()
        assert self.url.startswith("http://127.0.0.1:"), (self.folder / "stderr.txt").read_text()
        self.seconds.append(time.monotonic() - begin)

    def kill(self):
        """End the process without a word."""
        self.url = None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """End the process as a user does; it writes the file of labels."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.process.stdout.close()


class Client:
    """One person's requests, each sent until there is a reply."""

    def __init__(self, server, person, end):
        self.server, self.person, self.end = server, person, end
        self.url, self.http = None, None
        self.n_lost = 0  # requests without a reply

    def ask(self, method, path, **options):
        """Reply, and when the request that it replies to was sent."""
        while True:
            assert time.monotonic() < self.end, "The run takes too long."
            url = self.server.url
            if url is None:
                time.sleep(0.01)
                continue
            if url != self.url:
                self.connect(url)
            sent = time.monotonic()
            try:
                return self.http.request(method, path, **options), sent
            except httpx.TransportError:
                self.n_lost += 1
                time.sleep(0.02)

    def connect(self, url):
        """Talk to the server at an address from now on."""
        self.close()
        base, token = url.split("/?token=")
        headers = {"Authorization": f"Bearer {token}"}
        self.url, self.http = url, httpx.Client(base_url=base, headers=headers, timeout=30)

    def close(self):
        """Close the connection."""
        if self.http is not None:
            self.http.close()


class Run:
    """What the people noted down, and how many answers are acknowledged."""

    def __init__(self, server, n_answers, seed):
        self.server, self.n_answers = server, n_answers
        self.random = random.Random(seed)  # noqa: S311 - no secret
        self.end = time.monotonic() + PATIENCE
        self.deals, self.sent, self.acknowledged = [], {}, {}  # by key: row
        self.n_refused = self.n_doubled = self.n_lost = 0
        self.lock = threading.Lock()
        self.done = threading.Event()

    def work(self, person):
        """Answer rows until all are answered."""
        client, number = Client(self.server, person, self.end), 0
        try:
            while not self.done.is_set():
                for item in self.deal(client, person):
                    number += 1
                    self.answer(client, item, f"{person} {number}")
        finally:
            self.n_lost += client.n_lost
            client.close()

    def idle(self):
        """Take rows now and then, and never answer."""
        client = Client(self.server, IDLER, self.end)
        while not self.done.wait(0.5):
            if len(self.acknowledged) < self.n_answers // 2:
                self.deal(client, IDLER)
        client.close()

    def deal(self, client, person):
        """Rows that a person is given; when, is noted down."""
        query = {"person": person, "count": 3}
        reply, sent = client.ask("GET", "/api/next", params=query)
        assert reply.status_code == 200, reply.text
        items, received = reply.json()["items"], time.monotonic()
        with self.lock:
            self.deals += [Deal(item["row"], person, sent, received) for item in items]
        if reply.json()["left"] == 0:
            self.done.set()
        if not items:
            time.sleep(0.05)  # the rest is leased to others
        return items

    def answer(self, client, item, key):
        """Send an answer until there is a reply; one in ten once more."""
        row = item["row"]
        body = {"key": key, "row": row, "lease": item["lease"], "person": client.person}
        body |= {"kind": "label", "label": label_of(row)}
        with self.lock:
            self.sent[key] = row
            again = self.random.random() < 0.1
        reply, _ = client.ask("POST", "/api/answers", json=body)
        if reply.status_code == 409:  # the lease ended while the server was down
            self.n_refused += 1
            return
        assert reply.json()["saved"] is True, reply.text
        with self.lock:
            self.acknowledged[key] = row
        if again:
            reply, _ = client.ask("POST", "/api/answers", json=body)
            assert reply.json()["saved"] is True, reply.text
            self.n_doubled += 1


def kill_now_and_then(run, n_kills):
    """Kill the server after every so many answers, and start it again."""
    for i in range(n_kills):
        while len(run.acknowledged) < (i + 1) * run.n_answers / (n_kills + 1):
            if run.done.wait(0.005):
                return i
            assert time.monotonic() < run.end, "The run takes too long."
        time.sleep(run.random.uniform(0, 0.03))
        run.server.kill()
        run.server.start()
    return n_kills


def measure(n_answers, n_kills, folder, seed=0):
    """Run it all in a folder; figures, among them everything that must be zero."""
    folder = Path(folder)
    with (folder / "pool.csv").open("w") as file:
        file.write("x,z\n" + "".join(f"{i * 37 % 101},{i % 13}\n" for i in range(n_answers)))
    server = Server(folder)
    begin = time.monotonic()
    server.start()
    run = Run(server, n_answers, seed)
    threads = [threading.Thread(target=run.work, args=(person,)) for person in PEOPLE]
    threads.append(threading.Thread(target=run.idle))
    try:
        for thread in threads:
            thread.start()
        n_killed = kill_now_and_then(run, n_kills)
        for thread in threads:
            thread.join(max(0.0, run.end - time.monotonic()))
    finally:
        run.done.set()
        server.stop()
    return {
        "answers acknowledged": len(run.acknowledged),
        "kills": n_killed,
        "requests without a reply, sent again": run.n_lost,
        "answers sent twice on purpose": run.n_doubled,
        "answers refused, as the lease had gone to somebody else": run.n_refused,
        "rows that came back from a person who never answers": n_came_back(run),
        "seconds": time.monotonic() - begin,
        "median seconds of a start": sorted(server.seconds)[len(server.seconds) // 2],
        **faults(run, folder),
    }


def n_came_back(run):
    """Rows that the idle person had, and somebody answered."""
    idle = {deal.row for deal in run.deals if deal.person == IDLER}
    return len(idle & set(run.acknowledged.values()))


def faults(run, folder):
    """Everything that must be zero."""
    with sqlite3.connect(folder / "pool.labels.db") as database:
        stored = database.execute("SELECT key, row, label, undone FROM answers").fetchall()
    database.close()
    with (folder / "labels.csv").open(newline="") as file:
        exported = [(int(line["row"]), line["label"]) for line in csv.DictReader(file)]
    keys = Counter(key for key, _, _, _ in stored)
    rows = {key: row for key, row, _, _ in stored}
    return {
        "acknowledged answers that are lost": sum(
            rows.get(key) != row for key, row in run.acknowledged.items()
        ),
        "answers that are there twice": sum(number - 1 for number in keys.values()),
        "answers that nobody sent": sum(run.sent.get(key) != row for key, row in rows.items()),
        "answers with another label": sum(label != label_of(row) for _, row, label, _ in stored),
        "rows of the pool without one line in the file": sum(
            number != 1 for number in per_row(exported, run.n_answers).values()
        ),
        "lines of the file with another label": sum(
            label != label_of(row) for row, label in exported
        ),
        "rows leased to two at once": len(leased_twice(run)),
    }


def per_row(exported, n_rows):
    """Number of lines of each row in the file of labels."""
    counts = dict.fromkeys(range(n_rows), 0)
    for row, _ in exported:
        counts[row] = counts.get(row, 0) + 1
    return counts


def leased_twice(run):
    """Pairs of deals of one row to two people, the second surely before the first one's lease had ended.

    A lease begins between the request and its reply. So the first lasts at least until `sent` and the time of a lease,
    and the second has begun at `received` at the latest.
    """
    by_row = {}
    for deal in sorted(run.deals, key=lambda deal: deal.sent):
        by_row.setdefault(deal.row, []).append(deal)
    pairs = []
    for deals in by_row.values():
        pairs += [
            (first, second)
            for i, first in enumerate(deals)
            for second in deals[i + 1 :]
            if second.person != first.person
            and second.sent > first.received
            and second.received < first.sent + LEASE_SECONDS
        ]
    return pairs


def main():
    """Print the figures; exit code 1 if anything is lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(arguments.answers, arguments.kills, folder)
    for name, figure in figures.items():
        print(
            f"{name:<60} {figure:10.1f}"
            if isinstance(figure, float)
            else f"{name:<60} {figure:10,}"
        )
    names = list(figures)
    bad = names[names.index("median seconds of a start") + 1 :]
    sys.exit(any(figures[name] for name in bad))


if __name__ == "__main__":
    main()
