"""Expected confusion matrix of new rows without labels, and the figures that follow from it."""

from typing import Any, NamedTuple

import numpy as np

from surefoot._typing import Floats, Ints
from surefoot.monitoring._recalibration import Recalibration

N_DRAWS = 200

# Rows of a predicted class that the model's probabilities of the other classes count as.
PRIOR_ROWS = 5.0


class ClassPerformance(NamedTuple):
    """Figure of a classifier with its interval, its value on held-out rows, and the matrix that it comes from."""

    estimate: float
    interval: tuple[float, float]
    baseline: float
    confusion: Floats
    per_class: dict[str, Floats]


class OldRows(NamedTuple):
    """True and predicted class of held-out rows as codes, the chance of a mistake, and the weight of each row."""

    truth: Ints
    predicted: Ints
    chance: Floats
    weight: Floats
    probabilities: Floats | None


def class_performance(
    sure: Any, new: Any, weight: Floats, metric: str, confidence: float
) -> ClassPerformance:
    """Estimate a figure of a classifier on new rows, from the held-out rows with their weights."""
    n_classes, costs = len(sure.classes_), sure.held_out_.costs
    old = weighted_rows(sure, weight)
    predicted = np.searchsorted(sure.classes_, new.prediction)
    wrong = (old.truth != old.predicted).astype(float)
    fitted = Recalibration(n_classes).fit(old.chance, old.predicted, wrong, old.weight)
    shares = shares_if_wrong(new.probabilities, predicted, n_classes)
    shares = shares * share_factors(old, n_classes)[predicted]
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    expected = expected_confusion(fitted.predict(new.wrong, predicted), shares, predicted)
    random = np.random.RandomState(0)
    changed = fitted.draw(new.wrong, predicted, N_DRAWS, random)
    drawn = [
        figure(draw_confusion(row, shares, predicted, random), metric, costs) for row in changed
    ]
    everything = count(*codes_of(sure), n_classes)
    return ClassPerformance(
        figure(expected, metric, costs),
        quantile_interval(drawn, confidence),
        figure(everything, metric, costs),
        expected * new.n_rows / len(predicted),
        class_figures(expected),
    )


def weighted_rows(sure: Any, weight: Floats) -> OldRows:
    """Sampled held-out rows with their weights."""
    places, held_out = sure.input_sample_.places, sure.held_out_
    probabilities = None if held_out.probabilities is None else held_out.probabilities[places]
    truth, predicted = (codes[places] for codes in codes_of(sure))
    return OldRows(truth, predicted, held_out.wrong[places], weight, probabilities)


def codes_of(sure: Any) -> tuple[Ints, Ints]:
    """True and predicted class of all held-out rows, as positions in `classes_`."""
    held_out, classes = sure.held_out_, sure.classes_
    return np.searchsorted(classes, held_out.truth), np.searchsorted(classes, held_out.prediction)


def shares_if_wrong(probabilities: Floats | None, predicted: Ints, n_classes: int) -> Floats:
    """Chance of each true class if the prediction is wrong: in proportion to the model's probabilities."""
    others = np.ones((len(predicted), n_classes)) if probabilities is None else probabilities + 1e-6
    others = others.copy()
    others[np.arange(len(others)), predicted] = 0.0
    return np.asarray(others / others.sum(axis=1, keepdims=True))


def share_factors(old: OldRows, n_classes: int) -> Floats:
    """Factor of each true class (columns) in the shares of a predicted class (rows), from the mistakes held out.

    It is the number of mistakes over the number that the shares expect, with a few rows that agree added to both.
    """
    wrong = old.truth != old.predicted
    predicted, weight = old.predicted[wrong], old.weight[wrong]
    probabilities = None if old.probabilities is None else old.probabilities[wrong]
    shares = shares_if_wrong(probabilities, predicted, n_classes) * weight[:, None]
    is_predicted = np.eye(n_classes)[predicted]
    observed = is_predicted.T @ (np.eye(n_classes)[old.truth[wrong]] * weight[:, None])
    return np.asarray((observed + PRIOR_ROWS) / (is_predicted.T @ shares + PRIOR_ROWS))


def expected_confusion(chance: Floats, shares: Floats, predicted: Ints) -> Floats:
    """Expected rows by true class (rows) and predicted class (columns)."""
    is_class = np.eye(shares.shape[1])[predicted]
    confusion = (shares * chance[:, None]).T @ is_class
    return np.asarray(confusion + np.diag((1 - chance) @ is_class))


def draw_confusion(
    chance: Floats, shares: Floats, predicted: Ints, random: np.random.RandomState
) -> Floats:
    """Confusion matrix of drawn true classes."""
    truth = predicted.copy()
    wrong = random.random_sample(len(chance)) < chance
    levels = np.cumsum(shares[wrong], axis=1)
    drawn = random.random_sample(int(wrong.sum()))
    truth[wrong] = np.minimum((levels < drawn[:, None]).sum(axis=1), shares.shape[1] - 1)
    return count(truth, predicted, shares.shape[1])


def quantile_interval(drawn: list[float], confidence: float) -> tuple[float, float]:
    """Central interval of drawn figures; NaN where a figure is undefined."""
    known = [value for value in drawn if np.isfinite(value)]
    tail = (1 - confidence) / 2
    low, high = np.quantile(known, [tail, 1 - tail]) if known else (np.nan, np.nan)
    return float(low), float(high)


def count(truth: Ints, predicted: Ints, n_classes: int) -> Floats:
    """Confusion matrix of rows with labels."""
    cells = np.bincount(truth * n_classes + predicted, minlength=n_classes**2)
    return cells.reshape(n_classes, n_classes).astype(float)


def class_figures(confusion: Floats) -> dict[str, Floats]:
    """Precision, recall and F1 of each class; NaN where a class is never predicted, or never true."""
    right = np.diag(confusion)
    predicted, true = confusion.sum(axis=0), confusion.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "precision": right / predicted,
            "recall": right / true,
            "f1": 2 * right / (predicted + true),
        }


def figure(confusion: Floats, metric: str, costs: Floats | None) -> float:
    """Figure of a confusion matrix: of the second of two classes, or the mean of more than two."""
    total = confusion.sum()
    accuracy = float(np.trace(confusion) / total)
    if metric in ("error", "accuracy"):
        return accuracy if metric == "accuracy" else 1 - accuracy
    if metric == "cost" and costs is not None:
        return float((confusion * costs).sum() / total)
    values = class_figures(confusion)[metric]
    if len(values) == 2:
        return float(values[1])
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan
