"""Whether the rows of a table may stand in an order that means something: a cheap test before a dear one."""

import numpy as np
from scipy.stats import f as fisher
from scipy.stats import norm, rankdata

from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot.report._assessment import Assessment

# Probability with which rows in random order are looked at more closely all the same.
LEVEL = 0.01

# Parts of the table, in its order, whose means are compared; each has ten rows or more.
MOST_PARTS, LEAST_IN_A_PART = 50, 10

# Most rows, in blocks at equal distances, and most columns that are looked at.
N_BLOCKS, LONGEST_BLOCK, MOST_COLUMNS = 40, 75, 200


def may_be_ordered(assessment: Assessment) -> bool:
    """Whether rows that stand together resemble each other in columns, target, error, or in how both go together.

    Rows in random order do so in 1 % of tables. Where rows do not resemble their neighbours in the table in any of
    these, folds of rows that stand together are as good as shuffled ones.
    """
    places = spread_blocks(len(assessment.rows))
    space = assessment.error_estimator.coordinates(take_rows(assessment.X, assessment.rows[places]))
    if hasattr(space, "toarray"):
        space = space[
            :, np.argsort(-np.asarray(abs(space).sum(axis=0)).ravel())[:MOST_COLUMNS]
        ].toarray()
    columns = np.asarray(space, dtype=np.float64)[:, :MOST_COLUMNS]
    error = signed_errors(assessment)[places]
    table = np.column_stack(
        [
            columns,
            assessment.losses[places],
            error,
            columns * error.mean(axis=1)[:, None],
            targets(assessment)[places],
        ]
    )
    return order_p_value(table) < LEVEL


def spread_blocks(n_rows: int) -> Ints:
    """Places of all rows, or of blocks of rows that stand together, at equal distances."""
    if n_rows <= N_BLOCKS * LONGEST_BLOCK:
        return np.arange(n_rows)
    starts = np.linspace(0, n_rows - LONGEST_BLOCK, N_BLOCKS).astype(np.int64)
    return (starts[:, None] + np.arange(LONGEST_BLOCK)).ravel()


def targets(assessment: Assessment) -> Floats:
    """Targets as numbers: a column of zeros and ones for each of the first classes."""
    truth = assessment.truth
    if not assessment.is_classifier:
        return np.asarray(truth, dtype=np.float64)[:, None]
    return np.asarray(truth[:, None] == np.unique(truth)[:MOST_COLUMNS], dtype=np.float64)


def signed_errors(assessment: Assessment) -> Floats:
    """Truth minus prediction, with the first classes as zeros and ones."""
    if not assessment.is_classifier:
        return np.asarray(assessment.truth - assessment.held_out.prediction, dtype=np.float64)[
            :, None
        ]
    classes = np.unique(assessment.truth)[1 : MOST_COLUMNS + 1]
    columns = (
        assessment.truth[:, None] == classes,
        assessment.held_out.prediction[:, None] == classes,
    )
    return np.asarray(columns[0], dtype=np.float64) - columns[1]


def is_frequent(column: Floats) -> bool:
    """Whether so many rows differ from the most frequent value that five neighbours among them are due by chance."""
    counts = np.unique(column, return_counts=True)[1]
    return bool((len(column) - counts.max()) ** 2 >= 5 * len(column))


def order_p_value(table: Floats) -> float:
    """Least p-value over the columns, times their number and two: rows follow similar rows, or parts differ.

    Each column is tested for a correlation of rows with those that follow, and for different means of its parts in the
    order of the table (analysis of variance).
    """
    table = table[:, [is_frequent(column) for column in table.T]]
    n_rows, n_columns = table.shape
    n_parts = min(MOST_PARTS, n_rows // LEAST_IN_A_PART)
    if n_columns == 0 or n_parts < 2:
        return 1.0
    ranks = rankdata(table, axis=0)  # a few very large values must not decide
    centred = (ranks - ranks.mean(axis=0)) / ranks.std(axis=0)
    following = (centred[1:] * centred[:-1]).mean(axis=0) * np.sqrt(n_rows)
    parts = np.arange(n_rows) * n_parts // n_rows
    sizes = np.bincount(parts)
    means = np.add.reduceat(centred, np.searchsorted(parts, np.arange(n_parts))) / sizes[:, None]
    between = (sizes[:, None] * means**2).sum(axis=0)
    # Nothing is left within the parts of sorted classes.
    within = np.maximum(n_rows - between, 1e-9)
    ratio = between / (n_parts - 1) / (within / (n_rows - n_parts))
    smallest = min(norm.sf(following).min(), fisher.sf(ratio, n_parts - 1, n_rows - n_parts).min())
    return float(min(1.0, 2 * n_columns * smallest))
