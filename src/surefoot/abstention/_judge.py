"""A model together with what scores its predictions, and the rows that neither of them saw."""

from numbers import Real
from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils import check_scalar

from surefoot._crossfit import CrossFitter
from surefoot._models import fit_model
from surefoot._typing import Floats, Ints
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import Indicator
from surefoot.resampling import HoldoutSplit

# Of the rows to learn from, for an indicator that asks how the model did on rows it had not seen.
FOLDS = 5


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
    if getattr(indicator, "needs_held_out_scores", False):
        folds = CrossFitter(
            [indicator], estimator, X, y, cv=FOLDS, groups=groups, sample_weight=sample_weight
        )
        panel = folds.panel(folds.everything)
        [judge] = panel.indicators.values()
        return JudgedModel(folds.model(folds.everything), judge)
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
