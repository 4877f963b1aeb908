"""Work for the process that learns, and its results: everything that both processes know, so nothing slow to import."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
from numpy.typing import NDArray

from surefoot._typing import Ints
from surefoot.labeling._queue import Question


@dataclass(frozen=True)
class Request:
    """What a round needs to know.

    Attributes
    ----------
    rows, labels : ndarrays
        Labelled rows and their labels.
    random_rows : ndarray
        Rows that were drawn at random, which alone measure accuracy.
    rows_ahead : ndarray
        Rows that people have before them, and rows that will be drawn at random next.
    closed_rows : ndarray
        Rows that are not asked about: answered otherwise than by a label.
    strategy : str or None
        Strategy of `surefoot.active_learning`; None for its default.
    random_state : int
        Seed of this round.
    stopping : dict or None
        State of the stopping rule after the round before.
    predictions : list of str or None
        Predictions of the watched rows in the round before.
    """

    rows: Ints
    labels: NDArray[Any]
    random_rows: Ints
    rows_ahead: Ints
    closed_rows: Ints
    strategy: str | None
    random_state: int
    stopping: Any = None
    predictions: list[str] | None = None


class Details(NamedTuple):
    """What is known of a row besides its cells: guess, estimated error, doubts, and nearest labelled rows."""

    guess: str
    probability: float | None
    error: float | None
    why: str
    neighbors: Any


@dataclass(frozen=True)
class Round:
    """What a round found out.

    Attributes
    ----------
    questions : list of Question
        Rows to ask about next, the most useful first.
    details : dict of int to Details
        Of each row that may be asked about next.
    columns : list of str
        Columns, the most telling first.
    measured : tuple or None
        Accuracy, both ends of its 95 % interval, and the number of random rows it was measured on.
    changed : float or None
        Share of predictions that changed since the round before.
    may_stop : bool
        Whether further labels would hardly help.
    stop_reason : str
        Why, or why not, in one sentence.
    stopping : dict or None
        State of the stopping rule.
    predictions : list of str or None
        Predictions of the watched rows.
    """

    questions: list[Question]
    details: dict[int, Details] = field(default_factory=dict)
    columns: list[str] | None = None
    measured: tuple[float, float, float, int] | None = None
    changed: float | None = None
    may_stop: bool = False
    stop_reason: str = "Go on: labels of two classes are needed before a model can learn."
    stopping: Any = None
    predictions: list[str] | None = None


def learn(X: pd.DataFrame, estimator: Any, *, request: Request) -> Round:
    """Result of a round of learning."""
    from surefoot.labeling._round import run_round  # noqa: PLC0415 - only the process that learns needs it

    return run_round(X, estimator, request)


def ask_model(
    X: pd.DataFrame, _estimator: Any, *, sure: Any, open_rows: Sequence[int]
) -> list[Question]:
    """Questions about the rows that a fitted model would not answer."""
    from surefoot.labeling._given_model import rows_not_answered  # noqa: PLC0415

    return rows_not_answered(X, sure, open_rows)
