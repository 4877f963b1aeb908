"""The paper's numbers are as printed, and the experiments on its tables and on its open questions run in small."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from reproduction import (
    bennett_cell,
    bennett_table_1,
    bennett_table_2,
)
from reproduction.bennett_cell import share_of_problem
from reproduction.bennett_table_1 import make_methods, reuters
from reproduction.bennett_table_2 import KNN, PROBLEMS, SENSITIVITY
from surefoot.datasets import make_friedman_problem

SAMPLINGS = ["voronoi", "midpoint", "uniform", "axis"]


@pytest.mark.slow
@pytest.mark.data("reuters21578")
def test_table_1_in_small(tmp_path):
    text = bennett_table_1.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "bennett-table-1.csv", index_col="method")
    assert table.paper_ratio.dropna().tolist() == [1.0, 1.16, 2.84]
    assert table.ratio["Sparse (k)"] == 1.0
    assert (table.seconds > 0).all()
    assert "961 training and 330 test texts, 900 features, k = 29" in text
    assert "196.37" in text


@pytest.mark.data("reuters21578")
def test_what_is_timed_are_the_same_neighbours_and_columns_for_all_texts():
    X_train, y_train, X_test = reuters(quick=True)
    outputs = [method() for method in make_methods(X_train, y_train, X_test).values()]
    plain, wider, columns, cosine, euclidean = outputs
    assert plain.shape == wider.shape == (X_test.shape[0],)
    assert columns.shape == (X_test.shape[0], 4)
    # Between unit rows the squared Euclidean distance is twice the cosine's.
    np.testing.assert_allclose(euclidean[0] ** 2 / 2, cosine[0], atol=1e-7)
    signs = np.where(y_train[cosine[1]] == 1, 1.0, -1.0)
    votes = ((1 - cosine[0]) * signs).sum(axis=1)
    assert (np.abs(votes - plain) < 1e-9).mean() > 0.95  # but for neighbours that are equally near


@pytest.mark.slow
def test_table_2_in_small(tmp_path):
    text = bennett_table_2.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "bennett-table-2.csv")
    assert len(table) == 5 * 5 + 4 * 5 + 8 * 5
    assert table.first_run.unique().tolist() == [0, 100]
    error = {(row.method, row.problem): row.mean_error for row in table.itertuples()}
    assert error[SENSITIVITY, 1] < error[KNN, 1]
    assert error[SENSITIVITY, 4] < 0.5 * error[KNN, 4]
    assert table.paper_derived[table.method == KNN].all()
    assert "the paper 4/50" in text


@pytest.mark.parametrize("problem", [1, 4])
def test_midpoints_outside_the_cell_are_those_nearer_to_another_training_row(problem):
    X, _ = make_friedman_problem(problem, PROBLEMS[problem], random_state=problem)
    X_test, _ = make_friedman_problem(problem, 500, random_state=100 + problem)
    distances = cdist(X_test, X)
    near = distances.argsort(axis=1)[:, : 2 * int(np.ceil(np.log2(len(X)))) + 1]
    outside = 0
    for x, own in zip(X_test, near, strict=True):
        midpoints = (x + X[own]) / 2
        outside += (cdist(midpoints, [x])[:, 0] > cdist(midpoints, X).min(axis=1) + 1e-9).sum()
    assert share_of_problem(problem) == outside / near.size


@pytest.mark.slow
def test_ways_of_sampling_in_small(tmp_path):
    bennett_cell.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "bennett-cell.csv")
    assert table.sampling.tolist() == 5 * SAMPLINGS
    assert table.midpoints_outside.between(0, 1, inclusive="neither").all()
