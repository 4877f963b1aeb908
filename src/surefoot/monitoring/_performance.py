"""Performance of a model on new rows without labels, corrected for a shift of the inputs."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import gamma
from sklearn.base import is_classifier

from surefoot._logistic import fit_logistic
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option, check_share
from surefoot._words import InWords, number, percent, plural, quoted
from surefoot.monitoring._shift import Ratio, Shift

CLASS_METRICS = ("error", "accuracy", "cost", "precision", "recall", "f1")
SIZE_METRICS = ("mean_absolute_error", "mean_squared_error")

# Fewest new rows, and fewest effective held-out rows, from which an estimate is given; and the largest share of new
# rows outside of the training data.
LEAST_ROWS, LEAST_EFFECTIVE, MOST_OUTSIDE = 20, 50, 0.25

# Draws of the true classes of new rows.
N_DRAWS = 200

# Rows of a predicted class that the model's probabilities of the other classes count as.
PRIOR_ROWS = 5.0

# Standard deviation of the prior of a correction of log-odds.
PRIOR_WIDTH = 0.5

ASSUMPTION = (
    "The estimate assumes that only the inputs have changed: rows with the same inputs have the same "
    "targets as before, as often as before (P(y|x) unchanged). Labels alone can show whether that holds."
)


@dataclass(frozen=True, eq=False, repr=False)
class PerformanceEstimate(InWords):
    """Estimated performance on new rows without labels.

    Attributes
    ----------
    metric : str
        Name of the metric.
    estimate : float
        Its estimated value; NaN where none can be given.
    interval : tuple of two floats
        Interval of the value that labels of the new rows would give. It covers both the unknown labels of the new rows
        and the limited number of held-out rows, and assumes what `assumption` says.
    confidence : float
        Confidence of the interval.
    baseline : float
        The same metric on the held-out rows of `fit`.
    n_rows : int
        Number of new rows.
    effective_rows : float
        Held-out rows that the estimate rests on: as informative as so many rows that are like the new ones.
    shift : Shift
        Difference between the inputs of new and held-out rows.
    reason : str, or None
        One sentence why no estimate can be given; None if there is one.
    classes : ndarray, or None
        Class labels; None for a regressor, as are the next two.
    confusion : ndarray of shape (n_classes, n_classes), or None
        Expected number of new rows by true class (rows) and predicted class (columns).
    per_class : dict, or None
        Arrays `precision`, `recall` and `f1` with one entry per class; NaN where a class is never predicted or never
        true.
    assumption : str
        One sentence about what must not have changed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> from surefoot.monitoring import estimate_performance
    >>> estimate_performance(error_estimator, X[50:], metric="accuracy")
    Estimated accuracy ... (... to ..., 95 % confidence) on 100 new rows; it was 0.953 on held-out rows.
    The estimate assumes that only the inputs have changed: ...
    """

    metric: str
    estimate: float
    interval: tuple[float, float]
    confidence: float
    baseline: float
    n_rows: int
    effective_rows: float
    shift: Shift
    reason: str | None = None
    classes: NDArray[Any] | None = None
    confusion: Floats | None = None
    per_class: dict[str, Floats] | None = None
    assumption: str = ASSUMPTION

    def _lines(self) -> list[str]:
        low, high = map(number, self.interval)
        answer = (
            f"Estimated {self.metric} {number(self.estimate)} ({low} to {high}, {percent(self.confidence)} "
            f"confidence) on {plural(self.n_rows, 'new row')}; it was {number(self.baseline)} on held-out rows."
        )
        return [answer, self.assumption] if self.reason is None else [self.reason]


class Judged(NamedTuple):
    """Judgements of a uniform sample of new rows, how many rows there are, and the shift of their inputs."""

    n_rows: int
    shift: Shift
    prediction: NDArray[Any]
    error: Floats
    wrong: Floats | None = None
    probabilities: Floats | None = None


def estimate_from(
    error_estimator: Any, new: Judged, ratio: Ratio, metric: str, confidence: float
) -> PerformanceEstimate:
    """Estimate of a metric from the judgements of new rows, and the density ratio at the held-out rows."""
    check_metric(error_estimator, metric)
    check_share(confidence, "confidence")
    weight, effective_rows = _weights(ratio.ratio)
    measure = _measure_classes if is_classifier(error_estimator) else _measure_sizes
    measured = measure(error_estimator, new, weight, metric, confidence)
    reason = _reason_against(new, effective_rows, measured["estimate"])
    if reason is not None:
        unknown = {"estimate": np.nan, "interval": (np.nan, np.nan)}
        measured = {"baseline": measured["baseline"], **unknown}
    return PerformanceEstimate(
        metric=metric,
        confidence=confidence,
        n_rows=new.n_rows,
        effective_rows=effective_rows,
        shift=new.shift,
        reason=reason,
        classes=getattr(error_estimator, "classes_", None),
        **measured,
    )


def check_metric(error_estimator: Any, metric: Any) -> None:
    """Raise an error unless the metric is one for this model."""
    check_option(
        metric, "metric", CLASS_METRICS if is_classifier(error_estimator) else SIZE_METRICS
    )
    if metric == "cost" and error_estimator.loss is None:
        raise ValueError(
            "metric='cost' needs a model that was fitted with costs: give it a `loss`."
        )


def _weights(ratio: Floats) -> tuple[Floats, float]:
    """Weights of the held-out rows that make them like the new rows, and their sum, the effective rows.

    Density ratios are truncated at the square root of their number (Ionides 2008).
    """
    clipped = np.minimum(ratio, np.sqrt(len(ratio)))
    total = float(clipped.sum())
    if total <= 0:
        return np.zeros(len(ratio)), 0.0
    effective = total**2 / float((clipped**2).sum())
    return clipped * effective / total, effective


def _reason_against(new: Judged, effective_rows: float, estimate: float) -> str | None:
    """One sentence why no estimate can be given, or None."""
    if new.n_rows < LEAST_ROWS:
        return f"There are {plural(new.n_rows, 'new row')} only, and an estimate needs at least {LEAST_ROWS}."
    if new.shift.share_outside > MOST_OUTSIDE:
        named = f", most in {quoted(new.shift.outside)}" if new.shift.outside else ""
        return (
            f"About {percent(new.shift.share_outside)} of the new rows lie outside of the training data{named}, so "
            "their error is not known."
        )
    if effective_rows < LEAST_EFFECTIVE:
        return (
            f"Too few held-out rows are like the new ones: they count as {effective_rows:.0f}, and an estimate "
            f"needs at least {LEAST_EFFECTIVE}."
        )
    if np.isnan(estimate):
        return "No new row is predicted as the class whose precision is asked for."
    return None


def _measure_sizes(
    error_estimator: Any, new: Judged, weight: Floats, metric: str, confidence: float
) -> dict[str, Any]:
    """Fields of the estimate for a regressor's mean absolute or squared error, from the weighted held-out rows.

    The estimated sizes are multiplied by a factor, so that their mean is that of the held-out errors. With the weights
    of the new rows it is another one, used as far as it differs by more than chance: a change of t standard errors
    is multiplied by 1 − 1/t².
    """
    held_out, places = error_estimator.held_out_, error_estimator.input_sample_.places
    power = 2 if metric == "mean_squared_error" else 1
    sizes = np.abs(held_out.truth - held_out.prediction) ** power
    exponent = power / 2 if error_estimator.loss == "squared" else power
    estimated = held_out.error**exponent
    factor = float(sizes.sum() / estimated.sum())
    old, estimated = sizes[places], factor * estimated[places]
    expected = factor * new.error**exponent
    total = float(weight @ estimated)
    change = float(weight @ old) / total - 1
    noise = float(weight**2 @ (old - estimated) ** 2) / total**2
    kept = max(0.0, 1 - noise / change**2) if change else 0.0
    estimate = (1 + kept * change) * float(expected.mean())
    # The spread of an error around its estimated size is in proportion to that size.
    spread = float(weight @ ((old - estimated) / estimated) ** 2 / weight.sum())
    of_new = spread * float((expected**2).mean()) / len(expected)
    variance = noise * float(expected.mean()) ** 2 + of_new
    interval = _gamma_interval(estimate, variance, confidence)
    return {"estimate": estimate, "interval": interval, "baseline": float(sizes.mean())}


def _gamma_interval(mean: float, variance: float, confidence: float) -> tuple[float, float]:
    """Interval of a positive number with this mean and variance."""
    if not (mean > 0 and variance > 0):
        return mean, mean
    tail = (1 - confidence) / 2
    low, high = gamma.ppf([tail, 1 - tail], mean**2 / variance, scale=variance / mean)
    return float(low), float(high)


def _measure_classes(
    error_estimator: Any, new: Any, weight: Floats, metric: str, confidence: float
) -> dict[str, Any]:
    """Fields of the estimate for a metric of a classifier, from the weighted held-out rows.

    The chance of a mistake is calibrated again on these; a mistake is then shared among the other classes. That gives
    an expected confusion matrix, and drawn ones for the interval.
    """
    held_out, classes = error_estimator.held_out_, error_estimator.classes_
    places, costs, n_classes = error_estimator.input_sample_.places, held_out.costs, len(classes)
    all_truth = np.searchsorted(classes, held_out.truth)
    all_predicted = np.searchsorted(classes, held_out.prediction)
    truth, predicted = all_truth[places], all_predicted[places]
    wrong = truth != predicted
    change, noise = _fit_correction(held_out.wrong[places], predicted, wrong, weight, n_classes)
    of_model = held_out.probabilities
    factors = _share_factors(
        truth[wrong],
        predicted[wrong],
        weight[wrong],
        _shares_if_wrong(
            None if of_model is None else of_model[places][wrong], predicted[wrong], n_classes
        ),
    )
    new_predicted = np.searchsorted(classes, new.prediction)
    shares = _shares_if_wrong(new.probabilities, new_predicted, n_classes) * factors[new_predicted]
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    log_odds = _log_odds(new.wrong)
    chance, is_class = expit(log_odds + change[new_predicted]), np.eye(n_classes)[new_predicted]
    # Expected rows by true class (rows) and predicted class (columns).
    expected = (shares * chance[:, None]).T @ is_class + np.diag((1 - chance) @ is_class)
    random = np.random.RandomState(0)
    changes = change + np.sqrt(noise) * random.normal(size=(N_DRAWS, n_classes))
    drawn = [
        _figure(_draw_confusion(chances, shares, new_predicted, random), metric, costs)
        for chances in expit(log_odds + changes[:, new_predicted])
    ]
    return {
        "estimate": _figure(expected, metric, costs),
        "interval": _quantile_interval(drawn, confidence),
        "baseline": _figure(_count(all_truth, all_predicted, n_classes), metric, costs),
        "confusion": expected * new.n_rows / len(new_predicted),
        "per_class": _class_figures(expected),
    }


def _fit_correction(
    chances: Floats, predicted: Ints, wrong: Any, weight: Floats, n_classes: int
) -> tuple[Floats, Floats]:
    """Correction of the log-odds of a mistake for each predicted class, and its variance.

    A logistic regression on the held-out rows with the weights of the new ones: a level for all rows, and one for
    each predicted class. Each number is shrunk towards no correction: one of t standard errors is multiplied by
    1 − 1/t², or by 0, so that chance changes little.
    """
    log_odds, wrong = _log_odds(chances), wrong.astype(np.float64)
    level = _shrink(*_fit_change(np.ones((len(wrong), 1)), log_odds, wrong, weight))
    by_class, noise = _fit_change(np.eye(n_classes)[predicted], log_odds + level, wrong, weight)
    # The uncertainty of the common level is part of that of the levels of the classes.
    return level + _shrink(by_class, noise), noise


def _fit_change(
    rows: Floats, log_odds: Floats, wrong: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    """Weights of the columns of `rows` that are added to the log-odds, and the variance of each of them."""
    penalty = PRIOR_WIDTH**-2
    change, curvature = fit_logistic(rows, wrong, weight, penalty, 0.0, offset=log_odds)
    chance, inverse = expit(log_odds + rows @ change), np.linalg.inv(curvature)
    scores = (weight * (wrong - chance))[:, None] * rows
    # Noise of the fit, whatever the variance of the residuals is, and the uncertainty of the prior.
    return change, np.diag(
        inverse @ (scores.T @ scores + penalty * np.eye(rows.shape[1])) @ inverse
    )


def _shrink(change: Floats, variance: Floats) -> Floats:
    """Change multiplied by 1 − variance/change², or by 0."""
    size = np.maximum(change**2, 1e-300)
    return np.asarray(change * np.maximum(0.0, 1 - variance / size))


def _log_odds(chances: Floats) -> Floats:
    return np.asarray(logit(np.clip(chances, 1e-6, 1 - 1e-6)))


def _shares_if_wrong(probabilities: Floats | None, predicted: Ints, n_classes: int) -> Floats:
    """Chance of each true class if the prediction is wrong: in proportion to the model's probabilities."""
    others = np.ones((len(predicted), n_classes)) if probabilities is None else probabilities + 1e-6
    others[np.arange(len(others)), predicted] = 0.0
    return np.asarray(others / others.sum(axis=1, keepdims=True))


