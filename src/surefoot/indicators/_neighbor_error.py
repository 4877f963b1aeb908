"""Out-of-fold errors of the model on a row's nearest training rows."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from surefoot._models import FittedModel, fit_model, top_class
from surefoot._splits import mean_held_out, resolve_cv
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints, Split
from surefoot.indicators._indicator import NeighborIndicator, nearness
from surefoot.neighborhoods import Neighborhood


class NeighborError(NeighborIndicator):
    """Out-of-fold errors of the model around a row; a higher score means smaller errors.

    Two columns for each number of neighbours k: `error_k`, the share of the k nearest training rows whose
    out-of-fold prediction was wrong, and `weighted_error_k`, the share weighted by one over the
    distance. For a regressor `residual_k` is the weighted mean of target minus prediction, and
    `absolute_residual_k` that of its absolute value. A neighbour that was never held out counts as the mean error.

    Errors on rows that the model was trained on are too small to be useful. Used alone, the indicator therefore
    cross-validates the model, and refuses a frozen one; in an action the errors come from models
    that saw neither the neighbour nor the row. `score_samples` is minus the weighted error, or minus
    the weighted absolute residual, for the largest k.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The model, cloned and fitted. In an action, the action's model is used instead.
    n_neighbors : int, "log" or several of them, default=10
        Number of nearest training rows; "log" is 2⌈log2 n⌉ + 1 for n training rows.
    space : "auto", "scaled" or transformer, default="auto"
        Coordinates in which distances are measured; see `LocalSensitivity`.
    metric : "auto", str, callable or neighbour search, default="auto"
        "auto" is that of a nearest-neighbour model of texts or series, else "cosine" for sparse and "euclidean" for
        dense rows. `surefoot.time_series.DTWNeighbors()` compares each row as a time series.
    cv : int, splitter or iterable of splits, default=5
        Splitter for the out-of-fold predictions, if the indicator is used alone. A number means shuffled folds.
    random_state : int, RandomState or None, default=None
        Seed of the folds.
    n_jobs : int, default=None
        Number of threads, for the neighbour search and over batches of rows, and of parallel folds.

    Attributes
    ----------
    index_ : NeighborhoodIndex
        The fitted model, its training rows and their out-of-fold scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> NeighborError(GaussianNB(), random_state=0).fit(X, y).score_samples(X[[0, 70]]).round(2)
    array([-0.  , -0.99])
    """

    doubt = "the model was wrong on similar rows"

    directions: ClassVar[dict[str, int]] = {"error": 1}

    needs_held_out_scores = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_neighbors: int | str | Sequence[int | str] = 10,
        space: Any = "auto",
        metric: Any = "auto",
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimator,
            n_neighbors=n_neighbors,
            space=space,
            metric=metric,
            n_jobs=n_jobs,
        )
        self.cv = cv
        self.random_state = random_state

    def _held_out_scores(self, X: Any, y: Any, sample_weight: Floats | None) -> Floats:
        if isinstance(self.estimator, FrozenEstimator):
            raise TypeError(
                "NeighborError does not know which rows a frozen model was trained on, and it makes no errors "
                "there: estimator may be a model to fit, or the indicator part of an action."
            )
        y = np.asarray(y)
        splitter = resolve_cv(
            self.cv,
            y,
            stratified=is_classifier(self.estimator),
            random_state=self.random_state,
        )
        splits = list(splitter.split(X, y))
        return out_of_fold_scores(self.estimator, X, y, splits, sample_weight, self.n_jobs)

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Error and weighted error, or residual and absolute residual, for each number of neighbours."""
        errors = held_out_errors(neighborhood)
        columns: list[Floats] = []
        for count in self.counts_:
            near = errors[:, :count]
            weights = nearness(neighborhood.distances[:, :count])
            if neighborhood.index.model.is_regression:
                columns += [(weights * near).sum(axis=1), (weights * np.abs(near)).sum(axis=1)]
            else:
                columns += [near.mean(axis=1), (weights * near).sum(axis=1)]
        return np.column_stack(columns)

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Minus the weighted error, or absolute residual, for the largest number of neighbours."""
        most = int(np.argmax(self.counts_))
        return -self.columns(neighborhood)[:, 2 * most + 1]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        if self.index_.model.is_regression:
            return self.count_names(["residual", "absolute_residual"])
        return self.count_names(["error", "weighted_error"])


def held_out_errors(neighborhood: Neighborhood) -> Floats:
    """Out-of-fold error (0 or 1) or residual of each neighbour; the mean of all rows where there is none."""
    index = neighborhood.index
    if index.held_out_scores is None or index.labels is None:
        missing = "labels" if index.labels is None else "out-of-fold scores"
        raise ValueError(
            f"The neighbours have no {missing}: NeighborError needs them to know their errors."
        )
    if neighborhood.index.model.is_regression:
        errors = index.labels - index.held_out_scores[:, 0]
    else:
        predictions = np.asarray(index.model.classes)[top_class(index.held_out_scores)]
        wrong = predictions != index.labels
        errors = np.where(np.isnan(index.held_out_scores[:, 0]), np.nan, wrong)
    known = ~np.isnan(errors)
    return np.where(known, errors, errors[known].mean() if known.any() else 0.0)[
        neighborhood.indices
    ]


def out_of_fold_scores(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    splits: list[Split],
    weight: Floats | None,
    n_jobs: int | None,
) -> Floats:
    """Out-of-fold scores of each row, averaged over the folds that held it out; NaN where there is none.

    A fold whose training rows lack a class is left out.
    """
    classifies = is_classifier(estimator)
    labels = np.unique(y)
    splits = [
        (train, test)
        for train, test in splits
        if not classifies or len(np.unique(y[train])) == len(labels)
    ]
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_fold_scores)(estimator, X, y, weight, *split) for split in splits
    )
    return mean_held_out(len(y), list(zip((test for _, test in splits), scores, strict=True)))


def _fold_scores(
    estimator: Any, X: Any, y: NDArray[Any], weight: Floats | None, train: Ints, test: Ints
) -> Floats:
    """Scores of the test rows of one fold by a model of its training rows."""
    weight = None if weight is None else weight[train]
    model = fit_model(estimator, take_rows(X, train), y[train], weight)
    return FittedModel(model, "auto", len(train)).score(take_rows(X, test))
