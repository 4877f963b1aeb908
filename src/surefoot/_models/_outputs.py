"""Outputs of a model: predictions, probabilities, and scores that behave like log-odds."""

from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from surefoot._typing import Floats, Ints
from surefoot._validation import check_option

THRESHOLDED = (FixedThresholdClassifier, TunedThresholdClassifierCV)

RESPONSES = ("auto", "decision_function", "predict_proba", "predict")


class Outputs:
    """Outputs of a fitted model: all that the core sees of it.

    Scores behave like log-odds: one column for two classes or a regressor, else one per class. For two classes a
    higher score means the positive (second) class; it is 0 where the decision changes, also for a classifier with a
    threshold of its own. With more classes the columns of `decision_function` are centred, since only their
    differences mean anything.

    Parameters
    ----------
    model : fitted classifier or regressor
        The last step of a pipeline, if there is one.
    response : {"auto", "decision_function", "predict_proba", "predict"}
        Method that the scores are made of.
    n_rows : int
        Number of training rows, which limits the log-odds.

    Attributes
    ----------
    method : str
        Method in use.
    classes : ndarray of shape (n_classes,) or None
        Classes; None for a regressor.
    has_probabilities : bool
        Whether the model has `predict_proba`.
    n_columns : int
        Columns of the scores: one for a regressor or two classes, else one per class.
    least_probability : float
        Smallest probability that n rows can show: half a row of either class more (rule of succession).
    """

    def __init__(self, model: Any, response: str, n_rows: int) -> None:
        check_option(response, "response", RESPONSES)
        self.model = model
        self.method = _choose_method(model, response)
        self.is_regression = self.method == "predict"
        self.classes: Any = None if self.is_regression else np.asarray(model.classes_)
        self.least_probability = 1.0 / (2 * n_rows + 2)
        self.has_probabilities = hasattr(model, "predict_proba")
        n_classes = 0 if self.is_regression else len(model.classes_)
        self.n_columns = n_classes if n_classes > 2 else 1
        self.cut = self._threshold_score() if isinstance(model, THRESHOLDED) else 0.0

    def _threshold_score(self) -> float:
        """Score at which a classifier with a threshold of its own changes its decision."""
        default = 0.5 if self.method == "predict_proba" else 0.0
        given = getattr(self.model, "best_threshold_", getattr(self.model, "threshold", "auto"))
        threshold = default if given == "auto" else float(given)
        score = float(logit(threshold)) if self.method == "predict_proba" else threshold
        scores_first_class = getattr(self.model, "pos_label", None) == self.model.classes_[0]
        return -score if scores_first_class else score

    def __call__(self, inputs: Any) -> Floats:
        """Scores of shape (n_rows, 1) for two classes or a regressor, else (n_rows, n_classes)."""
        return self.scores(getattr(self.model, self.method)(inputs))

    def scores(self, output: Any) -> Floats:
        """Scores from what `method` of the model returned."""
        if self.method == "predict_proba":
            return self.log_odds(self.probabilities(output))
        values = self._finite(output, self.method)
        if values.ndim == 1:
            return values[:, None] - self.cut
        if self.classes is None:
            raise ValueError(
                f"estimator predicts {values.shape[1]} targets a row: it may predict one."
            )
        if values.shape[1] != len(self.classes):
            raise ValueError(
                f"The decision_function of {type(self.model).__name__} has {values.shape[1]} columns for "
                f"{len(self.classes)} classes: response may be 'predict_proba' if the model has it."
            )
        return values - values.mean(axis=1, keepdims=True)

    def probabilities(self, output: Any) -> Floats:
        """Class probabilities from what `predict_proba` returned, one finite column a class."""
        values = self._finite(output, "predict_proba")
        n_classes = len(self.model.classes_)
        if values.ndim != 2 or values.shape[1] != n_classes:
            raise ValueError(
                f"predict_proba of {type(self.model).__name__} returns an array of shape {values.shape}: there must "
                f"be a row for each row and a column for each of {n_classes} classes."
            )
        return values

    def _finite(self, output: Any, method: str) -> Floats:
        values = np.asarray(output, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"{method} of {type(self.model).__name__} returns NaN or infinite numbers."
            )
        return values

    def log_odds(self, probabilities: Floats) -> Floats:
        """Clipped log-odds of the positive class for two classes, else of every class."""
        kept = probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities
        clipped = np.clip(kept, self.least_probability, 1 - self.least_probability)
        return logit(clipped) - self.cut


def top_class(scores: Floats) -> Ints:
    """Index of the class with the highest score; `scores` has shape (..., 1) or (..., n_classes)."""
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.int64)
    return scores.argmax(axis=-1)


def margin(scores: Floats, top: Ints) -> Floats:
    """Lead of class `top` over the best other class at each point; negative where it is behind.

    `scores` has shape (n, 1 or n_classes), or (n, n_samples, 1 or n_classes) with one `top` per row.
    """
    top = top.reshape(-1, *[1] * (scores.ndim - 2))
    if scores.shape[-1] == 1:
        return np.where(top == 1, scores[..., 0], -scores[..., 0])
    where = np.broadcast_to(top[..., None], (*scores.shape[:-1], 1))
    others = scores.copy()
    np.put_along_axis(others, where, -np.inf, axis=-1)
    return np.take_along_axis(scores, where, axis=-1)[..., 0] - others.max(axis=-1)


def _choose_method(model: Any, response: str) -> str:
    """Method of the model that scores are made of; raises if it has none that fits `response`, or one class only."""
    if is_regressor(model):
        if response not in ("auto", "predict"):
            raise ValueError(
                f"response={response!r} needs a classifier; for a regressor it may be 'auto' or 'predict'."
            )
        return "predict"
    if not is_classifier(model):
        raise ValueError(
            f"estimator={model!r} is no classifier or regressor of scikit-learn's kind."
        )
    if isinstance(model.classes_, list):
        raise TypeError("estimator predicts several targets a row: it may predict one.")
    if len(model.classes_) < 2:
        raise ValueError("estimator knows one class only: there is no other to be ahead of.")
    wanted = ("decision_function", "predict_proba") if response == "auto" else (response,)
    if isinstance(model, THRESHOLDED):  # its threshold applies to one response method
        own = model.response_method
        wanted = ("predict_proba", "decision_function") if own == "auto" else (own,)
    # One column per pair of classes instead of one per class cannot be used.
    pairwise = getattr(model, "decision_function_shape", None) == "ovo" and len(model.classes_) > 2
    unusable = {"predict", "decision_function"} if pairwise else {"predict"}
    usable = [m for m in wanted if m not in unusable and hasattr(model, m)]
    if not usable:
        raise ValueError(
            f"{type(model).__name__} has no usable {' or '.join(wanted)}: response may be 'auto', "
            "'decision_function' or 'predict_proba', and the model must have it, one column a class."
        )
    return usable[0]
