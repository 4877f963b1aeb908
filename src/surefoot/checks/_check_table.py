"""Checks of a table before a model is judged on it."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length, column_or_1d

from surefoot._tables import as_table, check_is_array, count_rows
from surefoot._task import kind_of_target
from surefoot._words import listed
from surefoot.checks._columns import (
    Finding,
    code_columns,
    find_equal_columns,
    find_identifiers,
    find_leaks,
)
from surefoot.checks._dependence import find_entities, find_order, may_be_ordered
from surefoot.checks._duplicates import find_duplicates

CODES = ("leak", "duplicate", "entity", "order", "identifier", "equal")


def check_table(
    X: Any,
    y: Any = None,
    *,
    held_out: Any = None,
    ignore: Iterable[str] = (),
    estimator: Any = None,
    coordinates: Callable[[Any], Any] | None = None,
    task: str = "auto",
    random_state: int = 0,
) -> list[Finding]:
    """List of faults that make scores better than they are, or that make columns useless; empty if none is found.

    - `leak`: a column gives the target away (target leakage). Alone, it explains nearly all of the target on held-out
      rows, or almost as much as the whole model, while the next column leaves three times as much unexplained. A
      column may be that good honestly: only a person knows whether its value is known when a prediction is needed. Or
      its values are the names of the classes, and agree with these: it may be a prediction.
    - `duplicate`: rows have an exact or near copy in the table, more than by coincidence; and with `held_out`, how
      many were predicted by a model that had learned from the copy, and the mean loss with and without these.
    - `entity`: rows with the same value of a column depend on each other. A small model is worse by 5 % or more if all
      rows of a value are held out together. If new rows will have other values, pass the column as `groups`.
    - `order`: the model is worse if adjacent rows of the table are held out together, as where rows of one
      person or time are adjacent, or the data drift. Needs `estimator`.
    - `identifier`: a column has another value in every row, where that is no coincidence.
    - `equal`: a column has the same content as an earlier one, with the same, renamed or rescaled values.

    Each check that is a test decides at a level of 0.002. Names of columns and the letters of strings are no evidence;
    what only the user can know is the `question` of a finding.

    Parameters
    ----------
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Rows, in the order of the table. Sparse rows and lists of texts have no columns, and only `order` is checked.
    y : array-like of shape (n_rows,), default=None
        Targets. Without them, only copies, identifiers and equal columns are searched.
    held_out : HeldOut, default=None
        Out-of-fold predictions, such as `held_out_` of an error estimator, or any object with the attributes `rows`,
        `prediction`, `probabilities`, `classes`, `groups` and `splits`, where all but the first two may be None. With
        groups, rows are known to depend on each other: entities and order are not checked.
    ignore : iterable of str, default=()
        Codes of the checks to leave out.
    estimator : classifier or regressor, default=None
        Model that is fitted on ordered folds. A frozen model is not fitted: neither entities nor order are checked.
    coordinates : callable, default=None
        `coordinates` of the fitted error estimator that `held_out` is from. With it, `estimator` is fitted on ordered
        folds only if a quick test finds that rows resemble those next to them.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether `y` are classes or numbers. By default `estimator` or `held_out` decide, or the values of `y`.
    random_state : int, default=0
        Seed of folds, and of samples of large tables.

    Returns
    -------
    findings : list of Finding
        At most one for each code.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.checks import check_table
    >>> draw = np.random.default_rng(0)
    >>> X = draw.normal(size=(500, 5))
    >>> y = X[:, 0] + draw.normal(size=500) > 0
    >>> X[:, 3] = y + 0.1 * draw.normal(size=500)  # measured after the fact
    >>> X[:, 4] = np.arange(500)
    >>> [(finding.code, finding.columns) for finding in check_table(X, y)]
    [('leak', ('column 3',)), ('identifier', ('column 4',))]
    """
    ignored = set(ignore)
    if not ignored <= set(CODES):
        raise ValueError(
            f"ignore names {listed(sorted(ignored - set(CODES)))}: the checks are {listed(CODES)}."
        )
    table = as_table(X)
    columns, n_rows = code_columns(table), count_rows(table)
    if y is None:
        y, is_regression = np.zeros(n_rows), True
        ignored |= {"leak", "entity", "order"}
    else:
        check_is_array(y, "y")
        y = column_or_1d(y)
        check_consistent_length(table, y)
        if task == "auto" and estimator is not None:
            task = "classification" if is_classifier(estimator) else "regression"
        elif task == "auto" and held_out is not None:
            task = "regression" if held_out.classes is None else "classification"
        is_regression = kind_of_target(y, task=task) == "regression"
    is_frozen = isinstance(estimator, FrozenEstimator)
    if is_frozen or (held_out is not None and _has_groups(held_out)):
        ignored |= {"entity", "order"}
    elif coordinates is not None and "order" not in ignored:
        ignored |= set() if may_be_ordered(held_out, table, coordinates) else {"order"}
    rows, prediction = np.arange(n_rows), None
    splits, losses = None, np.zeros(n_rows)
    if held_out is not None:
        rows, prediction = held_out.rows, held_out.probabilities
        prediction = held_out.prediction if prediction is None else prediction
        if held_out.splits is not None and not is_frozen:
            splits = np.full(n_rows, -1)
            splits[rows] = held_out.splits
            losses[rows] = (
                np.abs(held_out.prediction - y[rows])
                if is_regression
                else held_out.prediction != y[rows]
            )
    checks: dict[str, Callable[[], Finding | None]] = {
        "leak": lambda: find_leaks(columns, y, rows, prediction, is_regression, random_state),
        "duplicate": lambda: find_duplicates(columns, splits, losses, is_regression, random_state),
        "entity": lambda: find_entities(columns, y, is_regression, random_state),
        "order": lambda: find_order(estimator, table, y, splits, losses, random_state),
        "identifier": lambda: find_identifiers(columns),
        "equal": lambda: find_equal_columns(columns),
    }
    findings = [check() for code, check in checks.items() if code not in ignored]
    return [finding for finding in findings if finding is not None]


def _has_groups(held_out: Any) -> bool:
    """Whether held-out rows are in groups of the user, beyond the sets of copies of a row."""
    if held_out.groups is None:
        return False
    distinct = getattr(held_out, "distinct", None)
    groups = held_out.groups if distinct is None else held_out.groups[distinct]
    return len(np.unique(groups)) < len(groups)
