"""Section "What to check": held-out rows, the least trustworthy first, with the reasons that raise each estimate."""

from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from surefoot._tables import (
    as_objects,
    column_names,
    count_rows,
    is_frame,
    is_missing,
    split_columns,
    take_rows,
)
from surefoot._typing import Ints
from surefoot._words import number
from surefoot.error_estimation import HeldOut

# JavaScript cannot represent larger whole numbers exactly.
LARGEST_LABEL = 2**53

# Most rows on the page: of a larger table, the least trustworthy ones and a sample of the others.
MOST_DOUBTFUL = 500
MOST_SAMPLED = 1000

MOST_COLUMNS = 30
N_NEAR = 3
MOST_REASONS = 3

# Most classes whose probabilities the page has; `to_frame` has them all.
MOST_PROBABILITIES = 30

# Columns of `row_table` that each item has, None where the table does not have them.
OPTIONAL = ("own_error", "low", "high", "accepted")

UNSEEN = "Each row was predicted by a model that had not seen it."
AS_GIVEN = "The predictions are those that were given; each error is estimated from other rows."

# Meaning of each column in `to_frame`, in the file of --scores and in the page's CSV.
OF_EITHER = {
    "row": "the row's position in the table, counted from 0, or its label if the table's index holds whole numbers",
    "truth": "the true value of the target",
    "prediction": "the prediction of the model, made without having seen the row",
    "novel": "True if the row is further from the training rows than they are from each other (out-of-distribution), "
    "or lacks inputs that they have",
    "accepted": "True if the row is answered, False if a person should check it. Here the slider "
    "decides. In {everywhere} the risk promised in the verdict decides; without a promise there is no such "
    "column",
}
OF_CLASSES = {
    "probability_<class>": "the model's own probability of each class",
    "estimated_error": "the estimated probability that the prediction is wrong",
    "shift": "mean change of the predicted class's lead over the second class, close to the row (within its Voronoi "
    "cell); below 0, the lead is smaller around the row",
    "spread": "standard deviation of that change; near 0, the prediction is stable",
    "worst": "the lowest of these changes",
    "flips": "share of the points close to the row that get another class",
    "neighbor_change": "mean change from the lead of the row's predicted class to that on its ten nearest rows, which "
    "without the model stand in the place of points close to the row",
    "neighbor_spread": "standard deviation of that change; near 0, the prediction is stable",
    "other_distance": "distance to the nearest of these rows with another predicted class; without one, twice that to "
    "the furthest",
    "other_share": "share of these rows with another predicted class",
    "loss": "1 if the prediction is wrong, 0 if it is right",
    "own_error": "1 − the model's own probability of its prediction",
}
OF_NUMBERS = {
    "estimated_error": "the estimated size of the error, in the unit of the target",
    "low": "lower end of the 90 % interval of the true value (conformal prediction interval)",
    "high": "upper end of that interval",
    "shift": "mean change of the predicted value close to the row (within its Voronoi cell)",
    "spread": "standard deviation of that change; near 0, the prediction is stable",
    "worst": "the lowest of these changes",
    "neighbor_change": "mean change from the predicted value to those of the ten nearest rows, which without the model "
    "stand in the place of points close to the row",
    "neighbor_spread": "standard deviation of that change; near 0, the prediction is stable",
    "neighbor_worst": "the lowest of these changes",
    "residual": "the estimated residual: truth minus prediction",
    "loss": "the actual size of the error",
}


def row_labels(X: Any) -> Ints:
    """Labels of rows: a pandas index of different whole numbers, else their positions."""
    n_rows = count_rows(X)
    labels = np.asarray(getattr(X, "index", np.arange(n_rows)))
    if labels.dtype.kind not in "iu" or len(np.unique(labels)) < n_rows:
        return np.arange(n_rows)
    return labels if np.abs(labels).max(initial=0) < LARGEST_LABEL else np.arange(n_rows)


def choose_rows(held_out: HeldOut, random_state: int) -> tuple[Ints, int]:
    """Positions of the rows to show among the held-out rows, and how many of them are a random sample."""
    order = np.argsort(-held_out.error, kind="stable")
    if len(order) <= MOST_DOUBTFUL + MOST_SAMPLED:
        return order, 0
    rest = order[MOST_DOUBTFUL:]
    kept = check_random_state(random_state).choice(len(rest), MOST_SAMPLED, replace=False)
    return np.concatenate([order[:MOST_DOUBTFUL], rest[np.sort(kept)]]), MOST_SAMPLED


def row_table(held_out: HeldOut, labels: Ints) -> dict[str, NDArray[Any]]:
    """Columns of the table of held-out rows: those of `Judgement`, the truth and the losses."""
    table = {"row": labels[held_out.rows], "truth": held_out.truth, **held_out.to_arrays()}
    table["loss"] = held_out.losses
    if held_out.probabilities is not None and held_out.own_doubt is not None:
        table["own_error"] = held_out.own_doubt
    return table


