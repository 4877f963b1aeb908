"""Labels needed by our strategies and by scikit-activeml's uncertainty sampling, from the same starts.

Needs scikit-activeml, in the dependency group `peers`, and the tables in $SUREFOOT_DATA; without
them scikit-learn's bundled sets are used. Tables and model are those of `python -m reproduction
queries-and-the-oracle`; there are fewer labels and repeats, and no wrong answers.
"""

import argparse

import numpy as np
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import UncertaintySampling
from sklearn.base import clone

from benchmarks.timing import report
from reproduction.queries_and_the_oracle import forest, load_tables
from surefoot.active_learning import simulate

METHODS = ("least_confident", "margin_sampling", "entropy")
OURS = ("random", "confidence", "margin")
SETTINGS = {"n_initial": 10, "n_labels": 120, "batch_size": 10, "n_repeats": 3}


class Peer:
    """A method of scikit-activeml's uncertainty sampling as a strategy."""

    def __init__(self, method):
        self.method = method

    def __call__(self, model, X_pool, X, y, batch_size, random_state):
        """Positions in the pool; it takes numbers, and fits the last step of the pipeline itself."""
        table = np.vstack([model[:-1].transform(X), model[:-1].transform(X_pool)])
        labels = np.concatenate([np.asarray(y, dtype=float), np.full(X_pool.shape[0], np.nan)])
        classifier = SklearnClassifier(clone(model[-1]), classes=model.classes_.astype(float))
        seed = int(random_state.randint(2**31 - 1))
        query = UncertaintySampling(method=self.method, random_state=seed)
        return query.query(table, labels, classifier, batch_size=batch_size) - len(y)


def compare(X, y):
    """Labels needed by each, at most as many as there were."""
    strategies = {name: name for name in OURS} | {method: Peer(method) for method in METHODS}
    result = simulate(forest(), X, y, strategies, random_state=0, **SETTINGS)
    return {name: min(n, SETTINGS["n_labels"]) for name, n in result.labels_needed().items()}


def main():
    """Print a line a table, then the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    tables = load_tables(quick=parser.parse_args().quick)
    print(f"{'':<16}" + "".join(f"{name:>17}" for name in (*OURS, *METHODS)))
    needed = []
    for name, (X, y) in tables.items():
        needed.append(list(compare(X, y).values()))
        print(f"{name:<16}" + "".join(f"{n:17.0f}" for n in needed[-1]), flush=True)
    means = dict(zip((*OURS, *METHODS), np.mean(needed, axis=0), strict=True))
    print(f"{'mean':<16}" + "".join(f"{mean:17.1f}" for mean in means.values()))
    best = min(means[method] for method in METHODS)
    ours = means["margin"]
    report("mean labels: the default / random", ours / means["random"], "at most", 0.9)
    report("mean labels: the default / confidence", ours / means["confidence"], "at most", 1)
    report("mean labels: the default / scikit-activeml's best", ours / best, "at most", 1)


if __name__ == "__main__":
    main()
