"""Scores and columns of training rows from models and neighbours that never saw them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import _safe_indexing

from surefoot.indicators._indicator import Indicator, fit_model
from surefoot.indicators._panel import Panel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class CrossFit(NamedTuple):
    """What each fold's model and neighbours say of the rows that were held out.

    `rows` are positions in the training table: each once if the folds are a partition, else as often
    as it was held out. `scores` and `columns` (one array an indicator) are aligned with them.
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
    splits = list(resolve_cv(cv, y, classifier=is_classifier(estimator)).split(X, y, groups))
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_judge_fold)(indicators, estimator, X, y, train, test, sample_weight, response)
        for train, test in splits
    )
    scores, columns = zip(*parts, strict=True)
    return CrossFit(
        np.concatenate([test for _, test in splits]),
        np.concatenate(scores),
        [np.concatenate(fold) for fold in zip(*columns, strict=True)],
    )


def resolve_cv(cv: Any, y: NDArray[Any], *, classifier: bool) -> BaseCrossValidator:
    """Splitter for `cv`; a number of folds is at most the number of rows of the rarest class."""
    if classifier and isinstance(cv, int):
        labels, counts = np.unique(y, return_counts=True)
        if len(labels) < 2:
            raise ValueError(
                f"y has one class only, {labels[0]!r}: a classifier needs two or more."
            )
        if counts.min() < 2:
            rare = labels[counts.argmin()]
            raise ValueError(
                f"y has one row only of class {rare!r}: cross-validation needs two or more of each."
            )
        cv = min(cv, int(counts.min()))
    return check_cv(cv, y, classifier=classifier)


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
    if is_classifier(estimator) and (missing := set(y.tolist()) - set(y_train.tolist())):
        raise ValueError(
            f"cv leaves a training fold without class {missing.pop()!r}: it may be stratified, or have fewer folds."
        )
    model = fit_model(estimator, X_train, y_train, weight)
    panel = Panel(indicators, model, X_train, y_train, response=response)
    return panel.judge(_safe_indexing(X, test))
