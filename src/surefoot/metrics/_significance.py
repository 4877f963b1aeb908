"""Tests of whether one classifier of texts is better than another (Yang and Liu 1999, section 4)."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.stats import binomtest
from scipy.stats import t as student
from sklearn.utils import check_array

from surefoot._typing import Floats, Mask
from surefoot._validation import check_option, check_zeros_and_ones

ALTERNATIVES = ("two-sided", "greater", "less")


class SignTestResult(NamedTuple):
    """Number of pairs on which the first is better, number of pairs that differ, and the p-value."""

    n_better: int
    n_different: int
    p_value: float


class TTestResult(NamedTuple):
    """Mean of the differences, first minus second, over its standard error, and its p-value."""

    mean_difference: float
    statistic: float
    degrees_of_freedom: int
    p_value: float


def micro_sign_test(
    y_true: Any, y_first: Any, y_second: Any, *, alternative: str = "two-sided"
) -> SignTestResult:
    """Test whether the first classifier makes more right decisions; a lower p-value is surer.

    Every pair of a document and a topic is one decision (Yang and Liu's s-test). Decisions on which both
    are right, or both wrong, are left out; of the others each is a fair coin under the null hypothesis,
    and the p-value is exact. Frequent topics dominate.

    Parameters
    ----------
    y_true, y_first, y_second : array-like or CSR of shape (n_documents, n_topics) or (n_documents,)
        The true topics, and those that each classifier assigns, as zeros and ones.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater" asks whether the first is better, "less" whether it is worse.

    Returns
    -------
    SignTestResult
        `n_better`, `n_different` and `p_value`; without a difference the p-value is 1.

    Examples
    --------
    >>> y_true = [[1, 0], [1, 0], [0, 1], [0, 0]]
    >>> y_first = [[1, 0], [1, 0], [0, 1], [1, 0]]
    >>> y_second = [[1, 0], [0, 1], [0, 0], [0, 0]]
    >>> micro_sign_test(y_true, y_first, y_second, alternative="greater")
    SignTestResult(n_better=3, n_different=4, p_value=0.3125)
    """
    truth, first, second = _check_topics(y_true, y_first, y_second)
    return _sign_test((first == truth).astype(float) - (second == truth), alternative)


def macro_sign_test(
    y_true: Any, y_first: Any, y_second: Any, *, alternative: str = "two-sided"
) -> SignTestResult:
    """Test whether the first classifier has the better F1 on more topics; a lower p-value is surer.

    Yang and Liu's S-test: each topic counts once, whatever its size. Topics of equal F1 are left out.

    Parameters
    ----------
    y_true, y_first, y_second : array-like or CSR of shape (n_documents, n_topics)
        The true topics, and those that each classifier assigns, as zeros and ones.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater" asks whether the first is better, "less" whether it is worse.

    Returns
    -------
    SignTestResult
        `n_better`, `n_different` and `p_value`; without a difference the p-value is 1.

    Notes
    -----
    The F1 of a topic that no document has and that is assigned to none is 1.

    Examples
    --------
    >>> y_true = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> y_first = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> y_second = [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    >>> macro_sign_test(y_true, y_first, y_second)
    SignTestResult(n_better=2, n_different=2, p_value=0.5)
    """
    return _sign_test(_f1_differences(y_true, y_first, y_second), alternative)


def macro_t_test(
    y_true: Any, y_first: Any, y_second: Any, *, alternative: str = "two-sided"
) -> TTestResult:
    """Test whether the first classifier has the better mean F1 over topics; a lower p-value is surer.

    Yang and Liu's T-test: the paired t-test of the differences in F1, one a topic, which counts
    how large they are but assumes that they are normal.

    Parameters
    ----------
    y_true, y_first, y_second : array-like or CSR of shape (n_documents, n_topics)
        The true topics, and those that each classifier assigns, as zeros and ones; two topics or more.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater" asks whether the first is better, "less" whether it is worse.

    Returns
    -------
    TTestResult
        `mean_difference`, `statistic`, `degrees_of_freedom` and `p_value`. Where all differences are
        the same the statistic is infinite, or NaN with a p-value of 1 where they are 0.

    Notes
    -----
    The F1 of a topic that no document has and that is assigned to none is 1.

    Examples
    --------
    >>> y_true = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> y_first = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> y_second = [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    >>> round(macro_t_test(y_true, y_first, y_second).p_value, 3)
    0.184
    """
    check_option(alternative, "alternative", ALTERNATIVES)
    differences = _f1_differences(y_true, y_first, y_second)
    if len(differences) < 2:
        raise ValueError("y_true has one topic only: a t-test over topics needs two or more.")
    mean, degrees = float(differences.mean()), len(differences) - 1
    if not differences.any():
        return TTestResult(0.0, float("nan"), degrees, 1.0)
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    with np.errstate(divide="ignore"):
        statistic = float(mean / error)
    tails = {"greater": student.sf(statistic, degrees), "less": student.cdf(statistic, degrees)}
    tails["two-sided"] = 2 * min(tails.values())
    return TTestResult(mean, statistic, degrees, float(tails[alternative]))


def _sign_test(differences: Floats, alternative: str) -> SignTestResult:
    """Exact test of the signs of the differences that are not 0."""
    check_option(alternative, "alternative", ALTERNATIVES)
    better, different = int((differences > 0).sum()), int((differences != 0).sum())
    if different == 0:
        return SignTestResult(0, 0, 1.0)
    p_value = binomtest(better, different, alternative=alternative).pvalue
    return SignTestResult(better, different, float(p_value))


def _f1_differences(y_true: Any, y_first: Any, y_second: Any) -> Floats:
    """F1 of the first minus F1 of the second, for each topic."""
    truth, first, second = _check_topics(y_true, y_first, y_second)
    return topic_f1(truth, first) - topic_f1(truth, second)


def topic_f1(truth: Mask, assigned: Mask) -> Floats:
    """F1 of each topic; 1 for a topic that no document has and that is assigned to none."""
    right = (truth & assigned).sum(axis=0)
    total = truth.sum(axis=0) + assigned.sum(axis=0)
    return np.divide(2.0 * right, total, out=np.ones(len(right)), where=total > 0)


def _check_topics(*tables: Any) -> tuple[Mask, Mask, Mask]:
    """True topics, and those of the first and the second classifier, in one shape."""
    names = ("y_true", "y_first", "y_second")
    truth, first, second = (
        _check_table(table, name) for table, name in zip(tables, names, strict=True)
    )
    for table, name in ((first, names[1]), (second, names[2])):
        if table.shape != truth.shape:
            raise ValueError(
                f"{name} has shape {table.shape} and y_true {truth.shape}: they must be the same."
            )
    return truth, first, second


def _check_table(table: Any, name: str) -> Mask:
    """Whether each document has each topic, of shape (n_documents, n_topics)."""
    dense = table.toarray() if issparse(table) else table
    values = check_array(dense, dtype=np.float64, ensure_2d=False, input_name=name)
    check_zeros_and_ones(values, name)
    return values.reshape(len(values), -1) == 1.0
