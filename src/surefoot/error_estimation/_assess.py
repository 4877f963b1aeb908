"""One line for a model that is trained already."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.multiclass import type_of_target

from surefoot._typing import Floats
from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._regressor import IndividualErrorRegressor


def assess(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None, **options: Any
) -> IndividualErrorClassifier | IndividualErrorRegressor:
    """Learn from held-out rows how wrong a trained model is, prediction by prediction.

    Parameters
    ----------
    model : fitted classifier or regressor, or callable
        The model, used as it is. A callable takes rows and returns class probabilities, one column a class in
        the order of the sorted labels, or for two classes those of the second alone; or, where `y`
        holds numbers, predictions.
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Rows that the model was not trained on: its errors on others are none.
    y : array-like of shape (n_rows,)
        Their targets.
    sample_weight, groups : array-like of shape (n_rows,), default=None
        Weights of the rows, and what stays together when some are held out.
    **options
        Parameters of `IndividualErrorClassifier` or `IndividualErrorRegressor`.

    Returns
    -------
    assessed : IndividualErrorClassifier or IndividualErrorRegressor
        Predicts like the model, and has `predict_error` and its kin.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB().fit(X[::2], y[::2])
    >>> assessed = assess(model, X[1::2], y[1::2], random_state=0)
    >>> assessed.predict_error(X[[0, 70]]).round(1)
    array([0. , 0.3])
    """
    model = as_estimator(model, X, y)
    kind = IndividualErrorClassifier if is_classifier(model) else IndividualErrorRegressor
    frozen = model if isinstance(model, FrozenEstimator) else FrozenEstimator(model)
    return kind(frozen, **options).fit(X, y, sample_weight=sample_weight, groups=groups)


def as_estimator(model: Any, X: Any, y: Any) -> Any:
    """The model as an estimator; a callable is told by what it returns and what it is to predict."""
    if hasattr(model, "predict") and not isinstance(model, type):
        return model
    if not callable(model) or isinstance(model, type):
        raise TypeError(
            f"model={model!r} is no trained model: it may be a fitted classifier or regressor, or a "
            "callable that returns probabilities or predictions."
        )
    told = np.asarray(model(X))
    if told.dtype.kind not in "fiub":
        raise TypeError("model returns labels: a callable may return probabilities or numbers.")
    if told.ndim == 1 and type_of_target(y) != "binary":  # of one column no third class can be told
        return CallableRegressor(model)
    classes = np.unique(np.asarray(y))
    n_told = 2 if told.ndim == 1 else told.shape[1]
    if n_told != len(classes):
        raise ValueError(
            f"model returns probabilities of {n_told} classes, and y has {len(classes)}: they must match."
        )
    return CallableClassifier(model, classes)


class CallableClassifier(ClassifierMixin, BaseEstimator):
    """A function that returns class probabilities, as a fitted classifier."""

    def __init__(self, function: Callable[[Any], Any], classes: NDArray[Any]) -> None:
        self.function = function
        self.classes = classes
        self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing: the function is what it is."""
        return self

    def predict_proba(self, X: Any) -> Floats:
        """What the function returns, with both columns of two classes."""
        told = np.asarray(self.function(X), dtype=np.float64)
        return np.column_stack([1 - told, told]) if told.ndim == 1 else told

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class."""
        return np.asarray(self.classes)[self.predict_proba(X).argmax(axis=1)]


class CallableRegressor(RegressorMixin, BaseEstimator):
    """A function that returns predictions, as a fitted regressor."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing: the function is what it is."""
        return self

    def predict(self, X: Any) -> Floats:
        """What the function returns."""
        return np.asarray(self.function(X), dtype=np.float64)
