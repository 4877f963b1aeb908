"""The papers' figures are as printed, and the experiments run and write what they say."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ttest_rel

from surefoot.experiments import EXPERIMENTS, run_experiment
from surefoot.experiments._bennett_table_2 import KNN, PAPER, RECALIBRATED, SENSITIVITY
from surefoot.experiments._friedman_runs import paired_p_value


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_derived_figures_are_those_that_table_3_gives():
    assert_allclose(PAPER[KNN].round(2), [2.56, 2.83, 36.16, 37.69, 17.07])
    assert_allclose(PAPER[RECALIBRATED] / PAPER[KNN], [0.87, 0.85, 0.60, 0.56, 1.05])
    assert_allclose(PAPER[SENSITIVITY], [1.33, 1.81, 20.97, 13.19, 14.85])


def test_the_paired_test_is_scipys():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 10))
    assert_allclose(paired_p_value(a, b), ttest_rel(a, b).pvalue)
    assert paired_p_value(a, a) == 1.0
    assert paired_p_value(a, a + 1.0) < 1e-12


def test_table_2_in_small(tmp_path):
    text = run_experiment("bennett-table-2", tmp_path, quick=True)
    table = read(tmp_path / "bennett-table-2.csv")
    assert len(table) == 5 * 5 + 4 * 5
    error = {(row["method"], row["problem"]): float(row["mean_error"]) for row in table}
    assert error[SENSITIVITY, "1"] < error[KNN, "1"]
    assert error[SENSITIVITY, "4"] < 0.5 * error[KNN, "4"]
    assert {row["paper_derived"] for row in table if row["method"] == KNN} == {"True"}
    assert "the paper 4/50" in text
    assert "Friedman" not in text


def test_ways_of_sampling_in_small(tmp_path):
    run_experiment("bennett-cell", tmp_path, quick=True)
    table = read(tmp_path / "bennett-cell.csv")
    assert {row["sampling"] for row in table} == {"voronoi", "midpoint", "uniform", "axis"}
    assert all(0 < float(row["midpoints_outside"]) < 1 for row in table)


def test_an_unknown_experiment_is_named(tmp_path):
    with pytest.raises(
        ValueError, match="experiment='table-9' is not known: it may be 'bennett-table-1'"
    ):
        run_experiment("table-9", tmp_path)
    assert all(about for about in EXPERIMENTS.values())
