"""Learning a prior across tables: mean and covariance of the weights of many logistic regressions."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot._shrunk import curvature_of_logistic, fit_logistic, with_ones
from surefoot._typing import Floats
from surefoot.error_estimation._pretrained_logistic import PretrainedLogisticRegression
from surefoot.error_estimation._prior import FURTHEST, ErrorPrior, describe, log_odds_places

VERSION = 1
ROUNDS = 8

# Variance of the weights before anything is learned, and what is added to theirs so that no direction is certain.
FIRST_VARIANCE = 0.3
LEAST_VARIANCE = 1e-4
# Share of the covariances between weights that is given up, since a case has few errors to tell them by.
SHRINKAGE = 0.02
# Penalty of each case's intercept: almost none, since it is the case's own.
LEVEL = 1e-3
# Errors that a case must have to be learned from.
LEAST_ERRORS = 3


class PriorCase(NamedTuple):
    """Columns of a model's held-out rows and of fresh rows, and whether each prediction was wrong (1) or not (0)."""

    table: str
    columns: Floats
    wrong: Any
    fresh_columns: Floats
    fresh_wrong: Any

    def estimate(self, prior: ErrorPrior) -> Floats:
        """Estimated errors of the fresh rows, starting from a prior and learned from the held-out rows."""
        learner = PretrainedLogisticRegression(prior, random_state=0)
        fitted = learner.fit(self.columns, self.wrong)
        return np.asarray(fitted.predict_proba(self.fresh_columns)[:, 1])


def learn_prior(cases: Iterable[PriorCase], columns: Sequence[str]) -> ErrorPrior:
    """Prior from cases: models on tables, of which the errors on held-out and on fresh rows are known.

    Each case is a logistic regression of its errors on its columns, standardised by its held-out rows, with weights
    that are normal around a mean that all cases share. Mean and covariance are estimated in turns with the weights
    (expectation and maximisation, with the normal approximation of each case's posterior), so that a case counts
    as far as its errors tell its weights.

    Parameters
    ----------
    cases : iterable of PriorCase
        At least two with three errors; the others are left out.
    columns : sequence of str
        Names of the columns.

    Returns
    -------
    prior : ErrorPrior
        Mean and covariance of the weights.
    """
    used = [case for case in cases if np.sum(case.wrong) + np.sum(case.fresh_wrong) >= LEAST_ERRORS]
    if len(used) < 2:
        raise ValueError(
            f"A prior needs two cases with {LEAST_ERRORS} errors: there are {len(used)}."
        )
    places = log_odds_places(columns)
    data = [_standardised(case, places) for case in used]
    n_weights = data[0][0].shape[1] - 1
    mean, covariance = np.zeros(n_weights), FIRST_VARIANCE * np.eye(n_weights)
    for _ in range(ROUNDS):
        mean, covariance = _next_round(data, mean, covariance)
    tables = tuple(sorted({case.table for case in used}))
    return ErrorPrior(VERSION, tuple(columns), mean, covariance, tables, len(used))


def _standardised(case: PriorCase, places: list[int]) -> tuple[Floats, Floats]:
    """Held-out and fresh rows of a case, standardised by the held-out ones, after a one; and which were wrong."""
    held_out = describe(np.asarray(case.columns, dtype=np.float64), places)
    rows = np.vstack([held_out, describe(np.asarray(case.fresh_columns, np.float64), places)])
    scale = held_out.std(axis=0)
    centred = (rows - held_out.mean(axis=0)) / np.where(scale > 1e-9, scale, 1.0)
    wrong = np.concatenate([case.wrong, case.fresh_wrong]).astype(np.float64)
    return with_ones(np.clip(centred, -FURTHEST, FURTHEST)), wrong


def _next_round(
    data: list[tuple[Floats, Floats]], mean: Floats, covariance: Floats
) -> tuple[Floats, Floats]:
    """Mean and covariance of the cases' weights, given their posteriors under those of the round before."""
    root = np.linalg.cholesky(covariance)
    turned = np.eye(len(mean) + 1)
    turned[1:, 1:] = root
    start = np.concatenate([[0.0], np.linalg.solve(root, mean)])
    penalty = np.concatenate([[LEVEL], np.ones(len(mean))])
    means, spread = [], np.zeros_like(covariance)
    for rows, wrong in data:
        turned_rows, weight = rows @ turned, np.ones(len(wrong))
        fitted = fit_logistic(turned_rows, wrong, weight, penalty, start, start)
        curvature = curvature_of_logistic(turned_rows, weight, penalty, fitted)
        means.append(root @ fitted[1:])
        spread += root @ np.linalg.inv(curvature)[1:, 1:] @ root.T
    centred = np.array(means) - np.mean(means, axis=0)
    after = (spread + centred.T @ centred) / len(data)
    after += SHRINKAGE * (np.diag(np.diag(after)) - after) + LEAST_VARIANCE * np.eye(len(mean))
    return np.mean(means, axis=0), after
