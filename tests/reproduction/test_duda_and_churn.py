"""The experiments on bias, variance and boosting in small, and what they must show at any size."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from reproduction import churn, duda_figure_9_4, duda_figure_9_5
from reproduction.duda_figure_9_5 import COVARIANCES, MEANS, GaussianModel, truth


@pytest.mark.slow
def test_figure_9_4_in_small(tmp_path):
    duda_figure_9_4.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "duda-figure-9-4.csv")
    (poor, better, cubic, line), variance = table.bias2, table.variance
    assert poor > better > line > 10 * cubic
    assert variance[0] == variance[1] == 0
    assert variance[2] > variance[3] > 0
    assert (tmp_path / "duda-figure-9-4.png").stat().st_size > 10_000


@pytest.mark.slow
def test_figure_9_5_in_small(tmp_path):
    duda_figure_9_5.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "duda-figure-9-5.csv")
    assert table.variance.is_monotonic_decreasing
    assert (tmp_path / "duda-figure-9-5.png").stat().st_size > 10_000


def test_the_gaussian_models_and_the_truth():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    X[y == 1] += 1
    quadratic = QuadraticDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y)
    near = np.abs(GaussianModel("full").fit(X, y).predict_proba(X) - quadratic.predict_proba(X))
    assert near.max() < 0.02  # the covariances differ by n and n − 1
    first, second = (
        multivariate_normal(m, c).pdf(X) for m, c in zip(MEANS, COVARIANCES, strict=True)
    )
    assert_allclose(truth(X), second / (first + second))


@pytest.mark.slow
@pytest.mark.data("churn")
def test_churn_in_small(tmp_path):
    text = churn.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "churn.csv").pivot_table(
        "train_error", ["data", "round"], "method"
    )
    telco = table.loc["telco"]
    # Discrete is scikit-learn's AdaBoost, ties aside.
    assert (telco["discrete"] - telco["scikit-learn AdaBoost"]).abs().max() < 0.03
    assert len(telco) == 10
    assert "Gentle beats Discrete under noise on" in text
    assert (tmp_path / "churn.png").exists()
