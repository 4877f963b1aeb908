"""Indicators around many models of the same rows: models of several kinds, one of each kind per topic."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from surefoot._crossfit import ModelRows, Panel, PanelOutput, build_panels
from surefoot._models import series_model
from surefoot._search import canonical_metric
from surefoot._typing import Floats, Ints, Mask
from surefoot.ensemble._shared_neighborhood import SharedNeighborhood, index_for, may_share
from surefoot.indicators import Indicator, Part
from surefoot.neighborhoods import KernelKNeighborsClassifier, Neighborhood, NeighborhoodIndex


@dataclass(frozen=True)
class TopicModel:
    """Model of one kind and topic in a shared index, with the indicators that describe it."""

    kind: int
    topic: int
    index: NeighborhoodIndex
    indicators: list[Indicator]


class TopicOutput(NamedTuple):
    """Scores of one model, and the columns of its indicators in the order of the indicators."""

    kind: int
    topic: int
    scores: Floats
    columns: list[Floats]


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
    ) -> None:
        self.indicators = dict(indicators)
        self._n_trained, self._counted = n_trained or X.shape[0], counted
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

    def set_held_out_scores(self, scores: Floats) -> None:
        """Give each model's index the out-of-fold scores of its rows; a column for each kind and topic."""
        for kind, topic, panel in self.panels:
            panel.set_held_out_scores(scores[:, [kind * self.n_topics + topic]])
        for _, models in self.shared.values():
            for model in models:
                column = model.kind * self.n_topics + model.topic
                model.index.held_out_scores = scores[:, [column]]

    def _common_metric(self, kind: int, X: Any) -> Any:
        """Metric of a search that the models of a kind can share; None if they cannot share one."""
        settings = [indicator.index_settings() for indicator in self._indicators_of(kind)]
        values: dict[str, set[Any]] = {
            "space": {"auto"},
            "response": {self._response},
            "metric": set(),
            "window": set(),
        }
        for setting in settings:
            for name, value in setting.items():
                values[name].add(value if isinstance(value, str) else id(value))
        models = [model for _, model in self._models_of(kind)]
        agree = len(values["space"]) == len(values["response"]) == 1 and len(values["metric"]) < 2
        if not agree or not models or not may_share(models, X):
            return None
        metric = next((s["metric"] for s in settings if "metric" in s), "auto")
        if metric == "dtw" or series_model(models[0]) is not None:
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
            [panel] = build_panels(
                self._indicators_of(kind),
                [ModelRows(model, X, y[:, topic], counted=self._counted)],
                response=self._response,
                n_trained=self._n_trained,
                like=deployed.get((kind, topic)),
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
        )
        topic_models = []
        for kind in kinds:
            for topic, model in self._models_of(kind):
                own = index_for(index, model, y[:, topic], response=self._response)
                part = Part(own, own.space.rows, own.labels) if own.n_neighbors else Part(own)
                fitted = [indicator.fit_part(part) for indicator in self._indicators_of(kind)]
                topic_models.append(TopicModel(kind, topic, own, fitted))
        self.shared[metric] = index, topic_models

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
    ) -> PanelOutput:
        """Scores of the models, and the columns of each indicator, for every row of X.

        Scores have one column for each kind and topic, kind by kind; an indicator has a block of columns
        for each topic. Both are NaN for a topic without a model. All indicators are asked, and no other method:
        the parameters of `Panel` are there for the fitter's sake.
        """
        scores = np.full((X.shape[0], len(self.models) * self.n_topics), np.nan)
        blocks: dict[tuple[int, int], list[Floats]] = {}
        for output in self._outputs(X):
            scores[:, output.kind * self.n_topics + output.topic] = output.scores[:, 0]
            blocks[output.kind, output.topic] = output.columns
        columns = [
            self._side_by_side(kind, place, blocks, X.shape[0])
            for kind in range(len(self.models))
            for place in range(len(self._indicators_of(kind)))
        ]
        return PanelOutput(scores, dict(zip(self.indicators, columns, strict=True)), {}, {})

    def _outputs(self, X: Any) -> Iterator[TopicOutput]:
        """Scores and columns of every model, from its own panel or from the shared indexes."""
        for kind, topic, panel in self.panels:
            output = panel(X)
            yield TopicOutput(kind, topic, output.scores, list(output.columns.values()))
        for index, models in self.shared.values():
            samples = [i.needed_samples() for model in models for i in model.indicators]
            batches = index.map(_DescribeBatch(models), X, max(samples, default=0))
            for model, parts in zip(models, zip(*batches, strict=True), strict=True):
                scores, *columns = (np.concatenate(part) for part in zip(*parts, strict=True))
                yield TopicOutput(model.kind, model.topic, scores, columns)

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


class _DescribeBatch:
    """Function of a neighbourhood that returns the scores and columns of each model for its rows."""

    def __init__(self, models: list[TopicModel]) -> None:
        self.models = models

    def __call__(self, first: Neighborhood) -> list[list[Floats]]:
        shared: dict[Any, Any] = {}
        values = []
        for model in self.models:
            near = SharedNeighborhood(model.index, first, shared)
            values.append([near.scores, *(i.columns(near) for i in model.indicators)])
        return values
