"""Base of both error estimators: they fit a model, learn from its held-out rows, and judge new rows."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.utils import check_consistent_length, check_scalar
from sklearn.utils.validation import check_is_fitted

from surefoot._copies import errors_of_known, known_rows
from surefoot._crossfit import CrossFit, Outputs, cross_fit, named
from surefoot._models import (
    TagsOfModel,
    check_model,
    given_model,
    lay_out,
    offered_by,
    predict_labels,
)
from surefoot._tables import (
    MissingInputs,
    PlainColumn,
    frame_kind,
    input_form,
    plain_columns,
    take_rows,
)
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_rows, check_share, check_training_rows
from surefoot._words import UNITS, plural
from surefoot.error_estimation._judgement import HeldOut, Judgement
from surefoot.indicators import Confidence, Indicator, LocalSensitivity, NeighborDistance
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Indicators that the error estimator does not learn from: of the distance that makes a row novel, and of stability,
# unless `LocalSensitivity` is among those that it learns from.
NOVELTY, STABILITY = "novelty", "stability"

# Neighbours that stability is measured towards, unless the model has a search of its own.
N_NEAR = 10

# Share of held-out training rows beyond the distance from which rows are novel.
NOVEL_SHARE = 0.01

# A frozen model has probably learned from the rows if its error is below the first share of that of refits on folds of
# them, and no error that could be measured is left below the second. Most rows, and folds, of these refits.
FAR_BELOW, NEARLY_NONE = 0.5, 0.2
MOST_REFITTED, N_REFITS = 5_000, 3

# Given numbers equal the target if they differ by at most this share of its spread: a copy of it may have been rounded.
ROUNDED = 1e-6

# Most rows of the sample of inputs, most cells of it, and the rows that it has however wide they are.
MOST_SAMPLED = 5_000
MOST_CELLS = 2_000_000
LEAST_SAMPLED = 500


class Row(Indicator):
    """Coordinates of the row in the neighbour space, complete and scaled, and the prediction if `prediction=True`.

    They measure no trust by themselves, but let an error estimator learn in which parts of the data the model
    fails (passthrough). Sparse rows have too many columns: they raise an error, or have none of these columns if
    `optional`. A column that the index of a fold lacks, such as that of a category that is not in its rows, is 0.
    """

    doubt = "rows with such values are hard"

    needs_rows = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        prediction: bool = False,
        optional: bool = False,
        space: Any = "scaled",
        metric: Any = "auto",
    ) -> None:
        self.estimator = estimator
        self.prediction = prediction
        self.optional = optional
        self.space = space
        self.metric = metric

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index: the columns are those of the deployed rows, in their order."""
        super().attach(index)
        own = index.coordinate_names()
        names = own if index.like is None else index.like.coordinate_names()
        self._places = [own.index(name) if name in own else -1 for name in names]
        return self

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Prediction, if `prediction=True`, then the coordinates of the row."""
        rows = neighborhood.rows
        if issparse(rows):
            if not self.optional:
                raise ValueError(
                    "passthrough=True needs dense rows: sparse ones have too many columns."
                )
            rows = np.empty((len(neighborhood), 0))
        elif self.index_.like is not None:
            rows = np.where(np.less(self._places, 0), 0.0, rows[:, self._places])
        return np.hstack([neighborhood.scores[:, :1], rows] if self.prediction else [rows])

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Zeros: coordinates alone do not measure trust."""
        return np.zeros(len(neighborhood))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        n_columns = 0 if issparse(self.index_.space.rows) else len(self._places)
        names = ["prediction"] * self.prediction + [f"column_{i}" for i in range(n_columns)]
        return np.array(names, dtype=object)


