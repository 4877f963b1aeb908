"""kNN-DTW side by side with aeon, tslearn and dtaidistance: one process, one thread each.

Needs the UCR sets in $SUREFOOT_DATA and the dependency group `peers`, which has to live in an
environment of its own while aeon does not allow the numba that surefoot is developed with:

    python -m venv .venv-peers
    .venv-peers/bin/python -m pip install --editable . --group peers
    SUREFOOT_DATA=... .venv-peers/bin/python benchmarks/bench_dtw.py
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

from reproduction.data import fetch_ucr, list_ucr
from surefoot.time_series import DTWNeighbors

SETS = [
    "CBF", "ECG200", "FaceFour", "GunPoint", "Lightning7", "MedicalImages", "OSULeaf", "Plane",
    "SwedishLeaf", "SyntheticControl", "Trace", "WordSynonyms",
]  # fmt: skip
# Long enough for threads to matter: at least a tenth of a second.
THREAD_SETS = ["Adiac", "FacesUCR", "FiftyWords", "OSULeaf", "SwedishLeaf", "WordSynonyms"]
MEMORY_SCRIPT = """
import resource, time
import numpy as np
from surefoot.time_series import DTWNeighbors
random = np.random.default_rng(0)
X = random.standard_normal((100_000, 128), dtype=np.float64).cumsum(axis=1)
queries = random.standard_normal((200, 128)).cumsum(axis=1)
start = time.perf_counter()
model = DTWNeighbors(9, window={window}).fit(X)
fitted = time.perf_counter()
model.kneighbors(queries)
print(f"fit {{fitted - start:.1f}} s, search {{time.perf_counter() - fitted:.1f}} s, "
      f"peak {{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}} GiB")