def _share_factors(truth: Ints, predicted: Ints, weight: Floats, shares: Floats) -> Floats:
    """Factor of each true class (columns) in the shares of a predicted class (rows), from the mistakes held out.

    It is the number of mistakes over the number that the shares expect, with a few rows that agree added to both.
    """
    is_class = np.eye(shares.shape[1])
    observed = is_class[predicted].T @ (is_class[truth] * weight[:, None])
    expected = is_class[predicted].T @ (shares * weight[:, None])
    return np.asarray((observed + PRIOR_ROWS) / (expected + PRIOR_ROWS))


def _draw_confusion(
    chance: Floats, shares: Floats, predicted: Ints, random: np.random.RandomState
) -> Floats:
    """Confusion matrix of drawn true classes."""
    truth = predicted.copy()
    wrong = random.random_sample(len(chance)) < chance
    levels = np.cumsum(shares[wrong], axis=1)
    drawn = random.random_sample(int(wrong.sum()))
    truth[wrong] = np.minimum((levels < drawn[:, None]).sum(axis=1), shares.shape[1] - 1)
    return _count(truth, predicted, shares.shape[1])


def _quantile_interval(drawn: list[float], confidence: float) -> tuple[float, float]:
    """Central interval of drawn values, without those that are undefined."""
    known = [value for value in drawn if np.isfinite(value)]
    tail = (1 - confidence) / 2
    low, high = np.quantile(known, [tail, 1 - tail]) if known else (np.nan, np.nan)
    return float(low), float(high)


def _count(truth: Ints, predicted: Ints, n_classes: int) -> Floats:
    """Confusion matrix of rows with labels."""
    cells = np.bincount(truth * n_classes + predicted, minlength=n_classes**2)
    return cells.reshape(n_classes, n_classes).astype(float)


def _class_figures(confusion: Floats) -> dict[str, Floats]:
    """Precision, recall and F1 of each class; NaN where a class is never predicted, or never true."""
    right = np.diag(confusion)
    predicted, true = confusion.sum(axis=0), confusion.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "precision": right / predicted,
            "recall": right / true,
            "f1": 2 * right / (predicted + true),
        }


def _figure(confusion: Floats, metric: str, costs: Floats | None) -> float:
    """Metric of a confusion matrix: of the second of two classes, or the mean of more than two."""
    total = confusion.sum()
    accuracy = float(np.trace(confusion) / total)
    if metric in ("error", "accuracy"):
        return accuracy if metric == "accuracy" else 1 - accuracy
    if metric == "cost" and costs is not None:
        return float((confusion * costs).sum() / total)
    values = _class_figures(confusion)[metric]
    if len(values) == 2:
        return float(values[1])
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan
