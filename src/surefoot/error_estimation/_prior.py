"""Prior of the error estimator: what a mistake looked like on other tables (pretrained meta-model)."""

import json
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from surefoot._files import write_whole
from surefoot._typing import Floats

# File of this package with the prior that ships.
SHIPPED = "error_prior.json"

# Columns that are log-odds of the predicted class end so, the model's own among them.
LOG_ODDS = "log_odds"

# Places, evenly spaced in normal scores, at which the distribution of a column is kept.
N_KNOTS = 400


@dataclass(frozen=True, eq=False)
class ErrorPrior:
    """Weights that a mistake's signs had on other tables: their mean, and how they differ from table to table.

    An error estimator starts from them, and leaves them as far as its own held-out rows show: its weights are the
    posterior of a logistic regression whose weights are normal around `mean`. The prior that ships
    (`ErrorPrior.shipped()`) was learned on tables of PMLB.

    Attributes
    ----------
    version : int
        Number of the columns' definition: a prior is of use for columns of the same names and meaning only.
    columns : tuple of str
        Names of the columns, as `get_column_names` returns them.
    mean : ndarray of shape (n_weights,)
        Mean weights of the columns, as normal scores of their ranks, and of one that is made from them.
    covariance : ndarray of shape (n_weights, n_weights)
        Their covariance over tables and models.
    tables : tuple of str
        Names of the tables that it was learned on.
    n_cases : int
        Number of models on tables that it was learned on.
    """

    version: int
    columns: tuple[str, ...]
    mean: Floats
    covariance: Floats
    tables: tuple[str, ...]
    n_cases: int

    @classmethod
    def shipped(cls) -> Self:
        """Prior that ships with surefoot."""
        return cls._from_text(_shipped_text())

    @classmethod
    def load(cls, path: Any) -> Self:
        """Prior from a file that `save` wrote; a ValueError if it is none."""
        try:
            return cls._from_text(Path(path).read_text(encoding="utf-8"))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} holds no prior that `ErrorPrior.save` wrote.") from error

    def save(self, path: Any) -> None:
        """Write the prior as JSON: plain numbers and names."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {
            name: np.round(value, 6).tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        }
        write_whole(Path(path), (json.dumps(plain, indent=1) + "\n").encode())

    def normal_scores(self, held_out: Any, rows: Any) -> Floats:
        """Columns of rows as the prior weighs them: normal scores of their ranks among the held-out rows.

        Parameters
        ----------
        held_out, rows : array-like of shape (n_rows, n_columns)
            The prior's columns for the held-out rows and for the rows in question.

        Returns
        -------
        scores : ndarray of shape (n_rows, n_weights)
            Scores of the columns, and of one that is made from them.
        """
        scores = NormalScores(np.asarray(held_out, dtype=np.float64), self.columns)
        return scores(np.asarray(rows, dtype=np.float64))

    def estimate(self, columns: Any, wrong: Any, new_columns: Any) -> Floats:
        """Estimated errors of new rows, starting from the prior and learned from held-out rows; lower is better.

        Parameters
        ----------
        columns, new_columns : array-like of shape (n_rows, n_columns)
            The prior's columns for the held-out rows and for the new rows.
        wrong : array-like of shape (n_rows,)
            Whether each held-out prediction was wrong (1) or not (0).

        Returns
        -------
        error : ndarray of shape (n_rows,)
            Probability that the prediction of each new row is wrong.
        """
        # That module imports this one.
        from surefoot.error_estimation._pretrained_logistic import (  # noqa: PLC0415
            PretrainedLogisticRegression,
        )

        learner = PretrainedLogisticRegression(self, random_state=0).fit(columns, wrong)
        return np.asarray(learner.predict_proba(new_columns)[:, 1])

    @classmethod
    def _from_text(cls, text: str) -> Self:
        values = json.loads(text)
        return cls(
            version=int(values["version"]),
            columns=tuple(values["columns"]),
            mean=np.array(values["mean"], dtype=np.float64),
            covariance=np.array(values["covariance"], dtype=np.float64),
            tables=tuple(values["tables"]),
            n_cases=int(values["n_cases"]),
        )


def check_prior(prior: Any) -> None:
    """Raise one sentence unless this is "auto", None or a prior."""
    if not (prior is None or isinstance(prior, ErrorPrior) or prior == "auto"):
        raise ValueError(f"prior={prior!r} is not known: it may be 'auto', an ErrorPrior or None.")


def prior_for(columns: Any, setting: Any) -> ErrorPrior | None:
    """Prior for columns of these names: the one given, or for "auto" the one that ships, if it is of these columns."""
    prior = ErrorPrior.shipped() if isinstance(setting, str) else setting
    if prior is None or tuple(columns) == prior.columns:
        return prior
    if prior is setting:
        raise ValueError("prior was learned on other columns than the indicators have.")
    return None


@cache
def _shipped_text() -> str:
    return (files("surefoot.error_estimation") / SHIPPED).read_text(encoding="utf-8")


def describe(table: Floats, log_odds: Any) -> Floats:
    """Columns, and one more: mean probability of another class than the predicted one, what a vote of all would say.

    The mean is over the model itself and its second opinions, whose log-odds of the predicted class are the columns at
    the places `log_odds`.
    """
    return np.column_stack([table, expit(-table[:, log_odds]).mean(axis=1)])


class NormalScores:
    """Columns and the one made from them (`describe`), as normal scores of their ranks among held-out rows.

    A score is the value that a standard normal variable has at the same rank. So columns of any unit and any shape, and
    with any outliers, can be compared from table to table.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Columns of the held-out rows.
    columns : sequence of str
        Their names.
    weight : ndarray of shape (n_rows,), default=None
        Weights of the rows.
    """

    def __init__(self, table: Floats, columns: Any, weight: Floats | None = None) -> None:
        self.log_odds = log_odds_places(columns)
        weight = np.ones(len(table)) if weight is None else weight
        counts = weight > 0
        described = self._described(table[counts])
        self.scales = [_scale(column, weight[counts]) for column in described.T]

    def __call__(self, table: Floats) -> Floats:
        """Scores of rows; beyond the held-out rows they are those of the first or the last of them."""
        columns = self._described(table).T
        scores = [_score(c, *scale) for c, scale in zip(columns, self.scales, strict=True)]
        return np.column_stack(scores)

    def _described(self, table: Floats) -> NDArray[np.float32]:
        """Columns in single precision, so that values which differ by rounding alone have the same rank."""
        with np.errstate(over="ignore"):
            return describe(table, self.log_odds).astype(np.float32)


def _scale(column: NDArray[np.float32], weight: Floats) -> tuple[NDArray[np.float32], Floats]:
    """Values of a column, ascending, and their normal scores: of a tie the middle one."""
    furthest = ndtri((len(column) + 0.5) / (len(column) + 1))
    scores = np.linspace(-furthest, furthest, N_KNOTS)
    order = np.argsort(column, kind="stable")
    reached = np.cumsum(weight[order])
    places = np.searchsorted(reached, ndtr(scores) * reached[-1])
    knots = column[order][np.minimum(places, len(column) - 1)]
    values, first, counts = np.unique(knots, return_index=True, return_counts=True)
    return values, (scores[first] + scores[first + counts - 1]) / 2


def _score(column: NDArray[np.float32], values: NDArray[np.float32], scores: Floats) -> Floats:
    """Scores of a column: of a value between two known ones, however near, the middle of theirs."""
    below = np.maximum(np.searchsorted(values, column, side="right") - 1, 0)
    above = np.minimum(np.searchsorted(values, column, side="left"), len(values) - 1)
    return np.asarray((scores[below] + scores[above]) / 2)


def log_odds_places(columns: Any) -> list[int]:
    """Places of the columns that are log-odds of the predicted class."""
    return [place for place, name in enumerate(columns) if name.endswith(LOG_ODDS)]
