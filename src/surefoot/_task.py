"""What is predicted, a number or one of some classes: decided once, at the door, with its loss, unit and words."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._tables import as_values
from surefoot._typing import Floats
from surefoot._validation import check_option
from surefoot._words import UNITS, LossUnit

KINDS = ("classification", "regression")

# Up to so many different whole numbers are classes, and more than the second are numbers; between them the user is
# asked. On 138 public targets this asks 12 times and is wrong for 4 ratings; a single limit of ten is wrong 13 times.
FEW_VALUES, MANY_VALUES = 10, 100

# Floats hold all whole numbers up to this one.
LARGEST_CODE = 2**53


class UnclearTaskError(ValueError):
    """Error for whole numbers that may be numbers or classes; `n_values` counts the different ones."""

    def __init__(self, n_values: int) -> None:
        self.n_values = n_values
        super().__init__(
            f"y holds {n_values} different whole numbers, which may be numbers or classes: pass task='regression' or "
            "task='classification'."
        )


@dataclass(frozen=True, eq=False)
class Task:
    """Whether a number or a class is predicted, and what a wrong prediction costs.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,), or None
        Classes, sorted; None if a number is predicted.
    costs : ndarray of shape (n_classes, n_classes), or None
        Cost matrix, truth by prediction; None if each mistake counts 1.
    """

    classes: NDArray[Any] | None = None
    costs: Floats | None = None

    @property
    def kind(self) -> str:
        """Name of the task, as in `KINDS`."""
        return KINDS[self.classes is None]

    @property
    def unit(self) -> LossUnit:
        """Unit of losses: a share of mistakes, a cost or a size, with its words."""
        if self.classes is None:
            return UNITS["size"]
        return UNITS["share" if self.costs is None else "cost"]

    @property
    def cost_matrix(self) -> Floats:
        """Cost of each predicted class (columns) by the true class (rows): `costs`, or 1 for every mistake."""
        return 1.0 - np.eye(len(np.asarray(self.classes))) if self.costs is None else self.costs

    def best_constant(self, truth: NDArray[Any]) -> tuple[Any, str]:
        """Constant prediction with the lowest mean loss (median, most frequent or cheapest class), and its name."""
        if self.classes is None:
            return np.median(truth), "the median"
        best = self.classes[self.cost_matrix[self.codes(truth)].mean(axis=0).argmin()]
        return best, f"“{best}”"

    def losses(self, truth: NDArray[Any], prediction: NDArray[Any]) -> Floats:
        """Loss of each prediction: its distance from a number; 1 or its cost if it is another class."""
        if self.classes is None:
            return np.abs(np.asarray(prediction, dtype=np.float64) - truth)
        if self.costs is None:
            return (np.asarray(prediction) != truth).astype(np.float64)
        return np.asarray(self.costs[self.codes(truth), self.codes(prediction)])

    def codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Position of each label among the classes."""
        return np.searchsorted(np.asarray(self.classes), labels)


def kind_of_target(
    y: Any, predictions: Any = None, task: str = "auto", *, are_classes: bool = False
) -> str:
    """Kind of task of a target and of its predictions, where there are any; an `UnclearTaskError` if it is unclear.

    The first of these that applies decides: what the user said (`task`); classes or probabilities that are given
    (`are_classes`); strings, booleans and categories are classes; fractions are numbers, also in the predictions; up to
    ten different whole numbers are classes, and more than 100 are numbers. Names of columns decide nothing.

    Examples
    --------
    >>> kind_of_target([1, 2, 3, 2]), kind_of_target([1, 2, 3, 2], [1.2, 2, 2.8, 2]), kind_of_target(["a", "b"])
    ('classification', 'regression', 'classification')
    >>> kind_of_target(range(37))
    Traceback (most recent call last):
        ...
    surefoot._task.UnclearTaskError: y holds 37 different whole numbers, which may be numbers or classes: pass ...
    """
    check_option(task, "task", ("auto", *KINDS))
    if task != "auto":
        return task
    truth, said = known_numbers(y), None if predictions is None else known_numbers(predictions)
    if are_classes or truth is None:
        return "classification"
    if not all(numbers is None or are_codes(numbers) for numbers in (truth, said)):
        return "regression"
    if predictions is not None and said is None:
        return "classification"
    n_values = len(np.unique(truth))
    if FEW_VALUES < n_values <= MANY_VALUES:
        raise UnclearTaskError(n_values)
    return KINDS[n_values > MANY_VALUES]


def are_codes(numbers: Floats) -> bool:
    """Whether all are whole numbers of a size at which floats tell neighbours apart."""
    return not ((numbers % 1).any() or (np.abs(numbers) >= LARGEST_CODE).any())


def known_numbers(column: Any) -> Floats | None:
    """Finite numbers of a column; None if it holds strings, booleans or categories."""
    values = as_values(column if hasattr(column, "dtype") else np.asarray(column))
    return values[np.isfinite(values)] if values.dtype.kind == "f" else None
