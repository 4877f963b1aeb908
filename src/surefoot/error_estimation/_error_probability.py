"""Probability that a prediction is wrong, learned from columns: starting from a prior or from own confidence."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import expit, logit, ndtr, ndtri
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from surefoot._files import write_whole
from surefoot._logistic import LogOddsLine, calibrate, fit_logistic, smoothed_targets, with_ones
from surefoot._models import fit_model
from surefoot._splits import learner_folds
from surefoot._typing import Floats, Ints, Split

# Prior that ships with surefoot.
SHIPPED = Path(__file__).with_name("error_prior.json")

# Places, evenly spaced in normal scores, at which the distribution of a column is kept.
N_KNOTS = 400

# Penalty of the intercept, towards its prior: almost none, since every row informs it.
LEVEL = 1e-2

# Penalty of the model's own columns, towards their prior weights: about as strong as one row.
LIGHT = 1.0

# Penalties of the other columns, relative to the number of rows, strongest first: the first one leaves only the
# model's own confidence.
PENALTIES = 10.0 ** np.arange(1, -6, -1)

FOLDS = 5

# Penalty that has no effect on the two weights of a calibration.
NEGLIGIBLE_PENALTY = 1e-6


@dataclass(frozen=True, eq=False)
class ErrorPrior:
    """Prior of the weights of a logistic regression of errors: mean and covariance over many other tables.

    An error estimator starts from the mean, and departs from it as far as its own held-out rows support: its weights
    are the posterior mode of a logistic regression whose weights are normal around `mean`. The prior that ships
    (`ErrorPrior.shipped()`) was learned on tables of PMLB.

    Attributes
    ----------
    version : int
        Number of the columns' definition: a prior fits columns of the same names and meaning only.
    columns : tuple of str
        Names of the columns, as `get_column_names` returns them.
    mean : ndarray of shape (n_weights,)
        Mean weights of the columns: of log-odds as they are, of others as normal scores of their ranks.
    covariance : ndarray of shape (n_weights, n_weights)
        Their covariance over tables and models.
    tables : tuple of str
        Names of the tables that it was learned on.
    n_cases : int
        Number of models on tables that it was learned on.

    Examples
    --------
    >>> from surefoot.error_estimation import ErrorPrior
    >>> prior = ErrorPrior.shipped()
    >>> len(prior.mean) == len(prior.columns), len(prior.tables) > 50
    (True, True)
    """

    version: int
    columns: tuple[str, ...]
    mean: Floats
    covariance: Floats
    tables: tuple[str, ...]
    n_cases: int

    @classmethod
    def shipped(cls) -> Self:
        """Prior that ships with surefoot."""
        return cls.load(SHIPPED)

    @classmethod
    def load(cls, path: Any) -> Self:
        """Prior from a file that `save` wrote; a ValueError if it is none."""
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls(
                version=int(values["version"]),
                columns=tuple(values["columns"]),
                mean=np.array(values["mean"], dtype=np.float64),
                covariance=np.array(values["covariance"], dtype=np.float64),
                tables=tuple(values["tables"]),
                n_cases=int(values["n_cases"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} holds no prior that `ErrorPrior.save` wrote.") from error

    def save(self, path: Any) -> None:
        """Write the prior as JSON: plain numbers and names."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {
            name: np.round(value, 6).tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        }
        write_whole(Path(path), (json.dumps(plain, indent=1) + "\n").encode())

    def normal_scores(self, held_out: Any, rows: Any) -> Floats:
        """Inputs of the regression: log-odds as they are, and normal scores of other columns among the held-out rows.

        Parameters
        ----------
        held_out, rows : array-like of shape (n_rows, n_columns)
            The prior's columns for the held-out rows and for the rows in question.

        Returns
        -------
        scores : ndarray of shape (n_rows, n_weights)
            Scores of the columns.
        """
        scores = NormalScores(np.asarray(held_out, dtype=np.float64), self.columns)
        return scores(np.asarray(rows, dtype=np.float64))

    def posterior(
        self, scores: Any, targets: Any, weight: Any = None, level: float | None = None
    ) -> tuple[Floats, Floats]:
        """Most probable weights once rows are seen, and their covariance by a normal approximation.

        Parameters
        ----------
        scores : array-like of shape (n_rows, n_weights)
            Scores of the columns, as `normal_scores` returns them.
        targets : array-like of shape (n_rows,)
            Whether each prediction was wrong (1) or not (0), or numbers near these.
        weight : array-like of shape (n_rows,), default=None
            Weights of the rows.
        level : float, default=None
            Log-odds of an error before the rows are seen; None for those of the share of errors among them.

        Returns
        -------
        mean, covariance : ndarray of shape (n_weights + 1,), (n_weights + 1, n_weights + 1)
            Those of the intercept and of the weights of the columns.
        """
        weight = np.ones(len(scores)) if weight is None else weight
        level = log_odds_of_share(targets, weight) if level is None else level
        penalty = block_diag(LEVEL, np.linalg.inv(self.covariance))
        start = np.append(level, self.mean)
        weights, curvature = fit_logistic(with_ones(scores), targets, weight, penalty, start)
        return weights, np.asarray(np.linalg.inv(curvature))

    def estimate(self, columns: Any, wrong: Any, new_columns: Any) -> Floats:
        """Estimated errors of new rows, starting from the prior and learned from held-out rows; lower is better.

        Parameters
        ----------
        columns, new_columns : array-like of shape (n_rows, n_columns)
            The prior's columns for the held-out rows and for the new rows.
        wrong : array-like of shape (n_rows,)
            Whether each held-out prediction was wrong (1) or not (0).

        Returns
        -------
        error : ndarray of shape (n_rows,)
            Probability that the prediction of each new row is wrong.
        """
        known, new = (np.asarray(each, dtype=np.float64) for each in (columns, new_columns))
        learner = PretrainedLogisticRegression(self, random_state=0).fit(known, np.asarray(wrong))
        return learner.predict_proba(new)[:, 1]