"""
FIRST_CALL_SCRIPT = """
import time
import numpy as np
from surefoot.time_series import DTWNeighbors
X = np.random.default_rng(0).normal(size=(20, 50))
start = time.perf_counter()
DTWNeighbors(1).fit(X).kneighbors()
print(f"{time.perf_counter() - start:.1f} s")
"""


def surefoot_search(train, queries, n_neighbors, window, n_jobs=1):
    """Sum of the distances found, as every search here returns."""
    model = DTWNeighbors(n_neighbors, window=window, n_jobs=n_jobs).fit(train)
    return model.kneighbors(queries)[0].sum()


def aeon_search(train, queries, n_neighbors, window):
    """All queries at once, which is quicker than its `predict`, which takes them one by one."""
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

    model = KNeighborsTimeSeriesClassifier(
        n_neighbors=n_neighbors, distance="dtw", distance_params={"window": window}, n_jobs=1
    )
    model.fit(train[:, None], np.arange(len(train)) % 2)
    distances = model.kneighbors(queries[:, None])[0]
    return np.sqrt(distances).sum()  # aeon leaves the root out


def tslearn_search(train, queries, n_neighbors, window):
    """Its search computes every distance."""
    from tslearn.neighbors import KNeighborsTimeSeries

    limit = {}
    if window is not None:
        radius = int(window * train.shape[1])
        limit = {"global_constraint": "sakoe_chiba", "sakoe_chiba_radius": radius}
    model = KNeighborsTimeSeries(
        n_neighbors=n_neighbors, metric="dtw", metric_params=limit or None, n_jobs=1
    )
    return model.fit(train).kneighbors(queries)[0].sum()


def dtaidistance_search(train, queries, n_neighbors, window):
    """It has no search over whole series: its compiled distance matrix, then a sort."""
    from dtaidistance import dtw

    # Its window counts the diagonal in.
    limit = None if window is None else int(window * train.shape[1]) + 1
    both = np.ascontiguousarray(np.concatenate([queries, train]))
    n = len(queries)
    distances = dtw.distance_matrix_fast(
        both, window=limit, block=((0, n), (n, len(both))), parallel=False
    )[:n, n:]
    return np.sort(distances, axis=1)[:, :n_neighbors].sum()


PEERS = {"aeon": aeon_search, "tslearn": tslearn_search, "dtaidistance": dtaidistance_search}


def least_seconds(*calls, repeats=3, clock=time.process_time):
    """Least time of each of some calls, and what the last run of each returned.

    They take turns, so that other work on the machine slows all of them; processor time leaves out waiting.
    """
    times, results = np.full((repeats, len(calls)), np.inf), [None] * len(calls)
    for repeat in range(repeats):
        for i, call in enumerate(calls):
            start = clock()
            results[i] = call()
            times[repeat, i] = clock() - start
    return times.min(axis=0), results


def compare(name, n_neighbors, window, peers, n_cells):
    """Time of each peer over ours on the same queries; same sums of distances or an error."""
    data = fetch_ucr(name)
    train = data.X_train
    n_queries = int(np.clip(n_cells / (len(train) * train.shape[1] ** 2), 10, len(data.X_test)))
    arguments = train, data.X_test[:n_queries], n_neighbors, window
    searches = [surefoot_search, *(PEERS[peer] for peer in peers)]
    times, totals = least_seconds(*(partial(search, *arguments) for search in searches))
    np.testing.assert_allclose(totals, totals[0], rtol=1e-6, err_msg=f"{peers} on {name}")
    ratios = times[1:] / times[0]
    shape = f"{len(train)} x {n_queries}, length {train.shape[1]}"
    cells = "".join(f"{ratio:14.1f}" for ratio in ratios)
    print(f"  {name:18s}{shape:26s}{1000 * times[0]:9.1f} ms{cells}", flush=True)
    return ratios


def compare_all(sets, peers, n_cells):
    """Ratios on every set for one and nine neighbours, with and without a window."""
    warm = np.random.default_rng(0).normal(size=(12, 20))
    for window in (None, 0.1):
        for peer in peers:  # compile before anything is timed
            PEERS[peer](warm, warm, 1, window)
        for n_neighbors in (1, 9):
            limit = "no window" if window is None else f"window {window:.0%}"
            print(f"\n{n_neighbors} neighbour(s), {limit}: how many times as fast as")
            print(" " * 58 + "".join(f"{peer:>14s}" for peer in peers))
            ratios = [compare(name, n_neighbors, window, peers, n_cells) for name in sets]
            means = "".join(f"{mean:14.1f}" for mean in np.exp(np.log(ratios).mean(axis=0)))
            print(f"  {'geometric mean':56s}{means}")


def compare_threads(sets):
    """Time of one thread over that of two, on whole test sets."""
    print("\nTwo threads against one, nine neighbours, no window")
    ratios = []
    for name in sets:
        data = fetch_ucr(name)
        arguments = data.X_train, data.X_test[:500], 9, None
        (one, two), _ = least_seconds(
            *(partial(surefoot_search, *arguments, n_jobs) for n_jobs in (1, 2)),
            repeats=7,
            clock=time.perf_counter,
        )
        ratios.append(one / two)
        print(f"  {name:18s}{1000 * one:9.1f} ms{one / two:8.2f}", flush=True)
    print(f"  geometric mean {np.exp(np.mean(np.log(ratios))):.2f}")


def run_apart(script, **environment):
    """Output of a script in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def main():
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=SETS)
    installed = [peer for peer in PEERS if find_spec(peer)]
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=installed)
    parser.add_argument(
        "--cells",
        type=float,
        default=4e8,
        help="cells of the full matrices that a peer fills for a dataset: a few seconds' work for the slowest",
    )
    parser.add_argument("--skip-memory", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="2-Dimensional data passed")  # tslearn's
    names = ["surefoot", "numba", "numpy", *options.peers]
    print(", ".join(f"{name} {version(name)}" for name in names))
    with tempfile.TemporaryDirectory() as cache:
        print("first call on a machine:", run_apart(FIRST_CALL_SCRIPT, NUMBA_CACHE_DIR=cache))
        print("first call of a later process:", run_apart(FIRST_CALL_SCRIPT, NUMBA_CACHE_DIR=cache))
    surefoot_search(np.eye(12), np.eye(12), 1, None)
    for peer in set(PEERS) - set(options.peers):
        print(f"not compared: {peer}")
    if list_ucr():
        compare_all(options.sets, options.peers, options.cells)
        compare_threads(THREAD_SETS)
    else:
        print("nothing compared: there are no UCR sets in $SUREFOOT_DATA")
    if not options.skip_memory:
        for window in (None, 0.1):
            print(f"\n100,000 series of length 128, 200 queries, 9 neighbours, window {window}:")
            print(" ", run_apart(MEMORY_SCRIPT.format(window=window)))


if __name__ == "__main__":
    main()
