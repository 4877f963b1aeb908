"""Synthetic problems of Friedman (1994), which Bennett (2007, section 4.1) uses for recalibration."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from surefoot._typing import Floats, Ints

N_COLUMNS = 10


def make_friedman_problem(
    problem: int, n_samples: int = 200, random_state: Any = None
) -> tuple[Floats, Ints]:
    """Draw rows of one of five two-class problems in ten dimensions.

    Parameters
    ----------
    problem : {1, 2, 3, 4, 5}
        1 and 2: two Gaussians, the negative class standard normal, the positive with means √i/2
        (problem 2: √(11−i)/2) and variances 1/√i. 3 to 5: standard normal rows, positive where
        Σ x_i²/i > 2.5, where Σ x_i² > 9.8, or where Σ x_i > 0; their best possible error is zero.
    n_samples : int, default=200
        Rows to draw. The paper trains on 200, on problem 4 on 500, and tests on 2000.
    random_state : int, RandomState or None, default=None
        Seed of the random draws.

    Returns
    -------
    X : ndarray of shape (n_samples, 10)
        Rows.
    y : ndarray of shape (n_samples,)
        1 for the positive class, else 0.

    Examples
    --------
    >>> X, y = make_friedman_problem(5, n_samples=4, random_state=0)
    >>> y == (X.sum(axis=1) > 0)
    array([ True,  True,  True,  True])
    """
    if isinstance(problem, bool) or problem not in (1, 2, 3, 4, 5):
        raise ValueError(f"problem={problem!r} is not known: it may be 1, 2, 3, 4 or 5.")
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, N_COLUMNS))
    i = np.arange(1, N_COLUMNS + 1)
    if problem in (1, 2):
        y = rng.randint(2, size=n_samples)
        means = np.sqrt(i if problem == 1 else N_COLUMNS - i + 1) / 2
        return np.where(y[:, None] == 1, means + X * i**-0.25, X), y.astype(np.int64)
    positive = {
        3: (X**2 / i).sum(axis=1) > 2.5,
        4: (X**2).sum(axis=1) > 9.8,
        5: X.sum(axis=1) > 0,
    }[problem]
    return X, positive.astype(np.int64)
