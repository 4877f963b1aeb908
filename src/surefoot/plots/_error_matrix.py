"""Which meta-model estimates the errors of which model well (Buza et al. 2010, figure 4)."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_scalar

from surefoot.plots._display import GREY, Axes, Display


class ErrorMatrixDisplay(Display):
    """In how many folds each meta-model beats the belief that each model is always right; more is better.

    Models are the rows, meta-models the columns. The darker a cell, the more folds there are in
    which the estimated errors are closer to the true ones than zeros are. The parameters are
    stored as attributes; `from_losses` counts.

    Parameters
    ----------
    counts : array-like of int of shape (n_models, n_meta_models)
        Number of folds in which the meta-model is better.
    n_folds : int
        Number of folds in all.
    row_names : sequence of str
        Names of the models.
    column_names : sequence of str
        Names of the meta-models.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure.
    figure_ : matplotlib Figure
        Figure that contains them.
    image_ : matplotlib AxesImage
        The shaded cells.
    numbers_ : ndarray of matplotlib Text of shape (n_models, n_meta_models)
        The counts in them.

    References
    ----------
    .. [1] K. Buza, A. Nanopoulos and L. Schmidt-Thieme. Individualized Error Estimation for Classification
       and Regression Models. 2010, figure 4.

    Examples
    --------
    >>> from surefoot.plots import ErrorMatrixDisplay
    >>> display = ErrorMatrixDisplay(
    ...     [[10, 7], [9, 2]], n_folds=10, row_names=["linear", "kNN"], column_names=["SVM", "tree"]
    ... ).plot()
    >>> display.numbers_[1, 0].get_text()
    '9'
    """

    def __init__(
        self,
        counts: ArrayLike,
        n_folds: int,
        *,
        row_names: Sequence[str],
        column_names: Sequence[str],
    ) -> None:
        self.counts = counts
        self.n_folds = n_folds
        self.row_names = row_names
        self.column_names = column_names

    @classmethod
    def from_losses(
        cls,
        losses: ArrayLike,
        baseline_losses: ArrayLike,
        *,
        row_names: Sequence[str],
        column_names: Sequence[str],
        ax: Axes | None = None,
        cmap: Any = "Greys",
    ) -> Self:
        """Count in how many folds each meta-model loses less than the baseline, and draw it.

        Parameters
        ----------
        losses : array-like of shape (n_models, n_meta_models, n_folds)
            Loss of the estimated errors in each fold, such as their root mean squared error.
        baseline_losses : array-like of shape (n_models, n_folds)
            Loss of the estimate that each model is always right, in the same folds.
        row_names : sequence of str
            Names of the models.
        column_names : sequence of str
            Names of the meta-models.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        cmap : str or matplotlib Colormap, default="Greys"
            Colours from no fold to all of them.

        Returns
        -------
        display : ErrorMatrixDisplay
            The display, drawn.
        """
        by_fold = check_array(losses, dtype=np.float64, allow_nd=True, input_name="losses")
        baseline = check_array(baseline_losses, dtype=np.float64, input_name="baseline_losses")
        if by_fold.ndim != 3 or baseline.shape != (by_fold.shape[0], by_fold.shape[-1]):
            raise ValueError(
                f"losses has shape {by_fold.shape} and baseline_losses {baseline.shape}: they may have "
                "shapes (models, meta-models, folds) and (models, folds)."
            )
        counts = (by_fold < baseline[:, None, :]).sum(axis=2)
        display = cls(counts, by_fold.shape[2], row_names=row_names, column_names=column_names)
        return display.plot(ax, cmap=cmap)

    def plot(self, ax: Axes | None = None, *, cmap: Any = "Greys") -> Self:
        """Draw the cells and print the counts in them.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        cmap : str or matplotlib Colormap, default="Greys"
            Colours from no fold to all of them.

        Returns
        -------
        display : ErrorMatrixDisplay
            The display itself.
        """
        check_scalar(self.n_folds, "n_folds", Integral, min_val=1)
        counts = check_array(self.counts, dtype=np.float64, input_name="counts")
        if (counts != np.round(counts)).any() or counts.min() < 0 or counts.max() > self.n_folds:
            raise ValueError(f"counts may be whole numbers from 0 to n_folds={self.n_folds}.")
        n_rows, n_columns = len(self.row_names), len(self.column_names)
        if counts.shape != (n_rows, n_columns):
            raise ValueError(
                f"counts has shape {counts.shape} for {n_rows} row_names and {n_columns} column_names: there may be "
                "one name each."
            )
        self._set_axes(ax)
        self.image_ = self.ax_.imshow(counts, cmap=cmap, vmin=0, vmax=self.n_folds, aspect="equal")
        self._draw_names(n_rows, n_columns)
        self.numbers_ = np.empty(counts.shape, dtype=object)
        for (row, column), count in np.ndenumerate(counts):
            shade = self.image_.cmap(self.image_.norm(count))
            color = "black" if _luminance(shade) > 0.179 else "white"  # whichever differs more
            self.numbers_[row, column] = self.ax_.text(
                column, row, f"{count:.0f}", ha="center", va="center", color=color
            )
        texts = [*self.numbers_.ravel(), *self.ax_.get_xticklabels(), *self.ax_.get_yticklabels()]
        _fit_text(self.ax_, texts, n_digits=len(str(self.n_folds)))
        return self

    def _draw_names(self, n_rows: int, n_columns: int) -> None:
        """Name the rows and columns, and draw lines between the cells."""
        self.ax_.set_xticks(range(n_columns), self.column_names, rotation=45)
        for name in self.ax_.get_xticklabels():
            name.set(ha="right", rotation_mode="anchor")
        self.ax_.set_yticks(range(n_rows), self.row_names)
        self.ax_.set_xticks(np.arange(n_columns + 1) - 0.5, minor=True)
        self.ax_.set_yticks(np.arange(n_rows + 1) - 0.5, minor=True)
        self.ax_.grid(which="minor", color=GREY, linewidth=0.6)
        self.ax_.tick_params(which="both", length=0)
        self.ax_.set(xlabel="meta-model", ylabel="model")
        self.ax_.set_title(
            f"folds of {self.n_folds} better\nthan “always right”", fontsize="medium"
        )


def _luminance(color: Any) -> float:
    """Relative luminance of an sRGB colour, as the web's contrast rules define it."""
    parts = np.array(color[:3])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _fit_text(ax: Axes, texts: list[Any], n_digits: int) -> None:
    """Shrink the texts in and beside the cells until neither numbers nor slanted names touch."""
    root: Any = ax.get_figure(root=True)
    root.draw_without_rendering()  # only a layout that has been made knows how large a cell is
    corners = ax.transData.transform([(0.0, 0.0), (1.0, 1.0)])
    cell = float(np.abs(corners[1] - corners[0]).min()) * 72.0 / root.dpi
    largest = cell * min(0.55, 1.1 / n_digits)  # a digit is about 0.65 as wide as it is large
    for text in texts:
        text.set_fontsize(min(text.get_fontsize(), largest))
