"""Intervals of `surefoot.monitoring.audit`: how often they hold, and how wide they are beside even draws.

Coverage: 1,000 audits of each of 20 made tables whose losses are known, with 50, 100 and 300 labels, at 90 % and at
95 %. An interval is the intersection of its sequence, so that it misses the truth if the sequence ever does.

Width: twelve tables and three models. Half of the rows, at most 1,500, to learn from, and the rest, at most 5,000, to
audit; 200 audits each by the estimated error, and 200 by one estimate for all rows, which draws evenly.

Needs the tables in $SUREFOOT_DATA. What is in the folder already is not computed again:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/audit.py --out results
"""

import argparse
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split

from error_detection import encoded, models
from reproduction.data import fetch_table, list_tables
from surefoot import IndividualErrorClassifier
from surefoot.monitoring import audit

N_LABELS = (50, 100, 300)
N_ROWS = 2000
MOST_TO_LEARN, MOST_TO_AUDIT = 1500, 5000
KINDS = ("logistic", "forest", "boosting")


class Known(ClassifierMixin, BaseEstimator):
    """Classifier that predicts 0 for every row, and estimates the errors that it is given."""

    def __init__(self, errors, costs=None):
        self.errors = errors
        self.costs = costs

    def fit(self, X, y):
        """Know two classes."""
        self.classes_ = np.arange(2)
        self.held_out_ = SimpleNamespace(costs=self.costs, losses=np.asarray(y, dtype=float))
        return self

    def predict(self, X):
        """Zeros."""
        return np.zeros(len(X), dtype=int)

    def predict_error(self, X):
        """Errors that were given."""
        return self.errors


def draw_errors(random, mean, size, n_rows=N_ROWS):
    """Estimates of a beta distribution; a small `size` makes most of them near 0 or 1."""
    return random.beta(size * mean, size * (1 - mean), n_rows)


def generators():
    """Estimate and truth (0 right, 1 wrong) of each row of twenty tables, by name."""
    random = np.random.default_rng(0)

    def chance(probabilities):
        return (random.random(len(probabilities)) < probabilities).astype(int)

    sharp, weak, many = (
        draw_errors(random, *shape) for shape in ((0.1, 1.5), (0.1, 8), (0.3, 1.5))
    )
    rare, small = draw_errors(random, 0.005, 2), draw_errors(random, 0.15, 2, 60)
    even = np.full(N_ROWS, 0.1)
    lowest = sharp < np.median(sharp)
    spike = np.where(np.arange(N_ROWS) < 2, 1.0, 1e-4)
    return {
        "good estimate, 10 % wrong": (sharp, chance(sharp)),
        "weak estimate, 10 % wrong": (weak, chance(weak)),
        "good estimate, 30 % wrong": (many, chance(many)),
        "good estimate, 0.5 % wrong": (rare, chance(rare)),
        "useless estimate, 0.5 % wrong": (rare, chance(np.full(N_ROWS, 0.005))),
        "useless estimate, 10 % wrong": (sharp, chance(even)),
        "useless estimate, 50 % wrong": (sharp, chance(5 * even)),
        "one estimate for all rows": (even, chance(even)),
        "wrong only where sure, 10 % wrong": (sharp, chance(np.where(lowest, 0.2, 0))),
        "wrong only where sure, 2 % wrong": (sharp, chance(np.where(lowest, 0.04, 0))),
        "right exactly where in doubt": (many, (many < 0.3).astype(int)),
        "concept shift: 20 points more": (sharp, chance(np.minimum(sharp + 0.2, 1))),
        "concept shift: reversed": (sharp, chance(1 - sharp)),
        "five times too low": (sharp / 5, chance(sharp)),
        "five times too high": (np.minimum(sharp * 5, 1), chance(sharp)),
        "estimated 0 everywhere, 5 % wrong": (np.zeros(N_ROWS), chance(even / 2)),
        "estimated 1 everywhere, 5 % wrong": (np.ones(N_ROWS), chance(even / 2)),
        "two rows have all the doubt": (spike, chance(even / 2)),
        "table of 60 rows": (small, chance(small)),
        "none wrong": (sharp, np.zeros(N_ROWS, dtype=int)),
    }


def run_audits(error_estimator, truth, n_labels, n_draws, confidence):
    """Ends of the intervals of many audits, one line each."""
    X = np.zeros((len(truth), 1))
    ends = []
    for number in range(n_draws):
        drawn = audit(error_estimator, X, n_labels, random_state=number)
        ends.append(drawn.result(truth[drawn.rows], confidence).interval)
    return np.array(ends)


