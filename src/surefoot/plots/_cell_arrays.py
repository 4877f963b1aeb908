"""Arrays that a Voronoi cell in the plane is drawn from: of points, or of a fitted `LocalSensitivity`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._models import margin, top_class
from surefoot._search import resolve_n_neighbors
from surefoot._tables import is_frame
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option
from surefoot.indicators import LocalSensitivity
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex, voronoi_samples
from surefoot.plots._polygon import cell_polygon, is_within, lengths_of, square_around


def cell_of_points(X: Any, query: ArrayLike, n_neighbors: int | str) -> dict[str, Any]:
    """Parameters of a display of the cell of `query` among the rows of X."""
    names = [str(name) for name in getattr(X, "columns", [])]
    rows = _check_plane(check_array(X, dtype=np.float64, input_name="X"), "X")
    point = check_array(query, dtype=np.float64, ensure_2d=False, input_name="query")
    point = _check_one_row(np.atleast_2d(point))
    _check_plane(point, "query")
    n_near = resolve_n_neighbors(n_neighbors, len(rows))
    near = np.argsort(lengths_of(rows - point), kind="stable")[:n_near]
    xlabel, ylabel = names or (None, None)
    return {**_cell_arrays(point[0], rows, near), "xlabel": xlabel, "ylabel": ylabel}


def cell_of_indicator(indicator: LocalSensitivity, query: Any, color_by: str) -> dict[str, Any]:
    """Parameters of a display of the cell in which the indicator asks its model about `query`."""
    check_option(color_by, "color_by", ["margin", "flips"])
    _check_indicator(indicator)
    index = indicator.index_
    row = _check_one_row(_as_row(query))
    if is_frame(row):  # an array has no names to check
        validate_data(indicator, row, reset=False, skip_check_array=True)
    neighborhood = Neighborhood(index, row)
    near = neighborhood.indices[0, : indicator.n_neighbors_]
    answers = _model_answers(neighborhood, indicator.n_neighbors_)
    if color_by == "flips":
        if answers["flips"] is None:
            raise ValueError(
                "color_by='flips' needs a classifier; for a regressor it may be 'margin'."
            )
        answers = {"flips": answers["flips"]}
    arrays = _cell_arrays(neighborhood.rows[0], index.space.rows, near)
    xlabel, ylabel = _space_names(indicator)
    return {**arrays, **answers, "xlabel": xlabel, "ylabel": ylabel}


def _cell_arrays(query: Floats, rows: Floats, near: Ints) -> dict[str, Any]:
    """The query, its neighbours, samples, cell, the other rows and the visible box, by name."""
    neighbors = rows[near]
    box = _visible_box(query, neighbors, rows)
    return {
        "query": query,
        "neighbors": neighbors,
        "samples": voronoi_samples(query[None, :], neighbors[None, :, :])[0],
        "cell": cell_polygon(query, rows, box),
        "others": np.delete(rows, near, axis=0),
        "box": box,
    }


def _visible_box(query: Floats, neighbors: Floats, rows: Floats) -> Floats:
    """Square around the query, its neighbours, the corners of its cell and the rows that cut those.

    Points further off than the neighbours' own extent are left out: a cell at the rim of the data
    has no end.
    """
    points = np.vstack([query, neighbors])
    wide = square_around(points, 1.0)
    cell = cell_polygon(query, rows, wide)
    rows = rows[is_within(rows, wide)]
    towards = rows - query
    squares = (towards * towards).sum(axis=1)
    cutting = ((cell - query) @ towards.T).max(axis=0) >= squares * (0.5 - 1e-9)
    corners = cell[is_within(cell, wide)]
    return square_around(np.vstack([points, corners, rows[cutting]]), 0.08)


def _model_answers(neighborhood: Neighborhood, n_neighbors: int) -> dict[str, Any]:
    """Change of the model's output from the row to each of its samples: values, their name, and flips."""
    index, scores = neighborhood.index, neighborhood.scores
    around = neighborhood.sample_scores(n_neighbors)
    if index.outputs.is_regression:
        change = around[0, :, 0] - scores[0, 0]
        return {"values": change, "value_name": "change of the prediction", "flips": None}
    top = top_class(scores)
    unit = "log-odds" if index.outputs.method == "predict_proba" else "decision function"
    return {
        "values": margin(around, top)[0],
        "value_name": f"lead of class {index.outputs.classes[top[0]]} ({unit})",
        "flips": top_class(around)[0] != top[0],
    }


def _check_indicator(indicator: Any) -> None:
    """Raise one sentence unless the cells of the indicator can be drawn."""
    if not isinstance(indicator, LocalSensitivity):
        raise TypeError(
            f"indicator={indicator!r} has no cells: it may be a fitted LocalSensitivity."
        )
    check_is_fitted(indicator, "index_")
    index: NeighborhoodIndex = indicator.index_
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


def _check_plane(rows: Any, name: str) -> Any:
    """The rows, which must have two dense columns."""
    if rows.shape[1] != 2 or issparse(rows):
        kind = "sparse " if issparse(rows) else ""
        raise ValueError(
            f"{name} has {rows.shape[1]} {kind}column(s), which do not make a plane: "
            "it may have 2 dense ones."
        )
    return rows


def _check_one_row(table: Any) -> Any:
    """The table, which must have one row."""
    if table.shape[0] != 1:
        raise ValueError(f"query has {table.shape[0]} rows: it may be one row only.")
    return table


def _as_row(query: Any) -> Any:
    """Table with the query as its row: frames stay frames, and a pandas row becomes one."""
    if is_frame(query):
        return query
    if hasattr(query, "to_frame"):
        return query.to_frame().T
    return np.atleast_2d(np.asarray(query))


def _space_names(indicator: LocalSensitivity) -> tuple[str | None, str | None]:
    """Names of the columns, if the plane is the user's own table; else None."""
    index = indicator.index_
    names = getattr(indicator, "feature_names_in_", None)
    if names is None or index.transformers or not index.space.is_model_input:
        return None, None
    return str(names[0]), str(names[1])
