"""A row's Voronoi cell and the samples in it, drawn in the plane (Bennett 2007, figure 1)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._models import margin, top_class
from surefoot._tables import is_frame
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_option, resolve_n_neighbors
from surefoot.indicators import LocalSensitivity
from surefoot.neighborhoods import Neighborhood, voronoi_samples
from surefoot.plots._display import BLUE, GREY, INK, ORANGE, SKY, VERMILION, Axes, Display

# What `voronoi_steps` takes for a distance of zero: the square is no number of full precision.
ZERO_LENGTH = 2.0 * float(np.finfo(np.float64).tiny) ** 0.5

# Corners closer than this, relative to the size of the cell, are one corner and its rounding.
SAME_CORNER = 1e-12


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
        names = [str(name) for name in getattr(X, "columns", [])]
        rows = check_array(X, dtype=np.float64, input_name="X")
        point = check_array(_as_row(query), dtype=np.float64, input_name="query")
        _check_plane(rows, "X")
        _check_plane(point, "query")
        n_near = resolve_n_neighbors(n_neighbors, len(rows))
        near = np.argsort(lengths_of(rows - point), kind="stable")[:n_near]
        xlabel, ylabel = names or (None, None)
        arrays = _cell_arrays(point[0], rows, near)
        return cls(**arrays, xlabel=xlabel, ylabel=ylabel).plot(ax, legend=legend)

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
        check_option(color_by, "color_by", ["margin", "flips"])
        _check_indicator(indicator)
        row = _as_row(query)
        if is_frame(type(row)):  # an array has no names to check
            validate_data(indicator, row, reset=False, skip_check_array=True)
        neighborhood, space = Neighborhood(indicator.index_, row), indicator.index_.space
        answers = _model_answers(neighborhood, indicator.n_neighbors_)
        if color_by == "flips":
            if answers["flips"] is None:
                raise ValueError(
                    "color_by='flips' needs a classifier; for a regressor it may be 'margin'."
                )
            answers = {"flips": answers["flips"]}
        names = getattr(indicator, "feature_names_in_", None)
        if names is not None and space.is_model_input and not indicator.index_.model.transformers:
            answers |= {"xlabel": str(names[0]), "ylabel": str(names[1])}
        near = neighborhood.indices[0, : indicator.n_neighbors_]
        arrays = _cell_arrays(neighborhood.rows[0], space.rows, near)
        return cls(**arrays, **answers).plot(ax, legend=legend, cmap=cmap)

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
        parts = [self.query[None, :], self.neighbors, self.samples, self.cell]
        box = square_around(np.vstack(parts), 0.1) if self.box is None else self.box
        self._draw_points(box)
        self._draw_ways()
        self._draw_samples(cmap)
        self.ax_.set(xlim=box[:, 0], ylim=box[:, 1], xlabel=self.xlabel, ylabel=self.ylabel)
        self.ax_.set_aspect("equal")
        if legend:
            below = (0.5, -0.13 if self.xlabel else -0.07)
            self.ax_.legend(loc="upper center", bbox_to_anchor=below, ncols=2, frameon=False)
        return self

    def _draw_points(self, box: Floats) -> None:
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
            shown = self.others[is_within(self.others, box)]
            self._scatter(shown, "other training rows", s=16, c=GREY, zorder=1.5)
        self._scatter(self.neighbors, "neighbours, nearest first", s=34, c=BLUE, zorder=4)
        star = {"marker": "*", "s": 230, "c": INK, "edgecolors": "white"}
        self._scatter(self.query[None, :], "x, the query", **star, zorder=6)

    def _scatter(self, points: Floats, label: str, **style: Any) -> Any:
        """Scatter points; without any, there is no line in the legend either."""
        style["label"] = label if len(points) > 0 else None
        return self.ax_.scatter(points[:, 0], points[:, 1], **style)

    def _draw_ways(self) -> None:
        """Draw dashed segments to the neighbours, and their numbers at the far side."""
        from matplotlib.collections import LineCollection  # noqa: PLC0415
        from matplotlib.patheffects import withStroke  # noqa: PLC0415

        ways = np.stack([np.broadcast_to(self.query, self.neighbors.shape), self.neighbors], axis=1)
        self.segments_ = LineCollection(
            list(ways), colors=INK, linewidths=0.8, linestyles=(0, (4, 4)), alpha=0.6, zorder=3
        )
        self.ax_.add_collection(self.segments_, autolim=False)
        towards = self.neighbors - self.query
        towards[~towards.any(axis=1)] = 0.0, 1.0  # upwards, if there is no direction
        places = 10.0 * towards / lengths_of(towards)[:, None]
        self.numbers_ = [
            self.ax_.annotate(
                str(rank),
                (neighbor[0], neighbor[1]),
                xytext=tuple(place),
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
            for rank, (neighbor, place) in enumerate(
                zip(self.neighbors, places, strict=True), start=1
            )
        ]

    def _draw_samples(self, cmap: Any) -> None:
        """Mark where the ways leave the cell: by a circle, or by a diamond where the class flips."""
        style: dict[str, Any] = {"edgecolors": INK, "linewidths": 0.9, "s": 46, "zorder": 5}
        kinds = [(np.ones(len(self.samples), dtype=bool), "o", ORANGE, "samples")]
        if self.flips is not None:
            kinds = [
                (~self.flips, "o", SKY, "sample, same class as x"),
                (self.flips, "D", VERMILION, "sample, another class"),
            ]
        if self.values is not None:
            most = float(np.abs(self.values).max(initial=0.0)) or 1.0
            style |= {"cmap": cmap, "vmin": -most, "vmax": most}
        self.marks_ = [
            self._scatter(
                self.samples[kind],
                label,
                marker=marker,
                c=color if self.values is None else self.values[kind],
                **style,
            )
            for kind, marker, color, label in kinds
        ]
        self.colorbar_ = None
        if self.values is not None:
            self.colorbar_ = self.figure_.colorbar(
                self.marks_[0],
                cax=self.ax_.inset_axes((1.03, 0.0, 0.035, 1.0)),
                label=self.value_name,
            )


def _cell_arrays(query: Floats, rows: Floats, near: Ints) -> dict[str, Any]:
    """The query, its neighbours, samples, cell, the other rows and the visible box, by name."""
    neighbors = rows[near]
    # The box holds the query, its neighbours, the corners of its cell and the rows that cut those. Points further off
    # than the neighbours' own extent are left out: a cell at the rim of the data has no end.
    points = np.vstack([query, neighbors])
    wide = square_around(points, 1.0)
    cell = cell_polygon(query, rows, wide)
    around = rows[is_within(rows, wide)]
    towards = around - query
    half_way = (towards * towards).sum(axis=1) * (0.5 - 1e-9)
    cutting = ((cell - query) @ towards.T).max(axis=0) >= half_way
    shown = [points, cell[is_within(cell, wide)], around[cutting]]
    box = square_around(np.vstack(shown), 0.08)
    return {
        "query": query,
        "neighbors": neighbors,
        "samples": voronoi_samples(query[None, :], neighbors[None, :, :])[0],
        "cell": cell_polygon(query, rows, box),
        "others": np.delete(rows, near, axis=0),
        "box": box,
    }


def _model_answers(neighborhood: Neighborhood, n_neighbors: int) -> dict[str, Any]:
    """Change of the model's output from the row to each of its samples: values, their name, and flips."""
    index, scores = neighborhood.index, neighborhood.scores
    around = neighborhood.sample_scores(n_neighbors)
    if index.model.is_regression:
        change = around[0, :, 0] - scores[0, 0]
        return {"values": change, "value_name": "change of the prediction", "flips": None}
    top = top_class(scores)
    unit = "log-odds" if index.model.method == "predict_proba" else "decision function"
    return {
        "values": margin(around, top)[0],
        "value_name": f"lead of class {index.model.classes[top[0]]} ({unit})",
        "flips": top_class(around)[0] != top[0],
    }