class IndividualErrorEstimator(TagsOfModel, MetaEstimatorMixin, BaseEstimator, ABC):
    """Base of models that also estimate the error of each of their predictions.

    A subclass has default indicators (`_auto_indicators`), learns from the held-out rows (`_learn`), and estimates
    errors from the columns of rows (`_estimate`).
    """

    # Methods of the model, if it has them, whose outputs a judgement holds; and those that an estimated error needs.
    _methods: tuple[str, ...] = ()
    _error_methods: tuple[str, ...] = ()

    def __init__(
        self,
        estimator: Any,
        learner: Any = None,
        *,
        indicators: Any = "auto",
        passthrough: bool = False,
        cv: Any = 5,
        max_reference_rows: int = 5_000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.learner = learner
        self.indicators = indicators
        self.passthrough = passthrough
        self.cv = cv
        self.max_reference_rows = max_reference_rows
        self.random_state = random_state
        self.n_jobs = n_jobs

    @abstractmethod
    def _auto_indicators(self) -> list[Indicator]:
        """Indicators that `indicators="auto"` means."""

    @abstractmethod
    def _check_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Checked targets; raises if the model or the targets are of the wrong kind."""

    def _with_pools(self, cross: CrossFit) -> CrossFit:
        """Result whose columns are final: those that are learned from held-out rows, too."""
        return cross

    @abstractmethod
    def _learn(self, cross: CrossFit, known: dict[str, Any]) -> HeldOut:
        """Fit the error estimator on the held-out rows, and add their out-of-fold judgement to the known fields."""

    @abstractmethod
    def _estimate(self, columns: dict[str, Floats], scores: Floats, prediction: Any) -> Floats:
        """Estimated errors, from columns by indicator, and from scores and predictions of the model."""

    @abstractmethod
    def _fields(self, X: Any, output: Outputs, confidence: float) -> dict[str, Any]:
        """Fields of a judgement that differ between classification and regression."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model, and learn from its out-of-fold predictions how wrong it is on each row.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the model takes them. For a frozen model, rows that it never saw.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the model and the error estimator.
        groups : array-like of shape (n_rows,), default=None
            Groups of rows, which are never on both sides of a split.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_model(self.estimator)
        self.given_outputs_ = given_model(self.estimator)
        learned = named(self._resolve_indicators())
        check_scalar(self.max_reference_rows, "max_reference_rows", Integral, min_val=1)
        X, y, sample_weight = check_training_rows(self, X, y, sample_weight)
        y = self._check_target(y)
        if groups is not None:
            check_consistent_length(X, groups)
        self.promise_: Any = None  # one from other rows would not hold
        self.input_form_ = input_form(X)  # tables are read from files in the same form
        self._learned = list(learned)
        not_learned = self._indicators_of_judgement(learned)
        cross = cross_fit(
            self.estimator,
            {**learned, **not_learned},
            X,
            y,
            cv=self.cv,
            groups=groups,
            sample_weight=sample_weight,
            max_reference_rows=self.max_reference_rows,
            methods=self._methods,
            opinions=True,
            inner=self._learned if is_regressor(self.estimator) else None,
            twice=getattr(self, "intervals", None) == "proven",
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        cross = self._with_pools(cross)
        self._panel, self.estimator_ = cross.deployed.panel, cross.deployed.model
        self.splits_ = [(fold.train, fold.test) for fold in cross.folds]
        self.n_splits_ = len(self.splits_)
        self.never_held_out_ = cross.training.too_rare
        self.reference_rows_ = cross.training.reference(cross.deployed.train)
        held_out = cross.held_out
        rows, distances = held_out.rows, held_out.columns[NOVELTY][:, 0]
        self.novelty_threshold_ = float(np.quantile(distances, 1 - NOVEL_SHARE))
        inputs, copies = self.inputs(X), cross.training.copies
        self._missing = MissingInputs.of(inputs)
        self.input_sample_ = sample_inputs(
            X, inputs, rows, self._index.coordinates, cross.training.seed
        )
        kind = frame_kind(X)
        known = {
            **self._shared_fields(take_rows(inputs, rows), held_out),
            "library": kind["library"],
            "index": None if kind["index"] is None else kind["index"][rows],
            "rows": rows,
            "scores": held_out.scores,
            "splits": held_out.splits,
            "opinions": held_out.opinions,
            "groups": None if copies.groups is None else copies.groups[rows],
            "distinct": copies.distinct[rows],
            "truth": cross.truth,
            "refitted": self.n_splits_ > 1 and not isinstance(self.estimator, FrozenEstimator),
        }
        judged = self._learn(cross, known)
        if isinstance(self.estimator, FrozenEstimator):
            seen = has_seen(self.estimator.estimator, X, y, judged, cross.training.seed)
            judged = replace(judged, seen=seen)
        self.held_out_, self._known = judged, known_rows(copies, rows, judged.error)
        return self

    def _resolve_indicators(self) -> list[Indicator]:
        """Checked indicators that the error estimator learns from, with fixed seeds."""
        chosen = self.indicators
        if isinstance(chosen, str):
            if chosen != "auto":
                raise ValueError(
                    f"indicators={chosen!r} is not known: it may be 'auto', an indicator, or several."
                )
            chosen = self._auto_indicators()
        chosen = list(chosen) if isinstance(chosen, (list, tuple)) else [chosen]
        if self.passthrough and not any(isinstance(indicator, Row) for indicator in chosen):
            chosen = [*chosen, Row()]
        for indicator in chosen:
            if not isinstance(indicator, Indicator):
                raise TypeError(
                    f"indicators={indicator!r} is no indicator: it may be 'auto', or some of surefoot.indicators."
                )
        if not chosen:
            raise ValueError(
                "There is nothing to learn from: indicators=[] needs passthrough=True."
            )
        # The model's own confidence first, where the default learner expects it.
        chosen = sorted(chosen, key=lambda indicator: not is_own_confidence(indicator))
        return [indicator.prepared(self.random_state) for indicator in chosen]

    def _indicators_of_judgement(self, learned: dict[str, Indicator]) -> dict[str, Indicator]:
        """Indicators of novelty and, unless one is learned from, of stability: columns shift, spread and worst."""
        fitting = (
            name
            for name, indicator in learned.items()
            if isinstance(indicator, LocalSensitivity) and not indicator.per_class
        )
        self._stability = next(fitting, STABILITY)
        added: dict[str, Indicator] = {NOVELTY: NeighborDistance(space="scaled")}
        if self._stability == STABILITY:
            search = offered_by(self.estimator, "neighbor_search")
            n_near = N_NEAR if search is None else search.n_stability
            added[STABILITY] = LocalSensitivity(n_neighbors=n_near, space="scaled")
        return added

    @property
    def _index(self) -> Any:
        """Index of the training rows in the neighbour space of the indicators."""
        return self._panel.indicators[NOVELTY].index_

    def judge(
        self,
        X: Any,
        predictions: Any = None,
        probabilities: Any = None,
        *,
        confidence: float = 0.9,
    ) -> Judgement:
        """Judge each row: the prediction, its estimated error, its stability and its novelty, from one pass.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to judge.
        predictions, probabilities : array-like, default=None
            Outputs of the rows, for an error estimator of `assess_predictions`; None if they are columns of X, or if
            the model is at hand.
        confidence : float, default=0.9
            Confidence of the interval of a regressor.

        Returns
        -------
        judgement : Judgement
            Arrays with one entry per row; `to_frame()` returns them as a table.
        """
        check_share(confidence, "confidence")
        X = self._rows(X, predictions, probabilities)
        output = self._panel(X, methods=self._methods)
        fields = self._fields(X, output, confidence)
        inputs = self.inputs(X)
        known, fields["error"] = self._at_least_held_out(inputs, fields["error"])
        shared = {**self._shared_fields(inputs, output), **frame_kind(X)}
        return Judgement(**shared, **fields, known=known)

    def _rows(self, X: Any, predictions: Any = None, probabilities: Any = None) -> Any:
        """Checked rows, with their outputs as columns if these are given."""
        check_is_fitted(self)
        given = self.given_outputs_
        if predictions is None and probabilities is not None:
            raise ValueError("probabilities are given without predictions: pass both.")
        if predictions is not None:
            if given is None:
                raise ValueError(
                    "predictions are given, and this error estimator has a model that makes them."
                )
            X = lay_out(given, X, predictions, probabilities)
        X = check_rows(self, X)
        if given is not None:
            given.outputs(X)  # raises what is wrong with a row
        return X

    def inputs(self, X: Any) -> Any:
        """Columns of a table that are inputs: all, unless given outputs are among them."""
        return X if self.given_outputs_ is None else self.given_outputs_.inputs(X)

    def _shared_fields(self, inputs: Any, output: Outputs) -> dict[str, Any]:
        """Fields of a judgement that need no error estimator: stability, novelty and columns."""
        stability = output.columns[self._stability].T
        is_far = output.columns[NOVELTY][:, 0] > self.novelty_threshold_
        return {
            "stability": dict(zip(self.get_stability_names(), stability, strict=True)),
            "novel": is_far | self._missing.are_unusual(inputs),
            "columns": {name: output.columns[name] for name in self._learned},
        }

    def _at_least_held_out(self, inputs: Any, errors: Floats) -> tuple[Mask, Floats]:
        """Whether each row has the inputs of a training row, and errors not below the held-out estimate of that row."""
        held_out = errors_of_known(inputs, *self._known)
        return held_out > -np.inf, np.maximum(errors, held_out)

    def _describe(self, X: Any) -> tuple[dict[str, Floats], Floats, Any]:
        """Columns of checked rows, and scores and predictions of the model, as `_estimate` takes them."""
        output = self._panel(X, self._learned, self._error_methods)
        return output.columns, output.scores, output.answers.get("predict")

    def _table(self, columns: dict[str, Floats]) -> Floats:
        """Input table of the error estimator: columns of all indicators side by side."""
        return np.hstack([columns[name] for name in self._learned])

    def predict_error(self, X: Any, predictions: Any = None, probabilities: Any = None) -> Floats:
        """Estimated error of each prediction; lower is better.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to assess.
        predictions, probabilities : array-like, default=None
            Outputs of the rows, for an error estimator of `assess_predictions`; see `judge`.

        Returns
        -------
        errors : ndarray of shape (n_rows,)
            For a classifier the probability that the prediction is wrong, or its expected cost in the unit of `loss`;
            for a regressor the expected absolute error in the unit of the target, or the squared error in its square.
        """
        X = self._rows(X, predictions, probabilities)
        errors = self._estimate(*self._describe(X))
        return self._at_least_held_out(self.inputs(X), errors)[1]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the model."""
        X = check_rows(self, X)
        return predict_labels(self.estimator_, X)

    def predict_novelty(self, X: Any) -> Mask:
        """Whether each row is out of distribution: far from training rows, or without inputs that these have.

        A row is novel if its mean distance to the ten nearest training rows is larger than that of 99 % of
        the held-out training rows, if it has more missing inputs than 99 % of the training rows, or if it lacks an
        input that training rows nearly always have.
        """
        X = check_rows(self, X)
        is_far = self._panel(X, [NOVELTY]).columns[NOVELTY][:, 0] > self.novelty_threshold_
        return np.asarray(is_far | self._missing.are_unusual(self.inputs(X)))

    def explain_error(self, X: Any = None) -> Floats:
        """Contribution of each indicator to the estimated error of each row; below 0 it lowers the error.

        The contribution is the estimated error minus the one with the columns of the indicator replaced by
        those of a typical (median) held-out row. Contributions need not add up to the estimate.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns), default=None
            Rows to explain; None means the held-out rows, in the order of `held_out_`.

        Returns
        -------
        effects : ndarray of shape (n_rows, n_indicators)
            Contributions, in the order of `get_indicator_names`, in the unit of `predict_error`.
        """
        check_is_fitted(self)
        held_out = self.held_out_
        columns, *outputs = (
            (held_out.columns, held_out.scores, held_out.prediction)
            if X is None
            else self._describe(self._rows(X))
        )
        errors, effects = self._estimate(columns, *outputs), []
        for name, block in columns.items():
            typical = np.broadcast_to(np.median(held_out.columns[name], axis=0), block.shape)
            effects.append(errors - self._estimate({**columns, name: typical}, *outputs))
        return np.column_stack(effects)

    def kneighbors(self, X: Any, n_neighbors: int = 5) -> tuple[Floats, Ints]:
        """Distances and positions of the nearest training rows, in the neighbour space of the indicators.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows whose neighbours are searched.
        n_neighbors : int, default=5
            Number of neighbours; at most as many as the indicators search, which are ten or more.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_neighbors)
            Distances of the neighbours, nearest first.
        rows : ndarray of shape (n_rows, n_neighbors)
            Positions of the neighbours in the training table.
        """
        X, index = check_rows(self, X), self._index
        check_scalar(n_neighbors, "n_neighbors", Integral, min_val=1, max_val=index.n_neighbors)
        parts = index.map(lambda near: (near.distances, near.indices), X, 0)
        distances, near = (
            np.concatenate(part)[:, :n_neighbors] for part in zip(*parts, strict=True)
        )
        return distances, self.reference_rows_[near]

    def coordinates(self, X: Any) -> Any:
        """Coordinates of rows in the neighbour space of the indicators: numeric, complete, scaled; CSR for text."""
        X = check_rows(self, X)
        return self._index.coordinates(X)

    def get_indicator_names(self) -> NDArray[np.object_]:
        """Names of the indicators that the error estimator learns from, the keys of `Judgement.columns`."""
        check_is_fitted(self)
        return np.array(self._learned, dtype=object)

    def get_stability_names(self) -> list[str]:
        """Names of the columns of stability in a judgement, which depend on whether the model is at hand."""
        check_is_fitted(self)
        return list(self._panel.indicators[self._stability].get_feature_names_out())

    def get_column_names(self) -> NDArray[np.object_]:
        """Names of the columns that the error estimator learns from: indicator__column."""
        check_is_fitted(self)
        names = [
            f"{name}__{column}"
            for name in self._learned
            for column in self._panel.indicators[name].get_feature_names_out()
        ]
        return np.array(names, dtype=object)

    def _known_column_names(self) -> list[str]:
        """Names by which priors know the columns."""
        names = [self._panel.indicators[name].known_column_names(name) for name in self._learned]
        return list(chain.from_iterable(names))

    def describe_indicators(self) -> dict[str, str]:
        """Reason for doubt behind each indicator, in words, by the name of the indicator."""
        check_is_fitted(self)
        return {name: self._panel.indicators[name].doubt or name for name in self._learned}


def is_own_confidence(indicator: Indicator) -> bool:
    """Whether an indicator is the model's own confidence in its prediction."""
    return isinstance(indicator, Confidence) and not indicator.per_class