def prior_for(columns: Iterable[str], setting: Any) -> ErrorPrior | None:
    """Prior for columns of these names: the given one, or for "auto" the one that ships if it has these columns."""
    prior = ErrorPrior.load(SHIPPED) if isinstance(setting, str) else setting
    if prior is None or tuple(columns) == prior.columns:
        return prior
    if prior is setting:
        raise ValueError("prior was learned on other columns than the indicators have.")
    return None


class NormalScores:
    """Columns as normal scores of their ranks among held-out rows, and log-odds of predicted classes as they are.

    A score is the value that a standard normal variable has at the same rank. So columns of any unit and any shape, and
    with any outliers, can be compared from table to table. Log-odds mean the same everywhere: columns whose names end
    with `log_odds` keep their values.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Columns of the held-out rows.
    columns : sequence of str
        Their names.
    weight : ndarray of shape (n_rows,), default=None
        Weights of the rows.
    """

    # Columns are taken in single precision, so that values which differ by rounding alone have the same rank.
    @np.errstate(over="ignore")
    def __init__(self, table: Floats, columns: Sequence[str], weight: Floats | None = None) -> None:
        weight = np.ones(len(table)) if weight is None else weight
        counts = weight > 0
        is_log_odds = [name.endswith("log_odds") for name in columns]
        self.highest = np.where(is_log_odds, table[counts].max(axis=0), np.inf)
        self.scales = [
            None if is_kept else _scale(column, weight[counts])
            for is_kept, column in zip(is_log_odds, table[counts].astype(np.float32).T, strict=True)
        ]

    @np.errstate(over="ignore")
    def __call__(self, table: Floats) -> Floats:
        """Scores of rows; beyond the held-out rows they are those of the first or the last of them.

        The score of a value between two known ones, however near, is the middle of theirs. No row counts as surer
        than the surest of the held-out rows, but low log-odds have their full effect.
        """
        scores = np.minimum(table, self.highest)
        for place, (column, scale) in enumerate(
            zip(table.astype(np.float32).T, self.scales, strict=True)
        ):
            if scale is not None:
                values, known = scale
                below = np.maximum(np.searchsorted(values, column, side="right") - 1, 0)
                above = np.minimum(np.searchsorted(values, column, side="left"), len(values) - 1)
                scores[:, place] = (known[below] + known[above]) / 2
        return scores


