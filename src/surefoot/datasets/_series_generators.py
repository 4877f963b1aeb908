"""Generators of two well-known sets of synthetic series, from their published formulas."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, check_scalar

from surefoot._typing import Floats


def make_cylinder_bell_funnel(
    n_samples: int = 300, *, random_state: Any = None
) -> tuple[Floats, NDArray[np.str_]]:
    """Draw noisy series of length 128 with a plateau, a rise or a fall; in random order.

    Between a and b, where a is an integer from 16 to 32 and b - a is one from 32 to 96, a series
    is (6 + e) times 1 (cylinder), (t - a) / (b - a) (bell) or (b - t) / (b - a) (funnel), and zero
    elsewhere; e and the noise added at each t = 1, ..., 128 are standard normal (Saito 1994).

    Parameters
    ----------
    n_samples : int, default=300
        Number of series; the sizes of the classes differ by at most one.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws.

    Returns
    -------
    X : ndarray of shape (n_samples, 128)
        Series.
    y : ndarray of shape (n_samples,)
        `"bell"`, `"cylinder"` or `"funnel"`.

    Examples
    --------
    >>> from surefoot.datasets import make_cylinder_bell_funnel
    >>> X, y = make_cylinder_bell_funnel(6, random_state=0)
    >>> X.shape, sorted(y.tolist())
    ((6, 128), ['bell', 'bell', 'cylinder', 'cylinder', 'funnel', 'funnel'])
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    random = check_random_state(random_state)
    y = random.permutation(np.resize(["cylinder", "bell", "funnel"], n_samples))
    start = random.randint(16, 33, size=(n_samples, 1))
    width = random.randint(32, 97, size=(n_samples, 1))
    place = (np.arange(1, 129) - start) / width  # 0 at a, 1 at b
    shapes = {"cylinder": np.ones_like(place), "bell": place, "funnel": 1 - place}
    shape = np.select([(y == name)[:, None] for name in shapes], list(shapes.values()))
    height = 6 + random.standard_normal((n_samples, 1))
    inside = (place >= 0) & (place <= 1)
    return height * shape * inside + random.standard_normal((n_samples, 128)), y


def make_synthetic_control(
    n_samples: int = 600, *, random_state: Any = None
) -> tuple[Floats, NDArray[np.str_]]:
    """Draw control charts of length 60 with one of six patterns; in random order.

    Each is 30 + 2 r(t), with r(t) uniform from -3 to 3, plus nothing (normal), a sin(2 pi t / T)
    (cyclic; a and T uniform from 10 to 15), g t or -g t (increasing, decreasing; g uniform from
    0.2 to 0.5), or x or -x after a time that is uniform from 20 to 40 (upward, downward shift;
    x uniform from 7.5 to 20), at t = 1, ..., 60 (Alcock and Manolopoulos 1999).

    Parameters
    ----------
    n_samples : int, default=600
        Number of series; the sizes of the classes differ by at most one.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws.

    Returns
    -------
    X : ndarray of shape (n_samples, 60)
        Series.
    y : ndarray of shape (n_samples,)
        `"cyclic"`, `"decreasing"`, `"downward"`, `"increasing"`, `"normal"` or `"upward"`.

    Examples
    --------
    >>> from surefoot.datasets import make_synthetic_control
    >>> X, y = make_synthetic_control(6, random_state=0)
    >>> X.shape, sorted(y.tolist())
    ((6, 60), ['cyclic', 'decreasing', 'downward', 'increasing', 'normal', 'upward'])
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    random = check_random_state(random_state)
    names = ["normal", "cyclic", "increasing", "decreasing", "upward", "downward"]
    y = random.permutation(np.resize(names, n_samples))
    t = np.arange(1, 61)

    def draw_each(low: float, high: float) -> Floats:
        return random.uniform(low, high, size=(n_samples, 1))

    cycle = draw_each(10, 15) * np.sin(2 * np.pi * t / draw_each(10, 15))
    trend = draw_each(0.2, 0.5) * t
    shift = draw_each(7.5, 20) * (t >= draw_each(20, 40))
    patterns = [np.zeros_like(trend), cycle, trend, -trend, shift, -shift]
    pattern = np.select([(y == name)[:, None] for name in names], patterns)
    return 30 + 2 * random.uniform(-3, 3, size=(n_samples, 60)) + pattern, y
