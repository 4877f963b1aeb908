"""Table of the held-out rows, the least trustworthy first, with the reasons that raise each estimated error."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.utils import check_random_state

from surefoot._tables import (
    as_objects,
    column_names,
    is_frame,
    is_missing,
    split_columns,
    take_rows,
)
from surefoot._typing import Floats, Ints
from surefoot._words import number
from surefoot.error_estimation import Judgement
from surefoot.report._assessment import Assessment
from surefoot.report._columns import explain_columns

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


def choose_rows(assessment: Assessment) -> tuple[Ints, int]:
    """Positions of the rows to show among the held-out rows, and how many of them are a random sample."""
    order = np.argsort(-assessment.estimated, kind="stable")
    if len(order) <= MOST_DOUBTFUL + MOST_SAMPLED:
        return order, 0
    rest = order[MOST_DOUBTFUL:]
    kept = check_random_state(assessment.random_state).choice(
        len(rest), MOST_SAMPLED, replace=False
    )
    return np.concatenate([order[:MOST_DOUBTFUL], rest[np.sort(kept)]]), MOST_SAMPLED


def row_table(assessment: Assessment) -> dict[str, NDArray[Any]]:
    """Columns of the table of held-out rows: those of `Judgement`, the truth and the losses."""
    judgement: Judgement = assessment.held_out
    if assessment.promise.kept:
        judgement = assessment.promise.apply(judgement)
    table = {"row": assessment.labels[assessment.rows], "truth": assessment.truth}
    table |= judgement.to_arrays()
    table["loss"] = assessment.losses
    if judgement.probabilities is not None and assessment.own_doubt is not None:
        table["own_error"] = assessment.own_doubt
    return table


def page_table(assessment: Assessment) -> dict[str, NDArray[Any]]:
    """Columns of `row_table` that the page has: those of the probabilities only if there are not too many."""
    table, classes = row_table(assessment), assessment.held_out.classes
    if classes is None or len(classes) <= MOST_PROBABILITIES:
        return table
    return {name: table[name] for name in table if not name.startswith("probability_")}


def ranks(assessment: Assessment) -> Ints:
    """Place of each held-out row by its estimated error, the lowest first; equal ones as `choose_rows` has them."""
    order = np.argsort(-assessment.estimated, kind="stable")[::-1]
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return places


def describe_rows(
    assessment: Assessment, shown: Ints, n_sampled: int, *, from_command: bool = False
) -> dict[str, Any]:
    """Section "The rows": one item for each row shown, with its judgement, reasons and nearest rows."""
    rows, rank = assessment.rows[shown], ranks(assessment)
    names, values = _table(assessment.X, rows)
    table = {name: column[shown] for name, column in page_table(assessment).items()}
    band = stability_band(assessment)[shown]
    reasons, nearest = _reasons(assessment), _nearest_rows(assessment, rows)
    items = [
        dict.fromkeys(OPTIONAL)
        | {name: plain(column[i]) for name, column in table.items()}
        | {
            "rank": int(rank[place]),
            "wrong": bool(assessment.wrong[place]) if assessment.is_classifier else None,
            "band": [float(end) for end in band[i]],
            "against": reasons(place),
            "near": nearest[i],
            "values": values[i],
        }
        for i, place in enumerate(shown)
    ]
    fields = [*table, *(["accepted"] if "accepted" not in table else [])]
    everywhere = "the file that --scores writes" if from_command else "report.to_frame()"
    return {
        "columns": names,
        "items": items,
        "n_total": len(assessment.rows),
        "fields": fields,
        "glossary": explain_columns(
            row_table(assessment), fields, assessment.is_classifier, everywhere
        ),
        "everywhere": everywhere,
        "sentence": _sentence(items, n_sampled, assessment, len(names), everywhere),
    }


def _nearest_rows(assessment: Assessment, rows: Ints) -> list[list[dict[str, Any]]]:
    """Nearest labelled rows of each row, with their targets and values."""
    near = _nearest(assessment, rows)
    values = _table(assessment.X, near.ravel())[1]
    return [
        [
            {
                "row": int(assessment.labels[other]),
                "truth": plain(assessment.y[other]),
                "values": values[i * N_NEAR + j],
            }
            for j, other in enumerate(others)
            if other >= 0
        ]
        for i, others in enumerate(near)
    ]


def stability_band(assessment: Assessment) -> Floats:
    """Lower end, middle and upper end of the model's output within each row's Voronoi cell, shape (n_rows, 3).

    The mean, and two standard deviations below and above it; for a classifier the output is the probability of the
    predicted class against the second one.
    """
    held_out = assessment.held_out
    now = assessment.lead if assessment.is_classifier else held_out.scores[:, 0]
    middle = now + held_out.shift
    ends = np.column_stack([middle + reach * held_out.spread for reach in (-2, 0, 2)])
    return expit(ends) if assessment.is_classifier else ends


def _reasons(assessment: Assessment) -> Callable[[int], list[dict[str, Any]]]:
    """Function that lists the reasons that raise the estimated error of a row, strongest first."""
    effects = assessment.error_estimator.explain_error()
    descriptions = list(assessment.error_estimator.describe_indicators().values())
    least = 0.01 * max(float(assessment.estimated.mean()), 1e-12)

    def reasons_of(place: int) -> list[dict[str, Any]]:
        ranked = np.argsort(-effects[place], kind="stable")[:MOST_REASONS]
        return [
            {"name": descriptions[i], "effect": float(effects[place, i])}
            for i in ranked
            if effects[place, i] > least
        ]

    return reasons_of


def _nearest(assessment: Assessment, rows: Ints) -> Ints:
    """Positions of the nearest other labelled rows of each row, shape (n_rows, N_NEAR); −1 if there are fewer."""
    wanted = min(N_NEAR + 1, len(assessment.error_estimator.reference_rows_))
    near = assessment.error_estimator.kneighbors(take_rows(assessment.X, rows), wanted)[1]
    nearest = np.full((len(rows), N_NEAR), -1)
    for i, (row, others) in enumerate(zip(rows, near, strict=True)):
        kept = [other for other in others if other != row][:N_NEAR]
        nearest[i, : len(kept)] = kept
    return nearest


def _table(X: Any, rows: Ints) -> tuple[list[str], list[list[Any]]]:
    """Names of the first columns, and their values in the given rows, as texts and numbers."""
    part = take_rows(X, np.maximum(rows, 0))
    if issparse(part) or len(column_names(part)) == 0:
        return [], [[] for _ in rows]
    names = column_names(part)[:MOST_COLUMNS]
    labels = [str(name) if is_frame(part) else f"column {name}" for name in names]
    columns = [as_objects(column) for column in split_columns(part)[:MOST_COLUMNS]]
    return labels, [[plain(column[i]) for column in columns] for i in range(len(rows))]


def plain(value: Any) -> Any:
    """Value for JSON: a number, a text, a boolean, or None for a missing value or an infinite number."""
    if is_missing(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, (datetime, date)):
        text = value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
        return text.removesuffix(" 00:00:00")
    return str(value)


def _sentence(
    items: list[Any], n_sampled: int, assessment: Assessment, n_columns: int, everywhere: str
) -> str:
    n_shown, n_total = len(items), len(assessment.rows)
    sentence = f"All {number(n_total)} held-out rows, the highest estimated error first."
    if n_shown < n_total:
        sentence = (
            f"The {number(n_shown - n_sampled)} rows with the highest estimated error, then {number(n_sampled)} others "
            f"drawn at random, of {number(n_total)}; {everywhere} has them all."
        )
    n_all = assessment.X.shape[1] if len(assessment.X.shape) == 2 else 0
    if 0 < n_columns < n_all:
        sentence += f" The first {n_columns} of {number(n_all)} columns are shown."
    return f"{sentence} Each row was predicted by a model that had not seen it."
