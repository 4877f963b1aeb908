"""The model's own confidence: the baseline that every other indicator is compared with."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, logit
from sklearn.utils.validation import check_is_fitted

from surefoot._models import margin, top_class
from surefoot._typing import Floats
from surefoot.indicators._indicator import Indicator
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex


class Confidence(Indicator):
    """Confidence of a classifier in each of its predictions; a higher score is more confident.

    Four columns: `log_odds` of the predicted class, clipped according to the number of training rows; `margin`, its
    lead over the runner-up in log-odds or decision values; `entropy` of the class probabilities, in
    nats (lower is more confident); and `max_probability`. Decision values of a model without `predict_proba` are
    turned into probabilities by a logistic function or softmax; for two classes this keeps their order.

    Parameters
    ----------
    estimator : classifier, default=None
        The model: cloned and fitted, or used as it is inside `FrozenEstimator`. In an action, the action's
        model is used instead.
    response : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method that the margin is computed from; "auto" is `decision_function` where there is one.
    per_class : bool, default=False
        If True, the columns are the log-odds or decision values of each class; of two classes the positive one's.

    Attributes
    ----------
    index_ : NeighborhoodIndex
        The fitted model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> confidence = Confidence(GaussianNB()).fit(X, y)
    >>> confidence.score_samples(X[[0, 70]]).round(2)
    array([1.  , 0.85])
    """

    doubt = "the model itself is not sure"

    directions: ClassVar[dict[str, int]] = {
        "log_odds": -1,
        "margin": -1,
        "entropy": 1,
        "max_probability": -1,
    }

    def __init__(
        self, estimator: Any = None, *, response: str = "auto", per_class: bool = False
    ) -> None:
        self.estimator = estimator
        self.response = response
        self.per_class = per_class

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index that an action built, in place of `fit`; raises if its model is a regressor."""
        if index.model.is_regression:
            raise ValueError(
                "Confidence needs a classifier: a regressor has no class probabilities."
            )
        return super().attach(index)

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Log-odds, margin, entropy and maximum probability, or the score of each class."""
        scores = neighborhood.scores
        if self.per_class:
            return scores
        probabilities = neighborhood.probabilities
        entropy = entr(probabilities).sum(axis=1)
        predicted = top_class(scores)
        own = probabilities[np.arange(len(predicted)), predicted]
        least = neighborhood.index.model.least_probability
        odds = logit(np.clip(own, least, 1 - least))
        most = probabilities.max(axis=1)
        return np.column_stack([odds, margin(scores, predicted), entropy, most])

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Maximum probability, or the margin of a model without probabilities."""
        if neighborhood.index.model.has_probabilities:
            return neighborhood.probabilities.max(axis=1)
        return margin(neighborhood.scores, top_class(neighborhood.scores))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        if not self.per_class:
            return np.array(["log_odds", "margin", "entropy", "max_probability"], dtype=object)
        check_is_fitted(self)
        return class_column_names(["log_odds"], self.index_.model.classes)


def class_column_names(names: list[str], classes: Any) -> NDArray[np.object_]:
    """Column names: each of `names` with each class; of two classes only the positive one."""
    labels = classes[1:] if len(classes) == 2 else classes
    return np.array([f"{name}_{label}" for name in names for label in labels], dtype=object)
