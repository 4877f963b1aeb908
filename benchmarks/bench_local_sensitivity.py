"""What local sensitivity costs on top of what must be paid anyway, as ratios in one run.

The kernel vote with sensitivity against the plain vote over as many neighbours as the cache holds; a forest
with sensitivity against the forest's own time on the same samples and the neighbour search.
"""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from surefoot import KernelKNeighborsClassifier, LocalSensitivity
from surefoot.neighborhoods import log_n_neighbors, voronoi_samples
from timing import alternate, report


def rows(n_rows, seed):
    """Rows of 50 columns, of which five decide the class."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 50))
    return X, (X[:, :5].sum(axis=1) > 0).astype(int)


def kernel_vote():
    """Ratio of the vote with sensitivity to the plain vote over 2k neighbours."""
    X, y = rows(20_000, 0)
    queries, _ = rows(5_000, 1)
    plain = KernelKNeighborsClassifier(2 * log_n_neighbors(len(X))).fit(X, y)
    stability = LocalSensitivity(KernelKNeighborsClassifier()).fit(X, y)
    stability.transform(queries[:10])  # compiles
    base, with_sensitivity = alternate(
        [lambda: plain.decision_function(queries), lambda: stability.transform(queries)]
    )
    return with_sensitivity / base


def search():
    """Ratio of the vote with sensitivity to scikit-learn's search for 2k neighbours."""
    X, y = rows(15_000, 0)
    queries, _ = rows(5_000, 1)
    plain = NearestNeighbors(n_neighbors=2 * log_n_neighbors(len(X))).fit(X)
    stability = LocalSensitivity(KernelKNeighborsClassifier()).fit(X, y)
    stability.transform(queries[:10])  # compiles
    base, with_sensitivity = alternate(
        [lambda: plain.kneighbors(queries), lambda: stability.transform(queries)]
    )
    return with_sensitivity / base


def forest():
    """Ratio of sensitivity to the forest's time on the same samples plus the search."""
    X, y = rows(5_000, 0)
    queries, _ = rows(2_000, 1)
    model = RandomForestClassifier(100, random_state=0)
    stability = LocalSensitivity(model).fit(X, y)
    model.fit(X, y)
    search = NearestNeighbors(n_neighbors=stability.n_neighbors_).fit(X)
    near = search.kneighbors(queries, return_distance=False)
    samples = voronoi_samples(queries, X[near]).reshape(-1, 50)

    def must_be_paid():
        search.kneighbors(queries)
        model.predict_proba(queries)
        model.predict_proba(samples)

    base, with_sensitivity = alternate(
        [must_be_paid, lambda: stability.transform(queries)], repeats=7
    )
    return with_sensitivity / base


if __name__ == "__main__":
    report("sensitivity / search for 2k neighbours, all threads", search(), "at most", 1.5)
    with threadpool_limits(1):
        report("sensitivity / search for 2k neighbours, one thread", search(), "at most", 1.5)
        report(
            "kernel vote with sensitivity / plain vote over 2k neighbours",
            kernel_vote(),
            "at most",
            1.6,
        )
        report("forest with sensitivity / its samples and the search", forest(), "at most", 1.1)
