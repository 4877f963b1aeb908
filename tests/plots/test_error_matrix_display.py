from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from surefoot.plots import ErrorMatrixDisplay

MODELS = ["linear regression", "k nearest neighbours", "regression tree"]
METAS = ["SVM", "RBF network"]
COUNTS = np.array([[10, 7], [9, 0], [5, 3]])


def make(counts=COUNTS, n_folds=10):
    return ErrorMatrixDisplay(counts, n_folds, row_names=MODELS, column_names=METAS)


def contrast(one, other):
    """Contrast ratio of two colours by the web's rules, from 1 to 21."""

    def luminance(color):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_each_cell_has_its_number_in_its_place():
    display = make().plot()

    for (row, column), count in np.ndenumerate(COUNTS):
        text = display.numbers_[row, column]
        assert text.get_text() == str(count)
        assert text.get_position() == (column, row)
    assert [name.get_text() for name in display.ax_.get_yticklabels()] == MODELS
    assert [name.get_text() for name in display.ax_.get_xticklabels()] == METAS
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]  # the first model is on top


def test_every_number_can_be_read_on_its_shade():
    counts = np.arange(11).reshape(1, 11)
    names = [str(count) for count in range(11)]
    display = ErrorMatrixDisplay(counts, 10, row_names=["model"], column_names=names)

    display.plot(cmap="viridis")

    for count, text in enumerate(display.numbers_[0]):
        shade = display.image_.cmap(display.image_.norm(count))
        assert contrast(to_rgb(text.get_color()), shade) >= 4.5


@pytest.mark.parametrize(("size", "n_folds"), [(2.5, 100), (9.0, 100)])
def test_numbers_stay_in_their_cells_and_names_apart(size, n_folds):
    figure, ax = plt.subplots(figsize=(size, size), layout="constrained")
    names = [f"model {i}" for i in range(8)]
    full = np.full((8, 8), n_folds)

    display = ErrorMatrixDisplay(full, n_folds, row_names=names, column_names=names).plot(ax)

    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in display.numbers_.ravel()]
    boxes += [name.get_window_extent() for name in ax.get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


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
