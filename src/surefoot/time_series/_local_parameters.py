"""Checks of the candidates to choose from: numbers of neighbours, and trusts in labels."""

from numbers import Integral, Real
from typing import Any

import numpy as np


def check_sizes(n_neighbors: Any) -> list[int]:
    """Numbers of neighbours as a list; raise an error if one is no positive int."""
    sizes: list[Any] = [n_neighbors] if np.isscalar(n_neighbors) else list(n_neighbors)
    if not sizes or not all(_is_count(size) for size in sizes):
        raise ValueError(
            f"n_neighbors={n_neighbors!r} is not known: it may be a sequence of ints of at least 1."
        )
    return [int(size) for size in sizes]


def _is_count(size: Any) -> bool:
    return type(size) is not bool and isinstance(size, Integral) and int(size) >= 1


def check_trusts(label_trust: Any) -> tuple[float, ...]:
    """Trusts as a tuple; raise an error if one is not above 0."""
    trusts = (label_trust,) if np.isscalar(label_trust) else tuple(label_trust)
    if not trusts or not all(_is_trust(trust) for trust in trusts):
        raise ValueError(
            f"label_trust={label_trust!r} is not known: it may be a float above 0, or several."
        )
    return tuple(float(trust) for trust in trusts)


def _is_trust(trust: Any) -> bool:
    return type(trust) is not bool and isinstance(trust, Real) and float(trust) > 0
