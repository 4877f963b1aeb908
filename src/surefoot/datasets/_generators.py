"""Generators of tables and series with known laws."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, check_scalar

from surefoot._optional import needed_for
from surefoot._typing import Floats, Ints


def make_friedman_problem(
    problem: int, n_samples: int = 200, random_state: Any = None
) -> tuple[Floats, Ints]:
    """Draw rows of one of five two-class problems in ten dimensions (Friedman 1994; Bennett 2007, section 4.1).

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
    X = rng.standard_normal((n_samples, 10))
    i = np.arange(1, 11)
    if problem in (1, 2):
        y = rng.randint(2, size=n_samples)
        means = np.sqrt(i if problem == 1 else 11 - i) / 2
        return np.where(y[:, None] == 1, means + X * i**-0.25, X), y.astype(np.int64)
    positive = {
        3: (X**2 / i).sum(axis=1) > 2.5,
        4: (X**2).sum(axis=1) > 9.8,
        5: X.sum(axis=1) > 0,
    }[problem]
    return X, positive.astype(np.int64)


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


CONTRACTS = ("monthly", "yearly", "two years")
PAYMENTS = ("bank transfer", "card", "cheque", "wallet")
REGIONS = ("north", "south", "east", "west", "abroad")

# Months of known usage, in order of time.
MONTHS = 6


def make_subscriptions(n_samples: int = 3000, *, random_state: Any = None) -> tuple[Any, Any]:
    """Draw customers who leave or stay: numbers, categories, a date, missing values, and rows hard to predict.

    New customers with a monthly contract leave or stay nearly at random. Whether the others leave depends on
    what they pay and how, how often they call, and whether they use the service less than they did.

    Parameters
    ----------
    n_samples : int, default=3000
        Number of customers.
    random_state : int, RandomState or None, default=None
        Seed of all random draws.

    Returns
    -------
    X : pandas.DataFrame of shape (n_samples, 13)
        Columns tenure (months), contract, payment, region, signed_up (a date), monthly_charge, support_calls, and
        usage_1 to usage_6 (the last six months); 2 % of the usage and 10 % of payment are missing.
    y : pandas.Series of shape (n_samples,)
        "leaves" or "stays".

    Examples
    --------
    >>> from surefoot.datasets import make_subscriptions
    >>> X, y = make_subscriptions(1000, random_state=0)
    >>> X.shape, sorted(y.unique())
    ((1000, 13), ['leaves', 'stays'])
    """
    with needed_for("make_subscriptions", "report"):
        import pandas as pd  # noqa: PLC0415 - only this table is a frame by nature

    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    draw = check_random_state(random_state)
    tenure = np.ceil(draw.exponential(24, n_samples)).astype(np.int64)
    contract = draw.choice(CONTRACTS, n_samples, p=[0.55, 0.3, 0.15])
    payment = draw.choice(PAYMENTS, n_samples).astype(object)
    charge = np.round(20 + 60 * draw.beta(2, 3, n_samples), 2)
    calls = draw.poisson(0.8, n_samples)
    level, trend = draw.gamma(4, 4, (n_samples, 1)), draw.normal(0, 1.2, (n_samples, 1))
    months = np.arange(MONTHS) - (MONTHS - 1) / 2
    noise = draw.normal(0, 2.5, (n_samples, MONTHS))
    usage = np.maximum(0, np.round(level + trend * months + noise, 1))
    odds = (
        -1.0
        + 0.04 * (charge - 44)
        + 0.6 * (calls - 0.8)
        + 0.8 * (payment == "cheque")
        - 1.0 * (contract == "two years")
        - 0.02 * tenure
        + 0.2 * (usage[:, : MONTHS // 2].sum(axis=1) - usage[:, MONTHS // 2 :].sum(axis=1))
    )
    is_hard = (tenure <= 6) & (contract == "monthly")
    odds = np.where(is_hard, -0.3 + 0.1 * odds, 2.0 * odds)
    leaves = draw.uniform(size=n_samples) < 1 / (1 + np.exp(-odds))
    usage[draw.uniform(size=usage.shape) < 0.02] = np.nan
    payment[draw.uniform(size=n_samples) < 0.1] = None
    days = 30 * tenure + draw.randint(30, size=n_samples)
    X = pd.DataFrame(
        {
            "tenure": tenure,
            "contract": contract,
            "payment": payment,
            "region": draw.choice(REGIONS, n_samples),
            "signed_up": pd.Timestamp("2026-06-30") - pd.to_timedelta(days, "D"),
            "monthly_charge": charge,
            "support_calls": calls,
            **{f"usage_{month + 1}": usage[:, month] for month in range(MONTHS)},
        }
    )
    return X, pd.Series(np.where(leaves, "leaves", "stays"), name="churn")
