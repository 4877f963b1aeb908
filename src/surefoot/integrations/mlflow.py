"""Models for MLflow: a pyfunc whose predictions say how far each row can be trusted, stored without pickle.

MLflow, pandas and skops are needed only when one of the functions is called; the extra `mlflow` has them.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from surefoot._optional import needed_for
from surefoot.abstention import Promise
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor


def save_model(
    error_estimator: IndividualErrorClassifier | IndividualErrorRegressor,
    path: str | Path,
    *,
    promise: Promise | None = None,
    max_risk: float | Mapping[Any, float] | None = None,
    confidence: float = 0.95,
    signature: Any = None,
    input_example: Any = None,
    **kwargs: Any,
) -> None:
    """Write a model into a new folder, in MLflow's format.

    `mlflow.pyfunc.load_model(path).predict(X)` then returns the frame of `promise.apply(error_estimator.judge(X))`.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted, and made of nothing but types that surefoot trusts when it loads a skops file.
    path : str or Path
        Folder to make; if it exists, it must be empty.
    promise : Promise, default=None
        Which rows are accepted. By default it is made of `error_estimator.held_out_`, `max_risk` and `confidence`.
    max_risk : float or dict of class to float, default=None
        Mean loss of the accepted rows that is not to be exceeded. None chooses a round one.
    confidence : float, default=0.95
        Probability with which it is not exceeded.
    signature : mlflow.models.ModelSignature, default=None
        By default the outputs are the columns of the frame, and the inputs the columns that `error_estimator` was
        fitted on, with the types of `input_example`, or of type "any" without one. A model that was fitted on an array
        has inputs only with an example.
    input_example : pandas.DataFrame or other input, default=None
        A few rows for MLflow to keep in clear text, of the types that new rows will have.
    **kwargs : dict
        Given to `mlflow.pyfunc.save_model`, such as `pip_requirements`, `code_paths` or `metadata`.

    Examples
    --------
    >>> import tempfile
    >>> import mlflow
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.integrations.mlflow import save_model
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[::2], y[::2])
    >>> folder = tempfile.mkdtemp()
    >>> save_model(error_estimator, folder, max_risk=0.2, input_example=X.head(3))
    >>> frame = mlflow.pyfunc.load_model(folder).predict(X[1::2])
    >>> list(frame)[:5]
    ['prediction', 'probability_0', 'probability_1', 'probability_2', 'estimated_error']
    >>> bool(frame["accepted"].mean() > 0.5)
    True
    """
    _flavor().save(
        error_estimator, path, promise, max_risk, confidence, signature, input_example, dict(kwargs)
    )


def log_model(
    error_estimator: IndividualErrorClassifier | IndividualErrorRegressor,
    name: str,
    *,
    promise: Promise | None = None,
    max_risk: float | Mapping[Any, float] | None = None,
    confidence: float = 0.95,
    signature: Any = None,
    input_example: Any = None,
    registered_model_name: str | None = None,
    **kwargs: Any,
) -> Any:
    """Log a model to MLflow's tracking store, with the active run if there is one.

    Parameters
    ----------
    error_estimator, promise, max_risk, confidence, signature, input_example
        See `save_model`.
    name : str
        Name of the logged model (`artifact_path` in MLflow 2).
    registered_model_name : str, default=None
        Register a version of the model under this name.
    **kwargs : dict
        Given to `mlflow.models.Model.log`, such as `tags` or `run_id`, and to `save_model`.

    Returns
    -------
    info : mlflow.models.model.ModelInfo
        `info.model_uri` is what `load_model` takes.
    """
    return _flavor().log(
        sys.modules[__name__],
        name,
        error_estimator=error_estimator,
        promise=promise,
        max_risk=max_risk,
        confidence=confidence,
        signature=signature,
        input_example=input_example,
        registered_model_name=registered_model_name,
        **kwargs,
    )


def load_model(model_uri: str | Path) -> IndividualErrorClassifier | IndividualErrorRegressor:
    """Error estimator that `save_model` or `log_model` stored; no code in the files is run.

    Parameters
    ----------
    model_uri : str or Path
        `models:/<name>/<version>`, `runs:/<run id>/<name>`, a folder, or any other address of a model.

    Returns
    -------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Says of every row what it said when it was stored.
    """
    return _flavor().load(str(model_uri))


def load_estimator(model_uri: str | Path) -> Any:
    """Model that MLflow keeps in a file without code: of surefoot, LightGBM, XGBoost, CatBoost, ONNX, or of skops.

    The option `--estimator mlflow:<address>` of the commands calls this. A model that MLflow pickled is refused.

    Parameters
    ----------
    model_uri : str or Path
        `models:/<name>/<version>`, `runs:/<run id>/<name>`, a folder, or any other address of a model.

    Returns
    -------
    model : error estimator or model
        As `surefoot.load` returns it.
    """
    return _flavor().load_estimator(str(model_uri))


def _load_pyfunc(path: str) -> Any:
    """Model of the folder `path`, for MLflow to ask for predictions."""
    return _flavor().read_folder(Path(path))


def _flavor() -> ModuleType:
    """Module that does the work; one sentence that names the extra where a package is missing."""
    with needed_for("A model for MLflow", "mlflow"):
        from surefoot.integrations import _mlflow_flavor  # noqa: PLC0415 - needs MLflow
    return _mlflow_flavor
