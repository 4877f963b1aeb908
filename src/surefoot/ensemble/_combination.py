"""Metaclassifiers of topics: their scores from columns, and their thresholds."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from scipy.special import logit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from surefoot._crossfit import Panel, cross_fit
from surefoot._logistic import LogOddsLine, SteppedLogistic, best_departure, steps_of
from surefoot._splits import FOLDS, learner_folds, with_every_class
from surefoot._typing import Floats, Ints

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
        if isinstance(self.model, LogOddsLine):
            return self.model.decision_function(table)
        if self.panel is None:
            return np.full(table.shape[0], self.prior)
        return self.panel(table).scores[:, 0]


def combine_all(
    columns: Floats,
    truth: Ints,
    n_scores: int,
    *,
    one_topic_each: bool,
    threshold: str | float,
    units: NDArray[Any] | None,
    sample_weight: Floats | None,
    seed: int,
) -> list[Combination]:
    """Default metaclassifiers of all topics: they start from the best model's score, and share what they learn.

    `columns` has shape (n_rows, n_topics, n_columns), of which the first `n_scores` are scores of base models.
    `seed` is that of the folds.
    """
    counts = [_count_units(columns[:, t], truth[:, t], units) for t in range(truth.shape[1])]
    learned = np.flatnonzero(np.array(counts) >= 2)
    combinations = [_constant(column) for column in truth.T]
    if len(learned) == 0:
        return combinations
    few, targets = columns[:, learned], truth[:, learned]
    weight = np.ones(len(truth)) if sample_weight is None else sample_weight
    n_scores = n_scores or columns.shape[2]
    own = best_score(few[:, :, :n_scores], targets, weight, one_topic_each=one_topic_each)
    meta = SteppedLogistic(own, steps_of(n_scores, columns.shape[2], len(learned)))
    meta.fit(few, targets, list(learner_folds(len(truth), units, seed)), weight=weight, units=units)
    for place, topic in enumerate(learned):
        held_out = meta.held_out_[:, place]
        line = cautious_threshold(held_out, truth[:, topic], threshold, weight, units)
        combinations[topic] = combinations[topic]._replace(
            model=meta.lines_[place], threshold=line, held_out=held_out
        )
    return combinations


def best_score(scores: Floats, truth: Ints, weight: Floats, *, one_topic_each: bool) -> int:
    """Number of the base model whose own decisions on held-out rows have the lowest error."""
    known = np.asarray(~np.isnan(scores).any(axis=2))
    if one_topic_each and scores.shape[1] > 1:
        top = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)
        assigned = top[:, None, :] == np.arange(scores.shape[1])[:, None]
    else:
        assigned = scores > 0
    wrong = (assigned != (truth == 1)[:, :, None]) & known[:, :, None]
    return int((wrong * weight[:, None, None]).sum(axis=(0, 1)).argmin())


def cautious_threshold(
    log_odds: Floats,
    truth: Ints,
    threshold: str | float,
    weight: Floats,
    units: NDArray[Any] | None,
) -> float:
    """Threshold of log-odds: the given one, that of the best F1, or for the least error 0 unless another pays."""
    if not isinstance(threshold, str):
        return float(threshold)
    known = ~np.isnan(log_odds)
    values, target, weight = log_odds[known], truth[known], weight[known]
    learned = learn_threshold(values, target, threshold, sample_weight=weight, least_f1=LEAST_F1)
    if threshold == "f1":
        return learned
    losses = (values[:, None] > np.array([0.0, learned])) != (target == 1)[:, None]
    pays = best_departure(
        losses.astype(np.float64), weight, None if units is None else units[known]
    )
    return learned if pays else 0.0


def _constant(truth: Ints) -> Combination:
    """Combination whose score is the prior for every row; finite also if no row or every row has the topic."""
    prior = float(logit((truth.sum() + 0.5) / (len(truth) + 1)))
    return Combination(None, None, prior, 0.0, np.full(len(truth), prior))


def _count_units(columns: Floats, truth: Ints, units: NDArray[Any] | None) -> int:
    """Units of held-out rows, with known columns, of the rarer of the two classes."""
    # A fold whose training rows all lack the topic has no model of it, and NaN in its columns.
    known = ~np.isnan(columns).any(axis=1)
    rows = (np.arange(len(truth)) if units is None else units)[known]
    return min(len(np.unique(rows[truth[known] == value])) for value in (0, 1))


def combine(
    final_estimator: Any,
    columns: Floats,
    passed: Any,
    truth: Ints,
    *,
    threshold: str | float,
    units: NDArray[Any] | None,
    sample_weight: Floats | None,
    seed: int,
) -> Combination:
    """Fit a metaclassifier on the columns of held-out rows, unless there are too few rows for folds."""
    if _count_units(columns, truth, units) < 2:
        return _constant(truth)
    known = ~np.isnan(columns).any(axis=1)
    table = beside(columns, passed)[known]
    weight = None if sample_weight is None else sample_weight[known]
    target, groups = truth[known], None if units is None else units[known]
    splits: Any = FOLDS
    if groups is not None:  # `StratifiedGroupKFold` would take seconds for thousands of groups
        drawn = learner_folds(len(target), groups, seed, target)
        splits = [with_every_class(*fold, target, groups) for fold in drawn]
    final = default_final(table) if final_estimator is None else final_estimator
    given: dict[str, Any] = {"groups": groups, "sample_weight": weight, "random_state": seed}
    cross = cross_fit(final, [], table, target, cv=splits, **given)
    held_out = np.full(len(truth), np.nan)
    places, scores = cross.held_out.rows, cross.held_out.scores[:, 0]
    held_out[np.flatnonzero(known)[places]] = scores
    if isinstance(threshold, str):
        threshold = learn_threshold(
            scores,
            target[places],
            threshold,
            sample_weight=None if weight is None else weight[places],
            least_f1=LEAST_F1,
        )
    return _constant(truth)._replace(
        model=cross.deployed.model,
        panel=cross.deployed.panel,
        threshold=float(threshold),
        held_out=held_out,
    )


def beside(columns: Floats, passed: Any) -> Any:
    """Columns of the metaclassifier followed by those of X, sparse if X is; without X unchanged."""
    if passed is None:
        return columns
    if issparse(passed):
        return csr_array(hstack([columns, passed]))
    return np.hstack([columns, np.asarray(passed)])


def default_final(table: Any) -> Any:
    """Metaclassifier of scores and rows together: a linear support vector machine on standardised columns.

    Sparse columns are not centred.
    Dense columns are clipped to the range of the held-out rows: a column that hardly varies there, for example
    one at a bound that depends on the number of rows, would otherwise get a very large value on a new row.
    """
    # C is small because the columns of several models are correlated.
    svm = LinearSVC(C=0.1, dual=False, max_iter=10_000, random_state=0)
    if issparse(table):
        return make_pipeline(StandardScaler(with_mean=False), svm)
    return make_pipeline(MinMaxScaler(clip=True), StandardScaler(), svm)


def learn_threshold(
    scores: Floats,
    truth: Ints,
    objective: str,
    *,
    sample_weight: Floats | None = None,
    least_f1: float = 0.0,
) -> float:
    """Threshold with the lowest error, or the best F1, if rows with a higher score are called positive.

    Candidates are 0, the threshold of the scores themselves, the middles between two consecutive scores, and one beyond
    either end. Of equally good candidates the one nearest to 0 is taken. If even the best F1 is below `least_f1`, the
    threshold is the highest score, so that the topic is not assigned (Yang 2001 calls it SCutFBR.1).
    """
    weight = np.ones(len(scores)) if sample_weight is None else sample_weight
    order = np.argsort(scores)
    ranked, positive = scores[order], (truth == 1)[order] * weight[order]
    middles = (ranked[1:] + ranked[:-1]) / 2
    cuts = np.concatenate([[0.0, ranked[0] - 1, ranked[-1] + 1], middles[ranked[1:] > ranked[:-1]]])
    # Weights of the positive and of the negative rows above each candidate.
    first = np.searchsorted(ranked, cuts, side="right")
    below = np.concatenate([[0.0], np.cumsum(positive)])[first]
    true, missed = positive.sum() - below, below
    false = np.append(np.cumsum((weight[order] - positive)[::-1])[::-1], 0.0)[first]
    if objective == "error":
        value = -(false + missed)
    else:
        total = 2 * true + false + missed
        value = np.divide(2 * true, total, out=np.zeros(len(cuts)), where=total > 0)
        if value.max() < least_f1:
            return float(ranked[-1])
    best = np.sort(cuts[value >= value.max() - 1e-9])[::-1]
    return float(best[np.abs(best).argmin()])
