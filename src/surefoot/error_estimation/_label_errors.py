"""Labels that are probably wrong: rows whose label the held-out model and its error estimate both contradict."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, logit, logsumexp
from sklearn.utils.validation import check_is_fitted

from surefoot._models import margin
from surefoot._typing import Floats, Ints, Mask
from surefoot.error_estimation._judgement import HeldOut
from surefoot.error_estimation._lapses import lapse_p_value

# Least probability of a class, and of a mistake, whose logarithm is taken; largest lead of a class, in log-odds.
LEAST_PROBABILITY = 1e-12
LEAST_ERROR = 1e-4
LARGEST_LEAD = float(np.log(1e6))


class LabelErrors(NamedTuple):
    """Rows by how probably their label is wrong, the most suspicious first.

    `rows` are positions in the training table, `labels` the labels given there, `suggested` the most probable other
    labels, and `scores` one minus the probability of the label given. `p_value` is small if more than one label in
    a hundred contradicts everything known of its row, which rows that are merely hard do not explain.
    """

    rows: Ints
    labels: NDArray[Any]
    suggested: NDArray[Any]
    scores: Floats
    p_value: float


def find_label_errors(sure: Any) -> LabelErrors:
    """Rank the training rows by how probably their label is wrong (label noise); the most suspicious first.

    The probability of each label comes from models and neighbours that never saw the row: from the estimated error,
    which says how probable the predicted class is, and from the model's out-of-fold class probabilities or decision
    values. Wrong labels and hard rows look alike, so no share of wrong
    labels is claimed: a person has to look.

    Parameters
    ----------
    sure : IndividualErrorClassifier
        Fitted error estimator; its `held_out_` rows are ranked.

    Returns
    -------
    errors : LabelErrors
        Arrays `rows`, `labels`, `suggested` and `scores`, one entry per held-out row, and a `p_value`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefoot import IndividualErrorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[10, 20]] = 2, 1  # two wrong labels
    >>> sure = IndividualErrorClassifier(LogisticRegression(max_iter=1000), random_state=0).fit(X, y)
    >>> errors = find_label_errors(sure)
    >>> sorted(errors.rows[:2].tolist()), errors.suggested[:2].tolist()
    ([10, 20], [0, 0])
    """
    held_out = _check(sure)
    classes = np.asarray(held_out.classes)
    codes = np.searchsorted(classes, np.asarray(held_out.truth))
    predicted = np.searchsorted(classes, held_out.prediction)
    wrong = _wrong_probability(sure)
    chances = label_probabilities(_class_scores(held_out), wrong, predicted, codes)
    rows, codes, chances = _once_per_row(held_out.rows, codes, chances)
    given = chances[np.arange(len(rows)), codes]
    others = chances.copy()
    others[np.arange(len(rows)), codes] = -1.0
    # Equal scores, as of a model that is always sure, are ranked by the probability of the other label.
    order = np.lexsort((rows, -others.max(axis=1), given))
    return LabelErrors(
        rows[order],
        classes[codes[order]],
        classes[others.argmax(axis=1)[order]],
        1 - given[order],
        contradiction_p_value(held_out, wrong),
    )


def _check(sure: Any) -> HeldOut:
    """Held-out rows of a fitted classifier; one sentence for anything else."""
    check_is_fitted(sure)
    held_out = getattr(sure, "held_out_", None)
    if not isinstance(held_out, HeldOut):
        raise TypeError(
            f"sure={sure!r} is no error estimator: it may be a fitted IndividualErrorClassifier."
        )
    if held_out.classes is None:
        raise ValueError(
            "Labels are classes, and this is a regressor: look at the rows with the largest held_out_.losses instead."
        )
    if held_out.truth is None:
        raise ValueError("This model was saved without its labels: it must be fitted again.")
    return held_out


def _wrong_probability(sure: Any) -> Floats:
    """Estimated probability that each held-out prediction is wrong, also where `error` is a cost."""
    if getattr(sure, "loss", None) is None:
        return np.asarray(sure.held_out_.error)
    return np.asarray(sure._error_probability.held_out_)  # noqa: SLF001 - of this package


def _class_scores(held_out: HeldOut) -> Floats:
    """Logarithm of each class's probability up to a constant per row: of probabilities, or of decision values."""
    if held_out.probabilities is not None:
        return np.log(np.clip(held_out.probabilities, LEAST_PROBABILITY, 1))
    if held_out.scores.shape[1] > 1:
        return held_out.scores
    return np.column_stack([np.zeros(len(held_out.scores)), held_out.scores[:, 0]])


