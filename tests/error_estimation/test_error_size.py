"""The prior for sizes of errors: columns that mean the same on every table, and how far rows leave it."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge

from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.error_estimation._error_size import SizePrior
from surefoot.indicators import NeighborDistance


@cache
def held_out():
    """Columns by name as the default indicators have them, and their mean error."""
    model = IndividualErrorRegressor(Ridge(), cv=3, random_state=0)
    X, y = make_friedman1(60, noise=1, random_state=0)
    model.fit(X, y)
    table = np.hstack(list(model.held_out_.columns.values()))
    return list(model.get_column_names()), table, model.held_out_.losses.mean()


def test_more_disagreement_or_distance_is_never_safer():
    names, table, mean_size = held_out()
    prior = SizePrior().fit(table, names, mean_size)
    lengths = [name for name in names if "gap" in name or "spread" in name]
    for name in [*lengths, "NeighborDistance__log_distance_10"]:
        place = names.index(name)
        further = table.copy()
        further[:, place] = table[:, place] + 1 if "distance" in name else 3 * table[:, place]
        assert (prior.log_size(further) >= prior.log_size(table) - 1e-12).all()
    assert np.ptp(prior.log_size(table)) > 0.1


def test_without_the_default_columns_there_is_no_prior():
    X, y = make_friedman1(80, noise=1, random_state=0)
    default = IndividualErrorRegressor(Ridge(), cv=3, random_state=0).fit(X, y)
    assert default.prior_version_ == 4
    for other in (
        {"indicators": NeighborDistance()},
        {"learner": Ridge()},
    ):
        model = IndividualErrorRegressor(Ridge(), cv=3, random_state=0, **other).fit(X, y)
        assert model.prior_version_ is None
        assert (model.predict_error(X) > 0).all()


def test_a_prior_of_another_version_gets_one_sentence():
    names, table, mean_size = held_out()
    prior = SizePrior().fit(table, names, mean_size)
    prior.version_ = 999
    with pytest.raises(ValueError, match=r"version 999 of the prior .*: fit the model again"):
        prior.log_size(table)


def test_errors_are_estimated_in_the_unit_of_the_target_and_right_on_the_mean():
    X, y = make_friedman1(150, noise=1, random_state=0)
    for loss, power in (("absolute", 1), ("squared", 2)):
        small, large = (
            IndividualErrorRegressor(Ridge(), loss=loss, cv=3, random_state=0).fit(X, factor * y)
            for factor in (1, 1024)  # a power of two, so that no number is rounded otherwise
        )
        estimates = small.predict_error(X)
        assert_allclose(large.predict_error(X), 1024.0**power * estimates, rtol=0.05)
        assert estimates.mean() == pytest.approx(small.held_out_.losses.mean(), rel=0.25)


def test_a_model_without_errors_is_judged_without_warnings():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = IndividualErrorRegressor(Ridge(), cv=3, random_state=0).fit(X, np.full(60, 3.0))
    assert_allclose(model.predict_error(X), 0, atol=1e-9)
    assert_allclose(model.predict_interval(X), 3, atol=1e-6)
