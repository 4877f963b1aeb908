"""Spread of a prediction over resampled training sets."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import is_classifier
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from surefoot._refits import (
    bootstrap_models,
    exact_leave_one_out,
    infinitesimal_jackknife,
    jackknife_variance,
    tree_answers,
)
from surefoot._typing import Floats
from surefoot._validation import check_option
from surefoot.indicators._confidence import class_column_names
from surefoot.indicators._indicator import Indicator
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

METHODS = ("auto", "bootstrap")

# Added to the spread to avoid a division by zero.
TINY_SPREAD = 1e-12


class ResamplingSpread(Indicator):
    """Stability of each prediction over training sets; a higher score is more stable.

    Two columns: `spread`, the standard error over training sets of the lead of the predicted class
    over the runner-up (in probability, or in decision values of a model without `predict_proba`);
    and `flips`, the probability that another training set reverses the lead, if the lead is Gaussian. A
    regressor has one column, `spread`, in the unit of the target. `score_samples` is the lead divided by the
    spread; for a regressor minus the spread.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The model: cloned and fitted, or used as it is inside `FrozenEstimator`. In an action, the action's
        model is used instead.
    method : {"auto", "bootstrap"}, default="auto"
        "auto" avoids refits where it can: by an exact jackknife for `LinearRegression`, `Ridge`,
        `RidgeClassifier` and scikit-learn's nearest neighbours, by the infinitesimal jackknife for forests that
        bootstrap. Other models, and with "bootstrap" all models, are refitted on bootstrap samples.
    n_resamples : int, default=30
        Number of bootstrap samples.
    per_class : bool, default=False
        If True, the columns are the spreads of each class's output; of two classes the positive one's.
    random_state : int, RandomState or None, default=None
        Seed of the bootstrap samples, drawn in `fit`.
    n_jobs : int, default=None
        Number of parallel fits, and of threads over batches of rows.

    Attributes
    ----------
    index_ : NeighborhoodIndex
        The fitted model.
    method_ : {"jackknife", "infinitesimal jackknife", "bootstrap"}
        Method in use.

    Notes
    -----
    Only the last step of a pipeline is refitted: its transformers stay as they were fitted on all rows. Refits
    do not use `sample_weight`.

    See Also
    --------
    surefoot.indicators.VoteDisagreement : How far the members of an ensemble disagree.
    surefoot.resampling.bias_variance : Bias and variance against the truth.

    References
    ----------
    Wager, Hastie and Efron, "Confidence intervals for random forests: the jackknife and the
    infinitesimal jackknife", JMLR 15, 2014.

    Examples
    --------
    A line is most stable where most rows are:

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from surefoot.indicators import ResamplingSpread
    >>> X = np.arange(20.0)[:, None]
    >>> y = X[:, 0] + np.tile([1.0, -1.0], 10)
    >>> steady = ResamplingSpread(LinearRegression()).fit(X, y)
    >>> steady.transform([[9.5], [19.0], [40.0]]).ravel().round(2)
    array([0.24, 0.48, 1.34])
    """

    doubt = "fits on other samples of the rows disagree"

    needs_rows = True

    directions: ClassVar[dict[str, int]] = {"spread": 1, "flips": 1}

    method_: str
    _models: list[Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "auto",
        n_resamples: int = 30,
        per_class: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.n_resamples = n_resamples
        self.per_class = per_class
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Raise an error for a wrong parameter, before a model is fitted."""
        check_option(self.method, "method", METHODS)
        check_scalar(self.n_resamples, "n_resamples", Integral, min_val=2)

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index that an action built, in place of `fit`."""
        super().attach(index)
        model, auto = index.model.predictor, self.method == "auto"
        self._forest = infinitesimal_jackknife(model) if auto else None
        self._shortcut = None
        self.method_ = "infinitesimal jackknife"
        if self._forest is not None:
            return self
        if index.labels is None:
            raise ValueError("ResamplingSpread fits the model to other rows: fit needs y.")
        rows = index.input.as_model_sees(index.input.rows)
        self._shortcut = exact_leave_one_out(model, rows, index.labels) if auto else None
        self.method_ = "jackknife"
        if self._shortcut is None:
            self.method_ = "bootstrap"
            self._models = bootstrap_models(
                model,
                rows,
                index.labels,
                n_resamples=self.n_resamples,
                random=check_random_state(self.random_state),
                n_jobs=self.n_jobs,
            )
        return self

    def needed_samples(self) -> int:
        """Outputs computed for each row, which bound the size of a batch."""
        if self._shortcut is not None:
            return self._shortcut.n_rows
        return self.n_resamples if self._forest is None else self._forest.n_trees

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Spread and flips of the lead, or the spread of each class."""
        outputs = self._outputs(neighborhood)
        n_outputs = outputs.shape[1]
        if n_outputs == 1:
            return np.sqrt(self._variance(neighborhood, np.ones((len(neighborhood), 1))))[:, None]
        if self.per_class:
            classes = range(1, 2) if n_outputs == 2 else range(n_outputs)
            unit = np.eye(n_outputs)
            spreads = [
                np.sqrt(self._variance(neighborhood, np.tile(unit[c], (len(outputs), 1))))
                for c in classes
            ]
            return np.column_stack(spreads)
        lead, spread = self._lead(neighborhood, outputs)
        flips = norm.sf(lead / np.where(spread > 0, spread, 1.0))
        certain = np.where(lead > 0, 0.0, 0.5)
        return np.column_stack([spread, np.where(spread > 0, flips, certain)])

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Lead divided by spread; for a regressor minus the spread."""
        outputs = self._outputs(neighborhood)
        if outputs.shape[1] == 1:
            return -np.sqrt(self._variance(neighborhood, np.ones((len(neighborhood), 1))))
        lead, spread = self._lead(neighborhood, outputs)
        return lead / (spread + TINY_SPREAD)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        if not is_classifier(self.index_.model.predictor):
            return np.array(["spread"], dtype=object)
        if self.per_class:
            return class_column_names(["spread"], self.index_.model.classes)
        return np.array(["spread", "flips"], dtype=object)

    def _outputs(self, neighborhood: Neighborhood) -> Floats:
        return model_outputs(self.index_.model.predictor, self._inputs(neighborhood))

    def _inputs(self, neighborhood: Neighborhood) -> Any:
        return self.index_.input.as_model_sees(neighborhood.inputs)

    def _lead(self, neighborhood: Neighborhood, outputs: Floats) -> tuple[Floats, Floats]:
        """Lead of the predicted class over the runner-up, and the standard error of this lead."""
        # The lead is the highest output of a row minus the second highest.
        ranks = np.argsort(-outputs, axis=1, kind="stable")
        contrast = np.zeros_like(outputs)
        np.put_along_axis(contrast, ranks[:, :1], 1.0, axis=1)
        np.put_along_axis(contrast, ranks[:, 1:2], -1.0, axis=1)
        lead = (outputs * contrast).sum(axis=1)
        return lead, np.sqrt(self._variance(neighborhood, contrast))

    def _variance(self, neighborhood: Neighborhood, contrast: Floats) -> Floats:
        """Variance over training sets of each row's combination of outputs, whose weights are `contrast`."""
        X = self._inputs(neighborhood)
        if self._forest is not None:
            answers = tree_answers(self.index_.model.predictor, X)
            return self._forest.variance(np.einsum("nbc,nc->nb", answers, contrast))
        if self._shortcut is not None:
            changes = self._shortcut.changes(X)
            # Two classes with one decision value: its two outputs are minus and plus half of it.
            if changes.shape[2] == 1 and contrast.shape[1] == 2:
                contrast = contrast[:, 1:] / 2 - contrast[:, :1] / 2
            moved = np.einsum("nmc,nc->nm", changes, contrast)
            return jackknife_variance(moved[:, :, None], self._shortcut.n_rows)[:, 0]
        refits = [(model_outputs(model, X) * contrast).sum(axis=1) for model in self._models]
        return np.var(refits, axis=0)


def model_outputs(model: Any, X: Any) -> Floats:
    """Class probabilities, else decision values, one column per class; or the predictions of a regressor."""
    if not is_classifier(model):
        return np.asarray(model.predict(X), dtype=np.float64).reshape(-1, 1)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    values = np.asarray(model.decision_function(X), dtype=np.float64)
    return values if values.ndim == 2 else np.column_stack([-values / 2, values / 2])
