"""Kernel votes at samples in plain NumPy, which the compiled loops are compared with."""

import numpy as np


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
