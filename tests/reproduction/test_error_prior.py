"""A prior over tables: what it learns, and a small run whose results are by a prior that never saw the family."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from reproduction.error_prior import learn_prior, run
from reproduction.prior_cases import read_case
from surefoot.error_estimation import ErrorPrior
from surefoot.metrics import augrc_loss

NAMES = ["a__log_odds", "b__x"]


def case(random, weights, *, n_rows=400, level=-1.5):
    """Two standard normal columns, and errors by a logistic model of them."""
    columns = random.normal(size=(2 * n_rows, 2))
    wrong = (random.random(2 * n_rows) < expit(level + columns @ weights)).astype(int)
    return {
        "table": "t",
        "column_names": NAMES,
        "columns": columns[:n_rows],
        "wrong": wrong[:n_rows],
        "test_columns": columns[n_rows:],
        "test_wrong": wrong[n_rows:],
    }


def test_mean_and_spread_of_the_weights_are_found_again():
    random = np.random.default_rng(0)
    drawn = random.normal([-1.0, 0.7], [0.1, 0.5], size=(60, 2))
    prior = learn_prior([case(random, weights) for weights in drawn])
    assert abs(prior.mean[0] - drawn[:, 0].mean()) < 0.1
    assert abs(prior.mean[1] - drawn[:, 1].mean()) < 0.1
    assert abs(np.sqrt(prior.covariance[1, 1]) - 0.5) < 0.12
    assert (prior.n_cases, prior.tables, prior.columns) == (60, ("t",), tuple(NAMES))
    assert np.linalg.eigvalsh(prior.covariance).min() > 0


@pytest.mark.slow
@pytest.mark.data("pmlb")
def test_two_tables_judge_each_other(tmp_path):
    assert "classification: 4 cases of 2 tables" in run(tmp_path, quick=True)
    prior = ErrorPrior.load(tmp_path / "error_prior.json")
    assert prior.columns == ErrorPrior.shipped().columns
    stored = [read_case(path) for path in sorted((tmp_path / "classification").glob("*.npz"))]
    lines = pd.read_csv(tmp_path / "error_prior.csv").set_index(["table", "model"])
    assert len(lines) == len(stored) == 4
    for case in stored:
        others = learn_prior([other for other in stored if other["family"] != case["family"]])
        estimated = others.estimate(case["columns"], case["wrong"], case["test_columns"])
        assert lines.augrc[case["table"], case["model"]] == pytest.approx(
            augrc_loss(case["test_wrong"], estimated), rel=1e-3
        )
    np.testing.assert_allclose(learn_prior(stored).mean, prior.mean, atol=1e-5)
