"""Parts of surefoot's own models: rows, neighbours and labels that fit each other, as compiled loops rely on it."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from surefoot._model_files._refusal import Refusal, require
from surefoot._model_files._trees import ASTRAY, check_columns

HELD_OUT = "surefoot.error_estimation._judgement.HeldOut"
# Fields of held-out rows that are no arrays with one entry per row.
NOT_BY_ROW = ("classes", "columns", "opinions", "costs")

OTHER_ROWS = "the rows and neighbours in it do not fit each other"


def check_root(model: Any) -> None:
    """Refuse a file that holds no estimator, or an error estimator without what it learned."""
    name = type(model).__name__
    if not isinstance(model, BaseEstimator):
        raise Refusal(f"it holds a {name}, which is no model")
    is_own = type(model).__module__.startswith("surefoot.")
    if not is_own:
        return
    if not {"estimator_", "held_out_"} <= vars(model).keys():
        raise Refusal(f"it holds an unfitted {name}")
    kind = type(vars(model)["held_out_"])
    require(f"{kind.__module__}.{kind.__name__}" == HELD_OUT, OTHER_ROWS)


def check_usable(model: Any) -> None:
    """Refuse a model of which not even its task and its columns can be told."""
    get_tags(model)
    names = getattr(model, "feature_names_in_", None)
    fits = names is None or all(isinstance(name, (str, int, float)) for name in names)
    require(fits, "the names of its columns are no texts")
    n_columns = getattr(model, "n_features_in_", 0)
    require(isinstance(n_columns, (int, np.integer)), "its number of columns is no number")
    inner = vars(model).get("estimator_")
    first = inner[0] if isinstance(inner, Pipeline) else inner
    kinds = getattr(first, "column_to_kind_", {})
    require(isinstance(kinds, dict), "the kinds of its columns have no names")


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
    by_row = [value for name, value in own.items() if name not in NOT_BY_ROW]
    named = [*own["columns"].values(), *own["opinions"].values()]
    known = [value for value in [*by_row, *named] if value is not None]
    require(n_rows > 0 and all(is_array(v) and len(v) == n_rows for v in known), OTHER_ROWS)
    for name in ("error", "losses"):
        values = own[name]
        require(values.dtype == np.float64 and values.shape == (n_rows,), OTHER_ROWS)
        require(np.isfinite(values).all(), "the error of a held-out row in it is no number")
    groups = own["groups"]
    require(groups is None or groups.ndim == 1, OTHER_ROWS)
    require(own["losses"].min() >= 0, "the loss of a held-out row in it is negative")
    costs = own.get("costs")
    n_classes = 0 if own.get("classes") is None else len(own["classes"])
    require(costs is None or is_costs(costs, n_classes), "the costs in it are no costs")


def is_costs(values: Any, n_classes: int) -> bool:
    """Whether this is a table of costs, none of them below 0, for each class and each prediction."""
    fits = is_numbers(values) and values.shape == (n_classes, n_classes)
    return bool(fits and np.isfinite(values).all() and values.min() >= 0)


def is_array(values: Any) -> bool:
    """Whether this is an array of at least one dimension."""
    return isinstance(values, np.ndarray) and values.ndim > 0


def is_numbers(values: Any) -> bool:
    """Whether this is a table of numbers, as compiled loops take it."""
    return isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype == np.float64


def check_boosted_trees(model: Any) -> None:
    """Refuse boosted trees whose splits and leaves do not belong together, or that split by unknown columns."""
    own = vars(model)
    if "leaves_" not in own:
        return
    columns, thresholds, leaves = own["columns_"], own["thresholds_"], own["leaves_"]
    require(is_numbers(thresholds) and is_array(columns), ASTRAY)
    require(columns.shape == thresholds.shape and columns.dtype.kind == "i", ASTRAY)
    n_rounds, depth = columns.shape
    fits = is_array(leaves) and leaves.dtype == np.float64 and leaves.ndim == 3
    require(fits and leaves.shape[:2] == (n_rounds, 1 << min(depth, 60)), ASTRAY)
    n_outputs, n_classes = leaves.shape[2], len(own["classes_"])
    require(n_outputs == (1 if n_classes == 2 else n_classes), ASTRAY)
    require(is_array(own["start_"]) and own["start_"].shape == (n_outputs,), ASTRAY)
    check_columns(columns[columns != -1], model.n_features_in_)


CHECKS_OF_OWN_PARTS = {
    "surefoot._boosted_trees.BoostedTrees": check_boosted_trees,
    "surefoot._models._model_input.NumericInput": check_numbers,
    HELD_OUT: check_held_out,
    "surefoot.neighborhoods._neighborhood.NeighborhoodIndex": check_index,
    "surefoot.neighborhoods._space.NeighborSpace": check_numbers,
}
