"""Search for improvements of a model; the gain of each is measured on test rows."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from surefoot._crossfit import known_classes
from surefoot._tables import count_rows
from surefoot.active_learning import query
from surefoot.report.improvements._attempts import Attempts
from surefoot.report.improvements._gain import NotMeasurableError
from surefoot.report.improvements._trial import Costs, Trial

# Number of rows that are proposed to be labelled next.
N_NEXT = 10

MOST_ROWS = {"classification": 4000, "regression": 1500}

Progress = Callable[..., Iterable[Any]]


def find_improvements(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    task: str,
    groups: Any = None,
    X_unlabelled: Any = None,
    error_estimator: Any = None,
    loss: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    max_rows: int | None = None,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Try improvements of a model, and measure the gain of each on the same test rows; higher is better.

    At most `max_rows` rows are drawn, 60 % of them to learn from and 40 % to test on. An improvement "helps"
    if the 95 % interval of its gain lies above 0; it "would not help" if the interval lies below a tenth of the
    model's error (for recalibration: below a Brier score of 0.0025, the cost of probabilities that are 5 points off);
    otherwise the verdict is "cannot tell". The intervals account for new test rows and, where several draws of the
    learning rows were made, also for new learning rows.

    Parameters
    ----------
    estimator : classifier or regressor
        The model. In `FrozenEstimator` it is used as it is, and the rows must be new to it.
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Labelled rows.
    y : array-like of shape (n_rows,)
        Targets.
    task : {"classification", "regression"}
        Kind of the targets: classes or numbers.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group are either learned from or tested on, and count as one unit for the intervals.
    X_unlabelled : array-like, CSR or frame, default=None
        Rows without a target, some of which are proposed to be labelled next.
    error_estimator : fitted IndividualErrorClassifier or IndividualErrorRegressor, default=None
        Error estimator around the model, fitted on the rows: it chooses the rows to label next. Without one, none is
        chosen.
    loss : array-like of shape (n_classes, n_classes), default=None
        Cost matrix, truth by prediction; gains are then costs.
    random_state : int, RandomState or None, default=0
        Seed of the random draws.
    n_jobs : int, default=None
        Parallel fits.
    max_rows : int, default=None
        Most rows to use; None is 4,000 for classification and 1,500 for regression, which needs more fits to
        estimate errors, and fewer rows to measure them. Only the attempt "More rows" uses all rows.
    progress : callable, default=None
        Called as `progress(items, total=, label=)`; returns an iterable over the items.

    Returns
    -------
    improvements : list of dict
        With `name`, `verdict`, `gain`, `low`, `high`, `unit`, `sentence` and `rows`.

    Examples
    --------
    A linear model cannot separate a circle; a forest in its place would be wrong far less often:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefoot.report.improvements import find_improvements
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    >>> y = (X**2).sum(axis=1) < 0.6
    >>> improvements = find_improvements(LogisticRegression(), X, y, task="classification", random_state=0)
    >>> verdicts = {improvement["name"]: improvement["verdict"] for improvement in improvements}
    >>> verdicts["Another kind of model everywhere"]
    'helps'
    """
    random = check_random_state(random_state)
    max_rows = MOST_ROWS[task] if max_rows is None else max_rows
    next_rows = _next_rows(error_estimator, X_unlabelled, random, n_jobs)
    try:
        trial = Trial(
            estimator,
            X,
            y,
            task=task,
            groups=groups,
            max_rows=max_rows,
            random_state=random,
            n_jobs=n_jobs,
            costs=None if loss is None else costs_of(estimator, y, loss),
        )
    except NotMeasurableError as reason:
        return [_unknown(name, reason, next_rows) for name in Attempts.names(task)]
    attempts = Attempts(trial)
    steps = list(zip(attempts.names(task), attempts.steps(), strict=True))
    shown = (
        steps if progress is None else progress(steps, total=len(steps), label="What would help")
    )
    return [_try(name, step, next_rows) for name, step in shown]


def costs_of(estimator: Any, y: Any, loss: Any) -> Costs:
    """Costs by the classes of the model, or of the rows if it is fitted on them."""
    return Costs(known_classes(estimator, np.asarray(y)), np.asarray(loss, dtype=np.float64))


def _try(name: str, step: Callable[[], dict[str, Any]], next_rows: list[int]) -> dict[str, Any]:
    """Improvement measured by one attempt, or the reason why it cannot be measured."""
    try:
        return {"name": name, **step(), "rows": next_rows if name == Attempts.LABELS else []}
    except NotMeasurableError as reason:
        return _unknown(name, reason, next_rows)


def _unknown(name: str, reason: NotMeasurableError, next_rows: list[int]) -> dict[str, Any]:
    return {
        "name": name,
        "verdict": "cannot tell",
        "gain": None,
        "low": None,
        "high": None,
        "unit": None,
        "sentence": str(reason),
        "rows": next_rows if name == Attempts.LABELS else [],
    }


def _next_rows(
    error_estimator: Any, X_unlabelled: Any, random: Any, n_jobs: int | None
) -> list[int]:
    """Positions of the unlabelled rows to label next, the most useful first."""
    if error_estimator is None or X_unlabelled is None or count_rows(X_unlabelled) == 0:
        return []
    if is_classifier(error_estimator):
        chosen = query(
            "confidence",
            error_estimator.estimator_,
            X_unlabelled,
            N_NEXT,
            random_state=random,
            n_jobs=n_jobs,
        )
    else:
        chosen = np.argsort(-error_estimator.predict_error(X_unlabelled), kind="stable")[:N_NEXT]
    return [int(row) for row in chosen]
