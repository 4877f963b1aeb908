"""Metaclassifier of one topic: its score from columns, and its threshold."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from scipy.special import logit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from surefoot._crossfit import CrossFitter, Panel
from surefoot._typing import Floats, Ints
from surefoot.ensemble._threshold import learn_threshold

# Folds for the out-of-fold scores on which the threshold is learned.
FOLDS = 5

# C of the default metaclassifier: small, because the columns of several models are correlated.
PENALTY = 0.1

# A best F1 below this is no better than chance, and its threshold would assign a rare topic to most rows.
LEAST_F1 = 0.1


class Combination(NamedTuple):
    """A fitted metaclassifier, its threshold, and its out-of-fold scores of the training rows.

    Without a metaclassifier the score of every row is `prior`, the log-odds of the topic.
    """

    model: Any
    panel: Panel | None
    prior: float
    threshold: float
    held_out: Floats

    def score(self, table: Any) -> Floats:
        """Scores of rows, before the threshold."""
        if self.panel is None:
            return np.full(table.shape[0], self.prior)
        return self.panel(table).scores[:, 0]


def combine(
    final_estimator: Any,
    columns: Floats,
    passed: Any,
    truth: Ints,
    *,
    threshold: str | float,
    units: NDArray[Any] | None,
    sample_weight: Floats | None,
) -> Combination:
    """Fit a metaclassifier on the columns of held-out rows, unless there are too few rows for folds."""
    # A fold whose training rows all lack the topic has no model of it, and NaN in its columns.
    known = ~np.isnan(columns).any(axis=1)
    prior = prior_log_odds(truth)
    rows = (np.arange(len(truth)) if units is None else units)[known]
    if min(len(np.unique(rows[truth[known] == value])) for value in (0, 1)) < 2:
        return Combination(None, None, prior, 0.0, np.full(len(truth), prior))
    table = beside(columns, passed)[known]
    fitter = CrossFitter(
        [],
        default_final(table) if final_estimator is None else final_estimator,
        table,
        truth[known],
        cv=FOLDS,
        groups=None if units is None else rows,
        sample_weight=(weight := None if sample_weight is None else sample_weight[known]),
    )
    held_out = np.full(len(truth), np.nan)
    places, scores = (fitted := fitter.held_out()).rows, fitted.scores[:, 0]
    held_out[np.flatnonzero(known)[places]] = scores
    line = threshold
    if isinstance(threshold, str):
        line = learn_threshold(
            scores,
            truth[known][places],
            threshold,
            sample_weight=None if weight is None else weight[places],
            least_f1=LEAST_F1,
        )
    model = fitter.model(fitter.everything)
    return Combination(model, fitter.panel(), prior, float(line), held_out)


def prior_log_odds(truth: Ints) -> float:
    """Log-odds of a topic, from its share of the rows; finite also if no row or every row has it."""
    return float(logit((truth.sum() + 0.5) / (len(truth) + 1)))


def beside(columns: Floats, passed: Any) -> Any:
    """Columns of the metaclassifier followed by those of X, sparse if X is; without X unchanged."""
    if passed is None:
        return columns
    if issparse(passed):
        return csr_array(hstack([columns, passed]))
    return np.hstack([columns, np.asarray(passed)])


def default_final(table: Any) -> Any:
    """Default metaclassifier: a linear support vector machine on standardised columns; sparse ones are not centred.

    Dense columns are clipped to the range of the held-out rows: a column that hardly varies there, for example
    one at a bound that depends on the number of rows, would otherwise get a very large value on a new row.
    """
    svm = LinearSVC(C=PENALTY, dual=False, max_iter=10_000, random_state=0)
    if issparse(table):
        return make_pipeline(StandardScaler(with_mean=False), svm)
    return make_pipeline(MinMaxScaler(clip=True), StandardScaler(), svm)
