"""Equation 2 against least squares in each cell, and the true log-odds against scipy's densities."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from reproduction.bennett_equation_2 import cell_weights, run, true_log_odds
from surefoot.datasets import make_friedman_problem


@pytest.mark.parametrize("problem", [1, 2])
def test_true_log_odds_are_those_of_the_densities(problem):
    X, y = make_friedman_problem(problem, 2000, random_state=0)
    i = np.arange(1, 11)
    means = np.sqrt(i) / 2 if problem == 1 else np.sqrt(10 - i + 1) / 2
    positive = multivariate_normal(means, np.diag(1 / np.sqrt(i))).logpdf(X)
    negative = multivariate_normal(np.zeros(10), np.eye(10)).logpdf(X)
    odds = true_log_odds(problem, X)
    assert_allclose(odds, positive - negative)
    # Rows with log-odds near 0 are of either class about equally often: the rows are drawn from these densities.
    assert abs(y.mean() - (1 / (1 + np.exp(-odds))).mean()) < 0.02


def test_the_weights_are_the_least_squares_of_each_cell():
    rng = np.random.default_rng(0)
    estimate, truth = rng.normal(size=(20, 7)), rng.normal(size=(20, 7))
    offset, slope = cell_weights(estimate, truth)
    for row in range(20):
        table = np.column_stack([np.ones(7), estimate[row]])
        assert_allclose([offset[row], slope[row]], np.linalg.lstsq(table, truth[row])[0])
        # The other forms that the paper has of w1: covariance over variance, and σ ratio times ρ.
        covariance = np.cov(estimate[row], truth[row])
        assert_allclose(slope[row], covariance[0, 1] / covariance[0, 0])
        rho = np.corrcoef(estimate[row], truth[row])[0, 1]
        assert_allclose(slope[row], truth[row].std() / estimate[row].std() * rho)


@pytest.mark.slow
def test_equation_2_in_small(tmp_path):
    text = run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "bennett-equation-2.csv")
    assert len(table) == 2 * 2 * 6
    distance = table.groupby("log_odds_by").distance.mean()
    # Nothing that is learned from labels comes as near as what knows the truth.
    assert distance.idxmin() == "equation 2 from the truth"
    assert "mean ρ" in text
