"""The paper's numbers are as printed, and the experiments on its tables and on its open questions run in small."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from reproduction import (
    bennett_cell,
    bennett_cell_text,
    bennett_sampling,
    bennett_table_1,
    bennett_table_2,
)
from reproduction.bennett_table_1 import make_methods, reuters
from reproduction.bennett_table_2 import KNN, PAPER, RECALIBRATED, SENSITIVITY

SAMPLINGS = ["voronoi", "midpoint", "uniform", "axis"]


def test_the_printed_ratios_are_those_of_the_printed_seconds():
    base = bennett_table_1.PAPER["Sparse (k)"][0]
    for seconds, ratio in bennett_table_1.PAPER.values():
        assert round(seconds / base, 2) == ratio


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


def test_the_derived_errors_are_those_that_table_3_gives():
    assert_allclose(PAPER[KNN].round(2), [2.56, 2.83, 36.16, 37.69, 17.07])
    assert_allclose(PAPER[RECALIBRATED] / PAPER[KNN], [0.87, 0.85, 0.60, 0.56, 1.05])
    assert_allclose(PAPER[SENSITIVITY], [1.33, 1.81, 20.97, 13.19, 14.85])


@pytest.mark.slow
def test_table_2_in_small(tmp_path):
    text = bennett_table_2.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "bennett-table-2.csv")
    assert len(table) == 5 * 5 + 4 * 5
    error = {(row.method, row.problem): row.mean_error for row in table.itertuples()}
    assert error[SENSITIVITY, 1] < error[KNN, 1]
    assert error[SENSITIVITY, 4] < 0.5 * error[KNN, 4]
    assert table.paper_derived[table.method == KNN].all()
    assert "the paper 4/50" in text


@pytest.mark.slow
def test_ways_of_sampling_in_small(tmp_path):
    bennett_cell.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "bennett-cell.csv")
    assert table.sampling.tolist() == 5 * SAMPLINGS
    assert table.midpoints_outside.between(0, 1, inclusive="neither").all()


@pytest.mark.slow
@pytest.mark.data("reuters21578")
def test_ways_of_sampling_for_combined_text_classifiers_in_small(tmp_path):
    text = bennett_cell_text.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "bennett-cell-text.csv", keep_default_na=False)
    assert table.sampling.tolist() == ["none", *SAMPLINGS]
    # Other samples, other columns, other decisions.
    assert len(table[["held_out_errors", "test_errors"]].drop_duplicates()) > 1
    assert "of the midpoints are outside the cell" in text


@pytest.mark.slow
@pytest.mark.data("reuters21578")
def test_ways_of_sampling_on_texts_in_small(tmp_path):
    text = bennett_sampling.run(tmp_path, quick=True)
    table = pd.read_csv(tmp_path / "bennett-sampling.csv")
    assert len(table) == 3 * 2 * 5
    assert set(table.topic) == {"acq", "corn"}
    assert "33 test texts each" in text
