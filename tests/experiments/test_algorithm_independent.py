"""The experiments of the slides in small, and what they must show at any size."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from surefoot.experiments import run_experiment
from surefoot.experiments._churn import staged, with_noise
from surefoot.experiments._duda_figure_9_5 import COVARIANCES, MEANS, GaussianModel, truth

HAS_CHURN = (
    bool(os.environ.get("SUREFOOT_DATA")) and (Path(os.environ["SUREFOOT_DATA"]) / "churn").is_dir()
)


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_figure_9_4_in_small(tmp_path):
    text = run_experiment("duda-figure-9-4", tmp_path, quick=True)
    poor, better, cubic, line = (
        {key: float(value) for key, value in row.items() if key != "model"}
        for row in read(tmp_path / "duda-figure-9-4.csv")
    )
    assert poor["variance"] == better["variance"] == 0
    assert poor["bias2"] > better["bias2"] > line["bias2"] > 10 * cubic["bias2"]
    assert cubic["variance"] > line["variance"] > 0
    assert (tmp_path / "duda-figure-9-4.png").stat().st_size > 10_000
    assert "duda-figure-9-4.png" in text


def test_figure_9_5_in_small(tmp_path):
    run_experiment("duda-figure-9-5", tmp_path, quick=True)
    full, diagonal, unit = read(tmp_path / "duda-figure-9-5.csv")
    variances = [float(row["variance"]) for row in (full, diagonal, unit)]
    assert variances == sorted(variances, reverse=True)
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


@pytest.mark.data
@pytest.mark.skipif(not HAS_CHURN, reason="no churn tables in $SUREFOOT_DATA")
def test_churn_in_small(tmp_path):
    text = run_experiment("churn", tmp_path, quick=True)
    table = read(tmp_path / "churn.csv")
    at = {(row["data"], row["method"], row["round"]): float(row["train_error"]) for row in table}
    for number in range(1, 11):  # Discrete is scikit-learn's AdaBoost, ties aside
        ours, theirs = (
            at["telco", method, str(number)] for method in ("discrete", "scikit-learn AdaBoost")
        )
        assert abs(ours - theirs) < 0.03
    assert "Gentle beats Discrete under noise on" in text
    assert (tmp_path / "churn.png").exists()


def test_a_fifth_of_the_labels_is_turned():
    y = np.zeros(5000, dtype=int)
    assert with_noise(y, 0).mean() == pytest.approx(0.2, abs=0.02)


def test_a_booster_that_stopped_stays_as_it_is():
    class Stopped:
        def staged_predict(self, X):
            yield np.zeros(len(X))
            yield np.ones(len(X))

    X, y = np.zeros((4, 1)), np.array([1, 1, 1, 0])
    assert_allclose(staged(Stopped(), X, y, X, y, 4), [[0.75, 0.25, 0.25, 0.25]] * 2)
