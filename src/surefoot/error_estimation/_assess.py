"""Error estimation for a trained model in one call."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator

from surefoot._models import (
    NativeClassifier,
    Refusal,
    by_position,
    given_predictions,
    has_names,
    native_estimator,
)
from surefoot._splits import splits_in_time
from surefoot._tables import column_names, count_rows, is_frame
from surefoot._words import plural
from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._regressor import IndividualErrorRegressor

# Fewest rows that errors can be learned from.
LEAST_ROWS = 20

# Parts in time that are held out, one after the other; the earliest part is only learned from.
N_PERIODS = 5


def assess(
    model: Any,
    X: Any,
    y: Any,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    **options: Any,
) -> IndividualErrorClassifier | IndividualErrorRegressor:
    """Error estimator of a trained model, learned from rows that the model has not seen.

    Parameters
    ----------
    model : fitted classifier or regressor, booster, or callable
        The model, used as it is. A callable takes rows, in a table of the kind of `X`, and returns class probabilities,
        one column per class, or for two classes only those of the second; or, if `y` holds numbers, predictions.
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Rows that the model was not trained on: its errors on training rows are too small.
    y : array-like of shape (n_rows,)
        Their targets.
    classes : array-like of shape (n_classes,), default=None
        Classes in the order of the model's outputs, for a booster, graph or callable, which does not name them. With
        None they are the names in the graph; else 0, 1, 2, ... if the targets are such numbers; else the sorted
        targets, and an error if another order fits these clearly better.
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
    model = as_estimator(model, X, y, classes)
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


def as_estimator(model: Any, X: Any, y: Any, classes: Any = None) -> Any:
    """Estimator for a model; a callable becomes a classifier or regressor, depending on its output and on y."""
    try:
        estimator = native_estimator(model, X, y, classes=classes)
    except Refusal as refusal:
        raise ValueError(f"model {refusal}.") from refusal
    if estimator is not None and is_frame(type(X)) and not (callable(model) or has_names(model)):
        warnings.warn(by_position(column_names(X)), UserWarning, stacklevel=3)
    estimator = model if estimator is None else estimator
    if not hasattr(estimator, "predict") or isinstance(estimator, type):
        raise TypeError(
            f"model={model!r} is no trained model: it may be a fitted classifier or regressor, or a "
            "callable that returns probabilities or predictions."
        )
    if classes is not None and not isinstance(estimator, NativeClassifier):
        raise ValueError("model has names for its classes, or no classes: leave out classes.")
    return estimator
