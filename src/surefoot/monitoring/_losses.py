"""Loss that an audit measures: a share of wrong predictions, a mean cost, or a share of errors beyond a size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from surefoot._tables import is_missing
from surefoot._typing import Floats
from surefoot._validation import check_number
from surefoot._words import listed, plural

# Share of the held-out errors of a regressor that are beyond the default tolerance.
BEYOND = 0.1


@dataclass(frozen=True, eq=False)
class Loss:
    """Loss of a prediction as a number from 0 to 1, and its unit.

    Attributes
    ----------
    least, most : float
        Loss that is scaled to 0, and loss that is scaled to 1.
    classes : list or None
        Classes of the model; None for a regressor.
    costs : ndarray of shape (n_classes, n_classes) or None
        Cost of each mistake, truth by prediction; None if every mistake counts alike.
    tolerance : float or None
        Size beyond which the error of a regressor counts; None for a classifier.
    when_fitted : float
        Mean loss of the held-out rows of `fit`.
    """

    least: float
    most: float
    classes: list[Any] | None
    costs: Floats | None
    tolerance: float | None
    when_fitted: float

    @property
    def is_share(self) -> bool:
        """Whether the mean loss is a share of predictions."""
        return self.costs is None

    def scaled(self, losses: Floats) -> Floats:
        """Losses between 0 and 1."""
        span = self.most - self.least
        return np.clip((losses - self.least) / span, 0.0, 1.0) if span > 0 else 0.0 * losses

    def unscaled(self, value: Any) -> Any:
        """Number between 0 and 1 in the unit of the loss."""
        return self.least + value * (self.most - self.least)

    def of(self, targets: Any, predictions: NDArray[Any]) -> Floats:
        """Scaled loss of each prediction, NaN where the target is not known."""
        values = [None if is_missing(value) else value for value in _as_list(targets)]
        if len(values) > len(predictions):
            raise ValueError(
                f"y has {plural(len(values), 'target')}, but {plural(len(predictions), 'row')} were drawn."
            )
        known = np.array([value is not None for value in values], dtype=np.bool_)
        losses = np.full(len(values), np.nan)
        answers = [value for value in values if value is not None]
        losses[known] = self._of_known(answers, predictions[: len(values)][known])
        return losses

    def _of_known(self, answers: list[Any], predictions: NDArray[Any]) -> Floats:
        if self.classes is None:
            return (np.abs(_numbers(answers) - predictions) > self.tolerance).astype(np.float64)
        codes = {label: code for code, label in enumerate(self.classes)}
        strange = list(dict.fromkeys(value for value in answers if value not in codes))
        if strange:
            raise ValueError(
                f"y has {listed(strange)}, but the model knows only {listed(self.classes)}: leave an answer empty "
                "(None) if none of these is true."
            )
        truth = np.array([codes[value] for value in answers], dtype=np.int64)
        predicted = np.array([codes[value] for value in predictions.tolist()], dtype=np.int64)
        if self.costs is None:
            return (truth != predicted).astype(np.float64)
        return self.scaled(self.costs[truth, predicted])


def loss_of(sure: Any, tolerance: float | None) -> Loss:
    """Loss that an error estimator is audited by."""
    held_out = sure.held_out_
    if is_classifier(sure):
        if tolerance is not None:
            raise ValueError("tolerance is a size of numbers: a classifier has none.")
        classes, costs = np.asarray(sure.classes_).tolist(), held_out.costs
        least, most = (0.0, 1.0) if costs is None else (float(costs.min()), float(costs.max()))
        return Loss(least, most, classes, costs, None, float(held_out.losses.mean()))
    sizes = _sizes(sure, held_out.losses)
    if tolerance is None:
        tolerance = float(np.quantile(sizes, 1 - BEYOND, method="higher"))
    else:
        tolerance = check_number(tolerance, "tolerance", min_val=0)
    return Loss(0.0, 1.0, None, None, tolerance, float(np.mean(sizes > tolerance)))


def estimated_losses(sure: Any, X: Any, loss: Loss) -> Floats:
    """Scaled loss that each row is expected to have, by the error estimator."""
    errors = np.asarray(sure.predict_error(X), dtype=np.float64)
    if loss.tolerance is None:
        return loss.scaled(errors)
    # Errors are taken for their estimated sizes times a factor that is distributed as on the held-out rows.
    held_out, tiny = sure.held_out_, np.finfo(np.float64).tiny
    factors = np.sort(
        _sizes(sure, held_out.losses) / np.maximum(_sizes(sure, held_out.error), tiny)
    )
    limits = loss.tolerance / np.maximum(_sizes(sure, errors), tiny)
    return 1 - np.searchsorted(factors, limits, side="right") / len(factors)


def _sizes(sure: Any, errors: Floats) -> Floats:
    """Absolute errors, also where the loss is the squared error."""
    sizes = np.asarray(errors, dtype=np.float64)
    return np.sqrt(sizes) if sure.loss == "squared" else sizes


def _as_list(targets: Any) -> list[Any]:
    """Targets as plain values, one each."""
    if np.ndim(targets) != 1:
        raise ValueError("y must hold one target for each row of `rows`, in that order.")
    return list(targets.tolist()) if hasattr(targets, "tolist") else list(targets)


def _numbers(answers: list[Any]) -> Floats:
    try:
        return np.array([float(value) for value in answers], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y has values that are no numbers: {error}.") from error
