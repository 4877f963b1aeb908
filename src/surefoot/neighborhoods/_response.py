"""What a model says of a row, as scores that behave like log-odds."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import is_classifier, is_regressor

from surefoot._validation import check_option

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RESPONSES = ("auto", "decision_function", "predict_proba", "predict")


class Response:
    """The scores of a fitted model: one column for two classes or a regressor, else one a class.

    For two classes the column speaks for the positive (second) class. Beyond two, the columns of
    `decision_function` are centred, since only their differences mean anything.
    """

    def __init__(self, model: Any, response: str, n_rows: int) -> None:
        check_option(response, "response", RESPONSES)
        self.model = model
        self.method = _choose_method(model, response)
        self.n_classes = len(model.classes_) if self.method != "predict" else 0
        # No more certain than n rows can make one: the rule of succession's half row either way.
        self.least_probability = 1.0 / (2 * n_rows + 2)

    def __call__(self, inputs: Any) -> Floats:
        """Scores of shape (n_rows, 1) for two classes or a regressor, else (n_rows, n_classes)."""
        if self.method == "predict_proba":
            return self.log_odds(self.probabilities(inputs))
        return self.as_scores(getattr(self.model, self.method)(inputs))

    def probabilities(self, inputs: Any) -> Floats:
        """The model's own class probabilities."""
        return np.asarray(self.model.predict_proba(inputs), dtype=np.float64)

    def log_odds(self, probabilities: Floats) -> Floats:
        """Clipped log-odds: of the positive class for two classes, else of every class."""
        kept = probabilities[:, 1:] if self.n_classes == 2 else probabilities
        return logit(np.clip(kept, self.least_probability, 1 - self.least_probability))

    def as_scores(self, output: Any) -> Floats:
        """Bring what the model returned to one column, or one centred column a class."""
        scores = np.asarray(output, dtype=np.float64)
        if scores.ndim == 1:
            return scores[:, None]
        if self.method == "predict" or self.n_classes == 2:
            return scores
        if scores.shape[1] != self.n_classes:
            raise ValueError(
                f"The decision_function of {type(self.model).__name__} has {scores.shape[1]} columns for "
                f"{self.n_classes} classes: response may be 'predict_proba' if the model has it."
            )
        return scores - scores.mean(axis=1, keepdims=True)


def top_class(scores: Floats) -> Ints:
    """Index of the class that scores of shape (..., 1) or (..., n_classes) rank first."""
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.int64)
    return scores.argmax(axis=-1)


def margin(scores: Floats, top: Ints) -> Floats:
    """Lead of class `top` over the best other class at each point; negative where it is not ahead.

    `scores` has shape (n, 1 or n_classes), or (n, n_samples, 1 or n_classes) with one `top` a row.
    """
    top = top.reshape(-1, *[1] * (scores.ndim - 2))
    if scores.shape[-1] == 1:
        return np.where(top == 1, scores[..., 0], -scores[..., 0])
    is_top = np.arange(scores.shape[-1]) == top[..., None]
    best_other = np.where(is_top, -np.inf, scores).max(axis=-1)
    return np.where(is_top, scores, -np.inf).max(axis=-1) - best_other


def _choose_method(model: Any, response: str) -> str:
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
    wanted = ("decision_function", "predict_proba") if response == "auto" else (response,)
    usable = [
        m for m in wanted if m != "predict" and hasattr(model, m) and not _is_pairwise(model, m)
    ]
    if not usable:
        raise ValueError(
            f"{type(model).__name__} has no usable {' or '.join(wanted)}: response may be 'auto', "
            "'decision_function' or 'predict_proba', and the model must have it, one column a class."
        )
    return usable[0]


def _is_pairwise(model: Any, method: str) -> bool:
    """Whether `decision_function` compares pairs of classes: three pairs look like three classes."""
    pairwise = getattr(model, "decision_function_shape", None) == "ovo"
    return method == "decision_function" and pairwise and len(model.classes_) > 2
