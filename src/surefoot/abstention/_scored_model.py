"""Model with an estimator that scores its predictions, and the split that sets rows aside."""

from typing import Any, NamedTuple

from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupShuffleSplit

from surefoot._crossfit import CrossFitter
from surefoot._models import clone_with_seed, fit_model
from surefoot._typing import Floats, Ints
from surefoot._validation import check_share
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import Indicator
from surefoot.resampling import HoldoutSplit

# Folds for indicators that need the model's held-out predictions.
FOLDS = 5


class ScoredModel(NamedTuple):
    """A fitted model, and the fitted estimator that scores its predictions."""

    model: Any
    scorer: Any

    def trust(self, X: Any) -> Floats:
        """Trust in each prediction; higher is more.

        The probability of being right if the scorer estimates errors, else the indicator's score.
        """
        if hasattr(self.scorer, "predict_error"):
            return 1 - self.scorer.predict_error(X)
        return self.scorer.score_samples(X)


def fit_scored_model(
    estimator: Any,
    indicator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    **settings: Any,
) -> ScoredModel:
    """Fit a model and its scorer; a frozen one is used as it is.

    Without an indicator the scorer is the model itself, if it estimates errors, else an
    `IndividualErrorClassifier` with these settings.
    """
    if indicator is None:
        scorer = estimator
        if not estimates_errors(estimator):
            scorer = IndividualErrorClassifier(estimator, **settings)
        if not isinstance(scorer, FrozenEstimator):
            metadata = {"sample_weight": sample_weight, "groups": groups}
            given = {name: value for name, value in metadata.items() if value is not None}
            scorer = clone_with_seed(scorer, settings.get("random_state")).fit(X, y, **given)
        return ScoredModel(getattr(scorer, "estimator_", scorer), scorer)
    if isinstance(indicator, FrozenEstimator):
        return ScoredModel(fit_model(estimator, X, y, sample_weight), indicator)
    indicator = clone_with_seed(indicator, settings.get("random_state"))
    if indicator.needs_held_out_scores:
        fitter = CrossFitter(
            [indicator], estimator, cv=FOLDS, random_state=settings.get("random_state")
        )
        cross = fitter.fit(X, y, groups=groups, sample_weight=sample_weight, deploy_all=True)
        [scorer] = cross.panel.indicators.values()
        return ScoredModel(cross.model, scorer)
    model = fit_model(estimator, X, y, sample_weight)
    return ScoredModel(model, indicator.set_params(estimator=FrozenEstimator(model)).fit(X, y))


def check_indicator(indicator: Any, estimator: Any) -> None:
    """Raise an error unless this is None or an indicator; a frozen indicator needs a frozen model."""
    frozen = isinstance(indicator, FrozenEstimator)
    if indicator is not None and not isinstance(
        indicator.estimator if frozen else indicator, Indicator
    ):
        raise TypeError(
            f"indicator={indicator!r} is no indicator: it may be one of surefoot.indicators, or None."
        )
    if frozen and not isinstance(estimator, FrozenEstimator):
        raise ValueError(
            "indicator is frozen and estimator is not: a fitted indicator scores a fitted model."
        )


def is_fitted_already(estimator: Any, indicator: Any) -> bool:
    """True if both the model and its scorer are frozen, so that no row is needed to fit them."""
    if not isinstance(estimator, FrozenEstimator):
        return False
    if indicator is None:
        return estimates_errors(estimator)
    return isinstance(indicator, FrozenEstimator)


def estimates_errors(estimator: Any) -> bool:
    """True if the model itself estimates the probability of its mistakes."""
    return hasattr(estimator, "predict_error")


def set_aside(
    held_out: Any, X: Any, y: Any, groups: Any = None, random_state: Any = None
) -> tuple[Ints, Ints]:
    """Rows to fit on, and rows set aside: a share of the rows, whole groups, or the split of a splitter."""
    if hasattr(held_out, "split"):
        splits = list(held_out.split(X, y, groups))
        if len(splits) != 1:
            raise ValueError(
                f"held_out={held_out!r} makes {len(splits)} splits: it may make one only."
            )
        return splits[0]
    check_share(held_out, "held_out")
    splitter = (
        HoldoutSplit(held_out, random_state=random_state)
        if groups is None
        else GroupShuffleSplit(1, test_size=held_out, random_state=random_state)
    )
    return next(splitter.split(X, y, groups))
