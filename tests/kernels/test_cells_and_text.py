"""Cells, votes and search, of dense and of sparse rows, against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array

from surefoot._kernels import (
    cell_votes,
    nearest_rows,
    points_between,
    sparse_cell_steps,
    sparse_cell_votes,
)
from surefoot._kernels._cells import _limit_of_smallest
from surefoot._kernels._text import TILE


def plain_votes(samples, neighbors, codes, n_neighbors, n_classes, similarity):
    """Votes at every sample of one query, by sorting."""
    votes = np.zeros((len(samples), n_classes))
    for i, sample in enumerate(samples):
        near = similarity(sample, neighbors)
        for j in np.argsort(-near, kind="stable")[:n_neighbors]:
            votes[i, codes[j]] += near[j]
    return votes


def rbf(sample, neighbors):
    """Similarity exp(−0.3 distance²) of a sample to each neighbour."""
    return np.exp(-0.3 * ((neighbors - sample) ** 2).sum(axis=1))


def cosine(sample, neighbors):
    lengths = np.linalg.norm(neighbors, axis=1) * np.linalg.norm(sample)
    return np.divide(neighbors @ sample, lengths, out=np.zeros(len(neighbors)), where=lengths > 0)


@pytest.mark.parametrize("similarity", [rbf, cosine])
def test_votes_at_the_samples(similarity):
    rng = np.random.default_rng(0)
    x, neighbors = rng.normal(size=4), rng.normal(size=(12, 4))
    if similarity is cosine:
        x /= np.linalg.norm(x)
        neighbors /= np.linalg.norm(neighbors, axis=1, keepdims=True)
        neighbors[3] = 0.0
    towards = neighbors - x
    gram, squares = towards[:6] @ towards.T, (towards**2).sum(axis=1)
    if similarity is cosine:
        squares[3] = -1.0
    steps, codes = rng.uniform(0, 0.5, size=6), rng.integers(0, 3, size=12)
    gamma = 0.3 if similarity is rbf else 0.0
    votes = cell_votes(gram[None], squares[None], steps[None], codes[None], gamma, 5, 3)
    samples = x + steps[:, None] * towards[:6]
    assert_allclose(votes[0], plain_votes(samples, neighbors, codes, 5, 3, similarity), atol=1e-12)


@pytest.mark.parametrize("n_values", [1, 2, 9, 60])
def test_the_limit_takes_exactly_k_even_among_ties(n_values):
    rng = np.random.default_rng(n_values)
    for values in (
        rng.normal(size=n_values),
        rng.integers(0, 3, size=n_values).astype(float),
        np.ones(n_values),
    ):
        for k in range(1, n_values + 1):
            limit, at_limit = _limit_of_smallest(values, k)
            taken = (values < limit).sum() + min(at_limit, (values == limit).sum())
            assert taken == k
            assert values[values < limit].sum() <= np.sort(values)[:k].sum() + 1e-12 or limit > 0
            assert limit >= np.sort(values)[k - 1]


def test_points_between_rows_and_their_neighbours():
    rng = np.random.default_rng(2)
    rows, reference = rng.normal(size=(6, 3)), rng.normal(size=(20, 3))
    near, steps = rng.integers(0, 20, size=(6, 4)), rng.random((6, 4))
    expected = rows[:, None] + steps[:, :, None] * (reference[near] - rows[:, None])
    assert_allclose(points_between(rows, reference, near, steps), expected.reshape(24, 3))


def some_rows(n_rows, n_columns=60, seed=0, density=0.15):
    rng = np.random.default_rng(seed)
    return csr_array(
        random_array((n_rows, n_columns), density=density, random_state=rng, format="csr")
    )


def unit(rows):
    lengths = np.linalg.norm(rows.toarray(), axis=1)
    return csr_array(rows / np.where(lengths > 0, lengths, 1.0)[:, None])


def parts(rows):
    squares = (rows.toarray() ** 2).sum(axis=1)
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, squares


def search(queries, rows, offsets, n_near):
    by_column = rows.tocsc()
    index = by_column.indptr.astype(np.int64), by_column.indices, by_column.data
    return nearest_rows(parts(queries)[:3], index, offsets, rows.shape[1], n_near)


@pytest.mark.parametrize(("n_rows", "n_near"), [(3, 3), (40, 1), (700, 40), (2 * TILE + 7, 5)])
@pytest.mark.parametrize("n_queries", [1, 8, 19])
def test_the_largest_products_are_found_in_order(n_rows, n_near, n_queries):
    rows, queries = some_rows(n_rows, density=0.05), some_rows(n_queries, seed=1)
    offsets = np.random.default_rng(2).normal(size=n_rows)
    keys, nearest = search(queries, rows, offsets, n_near)
    products = queries.toarray() @ rows.toarray().T + offsets
    order = np.argsort(-products, axis=1, kind="stable")[:, :n_near]
    assert_array_equal(nearest, order)
    assert_allclose(keys, np.take_along_axis(products, order, axis=1), atol=1e-12)


@pytest.mark.parametrize("n_rows", [50, 3000, TILE + 1])
def test_of_equal_products_the_first_rows_are_found(n_rows):
    queries = csr_array(np.eye(3))
    rows = csr_array(np.tile(np.eye(3), (n_rows // 3 + 1, 1))[:n_rows])
    keys, nearest = search(queries, rows, np.zeros(n_rows), 9)
    assert_array_equal(nearest, np.arange(3)[:, None] + 3 * np.arange(9))
    assert_allclose(keys, 1.0)


def test_a_query_without_a_term_finds_the_largest_offsets():
    queries, rows = csr_array((2, 60)), some_rows(30)
    keys, nearest = search(queries, rows, np.arange(30.0), 4)
    assert_array_equal(nearest, [[29, 28, 27, 26]] * 2)
    assert_array_equal(keys, [[29.0, 28.0, 27.0, 26.0]] * 2)


def plain_steps(x, neighbors):
    towards = neighbors - x
    gram = towards @ towards.T
    squares = np.diag(gram).copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = np.where(squares > 1e-12, 2 * gram / squares, 0.0)
    return 1 / bounds.max(axis=1, initial=2.0)


@pytest.mark.parametrize(("n_near", "n_samples"), [(1, 1), (9, 5), (40, 31), (40, 40)])
@pytest.mark.parametrize("similarity", [rbf, cosine])
def test_steps_and_votes(n_near, n_samples, similarity):
    rng = np.random.default_rng(n_near)
    X, rows = some_rows(6), some_rows(80, seed=3)
    if similarity is cosine:
        X, rows = unit(X), unit(rows)
    near, labels = rng.integers(0, 80, size=(6, n_near)), rng.integers(0, 3, size=80)
    gamma = 0.3 if similarity is rbf else 0.0
    n_voting = (n_near + 1) // 2
    steps = sparse_cell_steps(parts(X), parts(rows), near[:, :n_samples].copy(), 60, gamma == 0)
    votes = sparse_cell_votes(
        parts(X), parts(rows), near, labels[near], 60, n_samples, gamma, n_voting, 3
    )
    for x, own_near, step, vote in zip(X.toarray(), near, steps, votes, strict=True):
        neighbors = rows.toarray()[own_near]
        towards = neighbors[:n_samples]
        assert_allclose(step, plain_steps(x, towards), atol=1e-12)
        samples = x + step[:, None] * (towards - x)
        expected = plain_votes(samples, neighbors, labels[own_near], n_voting, 3, similarity)
        assert_allclose(vote, expected, atol=1e-12)


def test_equal_neighbours_vote_in_order():
    # Ten copies of one row, of which six vote: the first six, whatever their class.
    X, rows = csr_array([[1.0, 0.0, 0.0]]), csr_array(np.tile([0.6, 0.8, 0.0], (10, 1)))
    codes = np.array([[0, 0, 0, 0, 1, 1, 1, 1, 1, 1]])
    votes = sparse_cell_votes(parts(X), parts(rows), np.arange(10)[None], codes, 3, 2, 0.0, 6, 2)
    sample = np.array([0.8, 0.4, 0.0])
    each = sample @ [0.6, 0.8, 0.0] / np.linalg.norm(sample)
    assert_allclose(votes[0], [[4 * each, 2 * each]] * 2)


def test_zero_rows_bind_nothing_and_are_bound_by_nothing():
    X = csr_array([[0.0, 0.0], [1.0, 0.0]])
    rows = csr_array([[0.0, 0.0], [0.6, 0.8]])
    near = np.array([[0, 1], [0, 1]])
    steps = sparse_cell_steps(parts(X), parts(rows), near, 2, True)
    assert_array_equal(steps, [[0.0, 0.0], [0.5, 0.5]])
    votes = sparse_cell_votes(parts(X), parts(rows), near, near, 2, 2, 0.0, 2, 2)
    assert_array_equal(votes[0], 0.0)
    # Towards a zero row the direction stays: the cosine to it is 0, to the other 0.6.
    assert_allclose(votes[1, 0], [0.0, 0.6])
    assert_allclose(votes[1, 1], [0.0, (0.8 * 0.6 + 0.4 * 0.8) / np.hypot(0.8, 0.4)])
