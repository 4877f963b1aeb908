"""Nearest neighbours of sparse texts, with and without sensitivity, as ratios in one run on one thread.

On Reuters-21578 ($SUREFOOT_DATA), 900 terms, k = 29: against the plain vote, against scikit-learn's brute
force, and against itself on fewer texts. On a synthetic corpus of 200,000 texts and 50,000 terms: memory, and the time
for each query beside scikit-learn's. Then the share of cells with a value from which dense products are faster.
"""

import resource
import subprocess
import sys

import numpy as np
from scipy.sparse import csr_array, random_array
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from reproduction.bennett_table_1 import (
    COSINE,
    EUCLIDEAN,
    N_NEIGHBORS,
    PLAIN,
    SENSITIVITY,
    WIDER,
    best_seconds,
    make_methods,
    reuters,
)
from surefoot import KernelKNeighborsClassifier, LocalSensitivity
from surefoot.neighborhoods import _search
from timing import report

N_TEXTS, N_TERMS, N_QUERIES, TERMS_A_TEXT = 200_000, 50_000, 1_000, 60


def on_reuters():
    """Ratios of the paper's table 1, and to scikit-learn's search under both distances."""
    X_train, y_train, X_test = reuters(quick=False)
    methods = make_methods(X_train, y_train, X_test)
    search = _search.SparseNeighbors(X_train, "euclidean", N_NEIGHBORS, n_jobs=1)
    methods["Euclidean"] = lambda: search.kneighbors(X_test)
    seconds = best_seconds(methods, range(15))
    fastest = min(seconds[COSINE], seconds[EUCLIDEAN])
    report("2k neighbours / k", seconds[WIDER] / seconds[PLAIN], "at most", 1.16)
    report("k with sensitivity over 2k / k", seconds[SENSITIVITY] / seconds[PLAIN], "at most", 1.5)
    report("k, cosine / scikit-learn's fastest", seconds[PLAIN] / fastest, "at most", 1)
    report("k, Euclidean / scikit-learn's", seconds["Euclidean"] / seconds[EUCLIDEAN], "at most", 1)
    stability = LocalSensitivity(
        KernelKNeighborsClassifier(N_NEIGHBORS, kernel="cosine"), n_neighbors=N_NEIGHBORS
    ).fit(X_train, y_train)
    n_half = X_test.shape[0] // 2
    parts = {
        n: lambda n=n: stability.transform(X_test[:n]) for n in (n_half // 2, n_half, 2 * n_half)
    }
    quarter, half, whole = best_seconds(parts, range(15)).values()
    report("twice as many test texts, time", whole / half, "at most", 2.1)
    report("and twice again", half / quarter, "at most", 2.1)


def zipf_texts(n_texts, seed):
    """Unit rows of terms drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    frequency = np.cumsum(1 / np.arange(1, N_TERMS + 1))
    drawn = rng.random((n_texts, TERMS_A_TEXT)) * frequency[-1]
    columns = np.searchsorted(frequency, drawn).astype(np.int32).ravel()
    starts = np.arange(0, columns.size + 1, TERMS_A_TEXT, dtype=np.int32)
    X = csr_array((rng.exponential(size=columns.size), columns, starts), shape=(n_texts, N_TERMS))
    X.sum_duplicates()
    lengths = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    return X


def on_synthetic():
    """Milliseconds for each query with sensitivity, and of scikit-learn's search, beside."""
    X, queries = zipf_texts(N_TEXTS, 0), zipf_texts(N_QUERIES, 1)
    knn = KernelKNeighborsClassifier(N_NEIGHBORS, kernel="cosine")
    stability = LocalSensitivity(knn, n_neighbors=N_NEIGHBORS).fit(X, np.arange(N_TEXTS) % 2)
    [ours] = best_seconds({"ours": lambda: stability.transform(queries)}, range(3)).values()
    report("synthetic corpus with sensitivity, peak MiB", peak_memory(), "at most", 1024)
    few = queries[:100]  # of scikit-learn's time it is enough
    searches = {
        metric: NearestNeighbors(n_neighbors=N_NEIGHBORS, metric=metric, algorithm="brute").fit(X)
        for metric in ("cosine", "euclidean")
    }
    theirs = best_seconds(
        {name: lambda s=s: s.kneighbors(few) for name, s in searches.items()}, range(2)
    )
    for name, seconds in theirs.items():
        print(f"ms a query: {ours:.2f}, scikit-learn's {name} search alone {10 * seconds:.2f}")
    least = min(theirs.values()) / few.shape[0]
    report(
        "a query with sensitivity / scikit-learn's search", ours / N_QUERIES / least, "at most", 1
    )


def reuters_memory():
    """Peak memory of the plain vote and of sensitivity on all test texts."""
    X_train, y_train, X_test = reuters(quick=False)
    knn = KernelKNeighborsClassifier(N_NEIGHBORS, kernel="cosine")
    stability = LocalSensitivity(knn, n_neighbors=N_NEIGHBORS).fit(X_train, y_train)
    stability.transform(X_test)
    stability.index_.model.predictor.decision_function(X_test)
    report("Reuters with sensitivity, peak MiB", peak_memory(), "at most", 600)


def peak_memory():
    """Most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def where_dense_is_faster():
    """Time of the inverted index over that of dense products, by the share of cells with a value."""
    for share in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5):
        rng = np.random.default_rng(0)
        X = random_array((6_000, 900), density=share, rng=rng, format="csr")
        queries = random_array((800, 900), density=share, rng=rng, format="csr")
        kinds = {
            "index": _search.SparseNeighbors(X, "euclidean", N_NEIGHBORS, 1),
            "dense": _search.RowSearch(X, "euclidean", N_NEIGHBORS, 1, dense=True),
        }
        methods = {name: lambda s=s, q=queries: s.kneighbors(q) for name, s in kinds.items()}
        index, dense = best_seconds(methods, range(5)).values()
        print(
            f"{share:.0%} of cells have a value: inverted index / dense products {index / dense:.2f}"
        )


PARTS = {
    function.__name__: function
    for function in (on_reuters, reuters_memory, on_synthetic, where_dense_is_faster)
}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        with threadpool_limits(1):
            PARTS[sys.argv[1]]()
    else:  # each in a process of its own, as memory is measured at its peak
        for name in PARTS:
            subprocess.run([sys.executable, __file__, name], check=True)
