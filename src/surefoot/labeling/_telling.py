"""Columns in the order of what they tell about the labels, for a person to see first what matters."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot._typing import Ints
from surefoot.labeling._pool import texts_of

# Bins of a column of numbers, and categories of a column of texts that are told apart.
N_BINS = 5


def telling_columns(X: pd.DataFrame, y: NDArray[Any]) -> list[str]:
    """Names of the columns, those that say most about the labels first; equal ones in their order."""
    _, classes = np.unique(y, return_inverse=True)
    strengths = np.array([association(_codes(X[name]), classes) for name in X.columns])
    return [str(X.columns[i]) for i in np.argsort(-strengths, kind="stable")]


def association(codes: Ints, classes: Ints) -> float:
    """Bias-corrected Cramér's V of two partitions (Bergsma 2013): 0 for none, 1 if one tells the other."""
    n_rows = len(codes)
    counts = np.zeros((codes.max() + 1, classes.max() + 1))
    np.add.at(counts, (codes, classes), 1)
    counts = counts[counts.any(axis=1)]
    counts = counts[:, counts.any(axis=0)]
    n_codes, n_classes = counts.shape
    if min(n_codes, n_classes) < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n_rows
    squared = ((counts - expected) ** 2 / expected).sum() / n_rows
    corrected = max(0.0, squared - (n_codes - 1) * (n_classes - 1) / (n_rows - 1))
    limits = [n - (n - 1) ** 2 / (n_rows - 1) for n in (n_codes, n_classes)]
    return float(np.sqrt(corrected / max(min(limits) - 1, 1e-9)))


def _codes(column: pd.Series) -> Ints:
    """Bin of each number, or number of each frequent text; gaps are a bin of their own."""
    if column.dtype.kind in "iuf":
        values = column.to_numpy(dtype=float, na_value=np.nan, copy=True)
        values[~np.isfinite(values)] = np.nan
        known = values[~np.isnan(values)]
        shares = np.linspace(0, 1, N_BINS + 1)[1:-1]
        edges = np.unique(np.quantile(known, shares)) if len(known) else known
        codes = np.searchsorted(edges, values, side="left")
        return np.where(np.isnan(values), len(edges) + 1, codes)
    texts = texts_of(column).where(column.notna(), "")
    frequent = {text: i for i, text in enumerate(texts.value_counts().index[:N_BINS])}
    return texts.map(frequent).fillna(N_BINS).to_numpy(dtype=np.int64)
