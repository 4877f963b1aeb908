"""A classifier whose fits are kept on disk, so that costly models are fitted once while surefoot changes."""

import hashlib
import pickle
import time
from pathlib import Path

import joblib
import numpy as np
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if


class CachedFit(ClassifierMixin, BaseEstimator):
    """Classifier that is fitted, or read from `folder` where the same fit is kept.

    Two fits are the same if their rows, labels, weights, estimators (all parameters) and scikit-learn's version are.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator.
    seconds_ : float
        Processor seconds of the fit when it was first done.
    """

    # Processor seconds of the fits that were read from disk instead, in this process.
    saved_seconds = 0.0

    def __init__(self, estimator=None, folder=None):
        self.estimator = estimator
        self.folder = folder

    def fit(self, X, y, sample_weight=None):
        """Fit a clone of the estimator, or read it from disk."""
        path = Path(self.folder) / f"{self._key(X, y, sample_weight)}.joblib"
        if path.exists():
            self.estimator_, self.seconds_ = joblib.load(path)
            CachedFit.saved_seconds += self.seconds_
        else:
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            start = time.process_time()
            self.estimator_ = clone(self.estimator).fit(X, y, **weights)
            self.seconds_ = time.process_time() - start
            path.parent.mkdir(parents=True, exist_ok=True)
            joblib.dump((self.estimator_, self.seconds_), path.with_suffix(".part"), compress=3)
            path.with_suffix(".part").replace(path)
        self.classes_ = self.estimator_.classes_
        self.n_features_in_ = np.shape(X)[1]
        return self

    @available_if(lambda self: hasattr(self.estimator, "decision_function"))
    def decision_function(self, X):
        """Decision function of the estimator, if it has one."""
        return self.estimator_.decision_function(X)

    def predict_proba(self, X):
        """Class probabilities by the estimator."""
        return self.estimator_.predict_proba(X)

    def predict(self, X):
        """Classes by the estimator, as an array of one dimension."""
        return np.ravel(self.estimator_.predict(X))

    def _key(self, X, y, sample_weight):
        """Digest of everything that a fit depends on."""
        digest = hashlib.sha256(f"{sklearn.__version__} {_described(self.estimator)}".encode())
        for values in map(np.asarray, (X, y, sample_weight)):
            digest.update(f"{values.dtype} {values.shape}".encode())
            digest.update(
                pickle.dumps(values.tolist())
                if values.dtype.hasobject
                else np.ascontiguousarray(values).tobytes()
            )
        return digest.hexdigest()[:32]


def _described(estimator):
    """Class and parameters of an estimator, those of its parts too, as text."""
    parameters = sorted(estimator.get_params(deep=True).items())
    lines = [type(estimator).__qualname__]
    lines += [f"{name}={_text(value)}" for name, value in parameters]
    return "\n".join(lines)


def _text(value):
    """Parameter as text that does not depend on where an object lies in memory."""
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return type(value).__qualname__ if hasattr(value, "get_params") else repr(value)
