"""Models of many topics on the same rows, several kinds of each, which share one neighbour search where they can."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Self, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from surefoot._crossfit import Outputs, Panel, TrainingRows, build_panel, named
from surefoot._models import (
    FittedModel,
    fit_model,
    interpolate,
    offered_by,
    takes_rows_as_they_are,
)
from surefoot._parallel import counted
from surefoot._tables import as_numbers, is_frame, take_rows
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import canonical_metric
from surefoot.indicators import Indicator
from surefoot.neighborhoods import (
    KernelKNeighborsClassifier,
    Neighborhood,
    NeighborhoodIndex,
    NeighborSearch,
)

T = TypeVar("T")


class TopicModels(BaseEstimator):
    """One model of each kind for every topic (multilabel: one against the rest).

    A topic that all rows have, or none, has no model: there is only one class to learn.

    Parameters
    ----------
    estimators : list of classifiers
        One unfitted model of each kind.
    owners : list of int
        For each indicator of a `TopicPanel` the number of the kind of model that it describes.

    Attributes
    ----------
    models_ : list of lists
        For each kind the model of each topic, or None.
    """

    def __init__(self, estimators: list[Any], owners: list[int]) -> None:
        self.estimators = estimators
        self.owners = owners

    def fit(self, X: Any, y: Ints, sample_weight: Floats | None = None) -> Self:
        """Fit the models on rows and their topics, zeros and ones of shape (n_rows, n_topics)."""
        if (y.min(axis=0) == y.max(axis=0)).all():
            raise ValueError(
                "cv leaves a training fold with one class only: it may be stratified, or have fewer folds."
            )
        self.models_ = [fit_topics(kind, X, y, sample_weight) for kind in self.estimators]
        return self


def fit_topics(estimator: Any, X: Any, y: Ints, sample_weight: Floats | None) -> list[Any]:
    """Fitted model of each topic, or None where it has no model; nearest-neighbour models share their rows."""
    models: list[Any] = []
    first: Any = None
    for topic in y.T:
        if topic.min() == topic.max():
            models.append(None)
        elif isinstance(first, KernelKNeighborsClassifier):
            models.append(first.with_labels(topic))
        else:
            first = fit_model(estimator, X, topic, sample_weight)
            models.append(first)
    return models


def build_topic_panels(
    indicators: Mapping[str, Indicator],
    training: TrainingRows,
    parts: Sequence[Ints],
    models: Sequence[TopicModels],
    scorers: Sequence[Sequence[tuple[Any, Ints, Ints]]],
    *,
    response: str,
    n_jobs: int | None,
) -> list["TopicPanel"]:
    """Panel of the models of each part of the training rows, as `cross_fit` wants it; nothing is shared by folds."""

    def panel(models: TopicModels, part: Ints, **known: Any) -> TopicPanel:
        rows = training.reference(part)
        X, y = take_rows(training.X, rows), training.y[rows]
        return TopicPanel(
            indicators, models, X, y, response=response, n_trained=len(parts[0]), **known
        )

    def score(models: TopicModels, train: Ints, test: Ints) -> Floats:
        X, y = take_rows(training.X, train), training.y[train]
        alone = TopicPanel({}, models, X, y, response=response, n_trained=len(parts[0]))
        return alone(take_rows(training.X, test)).scores

    scores = [
        training.held_out_scores(part, within, score) if within else None
        for part, within in zip(parts, scorers, strict=True)
    ]
    deployed = panel(models[0], parts[0], counted=training.counted(), held_out_scores=scores[0])
    rest = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(panel)(own, part, like=deployed, held_out_scores=known)
        for own, part, known in zip(models[1:], parts[1:], scores[1:], strict=True)
    )
    return list(counted(chain([deployed], rest), "search"))


@dataclass(frozen=True)
class TopicModel:
    """Model of one kind and topic in a shared index, with the indicators that describe it."""

    kind: int
    topic: int
    index: NeighborhoodIndex
    indicators: list[Indicator]


class TopicPanel:
    """Counterpart of `Panel` for many models, which share a neighbour search where they can.

    Models that take the rows untransformed, with indicators in the models' own space, share one search. A
    model in a pipeline, or an indicator with a space or response of its own, gets a `Panel` for each topic.

    Parameters
    ----------
    indicators : mapping of str to Indicator
        Cloned, then attached to each topic's model of one kind; `models.owners` holds the kind of each.
    models : TopicModels
        Fitted on X and y.
    X, y : training rows, and topics (n_rows, n_topics) of zeros and ones
        Rows in which neighbours are searched, and their topics.
    response : str, default="auto"
        Method of the models that the scores are made of.
    n_trained : int, default=None
        Number of rows that limits the log-odds; None means those of X.
    like : TopicPanel, default=None
        Panel of the deployed models: rows are described in its space.
    counted : ndarray of bool of shape (n_rows,), default=None
        Rows of X that distances are measured to; None means all.
    held_out_scores : ndarray of shape (n_rows, n_kinds * n_topics), default=None
        Out-of-fold scores of the rows of X, for indicators that need them.
    """

    def __init__(
        self,
        indicators: Mapping[str, Indicator],
        models: Any,
        X: Any,
        y: Ints,
        *,
        response: str = "auto",
        n_trained: int | None = None,
        like: "TopicPanel | None" = None,
        counted: Mask | None = None,
        held_out_scores: Floats | None = None,
    ) -> None:
        self.indicators = dict(indicators)
        self._n_trained, self._counted = n_trained or X.shape[0], counted
        self._held_out_scores = held_out_scores
        # There are no indicators, and so no owners, where only scores are needed.
        self.owners = list(models.owners)[: len(self.indicators)]
        self.models: list[list[Any]] = models.models_
        self.n_topics = y.shape[1]
        self._response = response
        self.panels: list[tuple[int, int, Panel]] = []
        # By metric.
        self.shared: dict[Any, tuple[NeighborhoodIndex, list[TopicModel]]] = {}
        kinds_by_metric: dict[Any, list[int]] = {}
        for kind in range(len(self.models)):
            metric = self._common_metric(kind, X)
            if metric is None:
                self.panels += self._own_panels(kind, X, y, like)
            else:
                kinds_by_metric.setdefault(metric, []).append(kind)
        for metric, kinds in kinds_by_metric.items():
            self._share_index(kinds, metric, X, y, like)

    def _models_of(self, kind: int) -> Iterator[tuple[int, Any]]:
        """Topics that have a model of a kind, with the model."""
        return ((t, model) for t, model in enumerate(self.models[kind]) if model is not None)

    def _indicators_of(self, kind: int) -> list[Indicator]:
        """Indicators that describe models of a kind, not yet attached."""
        pairs = zip(self.indicators.values(), self.owners, strict=True)
        return [indicator for indicator, owner in pairs if owner == kind]

    def _common_metric(self, kind: int, X: Any) -> Any:
        """Metric of a search that the models of a kind can share; None if they cannot share one."""
        settings = [indicator.index_settings() for indicator in self._indicators_of(kind)]
        models = [model for _, model in self._models_of(kind)]
        own_space = any(s.get("space", "auto") != "auto" for s in settings)
        own_response = any(s.get("response", self._response) != self._response for s in settings)
        metrics = {
            m if isinstance(m, str) else id(m): m
            for m in (s.get("metric") for s in settings)
            if m is not None
        }
        if own_space or own_response or len(metrics) > 1 or not models or not may_share(models, X):
            return None
        metric = next(iter(metrics.values()), "auto")
        if isinstance(metric, NeighborSearch) or offered_by(models[0], "neighbor_search"):
            return None
        if metric != "auto":
            return canonical_metric(metric)
        if isinstance(models[0], KernelKNeighborsClassifier):
            return models[0].metric
        return "cosine" if issparse(X) else "euclidean"

    def _own_panels(
        self, kind: int, X: Any, y: Ints, like: "TopicPanel | None"
    ) -> list[tuple[int, int, Panel]]:
        """Panel of each topic's model of a kind that cannot share a search."""
        panels = []
        deployed = {} if like is None else {(k, t): panel for k, t, panel in like.panels}
        for topic, model in self._models_of(kind):
            panel = build_panel(
                named(self._indicators_of(kind)),
                response=self._response,
                like=deployed.get((kind, topic)),
                model=model,
                X=X,
                y=y[:, topic],
                n_trained=self._n_trained,
                counted=self._counted,
                held_out_scores=self._scores_of(kind, topic),
            )
            panels.append((kind, topic, panel))
        return panels

    def _share_index(
        self, kinds: list[int], metric: Any, X: Any, y: Ints, like: "TopicPanel | None"
    ) -> None:
        """Build one index for several kinds of models, and attach the indicators of each model to it."""
        firsts = [next(model for _, model in self._models_of(kind)) for kind in kinds]
        # A nearest-neighbour model comes first: the index compares its rows with X and then shares its search.
        firsts.sort(key=lambda model: not isinstance(model, KernelKNeighborsClassifier))
        deployed = None if like is None or metric not in like.shared else like.shared[metric][0]
        n_reference = X.shape[0] if deployed is None else deployed.n_reference
        needed = max(self._needed_neighbors(kind, n_reference) for kind in kinds)
        index = NeighborhoodIndex(
            firsts[0],
            X,
            n_neighbors=needed,
            metric=metric,
            n_trained=self._n_trained,
            like=deployed,
            counted=self._counted,
            copy=False,
        )
        topic_models = []
        for kind in kinds:
            for topic, model in self._models_of(kind):
                own = index_for(
                    index,
                    model,
                    y[:, topic],
                    response=self._response,
                    held_out_scores=self._scores_of(kind, topic),
                )
                rows = (own.space.rows, own.labels) if own.n_neighbors else None
                fitted = [i.fit_folds([own], [rows])[0] for i in self._indicators_of(kind)]
                topic_models.append(TopicModel(kind, topic, own, fitted))
        self.shared[metric] = index, topic_models

    def _scores_of(self, kind: int, topic: int) -> Floats | None:
        """Out-of-fold scores by the models of a kind and topic."""
        scores = self._held_out_scores
        return None if scores is None else scores[:, [kind * self.n_topics + topic]]

    def _needed_neighbors(self, kind: int, n_rows: int) -> int:
        """Neighbours that the indicators of a kind need, and a nearest-neighbour model of that kind."""
        needs = [indicator.needed_neighbors(n_rows) for indicator in self._indicators_of(kind)]
        _, model = next(self._models_of(kind))
        if isinstance(model, KernelKNeighborsClassifier) and not callable(model.kernel):
            cached = model.sample_neighbors == "cached" and max(needs, default=0) > 0
            needs.append(model.n_neighbors_ * (2 if cached else 1))
        return max(needs, default=0)

    def __call__(
        self,
        X: Any,
        names: Collection[str] | None = None,
        methods: Sequence[str] = (),
        *,
        opinions: bool = False,
    ) -> Outputs:
        """Scores of the models, and the columns of each indicator, for every row of X.

        Scores have one column for each kind and topic, kind by kind; an indicator has a block of columns
        for each topic. Both are NaN for a topic without a model. All indicators are asked, and no other method:
        the parameters of `Panel` are there for the fitter's sake.
        """
        scores = np.full((X.shape[0], len(self.models) * self.n_topics), np.nan)
        blocks: dict[tuple[int, int], list[Floats]] = {}
        for kind, topic, own_scores, columns_of_topic in self._outputs(X):
            scores[:, kind * self.n_topics + topic] = own_scores[:, 0]
            blocks[kind, topic] = columns_of_topic
        columns = [
            self._side_by_side(kind, place, blocks, X.shape[0])
            for kind in range(len(self.models))
            for place in range(len(self._indicators_of(kind)))
        ]
        return Outputs(scores, dict(zip(self.indicators, columns, strict=True)), {}, {})

    def _outputs(self, X: Any) -> Iterator[tuple[int, int, Floats, list[Floats]]]:
        """Kind, topic, scores and columns of every model, from its own panel or from the shared indexes."""
        for kind, topic, panel in self.panels:
            output = panel(X)
            yield kind, topic, output.scores, list(output.columns.values())
        for index, models in self.shared.values():
            samples = [i.needed_samples() for model in models for i in model.indicators]
            batches = index.map(partial(_describe_batch, models), X, max(samples, default=0))
            for model, parts in zip(models, zip(*batches, strict=True), strict=True):
                scores, *columns = (np.concatenate(part) for part in zip(*parts, strict=True))
                yield model.kind, model.topic, scores, columns

    def _side_by_side(self, kind: int, place: int, blocks: Any, n_rows: int) -> Floats:
        """Columns of one indicator for all topics, side by side; NaN where there is no model."""
        by_topic = {t: blocks[kind, t][place] for t in range(self.n_topics) if (kind, t) in blocks}
        width = next(iter(by_topic.values())).shape[1]
        no_model = np.full((n_rows, width), np.nan)
        return np.hstack([by_topic.get(topic, no_model) for topic in range(self.n_topics)])

    def column_names(self) -> list[NDArray[np.object_]]:
        """Names of the columns of each indicator for one topic, in the order of the indicators."""
        attached = {
            model.kind: model.indicators for _, models in self.shared.values() for model in models
        }
        attached |= {kind: list(panel.indicators.values()) for kind, _, panel in self.panels}
        return [i.get_feature_names_out() for kind in sorted(attached) for i in attached[kind]]


