"""The steps are held against brute force over the whole training set, exact fractions, and hand-made cells."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from surefoot.neighborhoods import log_n_neighbors, voronoi_samples, voronoi_steps

HAIR = 1e-6


def nearest(train, queries, n_neighbors, metric="euclidean"):
    search = NearestNeighbors(n_neighbors=n_neighbors, metric=metric, algorithm="brute").fit(train)
    return train[search.kneighbors(queries, return_distance=False)]


def distances_at(queries, neighbors, train, steps, metric):
    """Distance from x + β(n − x) to x, and to the nearest row of the whole training set."""
    points = queries[:, None] + steps[:, :, None] * (neighbors - queries[:, None])
    flat = points.reshape(-1, queries.shape[1])
    to_train = cdist(flat, train, metric).min(axis=1).reshape(steps.shape)
    own = np.array([cdist(p, [x], metric)[:, 0] for p, x in zip(points, queries, strict=True)])
    return own, to_train


problems = st.tuples(
    st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 6), st.integers(1, 30)
)


@given(problems)
@settings(max_examples=60, deadline=None)
def test_the_euclidean_sample_is_in_the_cell_and_a_hair_further_is_not(problem):
    seed, n_rows, n_columns, n_neighbors = problem
    rng = np.random.default_rng(seed)
    train, queries = rng.normal(size=(n_rows, n_columns)), rng.normal(size=(5, n_columns))
    near = nearest(train, queries, min(n_neighbors, n_rows))
    steps = voronoi_steps(queries, near)
    own, best = distances_at(queries, near, train, steps, "euclidean")
    assert (own <= best + 1e-9).all()
    own, best = distances_at(queries, near, train, steps + HAIR, "euclidean")
    assert (own > best).all()


@given(problems)
@settings(max_examples=60, deadline=None)
def test_the_cosine_sample_is_in_the_cell_and_a_hair_further_is_not(problem):
    seed, n_rows, n_columns, n_neighbors = problem
    rng = np.random.default_rng(seed)
    train, queries = rng.normal(size=(n_rows, n_columns + 1)), rng.normal(size=(5, n_columns + 1))
    near = nearest(train, queries, min(n_neighbors, n_rows), metric="cosine")
    steps = voronoi_steps(queries, near, metric="cosine")
    assert ((steps > 0) & (steps <= 0.5)).all()
    unit = [a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (queries, near, train)]
    own, best = distances_at(unit[0], unit[1], unit[2], steps, "cosine")
    assert (own <= best + 1e-9).all()
    own, best = distances_at(unit[0], unit[1], unit[2], steps + 1e-3, "cosine")
    assert (own > best - 1e-12).all()


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev"])
@given(problem=problems)
@settings(max_examples=25, deadline=None)
def test_other_metrics_are_bisected_to_the_tolerance(metric, problem):
    seed, n_rows, n_columns, n_neighbors = problem
    rng = np.random.default_rng(seed)
    train, queries = rng.normal(size=(n_rows, n_columns)), rng.normal(size=(3, n_columns))
    near = nearest(train, queries, min(n_neighbors, n_rows), metric=metric)
    steps = voronoi_steps(queries, near, metric=metric, tol=1e-4)
    own, best = distances_at(queries, near, train, steps, metric)
    assert (own <= best + 1e-9).all()
    # From half way on the neighbour itself is as near; before, the border is within the tolerance.
    own, best = distances_at(queries, near, train, steps + 1.01e-4, metric)
    assert ((own > best) | (steps > 0.4999)).all()


@pytest.mark.parametrize("metric", ["canberra", "braycurtis", "cityblock", "euclidean"])
def test_a_row_among_its_own_copies_is_free_to_move(metric):
    assert_allclose(voronoi_steps([[1.0, 2.0]], [[[1.0, 2.0], [1.0, 2.0]]], metric=metric), 0.5)


@pytest.mark.parametrize("scale", [1e-200, 1e-155, 1e150, 1e200])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_steps_do_not_depend_on_the_scale(scale, metric):
    x, near = np.array([[1.0, 0.5]]), np.array([[[2.0, 0.5], [3.0, 0.6], [1.0, 4.0]]])
    found = voronoi_steps(x * scale, near * scale, metric=metric)
    assert_allclose(found, voronoi_steps(x, near, metric=metric), rtol=1e-9)


def test_a_grid_cell_by_hand():
    # Around the origin of the unit grid: half way along the axes; the corner (1, 1) is just as far
    # behind its two neighbours, d_i·d_j = 1 = |d_j|², so half way too; (2, 1) is cut by (1, 0) at 1/4.
    near = [[[1, 0], [0, 1], [1, 1], [2, 1]]]
    assert_allclose(voronoi_steps([[0, 0]], near), [[0.5, 0.5, 0.5, 0.25]])


def exact_steps(x, near):
    """Steps in exact arithmetic: β_i = min |d_j|² / (2 d_i·d_j) over the j with d_i·d_j > 0."""

    def dot(a, b):
        return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))

    towards = [[p - q for p, q in zip(n, x, strict=True)] for n in near]
    return [
        min(dot(e, e) / (2 * dot(d, e)) for e in towards if dot(d, e) > 0)
        if any(d)
        else Fraction(1, 2)
        for d in towards
    ]


def grid_rows(n_columns, side, unit):
    """All points of a grid of fractions, a query among them, and a copy of a neighbour."""
    rows = [tuple(unit * c for c in point) for point in product(range(side), repeat=n_columns)]
    return rows[len(rows) // 2], [*rows, rows[1], rows[-1]]


# Rows of length one whose entries are fractions: the cosine needs no square root between them.
ON_THE_SPHERE = [
    tuple(Fraction(s * c, length) for s, c in zip(signs, entries, strict=True))
    for entries, length in [
        ((1, 2, 2), 3),
        ((2, 3, 6), 7),
        ((1, 4, 8), 9),
        ((2, 6, 9), 11),
        ((0, 3, 4), 5),
    ]
    for signs in [(1, 1, 1), (1, 1, -1), (-1, 1, 1)]
]


@pytest.mark.parametrize("as_rows", [np.asarray, csr_array])
@pytest.mark.parametrize(
    ("metric", "x", "near"),
    [
        ("euclidean", *grid_rows(2, 7, Fraction(1))),
        ("euclidean", *grid_rows(2, 7, Fraction(1, 10))),
        ("euclidean", *grid_rows(3, 4, Fraction(1, 7))),
        ("cosine", ON_THE_SPHERE[0], [*ON_THE_SPHERE[1:], *ON_THE_SPHERE[1:4]]),
        ("cosine", ON_THE_SPHERE[7], [*ON_THE_SPHERE, *ON_THE_SPHERE[:2]]),
    ],
)
def test_steps_are_one_half_exactly_where_exact_arithmetic_says_so(metric, x, near, as_rows):
    exact = exact_steps(x, near)
    rows = np.array([x], dtype=float), np.array(near, dtype=float)
    neighbors = csr_array(rows[1]) if as_rows is csr_array else rows[1][None]
    [steps] = voronoi_steps(as_rows(rows[0]), neighbors, metric=metric)
    assert_allclose(steps, np.array(exact, dtype=float), atol=1e-12)
    assert (steps == 0.5).tolist() == [step == Fraction(1, 2) for step in exact]
    assert 0 < (steps < 0.5).sum() < len(near)


def test_no_neighbour_is_cut_off_by_itself_or_by_its_copy():
    # In ten dimensions d_i·d_i computed in two ways often differs in the last digit.
    rng = np.random.default_rng(0)
    queries, others = rng.normal(size=(400, 10)), rng.normal(size=(400, 10))
    alone = np.stack([others, others], axis=1)
    assert (voronoi_steps(queries, alone) == 0.5).all()
    assert (voronoi_steps(queries, alone, metric="cosine") == 0.5).all()
    flat = csr_array(alone.reshape(-1, 10))
    assert (voronoi_steps(csr_array(queries), flat) == 0.5).all()
    assert (voronoi_steps(csr_array(queries), flat, metric="cosine") == 0.5).all()


@pytest.mark.parametrize("as_rows", [np.asarray, csr_array])
def test_rows_in_the_same_direction_constrain_nothing_under_the_cosine(as_rows):
    near = np.array([[0.2, 0.6], [0.7, 2.1], [3.0, 1.0]])
    x = np.array([[0.1, 0.3]])
    near = csr_array(near) if as_rows is csr_array else near[None]
    assert_allclose(voronoi_steps(as_rows(x), near, metric="cosine"), [[0.5, 0.5, 0.5]])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_rows_give_the_dense_result(metric):
    rng = np.random.default_rng(4)
    queries = rng.poisson(0.4, size=(6, 30)) * rng.random((6, 30))
    near = rng.poisson(0.4, size=(6, 9, 30)) * rng.random((6, 9, 30))
    queries[0] = 0.0
    near[1, 2] = 0.0
    dense = voronoi_steps(queries, near, metric=metric)
    sparse = voronoi_steps(csr_array(queries), csr_array(near.reshape(-1, 30)), metric=metric)
    assert_allclose(sparse, dense, atol=1e-9)
    samples = voronoi_samples(csr_array(queries), csr_array(near.reshape(-1, 30)), metric=metric)
    assert samples.format == "csr"
    assert_allclose(
        samples.toarray().reshape(near.shape),
        voronoi_samples(queries, near, metric=metric),
        atol=1e-9,
    )


def test_a_zero_row_has_no_cosine_cell_and_a_zero_neighbour_no_say():
    near = np.array([[[0.0, 0.0], [1.0, 1.0], [-1.0, 0.5]]])
    assert_allclose(voronoi_steps([[0.0, 0.0]], near, metric="cosine"), 0.0)
    with_zero = voronoi_steps([[2.0, 0.1]], near, metric="cosine")
    without = voronoi_steps([[2.0, 0.1]], near[:, 1:], metric="cosine")
    assert_allclose(with_zero, [[0.5, *without[0]]])


@pytest.mark.parametrize(
    ("n", "expected"), [(1, 1), (2, 3), (200, 17), (256, 17), (257, 19), (9603, 29)]
)
def test_log_n_neighbors(n, expected):
    assert log_n_neighbors(n) == expected


def test_an_unknown_metric_is_named():
    with pytest.raises(ValueError, match=r"metric='hamburg' is not known: it may be .*euclidean"):
        voronoi_steps([[0.0]], [[[1.0]]], metric="hamburg")


def test_a_tolerance_of_zero_is_refused():
    with pytest.raises(ValueError, match="tol == 0, must be > 0"):
        voronoi_steps([[0.0]], [[[1.0]]], metric="chebyshev", tol=0)


@pytest.mark.parametrize("shape", [(3, 2), (3, 4, 5), (2, 4, 2)])
def test_neighbors_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match=r"neighbors of shape .* do not fit X of shape"):
        voronoi_steps(np.zeros((3, 2)), np.zeros(shape))
