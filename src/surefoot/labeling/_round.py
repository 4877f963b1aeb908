"""One round of learning: fit the model to the labels so far, choose what to ask next, and give the reasons."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest, chi2_contingency
from scipy.stats.contingency import crosstab
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier

from surefoot._optional import needed_for
from surefoot._typing import Ints
from surefoot.abstention import promise_of
from surefoot.active_learning import query
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.labeling._claims import Measurement
from surefoot.labeling._pool import as_strings
from surefoot.labeling._queue import Question
from surefoot.labeling._trainer import Details, Round
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Rows without a label that the strategy chooses among, drawn anew each round: judging all of a large pool takes long.
MOST_CANDIDATES = 5000

# Questions that are chosen at a time, and labelled rows that are shown beside each.
N_QUESTIONS = 40
N_NEIGHBORS = 3

# Labels of the second class from which on errors are estimated out of fold.
LEAST_LABELS = 5

START = "The first rows are spread over the table, so that every class is seen soon."

# Lead of the first class over the second, in probability, below which two classes are close.
CLOSE = 0.25

# Share of the samples around a row that get another class, from which on the answer changes nearby.
MANY_FLIPS = 0.1

# Bins of a column of numbers, and most frequent categories of a column of strings.
N_BINS = 5

# Rows that the user's model judges at a time.
CHUNK = 10_000


def run_round(
    X: pd.DataFrame,
    estimator: Any,
    *,
    rows: Ints,
    labels: NDArray[Any],
    n_labels: int,
    order: Ints,
    random_rows: Ints,
    rows_ahead: Ints,
    closed_rows: Ints,
    strategy: Any,
    random_state: int,
    measured_models: list[dict[str, Any]],
) -> Round:
    """Fit the model to the labels so far, choose the next questions, and measure how good the model is.

    Parameters
    ----------
    X : DataFrame
        All rows of the pool.
    estimator : classifier or None
        Model to teach; None for the default.
    rows, labels : ndarrays
        Labelled rows and their labels.
    n_labels : int
        How many of these labels people have given here; the others were in the table.
    order : ndarray
        All rows that had no label in the table, in their random order.
    random_rows : ndarray
        First rows of this order, up to the last one that was drawn: they alone measure accuracy.
    rows_ahead : ndarray
        Rows that people have before them, and rows that will be drawn at random next.
    closed_rows : ndarray
        Rows that are not asked about: answered otherwise than by a label.
    strategy : str
        Strategy of `surefoot.active_learning.query`.
    random_state : int
        Seed of this round.
    measured_models : list of dict
        Models that are measured, as the round before left them.
    """
    X_known, model, error_estimator = X.iloc[rows], None, None
    counts = np.sort(np.unique_counts(labels).counts)
    if len(counts) >= 2:
        model = default_model() if estimator is None else estimator
        if counts[-2] < LEAST_LABELS:
            model = clone(model).fit(X_known, labels)
        else:
            error_estimator = IndividualErrorClassifier(model, random_state=random_state)
            model = error_estimator.fit(X_known, labels).estimator_
    unknown = np.setdiff1d(np.arange(len(X)), np.union1d(rows, closed_rows))
    drawn = np.random.default_rng(random_state).permutation(unknown)[:MOST_CANDIDATES]
    chosen = np.sort(drawn)
    if len(chosen) > 0:
        options = {"X": X_known, "y": labels, "random_state": random_state}
        chosen = chosen[query(strategy, model, X.iloc[chosen], N_QUESTIONS, **options)]
    if model is None:  # nothing to learn yet
        questions = [Question(int(row), "start", START) for row in chosen]
        return Round(questions, measured_models=measured_models)
    shown = np.union1d(chosen, np.intersect1d(rows_ahead, unknown))
    looked = look_at(X.iloc[shown], X_known, rows, labels, model, error_estimator)
    details = dict(zip(shown.tolist(), looked, strict=True))
    measurement = Measurement(measured_models)
    ahead = order[len(random_rows) :]
    measurement.look(
        lambda some: [str(label) for label in model.predict(X.iloc[some])],
        n_labels=n_labels,
        labels=dict(zip(rows.tolist(), labels.tolist(), strict=True)),
        drawn=random_rows.tolist(),
        ahead=ahead[np.isin(ahead, unknown)].tolist(),
    )
    return Round(
        questions=[
            Question(row, str(strategy), details[row].why, details[row].error)
            for row in chosen.tolist()
        ],
        details=details,
        columns=telling_columns(X_known, labels),
        measured=measure(np.isin(rows, random_rows), error_estimator),
        changed=measurement.changed,
        measured_models=measurement.state,
    )


def default_model() -> Any:
    """Forest that takes any table: of few labels it learns more than boosting does."""
    with needed_for("The default model", "label"):
        from skrub import tabular_pipeline  # noqa: PLC0415 - slow to import, and only the process that learns needs it

    return tabular_pipeline(ExtraTreesClassifier(random_state=0))


def look_at(
    X: pd.DataFrame,
    X_known: pd.DataFrame,
    rows: Ints,
    y: NDArray[Any],
    model: Any,
    error_estimator: IndividualErrorClassifier | None,
) -> list[Details]:
    """Guess, estimated error, reasons for doubt and nearest labelled rows of each row."""
    if len(X) == 0:
        return []
    index = NeighborhoodIndex(model, X_known, n_neighbors=N_NEIGHBORS)
    flips, novel = np.zeros(len(X)), np.zeros(len(X), dtype=bool)
    if error_estimator is not None:
        judgement = error_estimator.judge(X)
        guesses, shares = judgement.prediction, judgement.probabilities
        errors, novel = judgement.error, judgement.novel
        flips = judgement.stability.get("flips", judgement.stability.get("other_share", flips))
    else:
        guesses, errors = model.predict(X), np.full(len(X), np.nan)
        shares = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    leads = np.full((len(X), 2), np.nan) if shares is None else np.sort(shares, axis=1)[:, -2:]
    details = []
    for i, near in enumerate(Neighborhood(index, X).indices):
        error = None if np.isnan(errors[i]) else float(errors[i])
        why = why_asked(
            close=bool(leads[i, 1] - leads[i, 0] < CLOSE),
            flips=float(flips[i]),
            novel=bool(novel[i]),
            neighbor_labels=y[near],
            error=error,
        )
        probability = None if np.isnan(leads[i, 1]) else float(leads[i, 1])
        details.append(Details(str(guesses[i]), probability, error, why, rows[near].tolist()))
    return details


def why_asked(
    *,
    close: bool,
    flips: float,
    novel: bool,
    neighbor_labels: NDArray[Any],
    error: float | None,
) -> str:
    """Sentence with the reasons for doubt about a row; it names no class.

    >>> import numpy as np
    >>> why_asked(close=True, flips=0.3, novel=False, neighbor_labels=np.array(["a", "a"]), error=0.4)
    'Two classes are close here, and the answer changes nearby.'
    """
    doubts = {
        "two classes are close here": close,
        "the answer changes nearby": flips >= MANY_FLIPS,
        "no labelled row is like this one": novel,
        "the nearest labelled rows have different labels": len(np.unique(neighbor_labels)) > 1,
    }
    reasons = [reason for reason, holds in doubts.items() if holds]
    if not reasons and error is not None:
        reasons.append(f"about {error:.0%} of such predictions are wrong")
    if not reasons:
        reasons.append("it differs from the other rows that are asked about")
    text = reasons[0] if len(reasons) == 1 else f"{', '.join(reasons[:-1])}, and {reasons[-1]}"
    return f"{text[0].upper()}{text[1:]}."


def telling_columns(X: pd.DataFrame, y: NDArray[Any]) -> list[str]:
    """Names of the columns, those with the strongest association with the labels first; equal ones in their order."""
    strengths = np.array([association(_codes(X[name]), y) for name in X.columns])
    return [str(X.columns[i]) for i in np.argsort(-strengths, kind="stable")]


def association(codes: Ints, classes: NDArray[Any]) -> float:
    """Bias-corrected Cramér's V of two partitions (Bergsma 2013): 0 for none, 1 if one determines the other."""
    counts = crosstab(codes, classes).count
    if min(counts.shape) < 2:
        return 0.0
    (n_codes, n_classes), n_rows = counts.shape, len(codes)
    squared = chi2_contingency(counts, correction=False).statistic / n_rows
    corrected = max(0.0, squared - (n_codes - 1) * (n_classes - 1) / (n_rows - 1))
    limits = [n - (n - 1) ** 2 / (n_rows - 1) for n in (n_codes, n_classes)]
    return float(np.sqrt(corrected / max(min(limits) - 1, 1e-9)))


