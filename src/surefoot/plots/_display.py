"""What all displays share: their axes, their figure and their legend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from surefoot._optional import needed_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Display:
    """Base of all displays: the axes to draw on, and the figure that contains them."""

    ax_: Axes
    figure_: Any

    def _set_axes(self, ax: Axes | None) -> None:
        """Set `ax_` and `figure_`, to those of a new figure if `ax` is None."""
        self.ax_ = _new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure


class LegendDisplay(Display, ABC):
    """Base of displays that have nothing to choose in drawing but whether there is a legend."""

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : object
            The display itself.
        """
        self._set_axes(ax)
        self._draw()
        if legend:
            self._draw_legend()
        return self

    @abstractmethod
    def _draw(self) -> None:
        """Draw everything but the legend on `ax_`."""

    def _draw_legend(self) -> None:
        self.ax_.legend(frameon=False)


def _new_axes() -> Axes:
    """Axes of a new figure; an ImportError says how to install matplotlib."""
    with needed_for("A display", "plots"):
        import matplotlib.pyplot as plt  # noqa: PLC0415
    return plt.subplots(figsize=(6.4, 6.4), layout="constrained")[1]
