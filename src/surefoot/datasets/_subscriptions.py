"""Generator of a table of subscription customers, with columns of all kinds and missing values."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from surefoot._optional import needed_for

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
    usage = _draw_usage(draw, n_samples)
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


def _draw_usage(draw: Any, n_samples: int) -> Any:
    """Usage in each month: a level, a trend and noise."""
    level, trend = draw.gamma(4, 4, (n_samples, 1)), draw.normal(0, 1.2, (n_samples, 1))
    months = np.arange(MONTHS) - (MONTHS - 1) / 2
    noise = draw.normal(0, 2.5, (n_samples, MONTHS))
    return np.maximum(0, np.round(level + trend * months + noise, 1))
