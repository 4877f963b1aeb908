"""Sections on the data and on how the report was computed: held-out rows, versions, sizes, seed and caveats."""

import platform
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from surefoot._models import GivenOutputs
from surefoot._tables import count_rows
from surefoot._typing import Floats, Split
from surefoot._words import number, plural
from surefoot.error_estimation import HeldOut

LONGEST_NAME = 60

# Most classes that are named as too rare, and most costs that are named.
MOST_CLASSES, MOST_COSTS = 6, 6

SEEN_BY_NONE = (
    "Every number is measured on held-out rows (out-of-fold): the model that predicts a row was fitted without it, and "
    "its error is estimated from other rows. Exceptions: the nearest rows, and the reasons to doubt a prediction, are "
    "found with all rows."
)
OUTPUTS_ONLY = (
    "The predictions are used as they were made, and their model is not needed. The error of each is estimated from "
    "other rows. The model cannot be asked about points between rows: stability is measured on the nearest rows."
)
UNSEEN = (
    "No row here may be one that the model was trained on. To tell, compare the error here ({}) with the one that its "
    "owner quotes for new data: if it is far lower here, the model has probably seen these rows."
)
PROMISED = (
    "A promised risk holds for new rows from the same source as these, if only their estimated error decides which of "
    "them are answered."
)
EXACT = "For an exact promise use surefoot.AbstainingClassifier, which sets rows aside for it."
REFITTED = "The model that you deploy is fitted on all rows, so it is probably slightly better than these numbers."
LATER = "Promises and intervals hold only as far as the future is like the past."
MEAN_ERRORS = (
    "In the promise of a mean error, larger errors count as the stated one: nothing can be promised of the mean of all "
    "errors, which a few very large ones may decide."
)
GROUPED = (
    "All rows of a group are on the same side of each split, and promises count groups, not rows. Rules and the "
    "calibration of probabilities treat rows as independent."
)

MODULES = {"scikit-learn": "sklearn"}
PACKAGES = ("surefoot", "scikit-learn", "numpy", "scipy", "pandas", "altair")


def describe_data(
    error_estimator: Any,
    y: NDArray[Any],
    *,
    given: GivenOutputs | None,
    cv: Any,
    name: str | None,
    X_unlabelled: Any,
) -> dict[str, Any]:
    """Size of the table, shares of its classes, and how its rows were held out.

    `given` are the outputs in place of a model, if there is none, and `cv` is that of the report.
    """
    held_out: HeldOut = error_estimator.held_out_
    labels, counts = np.unique([] if held_out.classes is None else y, return_counts=True)
    return {
        "name": name or "the table",
        "n_rows": len(y),
        "n_columns": int(getattr(error_estimator, "n_features_in_", 1))  # texts have one
        - len([] if given is None else given.output_columns),
        "n_without_target": 0 if X_unlabelled is None else count_rows(X_unlabelled),
        "classes": [
            {"label": str(label), "share": count / len(y)}
            for label, count in zip(labels, counts, strict=True)
        ],
        "held_out": _about_holding_out(error_estimator, given, cv),
        "never_held_out": _describe_rare(held_out, y, cv),
    }


def _about_holding_out(error_estimator: Any, given: GivenOutputs | None, cv: Any) -> str:
    splits, held_out = error_estimator.splits_, error_estimator.held_out_
    if given is not None:
        measured = held_out.unit.all_rows.format(held_out.unit.show(float(held_out.losses.mean())))
        return f"{given.describe()} {UNSEEN.format(measured)}"
    if isinstance(error_estimator.estimator, FrozenEstimator):
        return "The model was used as it is, not fitted again: no row here may be one that it was trained on."
    if _hold_out_later(splits):
        n_first = number(len(splits[0][0]))
        return (
            f"Each row was predicted by a model of earlier rows only ({len(splits)} folds in the order of time); the "
            f"first {n_first} were only learned from. {LATER}"
        )
    if cv is not None and not isinstance(cv, Integral):
        name = type(cv).__name__ if hasattr(cv, "split") else "the splits that were given"
        return f"Rows were held out by {name[:LONGEST_NAME]}, in {len(splits)} splits."
    if held_out.groups is not None:
        return f"Rows were held out in {len(splits)} folds, all rows of a group together."
    return f"Rows were held out in {len(splits)} folds, drawn at random (shuffled)."


def _hold_out_later(splits: list[Split]) -> bool:
    """Whether every split holds out rows behind those that it learns from."""
    return all(train.max() < test.min() for train, test in splits)


