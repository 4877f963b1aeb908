"""Labels that are probably wrong: rows whose label the held-out model and its error estimate both contradict."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp
from scipy.stats import chi2
from sklearn.utils.validation import check_is_fitted

from surefoot._logistic import pool_weights, pooled
from surefoot._models import margin
from surefoot._typing import Floats, Ints
from surefoot.error_estimation._judgement import HeldOut

# Penalty of the weights with which opinions are pooled: it decides only between weights that are equally good.
HARDLY_ANY = 1e-6

# Least probability of a class, and of a mistake, whose logarithm is taken; largest lead of a class, in log-odds.
LEAST_PROBABILITY = 1e-12
LEAST_ERROR = 1e-4
LARGEST_LEAD = float(np.log(1e6))

# Most errors of a predicted class, relative to a class drawn at random, for which its rows are well predicted.
MOST_RELATIVE_ERROR = 0.4

# Shares of lapses that are compared, and the position of the largest of them that is usual.
SHARES = np.array([0.0, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2])
USUAL = 3

# A truthful lead in log-odds has slope 1: less than half of it is not explained by hard rows.
LEAST_SLOPE = 0.5

# Likelihood ratio by which the estimated errors may contradict the share that the lead suggests (95 % of chi-squared).
MOST_AGAINST = 3.84


class LabelErrors(NamedTuple):
    """Rows by how probably their label is wrong, the most suspicious first.

    `rows` are positions in the training table, `labels` the labels given there, `suggested` the most probable other
    labels, and `scores` one minus the probability of the label given. `p_value` is small if more than one label in
    a hundred is too improbable for a row that is merely hard.
    """

    rows: Ints
    labels: NDArray[Any]
    suggested: NDArray[Any]
    scores: Floats
    p_value: float


def find_label_errors(error_estimator: Any) -> LabelErrors:
    """Rank the training rows by how probably their label is wrong (label noise); the most suspicious first.

    The probability of each label comes from models and neighbours that never saw the row: from the estimated error,
    which is one minus the probability of the predicted class, and from the model's out-of-fold class probabilities or
    decision values. Wrong labels and hard rows look alike, so no share of wrong labels is claimed: a person has to
    look.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier
        Fitted error estimator; its `held_out_` rows are ranked.

    Returns
    -------
    errors : LabelErrors
        Named tuple of the arrays `rows` (positions in the training table), `labels`, `suggested` (the most probable
        other label) and `scores`, one entry per held-out row, and a `p_value`, which is small if more than one label
        in a hundred is too improbable for a row that is merely hard.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefoot import IndividualErrorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[10, 20]] = 2, 1  # two wrong labels
    >>> model = LogisticRegression(max_iter=1000)
    >>> errors = find_label_errors(IndividualErrorClassifier(model, random_state=0).fit(X, y))
    >>> sorted(errors.rows[:2].tolist()), errors.suggested[:2].tolist()
    ([10, 20], [0, 0])
    """
    held_out = _held_out_classes(error_estimator)
    classes, scores = np.asarray(held_out.classes), _class_scores(held_out)
    codes = np.searchsorted(classes, np.asarray(held_out.truth))
    predicted = np.searchsorted(classes, held_out.prediction)
    wrong = np.asarray(held_out.wrong)
    p_value = contradiction_p_value(scores, wrong, predicted, codes)
    chances = label_probabilities(scores, wrong, predicted, codes)
    # Each row once, with its mean probabilities where it was held out more than once.
    rows, first, place, counts = np.unique(
        held_out.rows, return_index=True, return_inverse=True, return_counts=True
    )
    sums = np.zeros((len(rows), len(classes)))
    np.add.at(sums, place, chances)
    others, codes, every = sums / counts[:, None], codes[first], np.arange(len(rows))
    given = others[every, codes]
    others[every, codes] = -1.0
    # Equal scores, as of a model that is always sure, are ranked by the probability of the other label.
    order = np.lexsort((rows, -others.max(axis=1), given))
    return LabelErrors(
        rows[order],
        classes[codes[order]],
        classes[others.argmax(axis=1)[order]],
        1 - given[order],
        p_value,
    )


def _held_out_classes(error_estimator: Any) -> HeldOut:
    """Held-out rows of a fitted classifier; one sentence for anything else."""
    check_is_fitted(error_estimator)
    held_out = getattr(error_estimator, "held_out_", None)
    if not isinstance(held_out, HeldOut):
        raise TypeError(
            f"error_estimator={error_estimator!r} is no error estimator: it may be a fitted IndividualErrorClassifier."
        )
    if held_out.classes is None:
        raise ValueError(
            "Labels are classes, and this is a regressor: look at the rows with the largest held_out_.losses instead."
        )
    return held_out


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
    one without information on the labels gets the weight 0.

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
    stacked = np.stack(opinions)
    return pooled(stacked, pool_weights(stacked, codes, penalty=HARDLY_ANY, least=0.0))


def contradiction_p_value(scores: Floats, wrong: Floats, predicted: Ints, codes: Ints) -> float:
    """P-value of the hypothesis that at most one label in a hundred is too improbable for a hard row.

    Only rows that are well predicted count: their predicted class is wrong much less often than one drawn at random.
    Elsewhere a label that differs contradicts nothing.
    """
    mistakes, n_classes = (predicted != codes).astype(np.float64), scores.shape[1]
    at_random = 1 - np.bincount(codes, minlength=n_classes) / len(codes)
    n_predicted = np.maximum(np.bincount(predicted, minlength=n_classes), 1)
    share_wrong = np.bincount(predicted, mistakes, minlength=n_classes) / n_predicted
    informed = (share_wrong <= MOST_RELATIVE_ERROR * at_random)[predicted]
    lead = np.clip(margin(scores, predicted), -LARGEST_LEAD, LARGEST_LEAD)
    doubt = logit(np.clip(wrong, LEAST_ERROR, 1 - LEAST_ERROR))
    return lapse_p_value(doubt[informed], lead[informed], mistakes[informed])


def lapse_p_value(doubt: Floats, lead: Floats, mistakes: Floats) -> float:
    """P-value of the hypothesis that at most 1 % of the rows are mistakes which no doubt explains; lower is surer.

    If rows are merely hard, mistakes become as rare as can be where the doubt is least. Wrong labels leave a share r
    that no doubt explains: P(mistake) = r + (1 − r) · expit(a + b · doubt). The test is by the estimated error
    (`doubt`, log-odds of a mistake) or by the model's own `lead`, whichever is clearer, at half the level each; half
    of what the lead suggests must be possible by the estimated error.
    """
    if not 0 < mistakes.sum() < len(mistakes):
        return 1.0
    scaled = (doubt - doubt.mean()) / (doubt.std() or 1.0)
    by_doubt = surprises(scaled, mistakes)
    by_lead = surprises(-lead, mistakes, least_slope=LEAST_SLOPE)
    half = max(SHARES[USUAL + 1], SHARES[by_lead.argmin()] / 2)
    against = by_doubt[half <= SHARES].min() - by_doubt.min()
    # Likelihood ratio of the best share to the largest usual one; 0 if the best is usual.
    ratio_by_doubt, ratio_by_lead = (
        values[USUAL] - values.min() if values.argmin() > USUAL else 0.0
        for values in (by_doubt, by_lead)
    )
    if ratio_by_doubt == 0 and against > MOST_AGAINST:
        return 1.0
    return float(chi2.sf(max(ratio_by_doubt, ratio_by_lead), 1))


def surprises(doubt: Floats, mistakes: Floats, *, least_slope: float | None = None) -> Floats:
    """Twice the least negative log-likelihood of the mistakes, for each share of lapses in `SHARES`."""

    def surprise(weights: Floats, share: float) -> tuple[float, Floats]:
        """Minus the log-likelihood of the mistakes, and its gradient."""
        hard = expit(weights[0] + weights[1] * doubt)
        chance = np.clip(share + (1 - share) * hard, 1e-9, 1 - 1e-9)
        likelihood = mistakes * np.log(chance) + (1 - mistakes) * np.log1p(-chance)
        slope = -(mistakes / chance - (1 - mistakes) / (1 - chance))
        slope = slope * (1 - share) * hard * (1 - hard)
        return -float(likelihood.sum()), np.array([slope.sum(), slope @ doubt])

    slope, bounds = least_slope or 0.0, [(None, None), (least_slope, None)]
    rate = float(np.clip(mistakes.mean(), 0.01, 0.99))
    start, values = np.array([logit(rate) - slope * doubt.mean(), slope]), []
    for share in SHARES:
        fitted = minimize(surprise, start, (share,), "L-BFGS-B", jac=True, bounds=bounds)
        start = fitted.x
        values.append(2 * float(fitted.fun))
    return np.array(values)