def coverage(folder, n_draws):
    """Share of intervals that hold the truth on each made table; written one by one."""
    file = folder / "audit_coverage.csv"
    done = pd.read_csv(file) if file.exists() else pd.DataFrame(columns=["table", "n_labels"])
    lines = done.to_dict("records")
    known = {(line["table"], line["n_labels"]) for line in lines}
    for (name, (errors, truth)), n_labels in product(generators().items(), N_LABELS):
        if (name, n_labels) in known:
            continue
        error_estimator = Known(errors).fit(None, truth)
        line = {"table": name, "n_labels": n_labels, "wrong": truth.mean(), "audits": n_draws}
        for confidence in (0.9, 0.95):
            low, high = run_audits(error_estimator, truth, n_labels, n_draws, confidence).T
            held = (low <= truth.mean() + 1e-12) & (truth.mean() - 1e-12 <= high)
            line |= {
                f"held {confidence:.0%}": held.mean(),
                f"width {confidence:.0%}": (high - low).mean(),
            }
        lines.append(line)
        pd.DataFrame(lines).to_csv(file, index=False)
    return pd.DataFrame(lines)


def estimates_of(folder, name, kind):
    """Estimated and true errors of the rows to audit; computed once."""
    file = folder / f"{name}-{kind}.npz"
    if not file.exists():
        X, y = fetch_table(name)
        size = min(MOST_TO_LEARN, len(y) // 2)
        learned, audited = train_test_split(
            np.arange(len(y)), train_size=size, random_state=0, stratify=y
        )
        X_learned, X_audited = (
            X.iloc[rows] if hasattr(X, "iloc") else X[rows]
            for rows in (learned, audited[:MOST_TO_AUDIT])
        )
        error_estimator = IndividualErrorClassifier(encoded(models(0)[kind], X), random_state=0)
        error_estimator.fit(X_learned, y[learned])
        wrong = error_estimator.predict(X_audited) != y[audited[:MOST_TO_AUDIT]]
        np.savez(file, f=error_estimator.predict_error(X_audited), l=wrong.astype(float))
    with np.load(file) as stored:
        return stored["f"], stored["l"].astype(int)


def widths(folder, n_draws):
    """Mean width on the twelve tables, by the estimated error and by even draws; written one by one."""
    file = folder / "audit_widths.csv"
    done = (
        pd.read_csv(file) if file.exists() else pd.DataFrame(columns=["table", "model", "n_labels"])
    )
    lines = done.to_dict("records")
    known = {(line["table"], line["model"], line["n_labels"]) for line in lines}
    for name, kind, n_labels in product(
        list_tables("classification", "tabular"), KINDS, (100, 300)
    ):
        if (name, kind, n_labels) in known:
            continue
        errors, truth = estimates_of(folder, name, kind)
        line = {"table": name, "model": kind, "n_labels": n_labels, "wrong": truth.mean()}
        for way, estimate in (("audit", errors), ("even", np.full(len(errors), errors.mean()))):
            error_estimator = Known(estimate).fit(None, truth)
            low, high = run_audits(error_estimator, truth, n_labels, n_draws, 0.9).T
            line |= {
                f"{way} width": (high - low).mean(),
                f"{way} held": ((low <= truth.mean()) & (truth.mean() <= high)).mean(),
            }
        lines.append(line | {"ratio": line["audit width"] / line["even width"]})
        pd.DataFrame(lines).to_csv(file, index=False)
    return pd.DataFrame(lines)


def main():
    """Run what is not there yet, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="50 audits instead of 1,000 and 200")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    held = coverage(arguments.out, 50 if arguments.quick else 1000)
    print(held.round(3).to_string(index=False))
    wide = widths(arguments.out, 50 if arguments.quick else 200)
    print(wide.round(3).to_string(index=False))
    for n_labels, part in wide.groupby("n_labels"):
        few = part["wrong"] < 0.05
        print(
            f"{n_labels} labels: mean ratio {part['ratio'].mean():.3f}, "
            f"from {part['ratio'].min():.2f} to {part['ratio'].max():.2f}; "
            f"less than 5 % wrong {part['ratio'][few].mean():.3f}, others {part['ratio'][~few].mean():.3f}"
        )


if __name__ == "__main__":
    main()