def _describe_rare(held_out: HeldOut, y: NDArray[Any], cv: Any) -> dict[str, Any] | None:
    """Rows of classes too rare to be held out, these classes, and a sentence; None if there are none.

    Rows that a splitter of the user leaves out are not meant.
    """
    n_rows = len(y) - len(held_out.rows)
    if n_rows == 0 or not (cv is None or isinstance(cv, Integral)):
        return None
    rest = np.delete(y, held_out.rows)
    labels, counts = np.unique(rest[~np.isin(rest, held_out.truth)], return_counts=True)
    classes = {str(label): int(count) for label, count in zip(labels, counts, strict=True)}
    names = [f"{label} ({plural(count, 'row')})" for label, count in classes.items()]
    if len(names) > MOST_CLASSES:
        names = [*names[:MOST_CLASSES], f"{number(len(names) - MOST_CLASSES)} more"]
    which = f"the class{'es' if len(names) > 1 else ''} {', '.join(names)}"
    few = f"too few rows have {which}"
    if held_out.groups is not None:  # a class may have too few groups even if one is held out
        few = f"too few groups have {which if names else 'one of their classes'}, and a group is held out as a whole"
    are, they = ("is", "it is") if n_rows == 1 else ("are", "they are")
    sentence = (
        f"{plural(n_rows, 'row')} {are} used for training but not for evaluation, so it is unknown how well {they} "
        f"predicted: {few}."
    )
    described = [{"label": label, "n_rows": count} for label, count in classes.items()]
    return {"n_rows": n_rows, "classes": described, "sentence": sentence}


def describe_how(
    error_estimator: Any,
    n_rows: int,
    *,
    is_given: bool,
    seconds: float,
    command: str | None,
    n_map: int,
) -> dict[str, Any]:
    """Date, versions, seed, sizes and caveats."""
    held_out: HeldOut = error_estimator.held_out_
    refits = not isinstance(error_estimator.estimator, FrozenEstimator)
    n_reference = len(error_estimator.reference_rows_)
    sampled = f"Neighbours are searched among {number(n_reference)} rows drawn at random."
    caveats = [
        OUTPUTS_ONLY if is_given else SEEN_BY_NONE,
        f"{PROMISED} {EXACT}" if held_out.unit.is_share else PROMISED,
        "" if held_out.costs is None else _about_costs(held_out.costs, held_out.classes),
        REFITTED if refits else "",
        LATER if _hold_out_later(error_estimator.splits_) else "",
        MEAN_ERRORS if held_out.classes is None else "",
        "" if held_out.groups is None else GROUPED,
        sampled if n_reference < n_rows else "",
    ]
    return {
        "random_state": error_estimator.random_state,
        **describe_run(
            {
                "rows": n_rows,
                "rows predicted out of fold": len(held_out.rows),
                "models fitted on parts of the rows": error_estimator.n_splits_ if refits else 0,
                "rows among which neighbours are searched": n_reference,
                "rows on the map and in the table": n_map,
            },
            [caveat for caveat in caveats if caveat],
            seconds=seconds,
            command=command or "ReliabilityReport(estimator, X, y).write_html(...)",
        ),
    }


def _about_costs(costs: Floats, classes: Any) -> str:
    """Sentence with the costs other than 1, the largest first."""
    others = np.argwhere(costs != 1.0 - np.eye(len(classes)))
    ranked = [
        f"“{classes[i]}” predicted as “{classes[j]}” {number(float(costs[i, j]))}"
        for i, j in sorted(others, key=lambda pair: -costs[tuple(pair)])
    ]
    more = f", and {len(ranked) - MOST_COSTS} more" if len(ranked) > MOST_COSTS else ""
    given = f" except {', '.join(ranked[:MOST_COSTS])}{more}" if ranked else ""
    return f"Figures of errors are costs: every mistake costs 1{given}, and a right answer 0 unless it is named here."


def describe_run(
    sizes: dict[str, int], caveats: list[str], *, seconds: float, command: str
) -> dict[str, Any]:
    """Date, duration, installed versions, sizes, caveats and command of any report."""
    installed = {name: version(name) for name in PACKAGES if find_spec(MODULES.get(name, name))}
    return {
        "date": date.today().isoformat(),  # noqa: DTZ011 - the reader's day, not an instant
        "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version()} | installed,
        "sizes": sizes,
        "caveats": caveats,
        "command": command,
    }
