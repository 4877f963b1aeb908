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
    # The slide's order: the cubic is the best match of the four, and the fitted line is better than a and b.
    errors = table.error
    assert errors[2] < errors[3] < errors[1] < errors[0]
    growing = pd.read_csv(tmp_path / "duda-figure-9-4-growing.csv").pivot_table(
        ["bias2", "variance"], "n", "model"
    )
    last = growing.loc[2000]
    assert (last["variance"] < 0.001).all()
    assert last["bias2", "c) fitted cubic"] < 0.0001
    # Least squares of 1.5x³ - 0.3x by a line: 1.5² (1/7 - 3/25) remain.
    assert last["bias2", "d) fitted line"] == pytest.approx(2.25 * (1 / 7 - 3 / 25), rel=0.1)
    for name in ("duda-figure-9-4.png", "duda-figure-9-4-growing.png"):
        assert (tmp_path / name).stat().st_size > 10_000


def test_fixed_lines_that_beat_a_fitted_one():
    low, high = duda_figure_9_4.winning_slopes(0.08)
    x = duda_figure_9_4.GRID[:, 0]
    for slope in (low, high):
        error = np.mean((1.5 * x**3 - 0.3 * x - slope * x) ** 2)
        assert error == pytest.approx(0.08)
    assert low < 0.6 < high
    assert np.isnan(duda_figure_9_4.winning_slopes(0.01)).all()


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


def curve(*test_errors, train=(0.3, 0.2)):
    return np.array([train, test_errors])


def test_the_slides_claims_are_counted_by_hand():
    slow = (0.3, 0.25)
    means = {
        # Gentle is behind after the first round and level at the best; Modest rises least, and learns slowest.
        "A + noise": {
            "discrete": curve(0.2, 0.3),
            "real": curve(0.2, 0.4),
            "gentle": curve(0.2, 0.35),
            "modest": curve(0.3, 0.3, train=slow),
        },
        # Modest's error rises most, and its training error is level with the others'.
        "B": {
            "discrete": curve(0.3, 0.2),
            "real": curve(0.3, 0.2),
            "gentle": curve(0.3, 0.2),
            "modest": curve(0.2, 0.3),
        },
    }
    lines = churn.verdicts(means)
    assert lines[0] == "Gentle beats Discrete under noise on 0 of 1; not on: A + noise"
    assert lines[1] == "Gentle beats Real under noise on 1 of 1; not on: none"
    assert lines[2] == "Modest's test error rises least on 1 of 2; not on: B"
    assert all(line.endswith("on 1 of 2; not on: B") for line in lines[3:])
    assert churn.training_table(means).splitlines()[1].split()[-3:] == ["30.00", "25.00", "27.50"]


def test_gentle_is_compared_after_some_rounds_and_at_its_best(monkeypatch):
    monkeypatch.setattr(churn, "LOOKS", (1, 2, 3))
    means = {
        "A + noise": {
            "discrete": curve(0.2, 0.3),
            "real": curve(0.1, 0.4),
            "gentle": curve(0.2, 0.2),
        }
    }
    _, discrete, real = (line.split() for line in churn.early_table(means).splitlines())
    assert discrete[4:] == ["0", "(1)", "1", "(0)", "0", "(1)"]
    assert real[4:] == ["0", "(0)", "1", "(0)", "0", "(0)"]


@pytest.mark.slow
def test_churn_without_a_table_that_cannot_be_downloaded(tmp_path, monkeypatch):
    monkeypatch.setenv("SUREFOOT_DATA", str(tmp_path))
    monkeypatch.setattr(churn, "PROBLEMS", (1,))
    text = churn.run(tmp_path, quick=True)
    assert f"put mlc_churn.csv, or mlc_churn.csv.gz, in {tmp_path / 'churn'}" in text
    assert "write.csv(modeldata::mlc_churn" in text
    assert "Without telco: " in text
    assert "problem 1 + noise" in text
    assert churn.INDICATORS_TITLE not in text  # there would be nothing below it
