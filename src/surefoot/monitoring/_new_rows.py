"""Estimate and comparison of new rows without labels: all at once, or batch by batch in bounded memory."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from surefoot._error_estimators import ErrorEstimator, check_error_estimator
from surefoot._tables import as_table, take_rows
from surefoot._typing import Mask
from surefoot.error_estimation import Judgement
from surefoot.monitoring._performance import (
    Judged,
    PerformanceEstimate,
    check_metric,
    estimate_from,
)
from surefoot.monitoring._shift import (
    ALARM,
    Ratio,
    RowComparison,
    Shift,
    compare_columns,
    density_ratio,
)

# Rows that are kept of all that were added, a uniform sample: their judgements, and the rows themselves.
MOST_JUDGED = 20_000
MOST_ROWS = 5_000

# Fields of a judgement that are kept, as far as it has them.
JUDGED = ("prediction", "error", "wrong", "probabilities")

# Columns that are named for rows outside of the training data, and the least share of the largest effect.
MOST_NAMED, LEAST_SHARED = 3, 0.7


def estimate_performance(
    error_estimator: ErrorEstimator, X_new: Any, *, metric: str = "error", confidence: float = 0.95
) -> PerformanceEstimate:
    """Estimate a model's performance on new rows without labels, corrected for a shift of their inputs.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    X_new : array-like, CSR or frame of shape (n_rows, n_columns)
        New rows.
    metric : str, default="error"
        For a classifier "error" (share of wrong predictions), "accuracy", "cost" (mean cost, if it was fitted with a
        `loss`), "precision", "recall" or "f1": of the second of two classes, or the mean over more than two. For a
        regressor "mean_absolute_error" or "mean_squared_error".
    confidence : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    performance : PerformanceEstimate
        The estimate with its interval, the same number when the model was fitted, and the shift of the inputs.

    See Also
    --------
    NewRows : The same for rows that come in batches.
    compare_rows : Which columns moved, and which rows are novel.

    Notes
    -----
    A classifier that separates new rows from held-out ones, in the neighbour space, gives their density ratio, which
    weighs the held-out rows so that they are like the new ones. With these weights the estimated errors are calibrated
    again, as far as a correction is more than chance. This assumes that the targets of rows with given inputs
    have not changed, P(y|x); only labels can show whether they have. The interval has two parts: the labels of the new
    rows are unknown, and so is how far the calibration on a limited number of held-out rows is right.

    It takes new rows to be independent of each other, and new and held-out rows to come in no groups.

    References
    ----------
    Białek, Kuberski, Perrakis and Bifet, "Estimating model performance under covariate shift without labels", 2024,
    weigh the rows of a calibration so. Ionides, "Truncated importance sampling", Journal of Computational and
    Graphical Statistics 17, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.monitoring import estimate_performance
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[::2], y[::2])
    >>> result = estimate_performance(error_estimator, X[1::2])
    >>> low, high = result.interval
    >>> bool(low < np.mean(error_estimator.predict(X[1::2]) != y[1::2]) < high)
    True
    >>> estimate_performance(error_estimator, X[1::2] + 1000).reason[:61]
    'About 100 % of the new rows lie outside of the training data,'
    """
    rows = NewRows(error_estimator)
    check_metric(error_estimator, metric)
    return rows.add(X_new).estimate(metric, confidence)


def compare_rows(error_estimator: ErrorEstimator, X_new: Any) -> RowComparison:
    """Compare new rows with the held-out rows of `fit`: which columns moved, which rows are novel.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    X_new : array-like, CSR or frame of shape (n_rows, n_columns)
        New rows.

    Returns
    -------
    comparison : RowComparison
        A test of each column, the novel rows, and a test of whether a classifier can separate new rows from old ones.

    See Also
    --------
    estimate_performance : How good the model is on these rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.monitoring import compare_rows
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:300], y[:300])
    >>> new = X[300:].assign(**{"mean texture": 1.5 * X["mean texture"]})
    >>> comparison = compare_rows(error_estimator, new)
    >>> comparison.same, comparison.moved[0].name
    (False, 'mean texture')
    """
    return NewRows(error_estimator).add(X_new).compare()


class NewRows:
    """New rows without labels, added in batches; estimates the model's performance on them.

    Of many rows a uniform sample is kept, so that memory does not grow with their number.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    max_judged : int, default=20_000
        Most rows whose judgements are kept.
    max_inputs : int, default=5_000
        Most rows whose inputs are kept.

    Attributes
    ----------
    n_rows : int
        Rows that were added.

    See Also
    --------
    estimate_performance : The estimate for rows that are in memory at once.
    compare_rows : The comparison for rows that are in memory at once.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.monitoring import NewRows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:300], y[:300])
    >>> rows = NewRows(error_estimator)
    >>> for batch in (X[300:400], X[400:]):
    ...     rows = rows.add(batch, error_estimator.judge(batch))
    >>> rows.n_rows, rows.estimate("accuracy").n_rows
    (269, 269)
    """

    def __init__(
        self,
        error_estimator: ErrorEstimator,
        *,
        max_judged: int = MOST_JUDGED,
        max_inputs: int = MOST_ROWS,
    ) -> None:
        check_error_estimator(error_estimator)
        self.error_estimator = error_estimator
        self.max_judged = max_judged
        self.max_inputs = max_inputs
        self.n_rows = 0
        self._random = np.random.RandomState(0)
        self._judged: list[dict[str, NDArray[Any]]] = []
        self._inputs: list[dict[str, Any]] = []
        self._novel: list[Mask] = []
        self._ratio: Ratio | None = None

    def add(
        self, X: Any, judgement: Judgement | None = None, inputs: dict[str, Any] | None = None
    ) -> Self:
        """Add a batch of rows.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            New rows.
        judgement : Judgement, default=None
            Their judgement by `error_estimator.judge`; None means that they are judged now.
        inputs : dict of str to array, default=None
            Result of `read_inputs(X)`, if it was computed already; None means that the inputs of the rows that are
            kept are read now.

        Returns
        -------
        self : NewRows
        """
        X = as_table(X)
        judgement = self.error_estimator.judge(X) if judgement is None else judgement
        self._ratio = None
        self.n_rows += len(judgement)
        self._novel.append(np.asarray(judgement.novel))
        keys = self._random.random_sample(len(judgement))
        fields = {"key": keys, **{name: getattr(judgement, name) for name in JUDGED}}
        judged = {name: values for name, values in fields.items() if values is not None}
        self._judged = _smallest([*self._judged, judged], self.max_judged)
        kept = np.flatnonzero(keys <= _limit(self._inputs, self.max_inputs))
        if len(kept):
            read = (
                self.read_inputs(take_rows(X, kept))
                if inputs is None
                else {name: values[kept] for name, values in inputs.items()}
            )
            own = {"key": keys[kept], "novel": np.asarray(judgement.novel)[kept], **read}
            self._inputs = _smallest([*self._inputs, own], self.max_inputs)
        return self

    def read_inputs(self, X: Any) -> dict[str, Any]:
        """Arrays with an entry per row: coordinates in the neighbour space, and the columns of the table."""
        sample = self.error_estimator.input_sample_
        columns = sample.read(self.error_estimator.inputs(X))
        coordinates = sample.rounded(self.error_estimator.coordinates(X))
        return {
            "coordinates": coordinates,
            **{f"column {i}": column.values for i, column in enumerate(columns)},
        }

    def shrink(self, max_judged: int, max_inputs: int) -> None:
        """Keep fewer rows from now on: a uniform sample of those kept so far."""
        self.max_judged = min(self.max_judged, max_judged)
        self.max_inputs = min(self.max_inputs, max_inputs)
        self._judged = _smallest(self._judged, self.max_judged)
        self._inputs = _smallest(self._inputs, self.max_inputs)
        self._ratio = None

    def estimate(
        self, metric: str = "error", confidence: float = 0.95, *, inside: bool = False
    ) -> PerformanceEstimate:
        """Estimated performance on the rows added so far; see `estimate_performance`.

        With `inside`, on those that lie within the training data.
        """
        self._check_any()
        judged, inputs, ratio = _joined(self._judged), _joined(self._inputs), self._density_ratio()
        novel, n_rows = float(np.concatenate(self._novel).mean()), self.n_rows
        # A new row is outside if its ratio is above that at which those of held-out rows are truncated.
        is_outside = inputs["novel"] | (ratio.at_new > np.sqrt(len(ratio.ratio)))
        share, named = max(novel, float(is_outside.mean())), self._columns_of(inputs, is_outside)
        if inside:
            n_rows, share, named = (
                int(np.count_nonzero(~is_outside) / len(is_outside) * n_rows),
                0.0,
                [],
            )
            kept = np.isin(judged["key"], inputs["key"][~is_outside])
            judged = {name: values[kept] for name, values in judged.items()}
            old = self.error_estimator.input_sample_.coordinates
            ratio = density_ratio(old, inputs["coordinates"][~is_outside])
        shift = Shift(ratio.auc, ratio.p_value, ratio.p_value <= ALARM, novel, share, named)
        new = Judged(n_rows, shift, **{name: judged[name] for name in judged if name != "key"})
        return estimate_from(self.error_estimator, new, ratio, metric, confidence)

    def _columns_of(self, inputs: dict[str, Any], rows: Mask) -> list[Any]:
        """Names of the columns in which some rows differ most from the held-out rows."""
        old = self.error_estimator.input_sample_.columns
        if not rows.any() or not old:
            return []
        columns = compare_columns(old, [inputs[f"column {i}"][rows] for i in range(len(old))])
        least = LEAST_SHARED * columns[0].effect
        return [column.name for column in columns[:MOST_NAMED] if column.effect >= least]

    def compare(self) -> RowComparison:
        """Comparison of the rows added so far with the held-out rows; see `compare_rows`."""
        self._check_any()
        inputs = _joined(self._inputs)
        old = self.error_estimator.input_sample_.columns
        columns = compare_columns(old, [inputs[f"column {i}"] for i in range(len(old))])
        ratio = self._density_ratio()
        novel, is_same = np.concatenate(self._novel), ratio.p_value > ALARM
        return RowComparison(columns, novel, ratio.auc, ratio.p_value, is_same)

    def _density_ratio(self) -> Ratio:
        """Density ratio at the held-out rows, computed once for all rows added so far."""
        if self._ratio is None:
            coordinates = _joined(self._inputs)["coordinates"]
            self._ratio = density_ratio(self.error_estimator.input_sample_.coordinates, coordinates)
        return self._ratio

    def _check_any(self) -> None:
        if self.n_rows == 0:
            raise ValueError("There are no new rows yet: add some.")


def _limit(parts: list[dict[str, Any]], most: int) -> float:
    """Largest key that a further row may have to be kept."""
    n_kept = sum(len(part["key"]) for part in parts)
    return float(max(part["key"].max() for part in parts)) if n_kept >= most else 1.0


def _smallest(parts: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Rows with the smallest keys, which are a uniform sample of all; parts are joined only when there are too many."""
    parts = [part for part in parts if len(part["key"])]
    if sum(len(part["key"]) for part in parts) <= most:
        return parts
    whole = _joined(parts)
    kept = np.sort(np.argpartition(whole["key"], most - 1)[:most])
    return [{name: values[kept] for name, values in whole.items()}]


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Arrays of all parts by name."""
    blocks = {name: [part[name] for part in parts] for name in parts[0]}
    return {
        name: vstack(block).tocsr() if issparse(block[0]) else np.concatenate(block)
        for name, block in blocks.items()
    }
