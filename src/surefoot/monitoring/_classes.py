"""Expected confusion matrix of new rows without labels, and the figures that follow from it."""

from typing import Any, NamedTuple

import numpy as np

from surefoot._typing import Floats, Ints
from surefoot.monitoring._recalibration import Recalibration

N_DRAWS = 200


class ClassPerformance(NamedTuple):
    """Figure of a classifier with its interval, its value on held-out rows, and the matrix that it comes from."""

    estimate: float
    interval: tuple[float, float]
    baseline: float
    confusion: Floats
    per_class: dict[str, Floats]


def class_performance(
    sure: Any, new: Any, weight: Floats, metric: str, confidence: float
) -> ClassPerformance:
    """Estimate a figure of a classifier on new rows, from the held-out rows with their weights."""
    held_out, places, classes = sure.held_out_, sure.input_sample_.places, sure.classes_
    truth = np.searchsorted(classes, held_out.truth)
    predicted = np.searchsorted(classes, held_out.prediction)
    costs = held_out.costs
    baseline = figure(count(truth, predicted, len(classes)), metric, costs)
    truth, predicted = truth[places], predicted[places]
    wrong = (truth != predicted).astype(float)
    chances = held_out.wrong[places]
    fitted = Recalibration(len(classes)).fit(chances, predicted, wrong, weight)
    codes = np.searchsorted(classes, new.prediction)
    shares = shares_if_wrong(new.probabilities, codes, len(classes))
    chance = fitted.predict(new.wrong, codes)
    scale = new.n_rows / len(codes)
    confusion = scale * expected_confusion(chance, shares, codes)
    random = np.random.RandomState(0)
    changed = fitted.predict_with(fitted.draw(N_DRAWS, random), new.wrong, codes)
    figures = [figure(draw_confusion(row, shares, codes, random), metric, costs) for row in changed]
    tail = (1 - confidence) / 2
    figures = [value for value in figures if np.isfinite(value)]
    low, high = np.quantile(figures, [tail, 1 - tail]) if figures else (np.nan, np.nan)
    estimate = figure(confusion, metric, costs)
    return ClassPerformance(
        estimate, (float(low), float(high)), baseline, confusion, class_figures(confusion)
    )


def shares_if_wrong(probabilities: Floats | None, predicted: Ints, n_classes: int) -> Floats:
    """Chance of each true class if the prediction is wrong: in proportion to the model's probabilities."""
    if probabilities is None:
        probabilities = np.ones((len(predicted), n_classes))
    others = probabilities + 1e-12
    others[np.arange(len(others)), predicted] = 0.0
    return np.asarray(others / others.sum(axis=1, keepdims=True))


def expected_confusion(chance: Floats, shares: Floats, predicted: Ints) -> Floats:
    """Expected rows by true class (rows) and predicted class (columns)."""
    n_classes = shares.shape[1]
    is_class = np.eye(n_classes)[predicted]
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
    if metric == "cost":
        return float((confusion * costs).sum() / total)
    values = class_figures(confusion)[metric]
    if len(values) == 2:
        return float(values[1])
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan
