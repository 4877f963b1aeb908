"""Shift of the inputs: how new rows differ from held-out rows in the neighbour space, and the ratio of densities."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse, vstack
from scipy.special import logit
from scipy.stats import norm, rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from surefoot._shrunk import fit_logistic, with_ones
from surefoot._typing import Floats, Ints

FOLDS = 5

# Fewest rows on either side from which a classifier is asked to tell them apart.
LEAST_ROWS = 2 * FOLDS

# Inverse penalties of the classifier that tells new rows from held-out ones, strongest penalty first.
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)

# Most columns for which Newton's method is the quickest.
FEW_COLUMNS = 100

# Up to this p value the new rows are said to have other inputs.
ALARM = 0.05


@dataclass(frozen=True)
class Shift:
    """Difference between the inputs of new rows and of held-out rows.

    Attributes
    ----------
    auc : float
        How well a classifier tells new rows from held-out ones, cross-fitted: 0.5 is not at all, 1 perfectly. NaN if
        there are fewer than ten rows.
    p_value : float
        Probability of an AUC as large if the rows had one distribution.
    is_shifted : bool
        Whether the p value is at most 0.05.
    share_novel : float
        Share of the new rows that are novel; about 0.01 of the held-out rows are.
    share_outside : float
        Estimated share of the new rows that lie where there are too few held-out rows to learn from.
    """

    auc: float
    p_value: float
    is_shifted: bool
    share_novel: float
    share_outside: float


class Ratio(NamedTuple):
    """Density ratio of new to held-out rows, at the held-out rows, and the AUC of the classifier behind it."""

    ratio: Floats
    auc: float
    p_value: float


def density_ratio(old: Any, new: Any) -> Ratio:
    """Ratio at each old row by a cross-fitted logistic regression, and a test of whether it tells new from old.

    With fewer than ten rows on a side the ratio is 1, and nothing shows that the rows differ.
    """
    if min(old.shape[0], new.shape[0]) < LEAST_ROWS:
        return Ratio(np.ones(old.shape[0]), np.nan, 1.0)
    rows = vstack([old, new]).tocsr() if issparse(old) else np.vstack([old, new])
    is_new = np.repeat([0, 1], [old.shape[0], new.shape[0]])
    log_odds, folds = _out_of_fold(rows, is_new)
    losses = np.logaddexp(0, log_odds) - is_new[:, None] * log_odds
    chosen = log_odds[is_new == 0, int(np.argmin(losses.sum(axis=0)))]
    auc, p_value = auc_test(_told_apart(log_odds[:, 1:], losses[:, 1:], folds), is_new, folds)
    prior = np.log(new.shape[0] / old.shape[0])
    return Ratio(np.exp(np.clip(chosen - prior, -30, 30)), auc, p_value)


def _told_apart(log_odds: Floats, losses: Floats, folds: Ints) -> Floats:
    """Log-odds of each fold with the penalty that is best in the other folds, so that the choice saw no row of it."""
    scores = np.empty(len(folds))
    for fold in range(FOLDS):
        inside = folds == fold
        best = int(np.argmin(losses[~inside].sum(axis=0)))
        scores[inside] = log_odds[inside, best]
    return scores


def _out_of_fold(rows: Any, is_new: Ints) -> tuple[Floats, Ints]:
    """Out-of-fold log-odds of being new for each penalty, the prior log-odds alone first; and the fold of each row."""
    log_odds, folds = np.empty((len(is_new), len(STRENGTHS) + 1)), np.empty(len(is_new), dtype=int)
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(is_new, is_new)
    for number, (train, test) in enumerate(split):
        folds[test] = number
        scaler = MaxAbsScaler() if issparse(rows) else StandardScaler()
        inputs = scaler.fit_transform(rows[train])
        log_odds[test, 0] = logit(is_new[train].mean())
        log_odds[test, 1:] = _by_strength(inputs, is_new[train], scaler.transform(rows[test]))
    return log_odds, folds


def _by_strength(inputs: Any, is_new: Ints, tested: Any) -> Floats:
    """Log-odds of being new of the tested rows, for each penalty."""
    if issparse(inputs) or inputs.shape[1] > FEW_COLUMNS:
        models = (LogisticRegression(C=strength, max_iter=200) for strength in STRENGTHS)
        return np.column_stack([m.fit(inputs, is_new).decision_function(tested) for m in models])
    # Newton's method from one penalty to the next takes half the time, which counts where there are many periods.
    ones, target, weight = with_ones(inputs), is_new.astype(np.float64), np.ones(len(is_new))
    none = weights = np.zeros(ones.shape[1])
    log_odds = []
    for strength in STRENGTHS:
        penalty = np.append(0.0, np.full(len(none) - 1, 1 / strength))
        weights = fit_logistic(ones, target, weight, penalty, none, weights)
        log_odds.append(with_ones(tested) @ weights)
    return np.column_stack(log_odds)


def auc_test(scores: Floats, is_new: Ints, folds: Ints) -> tuple[float, float]:
    """Mean AUC of the folds, and the p value of a mean as large where new and old rows are alike.

    Within a fold the scores come from one model that saw none of its rows: the AUC is then Mann and Whitney's
    statistic, whose variance is known, ties included. Over all folds each pair of rows counts twice, one of them
    learned from and the other tested, and then the other way round: the two halves may be as good as equal, so
    the variance of the mean is up to twice that of independent folds.
    """
    aucs, variances = [], []
    for fold in range(FOLDS):
        inside = folds == fold
        ranks, new = rankdata(scores[inside]), is_new[inside] == 1
        n_new, n_old = int(new.sum()), int((~new).sum())
        n = n_new + n_old
        aucs.append((ranks[new].sum() / n_new - (n_new + 1) / 2) / n_old)
        counts = np.unique(ranks, return_counts=True)[1].astype(float)
        ties = (counts**3 - counts).sum() / (n * (n - 1))
        variances.append((n + 1 - ties) / (12 * n_new * n_old))
    auc, variance = float(np.mean(aucs)), 2 * float(np.sum(variances)) / FOLDS**2
    if variance <= 0:
        return auc, 1.0
    return auc, float(norm.sf((auc - 0.5) / np.sqrt(variance)))
