"""The made-up customers of the example report."""

import numpy as np
import pytest
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
    half = X[[f"usage_{month}" for month in (1, 2, 3)]].sum(axis=1)
    other = X[[f"usage_{month}" for month in (4, 5, 6)]].sum(axis=1)
    growing = (other - half > 15) & ~hard
    assert (y[growing] == "leaves").mean() < 0.05
    assert (y[(half - other > 15) & ~hard] == "leaves").mean() > 0.8


def test_it_has_gaps_and_a_date():
    X, _ = make_subscriptions(2000, random_state=0)
    assert 0.01 < X["usage_1"].isna().mean() < 0.03
    assert 0.07 < X["payment"].isna().mean() < 0.13
    months = (np.datetime64("2026-06-30") - X["signed_up"]).dt.days // 30
    assert (months == X["tenure"]).all()


def test_no_customers_are_one_sentence():
    with pytest.raises(ValueError, match="n_samples == 0, must be >= 1"):
        make_subscriptions(0)
