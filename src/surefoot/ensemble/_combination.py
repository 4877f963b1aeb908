"""What a metaclassifier learns of one topic: a score from columns, and where to draw the line."""

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

# Folds that the scores come from which a threshold is learned on.
FOLDS = 5

# Of the default metaclassifier: columns of several models say much the same.
PENALTY = 0.1

# Below this the best F1 is no better than luck, and would have a rare topic assigned to most rows.
LEAST_F1 = 0.1


class Combination(NamedTuple):
    """A fitted metaclassifier with its threshold, and its scores of the rows that it had not seen.

    Without a metaclassifier the answer is always `prior`, the log-odds of the topic.
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
    """Fit a metaclassifier on columns of held-out rows, unless they are too few to hold out again."""
    # A fold in which nobody had the topic has no models of it.
    known = ~np.isnan(columns).any(axis=1)
    prior = prior_log_odds(truth)
    rows = (np.arange(len(truth)) if units is None else units)[known]
    if min(len(np.unique(rows[truth[known] == told])) for told in (0, 1)) < 2:
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
    held_out[known] = scores = fitter.held_out().scores[:, 0]
    line = threshold
    if isinstance(threshold, str):
        line = learn_threshold(
            scores, truth[known], threshold, sample_weight=weight, least_f1=LEAST_F1
        )
    model = fitter.model(fitter.everything)
    return Combination(model, fitter.panel(), prior, float(line), held_out)


def prior_log_odds(truth: Ints) -> float:
    """Log-odds of a topic by its share of the rows, as far as that many rows can tell."""
    return float(logit((truth.sum() + 0.5) / (len(truth) + 1)))


def beside(columns: Floats, passed: Any) -> Any:
    """Columns with those of X beside them, sparse if X is; without X as they are."""
    if passed is None:
        return columns
    if issparse(passed):
        return csr_array(hstack([columns, passed]))
    return np.hstack([columns, np.asarray(passed)])


def default_final(table: Any) -> Any:
    """A linear support vector machine on standardised columns; sparse ones are not centred.

    Dense columns are cut off where no held-out row was: a column that hardly varies there, for example
    at a bound that depends on the number of rows, would otherwise be blown up by its small spread.
    """
    svm = LinearSVC(C=PENALTY, dual=False, max_iter=10_000, random_state=0)
    if issparse(table):
        return make_pipeline(StandardScaler(with_mean=False), svm)
    return make_pipeline(MinMaxScaler(clip=True), StandardScaler(), svm)