def _scale(column: NDArray[np.float32], weight: Floats) -> tuple[NDArray[np.float32], Floats]:
    """Values of a column, ascending, and their normal scores: of a tie the middle one."""
    furthest = ndtri((len(column) + 0.5) / (len(column) + 1))
    scores = np.linspace(-furthest, furthest, N_KNOTS)
    order = np.argsort(column, kind="stable")
    reached = np.cumsum(weight[order])
    places = np.searchsorted(reached, ndtr(scores) * reached[-1])
    knots = column[order][np.minimum(places, len(column) - 1)]
    values, first, counts = np.unique(knots, return_index=True, return_counts=True)
    return values, (scores[first] + scores[first + counts - 1]) / 2


def log_odds_of_share(wrong: Any, weight: Floats) -> float:
    """Log-odds of the share of rows that are wrong, by the rule of succession."""
    return float(logit((weight @ wrong + 1) / (weight.sum() + 2)))


def error_folds(wrong: Ints, weight: Floats, groups: Any, random_state: Any) -> list[Split]:
    """Folds by groups, if there are any, or stratified; all rows as one fold if there are too few errors to divide."""
    n_groups = 0 if groups is None else len(np.unique(groups))
    if min(np.count_nonzero(weight[wrong == label]) for label in (0, 1)) < 2:
        every = np.arange(len(wrong))
        return [(every, every)]
    if n_groups > 1:
        return list(GroupKFold(min(FOLDS, n_groups)).split(wrong, groups=groups))
    n_folds = min(FOLDS, int(wrong.sum()), int(len(wrong) - wrong.sum()))
    shuffled = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    return list(shuffled.split(wrong, wrong))


