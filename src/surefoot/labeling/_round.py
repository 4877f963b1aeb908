"""One round of learning: fit the model to the labels so far, and choose what to ask next."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator

from surefoot._optional import needed_for
from surefoot._stopping import StoppingRule
from surefoot._typing import Ints
from surefoot.active_learning import query
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.labeling._queue import Question
from surefoot.labeling._telling import telling_columns
from surefoot.labeling._why import is_close, why_asked
from surefoot.labeling._work import Details, Request, Round
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Rows without a label that the strategy chooses among, drawn anew each round: judging all of a large pool takes long.
MOST_CANDIDATES = 5000

# Questions that are chosen at a time, and labelled rows that are shown beside each.
N_QUESTIONS = 40
N_NEIGHBORS = 3

# Rows whose predictions are compared from round to round.
MOST_WATCHED = 2000

# Labels of the second class from which on errors are estimated out of fold.
LEAST_LABELS = 5

START = "The first rows are spread over the table, so that every class is seen soon."


def run_round(X: pd.DataFrame, estimator: Any, request: Request) -> Round:
    """Fit the model to the labels so far, choose the next questions, and measure how good the model is."""
    request = replace(request, strategy=request.strategy or "margin")
    y = np.asarray(request.labels)
    unknown = np.setdiff1d(np.arange(len(X)), np.union1d(request.rows, request.closed_rows))
    X_known = X.iloc[request.rows]
    if len(np.unique(y)) < 2:  # nothing to learn yet
        first = _choose(X, X_known, y, None, request, unknown)
        return Round([Question(int(row), "start", START) for row in first])
    chosen_model = default_model() if estimator is None else estimator
    model, sure = fit_model(chosen_model, X_known, y, request.random_state)
    chosen = _choose(X, X_known, y, model, request, unknown)
    shown = np.union1d(chosen, np.intersect1d(request.rows_ahead, unknown))
    looked = _look_at(X.iloc[shown], X_known, y, model, sure)
    details = {
        int(row): each._replace(neighbors=request.rows[each.neighbors].tolist())
        for row, each in zip(shown, looked, strict=True)
    }
    questions = [
        Question(int(row), str(request.strategy), details[int(row)].why, details[int(row)].error)
        for row in chosen
    ]
    watched = _sample(np.arange(len(X)), MOST_WATCHED, np.random.default_rng(0))
    predictions = [str(label) for label in model.predict(X.iloc[watched])]
    rule = StoppingRule(state=request.stopping)
    rule.look(predictions, n_labels=len(y), labelled=np.isin(watched, request.rows))
    return Round(
        questions=questions,
        details=details,
        columns=telling_columns(X_known, y),
        measured=measure(y, request, sure),
        changed=_share_changed(request.predictions, predictions),
        may_stop=rule.should_stop,
        stop_reason=rule.reason,
        stopping=rule.state,
        predictions=predictions,
    )


def default_model() -> Any:
    """Forest that takes any table: of few labels it learns more than boosting does."""
    with needed_for("The default model", "label"):
        from skrub import tabular_pipeline  # noqa: PLC0415 - slow to import, and only the process that learns needs it

    return tabular_pipeline(ExtraTreesClassifier(random_state=0))


def fit_model(
    estimator: Any, X: pd.DataFrame, y: NDArray[Any], random_state: int
) -> tuple[Any, IndividualErrorClassifier | None]:
    """Fitted model, and the error estimator around it once two classes have enough labels."""
    counts = np.sort(np.unique_counts(y).counts)
    if counts[-2] < LEAST_LABELS:
        return clone(estimator).fit(X, y), None
    sure = IndividualErrorClassifier(estimator, random_state=random_state).fit(X, y)
    return sure.estimator_, sure


def measure(
    y: NDArray[Any], request: Request, sure: IndividualErrorClassifier | None
) -> tuple[float, float, float, int] | None:
    """Accuracy on the random rows, each predicted by a model that did not learn from it, with its 95 % interval.

    A row whose class has too few labels to hold any out counts as wrong: no model without it would know the class.
    """
    is_random = np.isin(request.rows, request.random_rows)
    if sure is None or not is_random.any():
        return None
    right = np.zeros(len(y), dtype=bool)
    held_out = sure.held_out_
    right[held_out.rows] = held_out.prediction == held_out.truth
    n_random, n_right = int(is_random.sum()), int(right[is_random].sum())
    low, high = binomtest(n_right, n_random).proportion_ci(0.95, method="wilson")
    return n_right / n_random, float(low), float(high), n_random


def _sample(rows: Ints, most: int, random: np.random.Generator) -> Ints:
    """At most so many of the rows, drawn at random, in their order."""
    return rows if len(rows) <= most else np.sort(random.choice(rows, most, replace=False))


def _choose(
    X: pd.DataFrame,
    X_known: pd.DataFrame,
    y: NDArray[Any],
    model: Any,
    request: Request,
    unknown: Ints,
) -> Ints:
    """Rows to ask about next, the most useful first; without a model, rows that are spread over the table."""
    candidates = _sample(unknown, MOST_CANDIDATES, np.random.default_rng(request.random_state))
    if len(candidates) == 0:
        return candidates
    chosen = query(
        request.strategy,
        None if model is None else FrozenEstimator(model),
        X.iloc[candidates],
        min(N_QUESTIONS, len(candidates)),
        X=X_known if len(y) else None,
        y=y if len(y) else None,
        random_state=request.random_state,
    )
    return candidates[chosen]


def _look_at(
    X: pd.DataFrame,
    X_known: pd.DataFrame,
    y: NDArray[Any],
    model: Any,
    sure: IndividualErrorClassifier | None,
) -> list[Details]:
    """Guess, estimated error, reasons for doubt and nearest labelled rows, by position, of each row."""
    if len(X) == 0:
        return []
    index = NeighborhoodIndex(model, X_known, n_neighbors=N_NEIGHBORS)
    near = Neighborhood(index, X).indices
    opinions = _opinions(model, sure, X)
    return [
        _details(_Opinion(*values), y, positions)
        for values, positions in zip(zip(*opinions, strict=True), near, strict=True)
    ]


def _details(opinion: "_Opinion", y: NDArray[Any], positions: Ints) -> Details:
    error = _number(opinion.error)
    why = why_asked(
        close=bool(opinion.close),
        flips=float(opinion.flips),
        novel=bool(opinion.novel),
        neighbor_labels=y[positions],
        error=error,
    )
    return Details(str(opinion.guess), _number(opinion.probability), error, why, positions)


def _number(value: Any) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


class _Opinion(NamedTuple):
    """What the model says of a row, and how far to trust it; NaN where it does not say."""

    guess: Any
    probability: Any
    error: Any
    close: Any
    flips: Any
    novel: Any


def _opinions(
    model: Any, sure: IndividualErrorClassifier | None, X: pd.DataFrame
) -> list[NDArray[Any]]:
    """Columns of the model's opinions, in the order of `_Opinion`."""
    unknown, no = np.full(len(X), np.nan), np.zeros(len(X), dtype=bool)
    if sure is not None:
        judged = sure.judge(X)
        flips = np.zeros(len(X)) if judged.flips is None else judged.flips
        guess, shares = judged.prediction, judged.probabilities
        error, novel = judged.error, judged.novel
    else:
        shares = model.predict_proba(X) if hasattr(model, "predict_proba") else None
        guess, error, flips, novel = model.predict(X), unknown, np.zeros(len(X)), no
    best = unknown if shares is None else shares.max(axis=1)
    close = no if shares is None else is_close(shares)
    return [guess, best, error, close, flips, novel]


def _share_changed(before: Any, after: list[str]) -> float | None:
    """Share of the predictions that differ; None if there were none before."""
    return None if before is None else float(np.mean(np.asarray(before) != np.asarray(after)))
