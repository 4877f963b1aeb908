"""Rows that a model met in use, without labels, collected batch by batch in bounded memory."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from surefoot._crossfit import check_rows, single_precision
from surefoot._sure import Sure, check_sure
from surefoot._tables import take_rows
from surefoot._typing import Floats, Mask
from surefoot.error_estimation import Judgement
from surefoot.monitoring._compare import RowComparison, compare_columns, make_comparison
from surefoot.monitoring._estimate import Judged, PerformanceEstimate, estimate_from
from surefoot.monitoring._shift import Ratio, density_ratio

# Rows that are kept of all that were added, a uniform sample: their judgements, and the rows themselves.
MOST_JUDGED = 20_000
MOST_ROWS = 5_000


class NewRows:
    """New rows without labels, added in batches; estimates the model's performance on them.

    Of many rows a uniform sample is kept, so that memory does not grow with their number.

    Parameters
    ----------
    sure : IndividualErrorClassifier or IndividualErrorRegressor
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
    >>> sure = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:300], y[:300])
    >>> rows = NewRows(sure)
    >>> for batch in (X[300:400], X[400:]):
    ...     rows = rows.add(batch, sure.judge(batch))
    >>> rows.n_rows, rows.estimate("accuracy").n_rows
    (269, 269)
    """

    def __init__(
        self, sure: Sure, *, max_judged: int = MOST_JUDGED, max_inputs: int = MOST_ROWS
    ) -> None:
        check_sure(sure)
        self.sure = sure
        self.max_judged = max_judged
        self.max_inputs = max_inputs
        self.n_rows = 0
        self._random = np.random.RandomState(0)
        self._judged: list[dict[str, NDArray[Any]]] = []
        self._inputs: list[dict[str, Any]] = []
        self._novel: list[Mask] = []
        self._ratio: Ratio | None = None

    def add(self, X: Any, judgement: Judgement | None = None) -> Self:
        """Add a batch of rows; `judgement` is that of `sure.judge(X)`, if it was computed already.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            New rows.
        judgement : Judgement, default=None
            Their judgement; None means that they are judged now.

        Returns
        -------
        self : NewRows
        """
        X = check_rows(self.sure, X)
        judgement = self.sure.judge(X) if judgement is None else judgement
        self._ratio = None
        self.n_rows += len(judgement)
        self._novel.append(np.asarray(judgement.novel))
        keys = self._random.random_sample(len(judgement))
        kept = np.flatnonzero(keys <= _limit(self._judged, self.max_judged))
        self._judged = _smallest([*self._judged, _parts(judgement, keys, kept)], self.max_judged)
        kept = np.flatnonzero(keys <= _limit(self._inputs, self.max_inputs))
        if len(kept):
            table = take_rows(X, kept)
            columns = self.sure.input_sample_.read(table)
            coordinates = single_precision(self.sure.coordinates(table))
            inputs = {"key": keys[kept], "coordinates": coordinates}
            inputs |= {f"column {i}": column.values for i, column in enumerate(columns)}
            self._inputs = _smallest([*self._inputs, inputs], self.max_inputs)
        return self

    def shrink(self, max_judged: int, max_inputs: int) -> None:
        """Keep fewer rows from now on: a uniform sample of those kept so far."""
        self.max_judged = min(self.max_judged, max_judged)
        self.max_inputs = min(self.max_inputs, max_inputs)
        self._judged = _smallest(self._judged, self.max_judged)
        self._inputs = _smallest(self._inputs, self.max_inputs)
        self._ratio = None

    def estimate(self, metric: str = "error", confidence: float = 0.95) -> PerformanceEstimate:
        """Estimated performance on the rows added so far; see `estimate_performance`."""
        self._check_any()
        judged = {name: part for name, part in _joined(self._judged).items() if name != "key"}
        share_novel = float(np.concatenate(self._novel).mean())
        new = Judged(**judged, n_rows=self.n_rows, share_novel=share_novel)
        return estimate_from(self.sure, new, self._density_ratio(), metric, confidence)

    def compare(self) -> RowComparison:
        """Comparison of the rows added so far with the held-out rows; see `compare_rows`."""
        self._check_any()
        inputs = _joined(self._inputs)
        old = self.sure.input_sample_.columns
        columns = compare_columns(old, [inputs[f"column {i}"] for i in range(len(old))])
        return make_comparison(columns, np.concatenate(self._novel), self._density_ratio())

    def _density_ratio(self) -> Ratio:
        """Density ratio at the held-out rows, computed once for all rows added so far."""
        if self._ratio is None:
            coordinates = _joined(self._inputs)["coordinates"]
            self._ratio = density_ratio(self.sure.input_sample_.coordinates, coordinates)
        return self._ratio

    def _check_any(self) -> None:
        if self.n_rows == 0:
            raise ValueError("There are no new rows yet: add some.")


def _parts(judgement: Judgement, keys: Floats, kept: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Fields of a judgement that estimates need, of the kept rows."""
    parts = {
        "key": keys,
        "prediction": np.asarray(judgement.prediction),
        "error": judgement.error,
    }
    optional = {"wrong": judgement.wrong, "probabilities": judgement.probabilities}
    parts |= {name: values for name, values in optional.items() if values is not None}
    return {name: values[kept] for name, values in parts.items()}


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
    return {name: _stacked([part[name] for part in parts]) for name in parts[0]}


def _stacked(blocks: list[Any]) -> Any:
    return vstack(blocks).tocsr() if issparse(blocks[0]) else np.concatenate(blocks)