@dataclass(frozen=True, eq=False)
class InputSample:
    """Uniform sample of the held-out rows, kept by `fit`, with which rows in use are compared.

    Attributes
    ----------
    places : ndarray of shape (n_sampled,)
        Positions of the rows in `held_out_`, ascending.
    coordinates : ndarray or CSR of shape (n_sampled, n_coordinates)
        The rows in the neighbour space.
    columns : list of PlainColumn
        The columns of the table; empty for sparse rows and for lists of texts.
    """

    places: Ints
    coordinates: Any
    columns: list[PlainColumn] = field(repr=False)

    def read(self, table: Any) -> list[PlainColumn]:
        """Columns of other rows, with the categories of these."""
        return plain_columns(table, self.columns)

    @staticmethod
    def rounded(coordinates: Any) -> Any:
        """Dense coordinates in 32 bits: both tables are rounded alike, or a constant column would separate them."""
        return coordinates if issparse(coordinates) else np.asarray(coordinates, dtype=np.float32)


def sample_inputs(
    X: Any, inputs: Any, rows: Ints, coordinates: Callable[[Any], Any], random_state: int
) -> InputSample:
    """Uniform sample of held-out rows, `rows` of X with these inputs; `coordinates` maps rows of X to the space."""
    n_columns = inputs.shape[1] if len(inputs.shape) > 1 else 1
    most = int(np.clip(MOST_CELLS // max(n_columns, 1), LEAST_SAMPLED, MOST_SAMPLED))
    places = np.arange(len(rows))
    if len(places) > most:
        draw = np.random.RandomState(random_state)
        places = np.sort(draw.choice(len(rows), most, replace=False))
    sampled = rows[places]
    return InputSample(
        places,
        InputSample.rounded(coordinates(take_rows(X, sampled))),
        plain_columns(take_rows(inputs, sampled)),
    )


def has_seen(model: Any, X: Any, y: NDArray[Any], held_out: HeldOut, seed: int) -> bool:
    """Whether a model has learned these rows so well that nearly no error is left; warns if it seems to know them.

    Its error is compared with that of the same model fitted on other folds of the rows, and before that, as this takes
    fits, with that of the second opinions.
    """
    rows, truth = held_out.rows, held_out.truth

    def losses(predictions: Any) -> Floats:
        if held_out.classes is None:
            return np.abs(np.asarray(predictions, dtype=np.float64) - truth)
        return (np.asarray(predictions) != truth).astype(np.float64)

    own, classes = losses(held_out.prediction), held_out.classes
    spread = 1.0 if classes is not None else float(truth.std())
    if given_model(model) is not None and own.max() <= ROUNDED * spread:
        warnings.warn(
            f"The predictions equal the target in each of {plural(len(own), 'row')}: is their column the target, or a "
            "copy of it? Nothing is promised; if it is no copy, add rows on which the predictions are wrong.",
            UserWarning,
            stacklevel=3,
        )
        return True
    others = [
        losses(each if classes is None else classes[each.argmax(axis=1)]).mean()
        for each in held_out.opinions.values()
    ]
    if others and own.mean() >= FAR_BELOW * min(others):
        return False
    sample = np.random.RandomState(seed).permutation(len(rows))[:MOST_REFITTED]
    rows, truth, own = rows[sample], truth[sample], own[sample]
    try:
        with warnings.catch_warnings():  # those of refits are of no use to the user
            warnings.simplefilter("ignore")
            folds = KFold(N_REFITS)
            refitted = cross_val_predict(clone(model), take_rows(X, rows), y[rows], cv=folds)
    except (TypeError, ValueError, RuntimeError) as refusal:
        warnings.warn(
            "The model's error on these rows is far below that of second opinions, and it cannot be fitted on other "
            f"rows of the table to see why ({refusal}). Make sure that it has not learned from these rows.",
            UserWarning,
            stacklevel=3,
        )
        return False
    error, of_refits = float(own.mean()), float(losses(refitted).mean())
    if error >= FAR_BELOW * of_refits:
        return False
    show = held_out.unit.show if held_out.costs is None else UNITS["share"].show
    warnings.warn(
        f"The model's error on these rows is {show(error)}, and {show(of_refits)} if it is fitted on other rows of the "
        "table: it has probably learned from these rows, and every estimate is then too low. Use rows that it has not "
        "seen.",
        UserWarning,
        stacklevel=3,
    )
    # Three errors more than there are: the upper end of a 95 % interval for none.
    return error + 3 * max(float(own.max()), of_refits) / len(own) < NEARLY_NONE * of_refits
