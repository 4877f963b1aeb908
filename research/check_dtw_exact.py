"""Compare the search with brute force on every UCR set on disk, at four windows.

    SUREFOOT_DATA=... python research/check_dtw_exact.py

Up to 500 series of each set, drawn at random, are searched for the nine nearest of a few of them,
and every distance is computed in full by a recurrence of its own.
"""

import argparse
import time

import numpy as np
from numba import njit

from reproduction.data import fetch_ucr, list_ucr
from surefoot.time_series import DTWNeighbors

LARGEST = 500
N_NEIGHBORS = 9


@njit(cache=True)
def full_costs(x, series, radius):
    """Squared DTW cost of x to every series, over the whole matrix within the window."""
    out = np.empty(len(series))
    n, m = len(x), series.shape[1]
    for s in range(len(series)):
        before = np.full(m + 1, np.inf)
        before[0] = 0.0
        for i in range(n):
            row = np.full(m + 1, np.inf)
            for j in range(max(0, i - radius), min(m, i + radius + 1)):
                cost = (x[i] - series[s, j]) ** 2
                row[j + 1] = cost + min(before[j], before[j + 1], row[j])
            before = row
        out[s] = before[m]
    return out


def check(name, window, n_queries):
    """Neighbours that differ from brute force's, of how many; and the largest distance error."""
    data = fetch_ucr(name)
    random = np.random.default_rng(0)
    pooled = random.permutation(np.vstack([data.X_train, data.X_test]))[:LARGEST]
    n_neighbors = min(N_NEIGHBORS, len(pooled) - 1)
    model = DTWNeighbors(n_neighbors, window=window).fit(pooled)
    distances, indices = model.kneighbors()
    radius = pooled.shape[1] if model.radius_ is None else model.radius_
    wrong, error = 0, 0.0
    for q in random.choice(len(pooled), size=min(n_queries, len(pooled)), replace=False):
        costs = full_costs(pooled[q], pooled, radius)
        costs[q] = np.inf
        nearest = np.argsort(costs, kind="stable")[:n_neighbors]
        wrong += np.count_nonzero(nearest != indices[q])
        gap = np.abs(np.sqrt(costs[nearest]) - distances[q]) / np.maximum(distances[q], 1e-300)
        error = max(error, gap[distances[q] > 0].max(initial=0.0))
    return wrong, n_queries * n_neighbors, error


def main():
    """Print a line a set; the last line counts what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=10)
    options = parser.parse_args()
    start, total_wrong, total, largest = time.perf_counter(), 0, 0, 0.0
    names = list_ucr()
    for name in names:
        found = [check(name, window, options.queries) for window in (0, 0.03, 0.1, None)]
        print(f"{name:24s}", *(f"{wrong} of {all_}" for wrong, all_, _ in found), flush=True)
        total_wrong += sum(wrong for wrong, _, _ in found)
        total += sum(all_ for _, all_, _ in found)
        largest = max(largest, *(error for _, _, error in found))
    print(
        f"{len(names)} sets at windows 0, 3 %, 10 % and none: {total_wrong} of {total} neighbours "
        f"differ; largest relative difference of a distance {largest:.1e}; "
        f"{time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
