"""Outputs without a model: what another program said of each row, as further columns of the table."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from surefoot._models._inputs import NumericInput
from surefoot._models._outputs import Outputs
from surefoot._typing import Floats, Ints


class GivenOutputs(BaseEstimator):
    """Model whose outputs are the last columns of its input; inside `FrozenEstimator` it is used like any other.

    Parameters
    ----------
    classes : array-like, default=None
        Classes whose probabilities are in the last columns, in this order; None for a regressor, whose predictions
        are in the last column.
    """

    def __init__(self, classes: Any = None) -> None:
        self.classes = classes
        if classes is not None:
            self.classes_: NDArray[Any] = np.asarray(classes)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return self: there is nothing to learn."""
        return self

    @property
    def n_outputs(self) -> int:
        """Number of columns that are outputs."""
        return 1 if self.classes is None else len(self.classes)

    @available_if(lambda self: self.classes is not None)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes."""
        return np.asarray(X, dtype=np.float64)[:, -self.n_outputs :]

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class, or the prediction of a regressor."""
        if self.classes is None:
            return np.asarray(X, dtype=np.float64)[:, -1]
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def given_input(self, table: Any) -> "GivenInput":
        """Input of this model: the other columns."""
        return GivenInput(self, table)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.classes is None:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags


class GivenInput(NumericInput):
    """Columns of a table that are no outputs. There is no model to ask about samples between its rows.

    In the place of a sample on the way to a neighbour stands the neighbour itself, whose outputs are known.
    """

    def __init__(self, model: GivenOutputs, table: Any) -> None:
        super().__init__(model, table)
        self.n_outputs, self.outputs_of_rows = model.n_outputs, self.rows
        self.rows = self.rows[:, : -self.n_outputs]

    def encode(self, table: Any) -> Any:
        """Columns that are no outputs."""
        return super().encode(table)[:, : -self.n_outputs]

    def score_between(self, outputs: Outputs, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores of the neighbours, shape (n, k, columns)."""
        return outputs(self.outputs_of_rows)[near]