def _check_indicator(indicator: Any) -> None:
    """Raise one sentence unless the cells of the indicator can be drawn."""
    if not isinstance(indicator, LocalSensitivity):
        raise TypeError(
            f"indicator={indicator!r} has no cells: it may be a fitted LocalSensitivity."
        )
    check_is_fitted(indicator, "index_")
    index = indicator.index_
    if not (isinstance(index.metric, str) and index.metric == "euclidean"):
        raise ValueError(
            f"indicator has metric={index.metric!r}, whose cells are not drawn: metric may be 'euclidean'."
        )
    if indicator.sampling != "voronoi":
        raise ValueError(
            f"indicator has sampling={indicator.sampling!r}, whose samples are not drawn: "
            "sampling may be 'voronoi'."
        )
    _check_plane(index.space.rows, "indicator")


def _check_plane(rows: Any, name: str) -> None:
    """Raise one sentence unless the rows have two dense columns."""
    if rows.shape[1] != 2 or issparse(rows):
        kind = "sparse " if issparse(rows) else ""
        raise ValueError(
            f"{name} has {rows.shape[1]} {kind}column(s), which do not make a plane: "
            "it may have 2 dense ones."
        )


def _as_row(query: Any) -> Any:
    """Table with the query as its one row: frames stay frames, and a pandas row becomes one."""
    if not is_frame(type(query)):
        is_series = hasattr(query, "to_frame")
        query = query.to_frame().T if is_series else np.atleast_2d(np.asarray(query))
    if query.shape[0] != 1:
        raise ValueError(f"query has {query.shape[0]} rows: it may be one row only.")
    return query


