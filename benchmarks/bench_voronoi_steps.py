"""Closed-form steps to the border of the Voronoi cell against the paper's bisection, in one run.

Bennett (2007, section 3) bisects each step to 0.001. Here 10,000 rows step towards 29 neighbours in 50 columns.
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from surefoot.neighborhoods import voronoi_steps
from timing import alternate, report

rng = np.random.default_rng(0)
train, queries = rng.normal(size=(20_000, 50)), rng.normal(size=(10_000, 50))
near = train[NearestNeighbors(n_neighbors=29).fit(train).kneighbors(queries, return_distance=False)]


def closed_form():
    """The public function."""
    return voronoi_steps(queries, near)


def bisection():
    """The way that other metrics take: squared distances have the same cells."""
    return voronoi_steps(queries, near, metric="sqeuclidean", tol=1e-3)


if __name__ == "__main__":
    assert np.abs(closed_form() - bisection()).max() < 1e-3
    fast, slow = alternate([closed_form, bisection], repeats=3)
    report("bisection / closed form", slow / fast, "at least", 20)
