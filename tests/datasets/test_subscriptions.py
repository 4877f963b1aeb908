"""The made-up customers of the example report."""

import numpy as np
from pandas.testing import assert_frame_equal

from surefoot.datasets import make_subscriptions


def test_the_same_seed_draws_the_same_customers():
    assert_frame_equal(
        make_subscriptions(50, random_state=3)[0], make_subscriptions(50, random_state=3)[0]
    )


def test_new_customers_with_a_monthly_contract_are_hard_to_foresee():
    X, y = make_subscriptions(20_000, random_state=0)
    hard = (X["tenure"] <= 6) & (X["contract"] == "monthly")
    share = (y[hard] == "leaves").mean()
    assert 0.35 < share < 0.5  # near a coin
    cheap = (X["monthly_charge"] < 35) & (X["payment"] == "card") & (X["tenure"] > 24)
    assert (y[cheap & ~hard] == "leaves").mean() < 0.05


def test_it_has_gaps_and_a_date():
    X, _ = make_subscriptions(2000, random_state=0)
    assert 0.03 < X["data_gb"].isna().mean() < 0.07
    assert 0.07 < X["payment"].isna().mean() < 0.13
    months = (np.datetime64("2026-06-30") - X["signed_up"]).dt.days // 30
    assert (months == X["tenure"]).all()