def _describe_batch(models: list[TopicModel], first: Neighborhood) -> list[list[Floats]]:
    """Scores and columns of each model for the rows of a neighbourhood."""
    shared: dict[Any, Any] = {}
    values = []
    for model in models:
        near = SharedNeighborhood(model.index, first, shared)
        values.append([near.scores, *(i.columns(near) for i in model.indicators)])
    return values


class SharedNeighborhood(Neighborhood):
    """Neighbourhood of a batch of rows for one of several two-class models that share a search.

    Parameters
    ----------
    index : NeighborhoodIndex
        Made by `index_for`.
    first : Neighborhood
        Neighbourhood of the batch, whose rows and neighbours are used; of any of the models.
    shared : dict
        Cache of samples, steps and weights that are equal for all models; filled at first use.
    """

    def __init__(
        self, index: NeighborhoodIndex, first: Neighborhood, shared: dict[Any, Any]
    ) -> None:
        self.index = index
        self.transformed, self.inputs = first.transformed, first.inputs
        self.asked, self.opinions = {}, {}
        self._shared = shared
        if index.n_neighbors > 0:
            self.rows, self.distances, self.indices = first.rows, first.distances, first.indices

    def sample_scores(
        self, n_neighbors: int, sampling: str = "voronoi", fractions: Floats | None = None
    ) -> Floats:
        """Scores at samples around each row; see `Neighborhood.sample_scores`."""
        near = self.indices[:, :n_neighbors]
        if sampling == "voronoi" and (scores := self._cell_scores(near)) is not None:
            return scores
        index, model = self.index, self._kernel_model
        if sampling not in ("voronoi", "midpoint", "uniform") or index.is_affine:
            return super().sample_scores(n_neighbors, sampling, fractions)
        key = sampling, n_neighbors, b"" if fractions is None else fractions.tobytes()
        steps = self._steps(near, sampling, fractions)
        samples = self._once(
            ("samples", *key), lambda: interpolate(self.inputs, index.input.rows, near, steps)
        )
        if model is None:
            return index.model(index.input.as_model_sees(samples)).reshape(*near.shape, -1)
        # Nearest-neighbour models share the search, which does not depend on the labels.
        voting = self._once(
            ("voting", model.n_neighbors_, *key),
            lambda: model.search_.kneighbors(samples, model.n_neighbors_),
        )
        votes = model.decision_function_of_lists(*voting)
        return index.model.scores(votes).reshape(*near.shape, -1)

    def _cell_scores(self, near: Ints) -> Floats | None:
        """Scores at the samples by the votes of cached neighbours, whose weights do not depend on the labels."""
        model = self._kernel_model
        if model is None or model.sample_neighbors != "cached":
            return None
        cache = self.indices[:, : max(model.list_length, near.shape[1])]
        weights = self._once(
            ("weights", model.n_neighbors_, model.gamma_, near.shape[1]),
            lambda: model.cell_weights(self.rows, cache, near.shape[1]),
        )
        signs = np.where(self.index.labels[cache] == model.classes_[1], 1.0, -1.0)  # type: ignore[index]
        votes = weights @ signs[:, :, None]
        return self.index.model.scores(votes.ravel()).reshape(*near.shape, -1)

    @property
    def _kernel_model(self) -> KernelKNeighborsClassifier | None:
        """Model that votes by the neighbours of the batch; None for another model."""
        voter = self.index.voter
        return voter if isinstance(voter, KernelKNeighborsClassifier) else None

    def _steps(self, near: Ints, sampling: str, fractions: Floats | None) -> Floats:
        key = "steps", near.shape[1], sampling, b"" if fractions is None else fractions.tobytes()
        return self._once(
            key, lambda: super(SharedNeighborhood, self)._steps(near, sampling, fractions)
        )

    def _once(self, key: Any, compute: Callable[[], T]) -> T:
        """Value from the shared cache, computed if it is not there yet."""
        if key not in self._shared:
            self._shared[key] = compute()
        return self._shared[key]


