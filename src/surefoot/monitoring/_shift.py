"""Shift of the inputs: whether new rows differ from held-out rows, in which columns, and the ratio of densities."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from scipy.special import logit
from scipy.stats import (
    chi2_contingency,
    false_discovery_control,
    ks_2samp,
    norm,
    rankdata,
    tiecorrect,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from surefoot._tables import PlainColumn
from surefoot._typing import Floats, Ints, Mask
from surefoot._words import InWords, enumerated, number, p_value_words, percent, plural

FOLDS = 5

# Fewest rows on either side from which a classifier is asked to tell them apart.
LEAST_ROWS = 2 * FOLDS

# Inverse penalties of the classifier that tells new rows from held-out ones, strongest penalty first.
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)

# Up to this p value the new rows are said to have other inputs.
ALARM = 0.05

# Least expected number of rows in a cell of a table of categories; rarer ones are counted together.
LEAST_EXPECTED = 5


@dataclass(frozen=True)
class Shift:
    """Difference between the inputs of new rows and of held-out rows.

    Attributes
    ----------
    auc : float
        How well a classifier separates new rows from held-out ones, cross-fitted: 0.5 is not at all, 1 perfectly.
        NaN if there are fewer than ten rows.
    p_value : float
        Probability of an AUC as large if the rows had one distribution.
    is_shifted : bool
        Whether the p value is at most 0.05.
    share_novel : float
        Share of the new rows that are novel; about 0.01 of the held-out rows are.
    share_outside : float
        Share of the new rows that lie outside of the training data: they are novel, or lie where there are too few
        held-out rows to learn from.
    outside : list
        Names of the columns, or their numbers in an array, in which these rows differ most, at most three; empty if
        no row is outside.
    """

    auc: float
    p_value: float
    is_shifted: bool
    share_novel: float
    share_outside: float
    outside: list[Any]


@dataclass(frozen=True)
class ColumnComparison:
    """Test of whether one column has the same distribution in the new rows.

    Attributes
    ----------
    name : str or int
        Name of the column, or its number in an array.
    effect : float
        Distance between the distributions, from 0 (equal) to 1: the largest difference between the shares of rows up
        to some value (Kolmogorov and Smirnov), or for categories half the sum of the differences of their shares.
    statistic : float
        Statistic of the test: that distance for numbers, chi-squared for categories.
    p_value : float
        P value, adjusted for the number of columns (Benjamini and Hochberg).
    moved : bool
        Whether the p value is at most 0.05: on average at most 5 % of the columns that are said to have moved have not.
    """

    name: Any
    effect: float
    statistic: float
    p_value: float
    moved: bool


@dataclass(frozen=True, eq=False, repr=False)
class RowComparison(InWords):
    """Comparison of new rows with the held-out rows.

    Attributes
    ----------
    columns : list of ColumnComparison
        One for each column of the table, the largest effect first; empty for sparse rows and for lists of texts.
    novel : ndarray of bool of shape (n_rows,)
        Which new rows are novel: further from training rows than 99 % of the held-out rows.
    auc : float
        How well a classifier separates new rows from held-out ones, cross-fitted: 0.5 is not at all, 1 perfectly.
        NaN if there are fewer than ten rows.
    p_value : float
        Probability of an AUC as large if new and held-out rows had one distribution.
    same : bool
        Whether the p value is above 0.05: nothing shows that the rows differ.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> from surefoot.monitoring import compare_rows
    >>> compare_rows(error_estimator, X[:50])
    The new rows differ from the held-out ones (AUC ..., p < 0.001).
    ... of 50 new rows are novel.
    Columns that moved: ...
    """

    columns: list[ColumnComparison]
    novel: Mask
    auc: float
    p_value: float
    same: bool

    def _lines(self) -> list[str]:
        found = "Nothing shows that the new rows differ" if self.same else "The new rows differ"
        novel = f"{percent(float(np.mean(self.novel)))} of {plural(len(self.novel), 'new row')} are novel."
        moved = [f"{each.name!r} (effect {number(each.effect)})" for each in self.moved]
        test = f"AUC {number(self.auc)}, {p_value_words(self.p_value)}"
        words = [f"Columns that moved: {enumerated(moved)}."] if moved else []
        return [f"{found} from the held-out ones ({test}).", novel, *words]

    @property
    def moved(self) -> list[ColumnComparison]:
        """Columns that moved, the largest effect first."""
        return [column for column in self.columns if column.moved]


class Ratio(NamedTuple):
    """Density ratio of new to held-out rows, at held-out rows and at new ones; AUC of the classifier behind it."""

    ratio: Floats
    auc: float
    p_value: float
    at_new: Floats


def density_ratio(old: Any, new: Any) -> Ratio:
    """Ratio at each row by a cross-fitted logistic regression, and a test of whether it tells new from old.

    With fewer than ten rows on a side the ratio is 1, and nothing shows that the rows differ.
    """
    if min(old.shape[0], new.shape[0]) < LEAST_ROWS:
        return Ratio(np.ones(old.shape[0]), np.nan, 1.0, np.ones(new.shape[0]))
    rows = vstack([old, new]).tocsr() if issparse(old) else np.vstack([old, new])
    is_new = np.repeat([0, 1], [old.shape[0], new.shape[0]])
    log_odds, folds = _out_of_fold(rows, is_new)
    losses = np.logaddexp(0, log_odds) - is_new[:, None] * log_odds
    chosen = log_odds[:, int(np.argmin(losses.sum(axis=0)))]
    scores = np.empty(len(folds))
    for fold in range(FOLDS):  # with the penalty that is best in the other folds
        inside = folds == fold
        best = 1 + int(np.argmin(losses[~inside, 1:].sum(axis=0)))
        scores[inside] = log_odds[inside, best]
    auc, p_value = auc_test(scores, is_new, folds)
    prior = np.log(new.shape[0] / old.shape[0])
    ratio = np.exp(np.clip(chosen - prior, -30, 30))
    return Ratio(ratio[is_new == 0], auc, p_value, ratio[is_new == 1])


def _out_of_fold(rows: Any, is_new: Ints) -> tuple[Floats, Ints]:
    """Out-of-fold log-odds of being new for each penalty, the prior log-odds alone first; and the fold of each row."""
    log_odds, folds = np.empty((len(is_new), len(STRENGTHS) + 1)), np.empty(len(is_new), dtype=int)
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(is_new, is_new)
    for fold, (train, test) in enumerate(split):
        folds[test] = fold
        scaler = MaxAbsScaler() if issparse(rows) else StandardScaler()
        inputs, tested = scaler.fit_transform(rows[train]), scaler.transform(rows[test])
        log_odds[test, 0] = logit(is_new[train].mean())
        for place, strength in enumerate(STRENGTHS, start=1):
            model = LogisticRegression(C=strength, max_iter=200).fit(inputs, is_new[train])
            log_odds[test, place] = model.decision_function(tested)
    return log_odds, folds


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
        aucs.append((ranks[new].sum() / n_new - (n_new + 1) / 2) / n_old)
        variances.append((len(ranks) + 1) * tiecorrect(ranks) / (12 * n_new * n_old))
    auc, variance = float(np.mean(aucs)), 2 * float(np.sum(variances)) / FOLDS**2
    if variance <= 0:
        return auc, 1.0
    return auc, float(norm.sf((auc - 0.5) / np.sqrt(variance)))


def compare_columns(old: list[PlainColumn], new: list[NDArray[Any]]) -> list[ColumnComparison]:
    """Two-sample test of each column, the largest effect first, with p values adjusted for their number."""
    if not old:
        return []
    tests = [
        _compare_numbers(column.values, values)
        if column.levels is None
        else _compare_codes(column.values, values)
        for column, values in zip(old, new, strict=True)
    ]
    p_values = false_discovery_control([test[2] for test in tests])
    compared = [
        ColumnComparison(column.name, effect, statistic, float(p), bool(p <= ALARM))
        for column, (effect, statistic, _), p in zip(old, tests, p_values, strict=True)
    ]
    return sorted(compared, key=lambda column: -column.effect)


def _compare_numbers(old: Floats, new: Floats) -> tuple[float, float, float]:
    """Effect, statistic and p value of a column of numbers; missing values are compared as a category."""
    missing = _compare_codes(np.isnan(old), np.isnan(new))
    old, new = old[~np.isnan(old)], new[~np.isnan(new)]
    if len(old) == 0 or len(new) == 0:
        return missing
    test = ks_2samp(old, new, method="asymp")
    values = float(test.statistic), float(test.statistic), float(test.pvalue)
    if missing[2] == 1.0:
        return values
    smaller = min(values, missing, key=lambda each: each[2])
    return (*smaller[:2], min(1.0, 2 * smaller[2]))


def _compare_codes(old: NDArray[Any], new: NDArray[Any]) -> tuple[float, float, float]:
    """Effect, chi-squared and p value of a column of categories, the rare ones counted together."""
    levels, codes = np.unique(np.concatenate([old, new]), return_inverse=True)
    sides = codes[: len(old)], codes[len(old) :]
    counts = np.array([np.bincount(side, minlength=len(levels)) for side in sides], dtype=float)
    effect = 0.5 * float(np.abs(counts[0] / len(old) - counts[1] / len(new)).sum())
    expected = counts.sum(axis=0) * min(len(old), len(new)) / (len(old) + len(new))
    rare = expected < LEAST_EXPECTED
    pooled = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    pooled = pooled[:, pooled.sum(axis=0) > 0]
    if pooled.shape[1] < 2:
        return effect, 0.0, 1.0
    statistic, p_value, *_ = chi2_contingency(pooled, correction=False)
    return effect, float(statistic), float(p_value)
