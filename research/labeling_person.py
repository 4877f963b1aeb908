"""Simulated people label a table through the page's real HTTP interface, with and without wrong answers.

Half of the rows of a development table is the pool, the other half measures. The person answers as fast as the page
asks, and waits for the model after every ten answers. Printed for each strategy and each share of wrong answers: labels
until the page's model reaches 95 % of its accuracy with all labels of the pool, the page's own estimate of the accuracy
beside the measured one at the end, and where the page was sure of the accuracy of a model.

Needs the extra `label` and the tables in $SUREFOOT_DATA; without them, the wines of scikit-learn.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split
from skrub import tabular_pipeline

from reproduction.data import fetch_table
from surefoot.labeling import serve

MOST_ROWS, BATCH = 1000, 10
MODEL = tabular_pipeline(ExtraTreesClassifier(30, random_state=0))


class Person:
    """Program that answers the questions of a page from labels that it knows, some of them wrong."""

    def __init__(self, page, labels, wrong, seed):
        self.address, _, self.token = page.url.partition("/?token=")
        self.labels, self.wrong, self.random = labels, wrong, np.random.default_rng(seed)
        self.classes = sorted(set(labels))

    def ask(self, path, body=None):
        """Answer of the page."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.address + path, content, headers)) as answer:  # noqa: S310
            return json.load(answer)

    def answer_next(self):
        """Row that was answered."""
        item = self.ask("/api/next?person=simulated&count=1")["items"][0]
        label = self.labels[item["row"]]
        if self.random.uniform() < self.wrong:
            label = str(self.random.choice([each for each in self.classes if each != label]))
        body = {"key": f"{item['row']}", "row": item["row"], "lease": item["lease"]}
        self.ask("/api/answers", {**body, "person": "simulated", "kind": "label", "label": label})
        return item["row"]

    def wait(self, seconds=120):
        """Progress once the model has learned from all but a few answers."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            progress = self.ask("/api/progress")
            if progress["n_learned"] >= 0.94 * progress["n_labels"]:
                return progress
            time.sleep(0.05)
        raise TimeoutError("The model did not learn in time.")


def label_table(X, labels, strategy, n_labels, wrong, seed):
    """Answers in their order, and the progress of the page after each batch."""
    with tempfile.TemporaryDirectory() as folder:
        page = serve(
            X,
            "target",
            classes=sorted(set(labels)),
            strategy=strategy,
            estimator=MODEL,
            db=Path(folder) / "labels.db",
            random_state=seed,
        )
        try:
            person, progress = Person(page, labels, wrong, seed), []
            for n_answers in range(1, n_labels + 1):
                person.answer_next()
                if n_answers % BATCH == 0:
                    progress.append(person.wait())
            answers = page.labels().sort_values("time")
        finally:
            page.stop()
    return answers, progress


def test_accuracies(X, answers, X_test, y_test, sizes):
    """Accuracy on the test rows of a model that has learned from the first answers."""
    scores = []
    for size in sizes:
        first = answers.iloc[:size]
        model = clone(MODEL).fit(X.iloc[first["row"]], first["label"].to_numpy())
        scores.append(model.score(X_test, y_test))
    return np.array(scores)


def load(name):
    """Rows and their labels as texts, at most a thousand."""
    try:
        X, y = fetch_table(name)
    except OSError:
        X, y = load_wine(return_X_y=True, as_frame=True)
    rows = np.random.RandomState(0).permutation(len(y))[:MOST_ROWS]
    return pd.DataFrame(X).iloc[rows].reset_index(drop=True), np.asarray(y).astype(str)[rows]


def main():
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", default="segment")
    parser.add_argument("--labels", type=int, default=150)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    X, y = load(options.table)
    sizes = range(BATCH, options.labels + 1, BATCH)
    print(f"{options.table}: {len(y)} rows, {options.labels} labels")
    print("strategy     wrong  repeat  labels needed   page's estimate   measured   claim at")
    for wrong in (0.0, 0.05, 0.1):
        for repeat in range(options.repeats):
            split = train_test_split(X, y, test_size=0.5, random_state=repeat)
            pool, test, labels, y_test = (split[0].reset_index(drop=True), *split[1:])
            full = clone(MODEL).fit(pool, labels).score(test, y_test)
            for strategy in ("random", "margin"):
                answers, progress = label_table(
                    pool, labels, strategy, options.labels, wrong, repeat
                )
                scores = test_accuracies(pool, answers, test, y_test, sizes)
                reached = [
                    n for n, score in zip(sizes, scores, strict=True) if score >= 0.95 * full
                ]
                stops = [each["n_learned"] for each in progress if each["claim"]]
                accuracy = progress[-1]["accuracy"]
                estimate = "{estimate:.2f} ({low:.2f} to {high:.2f})".format(**accuracy)
                print(
                    f"{strategy:12} {wrong:5.0%} {repeat:7} {reached[0] if reached else '–':>14}"
                    f"   {estimate:20} {scores[-1]:.2f} {stops[0] if stops else '–':>12}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
