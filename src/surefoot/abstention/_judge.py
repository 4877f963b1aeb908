"""A model together with what scores its predictions, and the rows that neither of them saw."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils import assert_all_finite, check_consistent_length, check_scalar
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import Indicator, fit_model
from surefoot.neighborhoods import as_table
from surefoot.resampling import HoldoutSplit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class JudgedModel(NamedTuple):
    """A fitted model, and a fitted judge of its predictions."""

    model: Any
    judge: Any

    def trust(self, X: Any) -> Floats:
        """How far each prediction is to be trusted; higher is more.

        The probability of being right if the judge estimates errors, else the score of an indicator.
        """
        if hasattr(self.judge, "predict_error"):
            return 1 - self.judge.predict_error(X)
        return self.judge.score_samples(X)


def fit_judged_model(
    estimator: Any,
    indicator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    **settings: Any,
) -> JudgedModel:
    """Fit a model and its judge; what is frozen is used as it is.

    Without an indicator the judge is the model itself, if it estimates errors, else an
    `IndividualErrorClassifier` with these settings.
    """
    if indicator is None:
        judge = estimator
        if not estimates_errors(estimator):
            judge = IndividualErrorClassifier(estimator, **settings)
        if not isinstance(judge, FrozenEstimator):
            told = {"sample_weight": sample_weight, "groups": groups}
            given = {name: value for name, value in told.items() if value is not None}
            judge = clone(judge).fit(X, y, **given)
        return JudgedModel(getattr(judge, "estimator_", judge), judge)
    model = fit_model(estimator, X, y, sample_weight)
    if isinstance(indicator, FrozenEstimator):
        return JudgedModel(model, indicator)
    judge = clone(indicator).set_params(estimator=FrozenEstimator(model))
    return JudgedModel(model, judge.fit(X, y))


def check_indicator(indicator: Any, estimator: Any) -> None:
    """Raise one sentence unless this is None or an indicator; a frozen one needs a frozen model."""
    frozen = isinstance(indicator, FrozenEstimator)
    if indicator is not None and not isinstance(
        indicator.estimator if frozen else indicator, Indicator
    ):
        raise TypeError(
            f"indicator={indicator!r} is no indicator: it may be one of surefoot.indicators, or None."
        )
    if frozen and not isinstance(estimator, FrozenEstimator):
        raise ValueError(
            "indicator is frozen and estimator is not: a fitted indicator judges a fitted model."
        )


def has_nothing_to_learn(estimator: Any, indicator: Any) -> bool:
    """Whether both the model and its judge are already fitted."""
    if not isinstance(estimator, FrozenEstimator):
        return False
    if indicator is None:
        return estimates_errors(estimator)
    return isinstance(indicator, FrozenEstimator)


def estimates_errors(estimator: Any) -> bool:
    """Whether the model itself says how probably it is wrong."""
    return hasattr(estimator, "predict_error")


def check_rows_and_classes(
    X: Any, y: Any, sample_weight: Any
) -> tuple[Any, NDArray[Any], Floats | None]:
    """Check what splitting needs; the model checks its own input, and gets it untouched."""
    X, y = as_table(X), column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if len(y) == 0:
        raise ValueError("X and y have no rows: a minimum of one to set aside is required.")
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    if sample_weight is not None:
        sample_weight = _check_sample_weight(sample_weight, y, dtype=np.float64)
    return X, y, sample_weight


def set_aside(
    held_out: Any, X: Any, y: Any, groups: Any = None, random_state: Any = None
) -> tuple[Ints, Ints]:
    """Rows to learn from, and rows set aside: a share of them, whole groups, or as a splitter says."""
    if hasattr(held_out, "split"):
        splits = list(held_out.split(X, y, groups))
        if len(splits) != 1:
            raise ValueError(
                f"held_out={held_out!r} makes {len(splits)} splits: it may make one only."
            )
        return splits[0]
    check_scalar(held_out, "held_out", Real, min_val=0, max_val=1, include_boundaries="neither")
    splitter = (
        HoldoutSplit(held_out, random_state=random_state)
        if groups is None
        else GroupShuffleSplit(1, test_size=held_out, random_state=random_state)
    )
    return next(splitter.split(X, y, groups))
