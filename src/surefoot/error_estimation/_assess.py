"""Error estimation for a trained model in one call."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.multiclass import type_of_target

from surefoot._models import Refusal, given_predictions, native_estimator
from surefoot._splits import splits_in_time
from surefoot._tables import column_names, count_rows, is_frame
from surefoot._typing import Floats
from surefoot._words import plural
from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._regressor import IndividualErrorRegressor

# Fewest rows that errors can be learned from.
LEAST_ROWS = 20

# Parts in time that are held out, one after the other; the earliest part is only learned from.
N_PERIODS = 5


def assess(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None, **options: Any
) -> IndividualErrorClassifier | IndividualErrorRegressor:
    """Error estimator of a trained model, learned from rows that the model has not seen.

    Parameters
    ----------
    model : fitted classifier or regressor, booster, or callable
        The model, used as it is. The classes of a `Booster` of LightGBM or XGBoost are the sorted labels. A callable
        takes rows, in a table of the kind of `X`, and returns class probabilities, one column per class in
        the order of the sorted labels, or for two classes only those of the second; or, if `y`
        holds numbers, predictions.
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Rows that the model was not trained on: its errors on training rows are too small.
    y : array-like of shape (n_rows,)
        Their targets.
    sample_weight, groups : array-like of shape (n_rows,), default=None
        Weights of the rows, and groups of rows that stay in one fold.
    **options
        Parameters of `IndividualErrorClassifier` or `IndividualErrorRegressor`.

    Returns
    -------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Predicts like the model, and has `judge`, `predict_error` and the other methods of its class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB().fit(X[::2], y[::2])
    >>> error_estimator = assess(model, X[1::2], y[1::2], random_state=0)
    >>> error_estimator.predict_error(X[[0, 70]]).round(1)
    array([0. , 0.3])
    """
    if (n_rows := count_rows(X)) < LEAST_ROWS:
        raise ValueError(
            f"X has {plural(n_rows, 'row')}: errors can be learned from at least {LEAST_ROWS}."
        )
    model = as_estimator(model, X, y)
    kind = IndividualErrorClassifier if is_classifier(model) else IndividualErrorRegressor
    frozen = model if isinstance(model, FrozenEstimator) else FrozenEstimator(model)
    return kind(frozen, **options).fit(X, y, sample_weight=sample_weight, groups=groups)


def assess_predictions(
    X: Any,
    y: Any,
    predictions: Any,
    probabilities: Any = None,
    *,
    classes: Any = None,
    task: str = "auto",
    encoder: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    **options: Any,
) -> IndividualErrorClassifier | IndividualErrorRegressor:
    """Error estimator of predictions that were made elsewhere, learned from rows that their model has not seen.

    The model itself is not needed: it may be a service, a file of another language, a vendor's product or a language
    model. Only its outputs are used.

    Parameters
    ----------
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Inputs of rows that the model was not trained on: its errors on training rows are too small.
    y : array-like of shape (n_rows,)
        Their targets.
    predictions : array-like of shape (n_rows,), or str
        What the model predicted: classes or numbers; or the column of X that has it.
    probabilities : array-like of shape (n_rows,) or (n_rows, n_classes), str, list or dict, default=None
        Probabilities of the classes, in the order of the sorted classes; of two classes that of the second is enough;
        of more, that of the predicted class. Numbers outside 0 to 1 are scores. If `predictions` names a column, the
        names of columns; a dict has them by class. They must agree with the predictions.
    classes : array-like, default=None
        All classes; None means those of `y` and of the predictions.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether whole numbers are classes. With "auto", up to 10 different ones are, more than 100 are numbers, and
        between these it must be said; fractions are numbers, all else are classes.
    encoder : transformer, default=None
        Makes numbers of the inputs, for the search of neighbours; it is cloned and fitted on X. None encodes
        categories, and imputes and scales numbers.
    groups, sample_weight : array-like of shape (n_rows,), default=None
        Groups of rows that stay in one fold, and weights of the rows.
    time : array-like of shape (n_rows,), default=None
        Time of each row: errors are then learned from earlier rows than those that they are estimated for.
    **options
        Parameters of `IndividualErrorClassifier` or `IndividualErrorRegressor`.

    Returns
    -------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Its methods `judge` and `predict_error` take new rows with their predictions and probabilities. All methods, and
        whatever takes an error estimator, take a table of inputs and outputs: columns `prediction`, and
        `probability_<class>` or `probability`, of a frame, or the columns that were named here.

    See Also
    --------
    assess : The same for a model that is at hand, which can also be asked about other rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import assess_predictions
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> predictions = GaussianNB().fit(X[:200], y[:200]).predict(X)  # made elsewhere
    >>> error_estimator = assess_predictions(X[200:400], y[200:400], predictions[200:400], random_state=0)
    >>> errors = error_estimator.predict_error(X[400:], predictions[400:])
    >>> wrong = predictions[400:] != y[400:]
    >>> bool(errors[wrong].mean() > 3 * errors[~wrong].mean())
    True
    """
    model, table = given_predictions(
        X, y, predictions, probabilities, classes=classes, task=task, encoder=encoder
    )
    if time is not None:
        options = {"cv": splits_in_time(np.asarray(time), N_PERIODS), **options}
    return assess(model, table, y, sample_weight=sample_weight, groups=groups, **options)


def as_estimator(model: Any, X: Any, y: Any) -> Any:
    """Estimator for a model; a callable becomes a classifier or regressor, depending on its output and on y."""
    try:
        native = native_estimator(model, X, y)
    except Refusal as refusal:
        raise ValueError(f"model {refusal}.") from refusal
    if native is not None:
        return native
    if hasattr(model, "predict") and not isinstance(model, type):
        return model
    if not callable(model) or isinstance(model, type):
        raise TypeError(
            f"model={model!r} is no trained model: it may be a fitted classifier or regressor, or a "
            "callable that returns probabilities or predictions."
        )
    output = np.asarray(model(X))
    if output.dtype.kind not in "fiub":
        raise TypeError("model returns labels: a callable may return probabilities or numbers.")
    # One column cannot describe three classes.
    if output.ndim == 1 and type_of_target(y) != "binary":
        return FunctionRegressor(model).take_columns(X)
    classes = np.unique(np.asarray(y))
    n_columns = 2 if output.ndim == 1 else output.shape[1]
    if n_columns != len(classes):
        raise ValueError(
            f"model returns probabilities of {n_columns} classes, and y has {len(classes)}: they must match."
        )
    return FunctionClassifier(model, classes).take_columns(X)


class FunctionModel(BaseEstimator):
    """Fitted model around a function, which is trained already."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def take_columns(self, X: Any) -> Self:
        """Keep the names of a frame's columns, so that the function gets frames."""
        if is_frame(X):
            self.feature_names_in_ = np.array(column_names(X), dtype=object)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing, as the function is trained already."""
        return self


class FunctionRegressor(RegressorMixin, FunctionModel):
    """Regressor around a function that returns predictions."""

    def predict(self, X: Any) -> Floats:
        """Predictions that the function returns."""
        return np.asarray(self.function(X), dtype=np.float64)


class FunctionClassifier(ClassifierMixin, FunctionModel):
    """Classifier around a function that returns class probabilities."""

    def __init__(self, function: Callable[[Any], Any], classes: NDArray[Any]) -> None:
        super().__init__(function)
        self.classes = classes
        self.classes_ = classes

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities that the function returns, with a column for each of two classes."""
        output = np.asarray(self.function(X), dtype=np.float64)
        return np.column_stack([1 - output, output]) if output.ndim == 1 else output

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return np.asarray(self.classes)[self.predict_proba(X).argmax(axis=1)]