def may_share(models: Sequence[Any], X: Any) -> bool:
    """Whether all fitted models take the rows untransformed and complete, so that they can share a neighbourhood."""
    if is_frame(type(X)) or X.ndim == 1 or as_numbers(X) is None:
        return False
    return all(takes_rows_as_they_are(model) for model in models)


def index_for(
    shared: NeighborhoodIndex,
    model: Any,
    labels: NDArray[Any],
    *,
    response: str = "auto",
    held_out_scores: Floats | None = None,
) -> NeighborhoodIndex:
    """Index of another model of the same rows, which shares the search of the given one."""
    index = copy(shared)
    vars(index).pop("scores", None)  # cached ones are those of the first model
    index.labels, index.held_out_scores = labels, held_out_scores
    index.model = FittedModel(model, response, index.n_trained)
    index.voter = index.model.predictor if index.n_neighbors > 0 and _votes(index, shared) else None
    return index


def _votes(index: NeighborhoodIndex, shared: NeighborhoodIndex) -> bool:
    """Whether the model votes by the neighbours that the index finds."""
    model, first = index.model.predictor, shared.model.predictor
    if not isinstance(model, KernelKNeighborsClassifier) or model.metric != index.metric:
        return False
    if isinstance(first, KernelKNeighborsClassifier) and model.shares_rows_with(first):
        return shared.voter is not None  # only the labels differ: rows need not be compared again
    return model.is_fitted_on(index.space.rows)
