"""Comparison of new rows with held-out rows: which columns moved, which rows are novel, whether all are alike."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, false_discovery_control, ks_2samp

from surefoot._tables import PlainColumn
from surefoot._typing import Floats, Mask
from surefoot.monitoring._shift import ALARM, Ratio

# Least expected number of rows in a cell of a table of categories; rarer ones are counted together.
LEAST_EXPECTED = 5


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


@dataclass(frozen=True, eq=False)
class RowComparison:
    """Comparison of new rows with the held-out rows.

    Attributes
    ----------
    columns : list of ColumnComparison
        One for each column of the table, in its order; empty for sparse rows and for lists of texts.
    novel : ndarray of bool of shape (n_rows,)
        Which new rows are novel: further from training rows than 99 % of the held-out rows.
    auc : float
        How well a classifier tells new rows from held-out ones, cross-fitted: 0.5 is not at all, 1 perfectly. NaN if
        there are fewer than ten rows.
    p_value : float
        Probability of an AUC as large if new and held-out rows had one distribution.
    same : bool
        Whether the p value is above 0.05: nothing shows that the rows differ.
    """

    columns: list[ColumnComparison]
    novel: Mask = field(repr=False)
    auc: float
    p_value: float
    same: bool

    @property
    def moved(self) -> list[ColumnComparison]:
        """Columns that moved, the largest effect first."""
        moved = [column for column in self.columns if column.moved]
        return sorted(moved, key=lambda column: -column.effect)


def make_comparison(columns: list[ColumnComparison], novel: Mask, ratio: Ratio) -> RowComparison:
    """Comparison from the tests of columns, the novel rows, and the classifier of new against old."""
    return RowComparison(columns, novel, ratio.auc, ratio.p_value, ratio.p_value > ALARM)


def compare_columns(old: list[PlainColumn], new: list[NDArray[Any]]) -> list[ColumnComparison]:
    """Two-sample test of each column, with p values adjusted for their number."""
    if not old:
        return []
    tests = [
        _compare_numbers(column.values, values)
        if column.levels is None
        else _compare_codes(column.values, values)
        for column, values in zip(old, new, strict=True)
    ]
    p_values = false_discovery_control([test[2] for test in tests])
    return [
        ColumnComparison(column.name, effect, statistic, float(p), bool(p <= ALARM))
        for column, (effect, statistic, _), p in zip(old, tests, p_values, strict=True)
    ]


def _compare_numbers(old: Floats, new: Floats) -> tuple[float, float, float]:
    """Effect, statistic and p value of a column of numbers; gaps are compared as a category."""
    gaps = _compare_codes(np.isnan(old), np.isnan(new))
    old, new = old[~np.isnan(old)], new[~np.isnan(new)]
    if len(old) == 0 or len(new) == 0:
        return gaps
    test = ks_2samp(old, new, method="asymp")
    values = float(test.statistic), float(test.statistic), float(test.pvalue)
    if gaps[2] == 1.0:
        return values
    smaller = min(values, gaps, key=lambda each: each[2])
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
