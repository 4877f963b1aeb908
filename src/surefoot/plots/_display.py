"""Base of all displays: their axes, their figure, their legend and their colours."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from surefoot._optional import needed_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 - displays import it from here
else:
    Axes = Any  # only those who draw need matplotlib

# Okabe and Ito's colours, which differ for every kind of colour vision.
INK, GREY = "#1a1a1a", "#b5b5b5"
BLUE, SKY, ORANGE, VERMILION = "#0072B2", "#56B4E9", "#E69F00", "#D55E00"
GREEN, PINK = "#009E73", "#CC79A7"


class Display:
    """Base of all displays: the axes to draw on, and the figure that contains them."""

    def _set_axes(self, ax: Axes | None) -> None:
        """Set `ax_` and `figure_`, to those of a new figure if `ax` is None."""
        if ax is None:
            with needed_for("A display", "plots"):
                import matplotlib.pyplot as plt  # noqa: PLC0415
            ax = plt.subplots(figsize=(6.4, 6.4), layout="constrained")[1]
        self.ax_ = ax
        self.figure_: Any = ax.figure


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
