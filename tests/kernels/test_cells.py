"""The compiled loops against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from plain_votes import plain_votes, rbf

from surefoot._kernels import cell_votes, points_between
from surefoot._kernels._cells import _limit_of_smallest


def cosine(sample, neighbors):
    lengths = np.linalg.norm(neighbors, axis=1) * np.linalg.norm(sample)
    return np.divide(neighbors @ sample, lengths, out=np.zeros(len(neighbors)), where=lengths > 0)


@pytest.mark.parametrize("kernel", [rbf, cosine])
def test_votes_at_the_samples(kernel):
    rng = np.random.default_rng(0)
    x, neighbors = rng.normal(size=4), rng.normal(size=(12, 4))
    if kernel is cosine:
        x /= np.linalg.norm(x)
        neighbors /= np.linalg.norm(neighbors, axis=1, keepdims=True)
        neighbors[3] = 0.0
    towards = neighbors - x
    gram, squares = towards[:6] @ towards.T, (towards**2).sum(axis=1)
    if kernel is cosine:
        squares[3] = -1.0
    steps, codes = rng.uniform(0, 0.5, size=6), rng.integers(0, 3, size=12)
    gamma = 0.3 if kernel is rbf else 0.0
    votes = cell_votes(gram[None], squares[None], steps[None], codes[None], gamma, 5, 3)
    samples = x + steps[:, None] * towards[:6]
    assert_allclose(votes[0], plain_votes(samples, neighbors, codes, 5, 3, kernel), atol=1e-12)


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