def _codes(column: pd.Series) -> Ints:
    """Bin of each number, or code of each frequent string; missing values are a bin of their own."""
    if column.dtype.kind in "iuf":
        values = column.to_numpy(dtype=float, na_value=np.nan, copy=True)
        values[~np.isfinite(values)] = np.nan
        known = values[~np.isnan(values)]
        shares = np.linspace(0, 1, N_BINS + 1)[1:-1]
        edges = np.unique(np.quantile(known, shares)) if len(known) else known
        codes = np.searchsorted(edges, values, side="left")
        return np.where(np.isnan(values), len(edges) + 1, codes)
    strings = as_strings(column).where(column.notna(), "")
    frequent = {string: i for i, string in enumerate(strings.value_counts().index[:N_BINS])}
    return strings.map(frequent).fillna(N_BINS).to_numpy(dtype=np.int64)


def measure(
    is_random: NDArray[np.bool_], error_estimator: IndividualErrorClassifier | None
) -> tuple[float, float, float, int] | None:
    """Accuracy on the random rows, each predicted by a model that did not learn from it, with its 95 % interval.

    A row whose class has too few labels to hold any out counts as wrong: no model without it would know the class.
    """
    if error_estimator is None or not is_random.any():
        return None
    right = np.zeros(len(is_random), dtype=bool)
    held_out = error_estimator.held_out_
    right[held_out.rows] = held_out.prediction == held_out.truth
    n_random, n_right = int(is_random.sum()), int(right[is_random].sum())
    low, high = binomtest(n_right, n_random).proportion_ci(0.95, method="wilson")
    return n_right / n_random, float(low), float(high), n_random


def rows_not_answered(
    X: pd.DataFrame, error_estimator: IndividualErrorClassifier, open_rows: Sequence[int]
) -> list[Question]:
    """Questions about the rows that the user's model would not answer at its promised risk, the highest error first.

    If no risk can be promised, no row would be answered.
    """
    promise = promise_of(error_estimator)
    rows = np.asarray(open_rows)
    judged = [
        promise.apply(error_estimator.judge(X.iloc[rows[start : start + CHUNK]]))
        for start in range(0, len(rows), CHUNK)
    ]
    errors = np.concatenate([each.error for each in judged])
    accepted = np.concatenate([np.asarray(each.accepted) for each in judged])
    return [
        Question(
            int(rows[i]),
            "model",
            f"The prediction of this row is not accepted: about {errors[i]:.0%} of such predictions are wrong.",
            float(errors[i]),
        )
        for i in np.argsort(-errors, kind="stable")
        if not accepted[i]
    ]