def label_probabilities(scores: Floats, wrong: Floats, predicted: Ints, codes: Ints) -> Floats:
    """Probability of each label, by the error estimate and by the model's scores; shape (n_rows, n_classes).

    By the error estimate, the predicted class has probability 1 − `wrong`, and the scores divide the rest. This and
    the scores alone are pooled (logarithmic opinion pool) with the weights under which the labels are most likely:
    what knows nothing of the labels gets none.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Log-probabilities or decision values of the model.
    wrong : ndarray of shape (n_rows,)
        Probability that the predicted class is wrong.
    predicted, codes : ndarrays of shape (n_rows,)
        Number of the predicted class and of the label given.

    Examples
    --------
    >>> scores = np.log([[0.8, 0.15, 0.05], [0.1, 0.6, 0.3]])
    >>> label_probabilities(scores, np.array([0.1, 0.5]), np.array([0, 1]), np.array([0, 2])).sum(axis=1)
    array([1., 1.])
    """
    spread = float(np.abs(scores - scores.mean(axis=1, keepdims=True)).mean()) or 1.0
    own = pool([scores / spread], codes)
    rows, wrong = np.arange(len(codes)), np.clip(wrong, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    rest = own.copy()
    rest[rows, predicted] = -np.inf
    refined = rest - logsumexp(rest, axis=1, keepdims=True) + np.log(wrong)[:, None]
    refined[rows, predicted] = np.log1p(-wrong)
    return np.exp(pool([own, refined], codes))


def pool(opinions: list[Floats], codes: Ints) -> Floats:
    """Log-probabilities of the classes: opinions weighted so that the labels are most likely.

    Parameters
    ----------
    opinions : list of ndarrays of shape (n_rows, n_classes)
        Log-probabilities up to a factor and a constant per row; a single one is tempered by its weight.
    codes : ndarray of shape (n_rows,)
        Number of each row's label.
    """
    stacked, rows = np.stack(opinions), np.arange(len(codes))
    of_labels = stacked[:, rows, codes]

    def surprise(weights: Floats) -> tuple[float, Floats]:
        logs = log_softmax(np.tensordot(weights, stacked, 1), axis=1)
        expected = np.einsum("rc,orc->or", np.exp(logs), stacked)
        return -float(logs[rows, codes].mean()), (expected - of_labels).mean(axis=1)

    start = np.full(len(opinions), 1 / len(opinions))
    bounds = [(0.0, None)] * len(opinions)
    weights = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    # All zero where nothing is known of the labels: the opinions stand as they are.
    weights = weights if weights.any() else start
    return np.asarray(log_softmax(np.tensordot(weights, stacked, 1), axis=1))


def _once_per_row(rows: Ints, codes: Ints, chances: Floats) -> tuple[Ints, Ints, Floats]:
    """Each row once, with its mean probabilities where it was held out more than once."""
    unique, first, place, counts = np.unique(
        rows, return_index=True, return_inverse=True, return_counts=True
    )
    sums = np.zeros((len(unique), chances.shape[1]))
    np.add.at(sums, place, chances)
    return unique, codes[first], sums / counts[:, None]


def contradiction_p_value(held_out: HeldOut, wrong: Floats) -> float:
    """P-value of the hypothesis that at most one label in a hundred contradicts everything known of its row."""
    classes = np.asarray(held_out.classes)
    predicted = np.searchsorted(classes, held_out.prediction)
    codes = np.searchsorted(classes, np.asarray(held_out.truth))
    informed = well_predicted(predicted, codes, len(classes))
    lead = np.clip(margin(_class_scores(held_out), predicted), -LARGEST_LEAD, LARGEST_LEAD)
    doubt = logit(np.clip(wrong, LEAST_ERROR, 1 - LEAST_ERROR))
    mistakes = (predicted != codes).astype(np.float64)
    return lapse_p_value(doubt[informed], lead[informed], mistakes[informed])


def well_predicted(predicted: Ints, codes: Ints, n_classes: int) -> Mask:
    """Rows whose predicted class is wrong at most 0.4 times as often as if it were drawn at random.

    Elsewhere little is known of a row, and a label that differs contradicts nothing.
    """
    shares = np.bincount(codes, minlength=n_classes) / len(codes)
    counts = np.maximum(np.bincount(predicted, minlength=n_classes), 1)
    wrong = np.bincount(predicted, predicted != codes, minlength=n_classes) / counts
    return np.asarray((wrong <= 0.4 * (1 - shares))[predicted])
