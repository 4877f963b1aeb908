"""Scores and columns of training rows from models and neighbours that never saw them."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import _safe_indexing

from surefoot.indicators._indicator import Indicator, fit_model
from surefoot.indicators._panel import Panel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class CrossFit(NamedTuple):
    """What each fold's model and neighbours say of the rows that were held out.

    `rows` are positions in the training table, in order: each once if the folds are a partition, else
    as often as it was held out. `scores` and `columns` (one array an indicator) are aligned with them.
    """

    rows: Ints
    scores: Floats
    columns: list[Floats]


def cross_fit(
    indicators: Sequence[Indicator],
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    *,
    cv: Any,
    groups: Any = None,
    sample_weight: Any = None,
    response: str = "auto",
    n_jobs: int | None = None,
) -> CrossFit:
    """Judge every held-out row by a model, and by neighbours, from the other folds only."""
    frozen = isinstance(estimator, FrozenEstimator)
    splits = list(
        resolve_cv(cv, y, stratified=is_classifier(estimator), refits=not frozen).split(
            X, y, groups
        )
    )
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_judge_fold)(indicators, estimator, X, y, train, test, sample_weight, response)
        for train, test in splits
    )
    scores, columns = zip(*parts, strict=True)
    rows = np.concatenate([test for _, test in splits])
    # A partition comes back in the order of the table, which is then its own reference.
    order = np.argsort(rows, kind="stable")
    return CrossFit(
        rows[order],
        np.concatenate(scores)[order],
        [np.concatenate(fold)[order] for fold in zip(*columns, strict=True)],
    )


def resolve_cv(
    cv: Any, y: NDArray[Any], *, stratified: bool, refits: bool = True
) -> BaseCrossValidator:
    """Splitter for `cv`; a number of folds is at most the number of rows of the rarest class.

    A frozen model is not fitted again, so that a fold may go without a class.
    """
    if stratified and isinstance(cv, Integral):
        labels, counts = np.unique(y, return_counts=True)
        rarest, rare = int(counts.min()), labels.tolist()[counts.argmin()]
        if refits and len(labels) < 2:
            raise ValueError(f"y has one class only, {rare!r}: a classifier needs two or more.")
        if refits and rarest < 2:
            raise ValueError(
                f"y has one row only of class {rare!r}: cross-validation needs two or more of each."
            )
        cv, stratified = (min(int(cv), rarest), True) if rarest > 1 else (int(cv), False)
    return check_cv(cv, y, classifier=stratified)


def _judge_fold(
    indicators: Sequence[Indicator],
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    train: Ints,
    test: Ints,
    sample_weight: Floats | None,
    response: str,
) -> tuple[Floats, list[Floats]]:
    weight = None if sample_weight is None else sample_weight[train]
    X_train, y_train = _safe_indexing(X, train), y[train]
    may_lack_classes = isinstance(estimator, FrozenEstimator) or not is_classifier(estimator)
    if not may_lack_classes and (missing := set(y.tolist()) - set(y_train.tolist())):
        raise ValueError(
            f"cv leaves a training fold without class {missing.pop()!r}: it may be stratified, or have fewer folds."
        )
    model = fit_model(estimator, X_train, y_train, weight)
    panel = Panel(indicators, model, X_train, y_train, response=response)
    return panel.judge(_safe_indexing(X, test))
