"""What IndividualErrorClassifier costs: its fit against a cross-validation of the model and one neighbour search.

Apart from the model's calls on samples, which are timed where they happen. Processor seconds of one process, turn by
turn, the least of several rounds; half of each table, at most 1500 rows, as in error_detection.py:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/error_cost.py
"""

import argparse
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import NearestNeighbors

from benchmarks.timing import report, seconds
from error_detection import encoded, halves, models
from reproduction.data import list_tables
from surefoot._models import FittedModel
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.neighborhoods import Neighborhood

N_NEIGHBORS = 30


@contextmanager
def sample_clock():
    """Yield a list that collects the times of the model's calls on samples, and of no others."""
    times, sampling = [], []
    sample_scores, call = Neighborhood.sample_scores, FittedModel.__call__

    def timed_sample_scores(self, *arguments, **options):
        sampling.append(True)
        try:
            return sample_scores(self, *arguments, **options)
        finally:
            sampling.pop()

    def timed_call(self, inputs):
        start = time.process_time()
        found = call(self, inputs)
        if sampling:
            times.append(time.process_time() - start)
        return found

    Neighborhood.sample_scores, FittedModel.__call__ = timed_sample_scores, timed_call
    try:
        yield times
    finally:
        Neighborhood.sample_scores, FittedModel.__call__ = sample_scores, call


def search(rows):
    """Find the neighbours of every row."""
    NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(rows).kneighbors(rows)


def measure(table, kind, rounds):
    """Least processor times: the fit without its calls on samples, these, cross-validation, search."""
    X, _, y, _ = halves(table, 0)
    model = encoded(models(0)[kind], X)
    rows = clone(model[:-1]).fit_transform(X)
    error_estimator = IndividualErrorClassifier(model, random_state=0)
    found = []
    for _ in range(rounds):
        with sample_clock() as samples:
            whole = seconds(partial(error_estimator.fit, X, y))
        cross_validation = seconds(partial(cross_val_predict, model, X, y, cv=5))
        found.append(
            [whole - sum(samples), sum(samples), cross_validation, seconds(partial(search, rows))]
        )
    return np.min(found, axis=0)


def main():
    """Print a ratio for each table and model, and the geometric mean and worst of each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", default=list_tables("classification", "tabular"))
    parser.add_argument("--models", nargs="*", default=list(models(0)))
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    warm_up = encoded(models(0)["logistic"], np.eye(4))
    IndividualErrorClassifier(warm_up, cv=2).fit(np.eye(4)[[0, 1] * 20], [0, 1] * 20)
    print(f"{'':24}{'fit':>10}{'samples':>10}{'5 folds':>10}{'search':>10}{'ratio':>10}")
    for kind in options.models:
        ratios = []
        for table in options.tables:
            fit, samples, folds, near = measure(table, kind, options.rounds)
            ratios.append(fit / (folds + near))
            told = "".join(f"{value:10.2f}" for value in (fit, samples, folds, near, ratios[-1]))
            print(f"{kind:10}{table:14}{told}", flush=True)
        mean = np.exp(np.mean(np.log(ratios)))
        report(f"{kind}: geometric mean", mean, "at most", 4)
        report(f"{kind}: worst table", max(ratios), "at most", 4)


if __name__ == "__main__":
    main()
