"""Recalibration of scores that are out of fold already."""

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from surefoot._splits import learner_folds
from surefoot._typing import Floats
from surefoot.recalibration._platt import PlattCalibrator, as_probabilities, class_targets


def recalibrated_probabilities(
    scores: Any, y: Any, *, groups: Any = None, random_state: Any = None
) -> Floats:
    """Recalibrated class probabilities of held-out rows, by Platt calibrators fitted on other rows.

    With out-of-fold scores, such as `IndividualErrorClassifier.held_out_.scores`, this shows whether
    `RecalibratedClassifier` would help, without fitting the model again.

    Parameters
    ----------
    scores : array-like of shape (n_rows, 1 or n_classes)
        Out-of-fold log-odds or decision values: one column for two classes, that of the second, else one per
        class.
    y : array-like of shape (n_rows,)
        Labels.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group stay in one fold, so that none is calibrated by its own group.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Returns
    -------
    probabilities : ndarray of shape (n_rows, n_classes)
        One column per class, in the order of the sorted labels.

    Examples
    --------
    Log-odds that are three times too large become calibrated:

    >>> import numpy as np
    >>> from surefoot.recalibration import recalibrated_probabilities
    >>> draw = np.random.default_rng(0)
    >>> odds = draw.normal(size=2000)
    >>> y = draw.random(2000) < 1 / (1 + np.exp(-odds))
    >>> probability = recalibrated_probabilities(3 * odds[:, None], y, random_state=0)[:, 1]
    >>> bool(np.abs(probability - 1 / (1 + np.exp(-odds))).max() < 0.05)
    True
    """
    scores = check_array(scores, dtype=np.float64, input_name="scores")
    y = column_or_1d(y)
    check_consistent_length(scores, y)
    classes, codes = np.unique(y, return_inverse=True)
    expected = 1 if len(classes) == 2 else len(classes)
    if scores.shape[1] != expected:
        raise ValueError(
            f"scores has {scores.shape[1]} columns, and y {len(classes)} classes: "
            "there must be one for two classes, else one a class."
        )
    targets = class_targets(codes, len(classes))
    positive = np.empty((len(y), len(targets)))
    for train, test in learner_folds(len(y), groups, random_state):
        for c, target in enumerate(targets):
            if target[train].min() == target[train].max():  # one class only: nothing to learn
                positive[test, c] = target[train].mean()
                continue
            calibrator = PlattCalibrator().fit(scores[train, c : c + 1], target[train])
            positive[test, c] = calibrator.predict_proba(scores[test, c : c + 1])[:, 1]
    return as_probabilities(positive)
