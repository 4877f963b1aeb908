import numpy as np
import pytest

from surefoot.plots import ErrorMatrixDisplay

MODELS = ["linear regression", "k nearest neighbours", "regression tree"]
METAS = ["SVM", "RBF network"]
COUNTS = np.array([[10, 7], [9, 0], [5, 3]])


def make(counts=COUNTS, n_folds=10):
    return ErrorMatrixDisplay(counts, n_folds, row_names=MODELS, column_names=METAS)


def test_each_cell_has_its_number_in_its_place():
    display = make().plot()

    for (row, column), count in np.ndenumerate(COUNTS):
        text = display.numbers_[row, column]
        assert text.get_text() == str(count)
        assert text.get_position() == (column, row)
    assert [name.get_text() for name in display.ax_.get_yticklabels()] == MODELS
    assert [name.get_text() for name in display.ax_.get_xticklabels()] == METAS
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]  # the first model is on top


def test_losses_are_counted_by_hand():
    # Two models, three meta-models, four folds; an equal loss is not better.
    baseline = [[2.0, 2.0, 2.0, 2.0], [1.0, 2.0, 3.0, 4.0]]
    losses = [
        [[1, 1, 1, 1], [2, 2, 2, 1], [3, 3, 3, 3]],
        [[0, 0, 0, 0], [2, 2, 2, 2], [1.5, 1.5, 2.5, 9]],
    ]

    display = ErrorMatrixDisplay.from_losses(
        losses, baseline, row_names=["a", "b"], column_names=["x", "y", "z"]
    )

    np.testing.assert_array_equal(display.counts, [[4, 1, 0], [4, 2, 2]])
    assert display.n_folds == 4
    assert "folds of 4" in display.ax_.get_title()


@pytest.mark.parametrize(
    ("counts", "n_folds", "message"),
    [
        (COUNTS, 9, "counts may be whole numbers from 0 to n_folds=9"),
        (COUNTS / 4, 10, "counts may be whole numbers"),
        (COUNTS.T, 10, r"shape \(2, 3\) for 3 row_names and 2 column_names"),
        (COUNTS, 0, "n_folds == 0"),
    ],
)
def test_counts_that_cannot_be_drawn(counts, n_folds, message):
    with pytest.raises(ValueError, match=message):
        make(counts, n_folds).plot()


def test_losses_that_do_not_belong_together():
    with pytest.raises(ValueError, match=r"they may have shapes \(models, meta-models, folds\)"):
        ErrorMatrixDisplay.from_losses(
            np.ones((2, 3, 4)), np.ones((2, 3)), row_names=["a", "b"], column_names=["x", "y", "z"]
        )