def describe_rows(
    error_estimator: Any,
    held_out: HeldOut,
    X: Any,
    inputs: Any,
    y: NDArray[Any],
    *,
    labels: Ints,
    shown: Ints,
    n_sampled: int,
    is_given: bool,
    everywhere: str,
) -> dict[str, Any]:
    """One item for each row shown, with its judgement, reasons and nearest rows.

    `inputs` are the columns of `X` that are inputs of the model, and `everywhere` names where all rows are.
    """
    every, n_total = row_table(held_out, labels), len(held_out.rows)
    probabilities, mistakes = held_out.probabilities, held_out.mistakes
    has_few = probabilities is None or probabilities.shape[1] <= MOST_PROBABILITIES
    table = {
        name: column[shown]
        for name, column in every.items()
        if has_few or not name.startswith("probability_")
    }
    rows = held_out.rows[shown]
    # Place of each row by its estimated error, the lowest first; equal ones as `choose_rows` has them.
    rank = np.empty(n_total, dtype=np.intp)
    rank[np.argsort(-held_out.doubt, kind="stable")[::-1]] = np.arange(n_total)
    names, values = _cell_values(inputs, rows)
    bands, reasons = held_out.bands, _reasons(error_estimator, shown)
    nearest = _nearest_rows(error_estimator, X, inputs, y, labels, rows)
    items = [
        dict.fromkeys(OPTIONAL)
        | {name: json_value(column[i]) for name, column in table.items()}
        | {
            "rank": int(rank[place]),
            "wrong": None if mistakes is None else bool(mistakes[place]),
            "band": bands[place].tolist(),
            "against": reasons[i],
            "near": nearest[i],
            "values": values[i],
        }
        for i, place in enumerate(shown)
    ]
    fields = [*table, *(["accepted"] if "accepted" not in table else [])]
    n_columns = inputs.shape[1] if len(inputs.shape) == 2 else 0
    sentence = f"All {number(n_total)} held-out rows, the highest estimated error first."
    if len(shown) < n_total:
        sentence = (
            f"The {number(len(shown) - n_sampled)} rows with the highest estimated error, then {number(n_sampled)} "
            f"others drawn at random, of {number(n_total)}; {everywhere} has them all."
        )
    if 0 < len(names) < n_columns:
        sentence += f" The first {len(names)} of {number(n_columns)} columns are shown."
    return {
        "columns": names,
        "items": items,
        "n_total": n_total,
        "fields": fields,
        "glossary": _explain_columns([*every, *fields], fields, held_out.task.kind, everywhere),
        "everywhere": everywhere,
        "sentence": f"{sentence} {AS_GIVEN if is_given else UNSEEN}",
    }


def _reasons(error_estimator: Any, shown: Ints) -> list[list[dict[str, Any]]]:
    """Reasons that raise the estimated error of each row, strongest first."""
    effects = error_estimator.explain_error()[shown]
    names = list(error_estimator.describe_indicators().values())
    least = 0.01 * max(float(error_estimator.held_out_.error.mean()), 1e-12)
    return [
        [
            {"name": names[i], "effect": float(row[i])}
            for i in np.argsort(-row, kind="stable")[:MOST_REASONS]
            if row[i] > least
        ]
        for row in effects
    ]


def _nearest_rows(
    error_estimator: Any, X: Any, inputs: Any, y: NDArray[Any], labels: Ints, rows: Ints
) -> list[list[dict[str, Any]]]:
    """Nearest other labelled rows of each row, with their targets and values."""
    wanted = min(N_NEAR + 1, len(error_estimator.reference_rows_))
    near = error_estimator.kneighbors(take_rows(X, rows), wanted)[1]
    kept = [
        [other for other in others if other != row][:N_NEAR]
        for row, others in zip(rows, near, strict=True)
    ]
    flat = np.array([other for others in kept for other in others], dtype=np.intp)
    values = iter(_cell_values(inputs, flat)[1])
    return [
        [
            {"row": int(labels[other]), "truth": json_value(y[other]), "values": next(values)}
            for other in others
        ]
        for others in kept
    ]


def _cell_values(X: Any, rows: Ints) -> tuple[list[str], list[list[Any]]]:
    """Names of the first columns, and their values in the given rows, as texts and numbers."""
    part = take_rows(X, rows)
    names = [] if issparse(part) else column_names(part)[:MOST_COLUMNS]
    if not names:
        return [], [[] for _ in rows]
    labels = [str(name) if is_frame(type(part)) else f"column {name}" for name in names]
    columns = [as_objects(column) for column in split_columns(part)[:MOST_COLUMNS]]
    return labels, [[json_value(column[i]) for column in columns] for i in range(len(rows))]


def json_value(value: Any) -> Any:
    """Value for JSON: a number, a text, a boolean, or None for a missing value or an infinite number."""
    if is_missing(value):
        return None
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return value if isinstance(value, (bool, int)) else str(value)


def _explain_columns(
    names: list[str], on_page: list[str], kind: str, everywhere: str
) -> list[dict[str, str]]:
    """Name and meaning of each column, in the given order; the probabilities of classes have one entry.

    The page's CSV may lack some: it has no probabilities if there are very many.
    """
    kinds = {
        name: "probability_<class>" if name.startswith("probability_") else name for name in names
    }
    about = OF_EITHER | {"classification": OF_CLASSES, "regression": OF_NUMBERS}[kind]
    shown = {kinds[name] for name in on_page}
    return [
        {
            "name": name,
            "about": about[name].format(everywhere=everywhere)
            + ("" if name in shown else f" (only in {everywhere}, because there are many classes)"),
        }
        for name in dict.fromkeys(kinds.values())
    ]
