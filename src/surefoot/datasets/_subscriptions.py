"""Made-up customers of a made-up service: a table with everything that real ones have."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

CONTRACTS = ("monthly", "yearly", "two years")
PAYMENTS = ("bank transfer", "card", "cheque", "wallet")
REGIONS = ("north", "south", "east", "west", "abroad")


def make_subscriptions(n_samples: int = 4000, *, random_state: Any = None) -> tuple[Any, Any]:
    """Draw customers who leave or stay: numbers, categories, a date and gaps, and a part that is hard to foresee.

    New customers with a monthly contract leave or stay nearly at random; whether the others leave
    depends on what they pay, how often they call, and on the way they pay.

    Parameters
    ----------
    n_samples : int, default=4000
        Customers.
    random_state : int, RandomState or None, default=None
        Draws them.

    Returns
    -------
    X : pandas.DataFrame of shape (n_samples, 9)
        Columns tenure (months), contract, payment, region, signed_up (a date), monthly_charge, support_calls,
        data_gb and discount; 5 % of data_gb and 10 % of payment are missing.
    y : pandas.Series of shape (n_samples,)
        "leaves" or "stays".

    Examples
    --------
    >>> from surefoot.datasets import make_subscriptions
    >>> X, y = make_subscriptions(1000, random_state=0)
    >>> X.shape, sorted(y.unique())
    ((1000, 9), ['leaves', 'stays'])
    """
    import pandas as pd  # noqa: PLC0415 - only this table is a frame by nature

    draw = check_random_state(random_state)
    tenure = np.ceil(draw.exponential(24, n_samples)).astype(np.int64)
    contract = draw.choice(CONTRACTS, n_samples, p=[0.55, 0.3, 0.15])
    payment = draw.choice(PAYMENTS, n_samples).astype(object)
    charge = np.round(20 + 60 * draw.beta(2, 3, n_samples), 2)
    calls = draw.poisson(0.8, n_samples)
    discount = draw.uniform(size=n_samples) < 0.25
    odds = (
        -1.0
        + 0.07 * (charge - 44)
        + 1.0 * (calls - 0.8)
        + 1.3 * (payment == "cheque")
        - 1.2 * (contract == "two years")
        - 1.0 * discount
        - 0.02 * tenure
    )
    hard = (tenure <= 6) & (contract == "monthly")
    odds = np.where(hard, -0.3 + 0.1 * odds, 2.0 * odds)
    leaves = draw.uniform(size=n_samples) < 1 / (1 + np.exp(-odds))
    data = np.round(draw.gamma(2, 6, n_samples), 1)
    data[draw.uniform(size=n_samples) < 0.05] = np.nan
    payment[draw.uniform(size=n_samples) < 0.1] = None
    today = pd.Timestamp("2026-06-30")
    X = pd.DataFrame(
        {
            "tenure": tenure,
            "contract": contract,
            "payment": payment,
            "region": draw.choice(REGIONS, n_samples),
            "signed_up": today
            - pd.to_timedelta(30 * tenure + draw.randint(30, size=n_samples), "D"),
            "monthly_charge": charge,
            "support_calls": calls,
            "data_gb": data,
            "discount": np.where(discount, "yes", "no"),
        }
    )
    return X, pd.Series(np.where(leaves, "leaves", "stays"), name="churn")
