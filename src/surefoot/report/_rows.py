"""The rows, the least trustworthy first, with what speaks against each."""

from datetime import date, datetime
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.utils import check_random_state

from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.report._figures import number
from surefoot.report._intervals import SHOWN
from surefoot.report._judged import Judged

# Rows that the page holds: of a larger table the least trustworthy, and a sample of the others.
MOST_DOUBTFUL = 500
MOST_SAMPLED = 1000

MOST_COLUMNS = 30
N_NEAR = 3
MOST_REASONS = 3

# What an indicator says when it speaks against a row.
REASONS = {
    "confidence": "the model itself is not sure",
    "local sensitivity": "the prediction changes nearby",
    "neighbor disagreement": "similar rows have other answers",
    "neighbor distance": "few rows are like it",
    "second opinion": "other models disagree",
    "row": "rows with such values are hard",
}


def choose_rows(judged: Judged) -> tuple[Ints, int]:
    """Positions, among the held-out rows, of those to show, and how many of them are a sample of the rest."""
    order = np.argsort(-judged.estimated, kind="stable")
    if len(order) <= MOST_DOUBTFUL + MOST_SAMPLED:
        return order, 0
    rest = order[MOST_DOUBTFUL:]
    kept = check_random_state(judged.random_state).choice(len(rest), MOST_SAMPLED, replace=False)
    return np.concatenate([order[:MOST_DOUBTFUL], rest[np.sort(kept)]]), MOST_SAMPLED


def describe_rows(
    judged: Judged, shown: Ints, n_sampled: int, limit: float | None
) -> dict[str, Any]:
    """Everything that is known of each row shown; `limit` is the estimated error up to which rows are trusted."""
    told = judged.sure.held_out_
    rows = judged.rows[shown]
    names, values = _table(judged.X, rows)
    band = stability_band(judged)[shown]
    reasons = _reasons(judged)
    near = _nearest(judged, rows)
    near_values = _table(judged.X, near.ravel())[1]
    intervals = _intervals(judged)
    items = [
        {
            "row": int(judged.labels[row]),
            "truth": plain(judged.truth[place]),
            "prediction": plain(told.predictions[place]),
            "wrong": bool(judged.errors[place] > 0) if judged.is_classifier else None,
            "error": float(judged.estimated[place]),
            "own": None
            if told.probabilities is None or judged.own is None
            else float(judged.own[place]),
            "low": float(band[i, 0]),
            "middle": float(band[i, 1]),
            "high": float(band[i, 2]),
            "interval": None if intervals is None else [plain(end) for end in intervals[place]],
            "novel": bool(judged.novel[place]),
            "trust": None if limit is None else bool(judged.estimated[place] <= limit),
            "against": reasons(place),
            "near": [
                {
                    "row": int(judged.labels[other]),
                    "truth": plain(judged.y[other]),
                    "values": near_values[i * N_NEAR + j],
                }
                for j, other in enumerate(near[i])
                if other >= 0
            ],
            "values": values[i],
        }
        for i, (row, place) in enumerate(zip(rows, shown, strict=True))
    ]
    return {
        "columns": names,
        "items": items,
        "n_total": len(judged.rows),
        "sentence": _sentence(len(items), n_sampled, len(judged.rows), judged, len(names)),
    }


def stability_band(judged: Judged) -> Floats:
    """Lower end, middle and upper end of what the model says within each row's cell, shape (n_rows, 3).

    Mean and two standard deviations of its predictions there; for a classifier the probability of the
    predicted class against the runner-up.
    """
    shift, spread = judged.stability.T
    now = judged.lead if judged.is_classifier else judged.deployed_predictions
    ends = np.column_stack([now + shift + reach * spread for reach in (-2, 0, 2)])
    return expit(ends) if judged.is_classifier else ends


def _reasons(judged: Judged) -> Any:
    """A function that lists what raises the estimated error of a row, most first."""
    effects = judged.sure.explain_error()
    names = [REASONS.get(name, name) for name in judged.sure.get_indicator_names()]
    least = 0.01 * max(float(judged.estimated.mean()), 1e-12)

    def of(place: int) -> list[dict[str, Any]]:
        ranked = np.argsort(-effects[place], kind="stable")[:MOST_REASONS]
        return [
            {"name": names[i], "effect": float(effects[place, i])}
            for i in ranked
            if effects[place, i] > least
        ]

    return of


def _nearest(judged: Judged, rows: Ints) -> Ints:
    """Positions of the labelled rows nearest to each but itself, shape (n_rows, N_NEAR); −1 where there is none."""
    wanted = min(N_NEAR + 1, len(judged.sure.reference_rows_))
    near = judged.sure.kneighbors(take_rows(judged.X, rows), wanted)[1]
    found = np.full((len(rows), N_NEAR), -1)
    for i, (row, others) in enumerate(zip(rows, near, strict=True)):
        kept = [other for other in others if other != row][:N_NEAR]
        found[i, : len(kept)] = kept
    return found


def _intervals(judged: Judged) -> Floats | None:
    if not isinstance(judged.sure, IndividualErrorRegressor):
        return None
    return judged.sure.held_out_intervals(SHOWN)


def _table(X: Any, rows: Ints) -> tuple[list[str], list[list[Any]]]:
    """Names of the first columns, and their values in some rows, as texts and numbers."""
    part = take_rows(X, np.maximum(rows, 0))
    if issparse(part) or getattr(part, "ndim", 2) == 1:
        return [], [[] for _ in rows]
    if hasattr(part, "columns"):
        names = [str(name) for name in part.columns][:MOST_COLUMNS]
        columns = [list(part[name]) for name in list(part.columns)[:MOST_COLUMNS]]
    else:
        names = [f"column {i}" for i in range(min(part.shape[1], MOST_COLUMNS))]
        columns = [list(part[:, i]) for i in range(len(names))]
    return names, [[plain(column[i]) for column in columns] for i in range(len(rows))]


def plain(value: Any) -> Any:
    """A value as JSON knows it: a number, a text, a truth value, or None for a gap."""
    if value is None or str(value) in ("nan", "NaT", "<NA>", "inf", "-inf"):
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, (datetime, date)):
        told = value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
        return told.removesuffix(" 00:00:00")
    return str(value)


def _sentence(n_shown: int, n_sampled: int, n_total: int, judged: Judged, n_columns: int) -> str:
    told = f"All {number(n_total)} rows that were judged, the least trustworthy first."
    if n_shown < n_total:
        told = (
            f"The {number(n_shown - n_sampled)} least trustworthy rows, then {number(n_sampled)} others drawn at "
            f"random, of {number(n_total)}; --scores writes them all to a file."
        )
    n_all = judged.X.shape[1] if len(judged.X.shape) == 2 else 0
    if 0 < n_columns < n_all:
        told += f" The first {n_columns} of {number(n_all)} columns are shown."
    return f"{told} Each was judged by a model that had not seen it."