class PretrainedLogisticRegression(BaseEstimator):
    """Logistic regression of errors that starts from a prior: its weights stay there until the rows differ.

    Columns are taken as normal scores of their ranks, log-odds as they are. Before the rows are seen, their weights are
    normal, with the prior's mean and covariance; fitted, they are the most probable ones given the rows too. Few errors
    hardly move them, many move them freely.

    Parameters
    ----------
    prior : ErrorPrior
        Where to start from.
    random_state : int, RandomState or None, default=None
        Seed of the folds of `held_out_probability_`.

    Attributes
    ----------
    line_ : LogOddsLine
        Log-odds of being wrong, by the scores.
    held_out_probability_ : ndarray of shape (n_rows,)
        Out-of-fold probabilities of the training rows.
    """

    def __init__(self, prior: ErrorPrior, *, random_state: Any = None) -> None:
        self.prior = prior
        self.random_state = random_state

    def fit(self, X: Floats, y: Ints, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit on columns and on whether predictions were wrong (1) or not (0); rows of one group stay in one fold."""
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.scores_ = NormalScores(X, self.prior.columns, weight)
        scores, self.held_out_probability_ = self.scores_(X), np.empty(len(y))
        level = log_odds_of_share(y, weight)

        def learn(part: Ints) -> Floats:
            """Weights of the rows of a part."""
            targets = smoothed_targets(y[part], weight[part])
            return self.prior.posterior(scores[part], targets, weight[part], level)[0]

        for train, test in error_folds(y, weight, groups, self.random_state):
            self.held_out_probability_[test] = expit(with_ones(scores[test]) @ learn(train))
        weights = learn(np.arange(len(y)))
        self.line_ = LogOddsLine(float(weights[0]), weights[1:])
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities of being right and of being wrong."""
        return self.line_.predict_proba(self.scores_(X))


class ShrunkLogisticRegression(BaseEstimator):
    """Logistic regression of errors that is shrunk towards the model's own confidence.

    Columns are standardised. The first `n_own` columns, the model's own confidence, are hardly penalised; the others
    have a ridge penalty, chosen by cross-validated log loss. With the strongest penalty the model's own confidence
    alone ranks the rows. The prior takes the first own column as the log-odds of being right, so that without data the
    model's confidence is returned. With fewer than two wrong or two right rows only the intercept is learned.

    Parameters
    ----------
    n_own : int, default=0
        Number of leading columns that are the model's own confidence, log-odds of the predicted class first.
    directions : array-like of shape (n_columns,), default=None
        Whether a higher value makes a mistake more (1) or less likely (-1), 0 if either may be. Weights of the other
        columns that have another sign are shrunk towards 0 unless many errors support them.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    line_ : LogOddsLine
        Log-odds of being wrong, by the standardised columns.
    held_out_probability_ : ndarray of shape (n_rows,)
        Out-of-fold probabilities of the training rows.
    penalty_ : float
        The penalty chosen.

    Examples
    --------
    >>> import numpy as np
    >>> own, other = np.random.default_rng(0).normal(size=(2, 400))
    >>> wrong = (own + other < 0).astype(int)
    >>> meta = ShrunkLogisticRegression(n_own=1, random_state=0).fit(np.c_[own, other], wrong)
    >>> meta.predict_proba(np.array([[2.0, 2.0], [2.0, -3.0]]))[:, 1].round(2)
    array([0., 1.])
    """

    def __init__(self, *, n_own: int = 0, directions: Any = None, random_state: Any = None) -> None:
        self.n_own = n_own
        self.directions = directions
        self.random_state = random_state

    def fit(self, X: Floats, y: Ints, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit on columns and on whether predictions were wrong (1) or not (0); rows of one group stay in one fold."""
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        scaler = StandardScaler().fit(X, sample_weight=weight)
        self._center, self._scale = scaler.mean_, scaler.scale_
        rows = with_ones((X - self._center) / self._scale)
        self._seen = rows[:, 1:].min(axis=0), rows[:, 1:].max(axis=0)
        start, signs = np.zeros((2, rows.shape[1]))
        if self.n_own:
            start[:2] = -self._center[0], -self._scale[0]
        if self.directions is not None:
            signs[1 + self.n_own :] = self.directions[self.n_own :]
        folds = error_folds(y, weight, groups, self.random_state)
        # Neither the columns' weights nor their penalty can be learned from a single error.
        learns = len(folds) > 1
        is_free = np.arange(rows.shape[1]) <= (self.n_own if learns else 0)

        def path(part: Ints) -> Floats:
            """Weights of the rows of a part for each penalty of the columns that are not free."""
            data = rows[part], smoothed_targets(y[part], weight[part]), weight[part]
            pulls = np.where(is_free, LIGHT, PENALTIES[:, None] * weight[part].sum())
            pulls[:, 0] = LEVEL
            fits = [fit_logistic(*data, pull, start, signs=signs).weights for pull in pulls]
            return np.array(fits)

        log_odds = np.empty((len(y), len(PENALTIES)))
        for train, test in folds:
            log_odds[test] = rows[test] @ path(train).T
        losses = weight @ (np.logaddexp(0, log_odds) - y[:, None] * log_odds)
        best = int(np.argmin(losses)) if learns else 0
        self.penalty_ = float(PENALTIES[best])
        self.held_out_probability_ = expit(log_odds[:, best])
        weights = path(np.arange(len(y)))[best]
        self.line_ = LogOddsLine(float(weights[0]), weights[1:])
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities of being right and of being wrong.

        Columns are clipped to the range of the training rows, so that almost constant ones have no effect. The model's
        own columns are not clipped where it is less confident than the most confident training row: low confidence
        must have its full effect.
        """
        rows = (X - self._center) / self._scale
        clipped = np.clip(rows, *self._seen)
        if self.n_own:
            unsure = rows[:, 0] < self._seen[1][0]
            clipped[unsure, : self.n_own] = rows[unsure, : self.n_own]
        return self.line_.predict_proba(clipped)


class CalibratedLearner:
    """Any other learner of errors, recalibrated by a logistic regression on its out-of-fold outputs.

    Parameters
    ----------
    learner : classifier or regressor
        Learns from the columns whether a prediction is wrong (1) or not (0).
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    learner_ : classifier or regressor
        The fitted learner; None if all predictions are right, or all wrong.
    held_out_probability_ : ndarray of shape (n_rows,)
        Calibrated out-of-fold probabilities of the training rows.
    """

    def __init__(self, learner: Any, random_state: Any) -> None:
        self.learner = learner
        self.random_state = random_state

    def fit(self, table: Floats, wrong: Ints, weight: Any, groups: Any) -> Self:
        """Fit on out-of-fold columns and on whether each prediction was wrong (1) or not (0)."""
        self.learner_, outputs = None, np.zeros(len(wrong))
        counted = wrong if weight is None else wrong[weight > 0]
        if counted.min() == counted.max():
            self.line_ = LogOddsLine(log_odds_of_share(counted, np.ones(len(counted))), np.zeros(1))
        else:
            folds = learner_folds(len(wrong), groups, self.random_state)
            self.learner_, outputs = cross_fit(self.learner, table, wrong, weight, folds)
            counts = np.ones(len(wrong)) if weight is None else weight
            self.line_ = calibrate(outputs[:, None], wrong, counts, NEGLIGIBLE_PENALTY)
        self.held_out_probability_ = self.line_.predict_proba(outputs[:, None])[:, 1]
        return self

    def predict_proba(self, table: Floats) -> Floats:
        """Probabilities of being right and of being wrong."""
        is_constant = self.learner_ is None
        outputs = np.zeros(len(table)) if is_constant else learner_output(self.learner_, table)
        return self.line_.predict_proba(outputs[:, None])


def check_learner(learner: Any) -> None:
    """Raise one sentence unless this is None, a classifier or a regressor."""
    # scikit-learn 1.8 cannot tell the kind of a class.
    is_model = hasattr(learner, "fit") and not isinstance(learner, type)
    fits = is_model and hasattr(learner, "__sklearn_tags__")
    if learner is not None and not (fits and (is_classifier(learner) or is_regressor(learner))):
        raise TypeError(f"learner={learner!r} is no model: it may be a classifier or regressor.")


def learner_output(learner: Any, table: Floats) -> Floats:
    """P(target = 1) or decision value of a classifier, or prediction of a regressor."""
    if is_regressor(learner):
        return np.asarray(learner.predict(table), dtype=np.float64)
    if hasattr(learner, "predict_proba"):
        known = np.asarray(learner.classes_) == 1
        return np.asarray(learner.predict_proba(table)[:, known].sum(axis=1))
    return np.asarray(learner.decision_function(table), dtype=np.float64)


def cross_fit(
    learner: Any, table: Floats, target: NDArray[Any], weight: Any, folds: Iterable[Split]
) -> tuple[Any, Floats]:
    """A learner, fitted to a target, and the `learner_output` for each row of one without its fold."""
    outputs = np.empty(len(target))
    for train, test in folds:
        if is_classifier(learner) and target[train].min() == target[train].max():
            outputs[test] = target[train[0]]
            continue
        known = None if weight is None else weight[train]
        fitted = fit_model(clone(learner), table[train], target[train], known)
        outputs[test] = learner_output(fitted, table[test])
    return fit_model(learner, table, target, weight), outputs
