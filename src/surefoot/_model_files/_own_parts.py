"""Parts of surefoot's own models: rows, neighbours and labels that fit each other, as compiled loops rely on it."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from surefoot._model_files._refusal import Refusal, require

OTHER_ROWS = "the rows and neighbours in it do not fit each other"


def check_root(model: Any) -> None:
    """Refuse a file that holds no estimator, or an error estimator without what it learned."""
    name = type(model).__name__
    if not isinstance(model, BaseEstimator):
        raise Refusal(f"it holds a {name}, which is no model")
    is_own = type(model).__module__.startswith("surefoot.")
    if is_own and not {"estimator_", "held_out_"} <= vars(model).keys():
        raise Refusal(f"it holds an unfitted {name}")


def check_index(index: Any) -> None:
    """Refuse an index whose rows, search and labels have different lengths or widths."""
    own = vars(index)
    n_rows, n_neighbors = own["n_rows"], own["n_neighbors"]
    require(type(n_rows) is int and type(n_neighbors) is int, OTHER_ROWS)
    require(n_rows >= 1 and 0 <= n_neighbors <= n_rows, OTHER_ROWS)
    for name in ("labels", "held_out_scores", "lengths", "scores"):
        values = own.get(name)
        require(values is None or (is_array(values) and len(values) == n_rows), OTHER_ROWS)
    if n_neighbors > 0:
        check_search(own, n_rows)


def check_search(own: dict[str, Any], n_rows: int) -> None:
    """Refuse a search in other rows than those that neighbours are taken from."""
    search, reference, rows = own["search"], own["reference"], own["space"].rows
    require(own["shares_search"] is False and is_numbers(reference), OTHER_ROWS)
    require(type(search).__name__ == "NearestNeighbors", OTHER_ROWS)
    shapes = {values.shape for values in (vars(search)["_fit_X"], reference, rows)}
    require(len(shapes) == 1 and len(reference) == n_rows, OTHER_ROWS)
    require(own["input"].rows.shape[0] == n_rows and isinstance(own["metric"], str), OTHER_ROWS)


def check_numbers(part: Any) -> None:
    """Refuse rows that are no table of numbers."""
    require(is_numbers(vars(part).get("rows")), OTHER_ROWS)


def check_held_out(held_out: Any) -> None:
    """Refuse held-out rows of which something else is known than of each row."""
    own = vars(held_out)
    n_rows = len(own["error"])
    by_row = [value for name, value in own.items() if name not in ("classes", "columns")]
    known = [value for value in [*by_row, *own["columns"].values()] if value is not None]
    require(n_rows > 0 and all(is_array(v) and len(v) == n_rows for v in known), OTHER_ROWS)
    for name in ("error", "losses", "scores"):
        require(own[name].dtype == np.float64, OTHER_ROWS)


def is_array(values: Any) -> bool:
    """Whether this is an array of at least one dimension."""
    return isinstance(values, np.ndarray) and values.ndim > 0


def is_numbers(values: Any) -> bool:
    """Whether this is a table of numbers, as compiled loops take it."""
    return isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype == np.float64


CHECKS_OF_OWN_PARTS = {
    "surefoot._models._model_input.NumericInput": check_numbers,
    "surefoot.error_estimation._judgement.HeldOut": check_held_out,
    "surefoot.neighborhoods._neighborhood.NeighborhoodIndex": check_index,
    "surefoot.neighborhoods._space.NeighborSpace": check_numbers,
}