def cell_polygon(query: Floats, rows: Floats, box: Floats) -> Floats:
    """Corners, counter-clockwise, of the part of a box that is nearer to the query than to any row.

    Rows cut the box nearest first; those that reach no corner of what is left are dropped at once.
    A row that equals the query cuts nothing, as for `voronoi_steps`.
    """
    towards, lengths = rows - query, lengths_of(rows - query)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > ZERO_LENGTH]
    normals, offsets = towards[order] / lengths[order, None], lengths[order] / 2
    (left, bottom), (right, top) = box - query
    polygon = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    while len(offsets) > 0:
        polygon = clip_half_plane(polygon, normals[0], offsets[0])
        cutting = (polygon @ normals.T).max(axis=0) > offsets
        cutting[0] = False
        normals, offsets = normals[cutting], offsets[cutting]
    # Corners that differ from the one before by rounding are dropped, unless too few would be left.
    sides = lengths_of(polygon - np.roll(polygon, 1, axis=0))
    distinct = sides > SAME_CORNER * lengths_of(polygon).max()
    return (polygon[distinct] if distinct.sum() >= 3 else polygon) + query


def clip_half_plane(polygon: Floats, normal: Floats, offset: float) -> Floats:
    """Part of a convex polygon around the origin where p·normal ≤ offset, a positive number."""
    excess = polygon @ normal - offset
    if (excess <= 0).all():
        return polygon
    if (excess > 0).all():  # the origin is inside: the polygon is thinner than its rounding
        return polygon - excess[:, None] * normal
    kept = []
    ends = zip(polygon, np.roll(polygon, -1, axis=0), excess, np.roll(excess, -1), strict=True)
    for start, end, before, after in ends:
        if before <= 0:
            kept.append(start)
        if min(before, after) < 0 < max(before, after):
            kept.append(start + (end - start) * (before / (before - after)))
    return np.array(kept)


def is_within(points: Floats, box: Floats) -> Mask:
    """Whether each point lies in a box, and not just on its rim."""
    rim = 1e-9 * (box[1] - box[0])
    return np.asarray(((points > box[0] + rim) & (points < box[1] - rim)).all(axis=1))


def square_around(points: Floats, pad: float) -> Floats:
    """Corners of the square that holds the points, with a share of its side to spare all around."""
    low, high = points.min(axis=0), points.max(axis=0)
    side = (high - low).max() or max(1.0, float(np.abs(low).max()))
    half = side * (0.5 + pad)
    return np.array([(low + high) / 2 - half, (low + high) / 2 + half])


def lengths_of(vectors: Floats) -> Floats:
    """Euclidean lengths of vectors in the plane."""
    return np.hypot(vectors[:, 0], vectors[:, 1])
