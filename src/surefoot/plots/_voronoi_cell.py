"""A row's Voronoi cell and the samples in it, drawn in the plane (Bennett 2007, figure 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from surefoot._typing import Floats, Mask
from surefoot.indicators import LocalSensitivity
from surefoot.plots._cell_arrays import cell_of_indicator, cell_of_points
from surefoot.plots._colors import BLUE, GREY, INK, ORANGE, SKY, VERMILION
from surefoot.plots._display import Display
from surefoot.plots._polygon import is_within, scaled_to, square_around

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class VoronoiCellDisplay(Display):
    """Voronoi cell of a query, its numbered neighbours, and the points where the way to each leaves the cell.

    All points of the cell are nearer to the query than to any training row. `LocalSensitivity`
    asks the model at the samples, the marks on the border of the cell. Use `from_points` or
    `from_estimator` to make a display; the parameters are stored as attributes.

    Parameters
    ----------
    query : ndarray of shape (2,)
        The row whose cell is shown.
    neighbors : ndarray of shape (n_neighbors, 2)
        Its nearest training rows, nearest first: they are numbered in this order.
    samples : ndarray of shape (n_neighbors, 2)
        Point where the way from the query to each neighbour leaves the cell.
    cell : ndarray of shape (n_corners, 2)
        Corners of the cell within `box`, counter-clockwise.
    others : ndarray of shape (n_others, 2), default=None
        Training rows that are not neighbours.
    box : ndarray of shape (2, 2), default=None
        Lower left and upper right corner of the visible part; by default a square around the rest.
    values : ndarray of shape (n_neighbors,), default=None
        Numbers that colour the samples, on a scale with 0 in the middle.
    value_name : str, default=None
        Label of the colour bar.
    flips : ndarray of bool of shape (n_neighbors,), default=None
        Whether the model predicts another class at the sample than at the query.
    xlabel, ylabel : str, default=None
        Names of the two columns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure.
    figure_ : matplotlib Figure
        Figure that contains them.
    polygon_ : matplotlib Polygon
        The cell.
    segments_ : matplotlib LineCollection
        The ways from the query to the neighbours.
    marks_ : list of matplotlib PathCollection
        The samples; where `flips` is given, those that keep the class and those that do not.
    numbers_ : list of matplotlib Annotation
        Ranks of the neighbours.
    colorbar_ : matplotlib Colorbar or None
        Scale of `values`.

    See Also
    --------
    surefoot.LocalSensitivity : How much a model's output changes between the samples.
    surefoot.neighborhoods.voronoi_samples : The samples, in any number of columns.

    Examples
    --------
    Between four points in a cross the cell is a square, left half way to each of them:

    >>> from surefoot.plots import VoronoiCellDisplay
    >>> cross = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> display = VoronoiCellDisplay.from_points(cross, [0.0, 0.0])
    >>> display.cell
    array([[ 0.5, -0.5],
           [ 0.5,  0.5],
           [-0.5,  0.5],
           [-0.5, -0.5]])
    >>> display.samples
    array([[ 0.5,  0. ],
           [ 0. ,  0.5],
           [-0.5,  0. ],
           [ 0. , -0.5]])
    """

    polygon_: Any
    segments_: Any
    marks_: list[Any]
    numbers_: list[Any]
    colorbar_: Any

    def __init__(
        self,
        *,
        query: Floats,
        neighbors: Floats,
        samples: Floats,
        cell: Floats,
        others: Floats | None = None,
        box: Floats | None = None,
        values: Floats | None = None,
        value_name: str | None = None,
        flips: Mask | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
    ) -> None:
        self.query = query
        self.neighbors = neighbors
        self.samples = samples
        self.cell = cell
        self.others = others
        self.box = box
        self.values = values
        self.value_name = value_name
        self.flips = flips
        self.xlabel = xlabel
        self.ylabel = ylabel

    @classmethod
    def from_points(
        cls,
        X: Any,
        query: ArrayLike,
        *,
        n_neighbors: int | str = "log",
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw the cell of a query among training rows, by Euclidean distance.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, 2)
            Training rows. One that equals the query takes nothing from its cell.
        query : array-like of shape (2,)
            The row whose cell is shown.
        n_neighbors : int or "log", default="log"
            Training rows to sample towards; "log" is 2⌈log2 n⌉ + 1 for n training rows.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend below the axes.

        Returns
        -------
        display : VoronoiCellDisplay
            The display, drawn.
        """
        arrays = cell_of_points(X, query, n_neighbors)
        return cls(**arrays).plot(ax, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        indicator: LocalSensitivity,
        query: Any,
        *,
        color_by: str = "margin",
        ax: Axes | None = None,
        legend: bool = True,
        cmap: Any = "PuOr",
    ) -> Self:
        """Draw the cell in which a fitted `LocalSensitivity` asks its model, and the answers.

        The plane is the indicator's neighbour space: the input of the model, after the
        transformers of its pipeline, or the output of the transformer `space`. If that one is not
        linear, the samples, which are interpolated in the input of the model, lie only near the marks.

        Parameters
        ----------
        indicator : LocalSensitivity
            Fitted, with two columns in its neighbour space, the Euclidean metric and
            `sampling="voronoi"`.
        query : array-like of shape (n_columns,), or frame with one row
            The row whose cell is shown, as the model takes it.
        color_by : {"margin", "flips"}, default="margin"
            Value that colours the samples. "margin" is the lead, at the sample, of the class that is
            predicted at the query over the best other class; for a regressor, the change of the
            prediction. "flips" is whether another class is predicted.
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend below the axes.
        cmap : str or matplotlib Colormap, default="PuOr"
            Colours for the margin, of which the middle is 0.

        Returns
        -------
        display : VoronoiCellDisplay
            The display, drawn.
        """
        arrays = cell_of_indicator(indicator, query, color_by)
        return cls(**arrays).plot(ax, legend=legend, cmap=cmap)

    def plot(self, ax: Axes | None = None, *, legend: bool = True, cmap: Any = "PuOr") -> Self:
        """Draw the cell, the neighbours and the samples.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to draw a legend below the axes.
        cmap : str or matplotlib Colormap, default="PuOr"
            Colours for `values`, of which the middle is 0.

        Returns
        -------
        display : VoronoiCellDisplay
            The display itself.
        """
        self._set_axes(ax)
        self._draw_points()
        self._draw_ways()
        self._draw_samples(cmap)
        box = self._shown_box()
        self.ax_.set(xlim=box[:, 0], ylim=box[:, 1], xlabel=self.xlabel, ylabel=self.ylabel)
        self.ax_.set_aspect("equal")
        if legend:
            below = (0.5, -0.13 if self.xlabel else -0.07)
            self.ax_.legend(loc="upper center", bbox_to_anchor=below, ncols=2, frameon=False)
        return self

    def _shown_box(self) -> Floats:
        """Lower left and upper right corner of the visible part."""
        if self.box is not None:
            return self.box
        parts = [self.query[None, :], self.neighbors, self.samples, self.cell]
        return square_around(np.vstack(parts), 0.1)

    def _draw_points(self) -> None:
        """Draw the cell, the training rows and the query."""
        from matplotlib.patches import Polygon  # noqa: PLC0415 - only who draws needs matplotlib

        self.polygon_ = Polygon(
            self.cell,
            closed=True,
            facecolor=(SKY, 0.22),
            edgecolor=BLUE,
            linewidth=1.2,
            label="cell, nearest to x",
            zorder=2,
        )
        self.ax_.add_patch(self.polygon_)
        if self.others is not None and len(self.others) > 0:
            shown = self.others[is_within(self.others, self._shown_box())]
            self._scatter(shown, "other training rows", s=16, c=GREY, zorder=1.5)
        self._scatter(self.neighbors, "neighbours, nearest first", s=34, c=BLUE, zorder=4)
        star = {"marker": "*", "s": 230, "c": INK, "edgecolors": "white"}
        self._scatter(self.query[None, :], "x, the query", **star, zorder=6)

    def _scatter(self, points: Floats, label: str, **style: Any) -> Any:
        """Scatter points; without any, there is no line in the legend either."""
        shown = label if len(points) > 0 else None
        return self.ax_.scatter(points[:, 0], points[:, 1], label=shown, **style)

    def _draw_ways(self) -> None:
        """Draw dashed segments to the neighbours, and their numbers at the far side."""
        from matplotlib.collections import LineCollection  # noqa: PLC0415
        from matplotlib.patheffects import withStroke  # noqa: PLC0415

        ways = np.stack([np.broadcast_to(self.query, self.neighbors.shape), self.neighbors], axis=1)
        self.segments_ = LineCollection(
            list(ways), colors=INK, linewidths=0.8, linestyles=(0, (4, 4)), alpha=0.6, zorder=3
        )
        self.ax_.add_collection(self.segments_, autolim=False)
        self.numbers_ = [
            self.ax_.annotate(
                str(rank),
                (neighbor[0], neighbor[1]),
                xytext=scaled_to(neighbor - self.query, 10.0),
                textcoords="offset points",
                ha="center",
                va="center",
                color=BLUE,
                fontweight="bold",
                fontsize=9,
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
                annotation_clip=True,
                zorder=7,
            )
            for rank, neighbor in enumerate(self.neighbors, start=1)
        ]

    def _draw_samples(self, cmap: Any) -> None:
        """Mark where the ways leave the cell: by a circle, or by a diamond where the class flips."""
        style: dict[str, Any] = {"edgecolors": INK, "linewidths": 0.9, "zorder": 5}
        if self.values is not None:
            most = float(np.abs(self.values).max(initial=0.0)) or 1.0
            style |= {"cmap": cmap, "vmin": -most, "vmax": most}
        self.marks_ = []
        for kind, marker, color, label in self._kinds_of_samples():
            colors = color if self.values is None else self.values[kind]
            self.marks_.append(
                self._scatter(self.samples[kind], label, s=46, marker=marker, c=colors, **style)
            )
        self.colorbar_ = None
        if self.values is not None:
            beside = self.ax_.inset_axes((1.03, 0.0, 0.035, 1.0))
            self.colorbar_ = self.figure_.colorbar(
                self.marks_[0], cax=beside, label=self.value_name
            )

    def _kinds_of_samples(self) -> list[tuple[Mask, str, str, str]]:
        """Which samples, marker, colour and label of each kind of sample."""
        if self.flips is None:
            return [(np.ones(len(self.samples), dtype=bool), "o", ORANGE, "samples")]
        return [
            (~self.flips, "o", SKY, "sample, same class as x"),
            (self.flips, "D", VERMILION, "sample, another class"),
        ]
