"""Indicators around many models of the same rows: several kinds, one of each a topic."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from surefoot._crossfit._panel import Panel, PanelOutput
from surefoot._crossfit._shared_neighborhood import SharedNeighborhood, index_for, may_share
from surefoot._search import canonical_metric
from surefoot._typing import Floats, Ints
from surefoot.indicators import Indicator
from surefoot.neighborhoods import KernelKNeighborsClassifier, Neighborhood, NeighborhoodIndex


@dataclass(frozen=True)
class Seat:
    """A model of one kind and topic, with the indicators that speak of it."""

    kind: int
    topic: int
    index: NeighborhoodIndex
    indicators: list[Indicator]


class TopicOutput(NamedTuple):
    """Scores of one model, and the columns of its indicators, in their order."""

    kind: int
    topic: int
    scores: Floats
    columns: list[Floats]


class TopicPanel:
    """What `Panel` is to one model, for many: one neighbourhood for all that agree on it.

    Models that take the rows as they are, with indicators in the models' own space, share it. A model in
    a pipeline, or an indicator with a space or response of its own, gets a `Panel` for each topic.

    Parameters
    ----------
    indicators : mapping of str to Indicator
        Cloned, then attached to each topic's model of the kind that `models.owners` says.
    models : TopicModels
        Fitted on X and y.
    X, y : training rows, and topics (n_rows, n_topics) of zeros and ones
        Where neighbours come from.
    response : str, default="auto"
        What the scores are made of.
    held_out_scores : ndarray of shape (n_rows, n_kinds * n_topics), default=None
        Scores of the training rows by models that did not see them.
    """

    def __init__(
        self,
        indicators: Mapping[str, Indicator],
        models: Any,
        X: Any,
        y: Ints,
        *,
        response: str = "auto",
        held_out_scores: Floats | None = None,
    ) -> None:
        self.indicators = dict(indicators)
        self.owners = list(models.owners)[
            : len(self.indicators)
        ]  # none where only scores are asked
        self.models: list[list[Any]] = models.models_
        self.n_topics = y.shape[1]
        self._response, self._held_out = response, held_out_scores
        self._panels: list[tuple[int, int, Panel]] = []
        self._tables: list[tuple[NeighborhoodIndex, list[Seat]]] = []
        sharing: dict[Any, list[int]] = {}
        for kind in range(len(self.models)):
            metric = self._common_metric(kind, X)
            if metric is None:
                self._panels += self._own_panels(kind, X, y)
            else:
                sharing.setdefault(metric, []).append(kind)
        for metric, kinds in sharing.items():
            self._seat(kinds, metric, X, y)

    def _fitted(self, kind: int) -> Iterator[tuple[int, Any]]:
        return ((t, model) for t, model in enumerate(self.models[kind]) if model is not None)

    def _asked(self, kind: int) -> list[Indicator]:
        pairs = zip(self.indicators.values(), self.owners, strict=True)
        return [indicator for indicator, owner in pairs if owner == kind]

    def _known(self, kind: int, topic: int) -> Floats | None:
        """Held-out scores of one model's training rows."""
        if self._held_out is None:
            return None
        return self._held_out[:, [kind * self.n_topics + topic]]

    def _common_metric(self, kind: int, X: Any) -> Any:
        """The metric of a search that the models of a kind can share; None if they cannot."""
        settings = [indicator.index_settings() for indicator in self._asked(kind)]
        values: dict[str, set[Any]] = {
            "space": {"auto"},
            "response": {self._response},
            "metric": set(),
        }
        for setting in settings:
            for name, value in setting.items():
                values[name].add(value if isinstance(value, str) else id(value))
        models = [model for _, model in self._fitted(kind)]
        agree = len(values["space"]) == len(values["response"]) == 1 and len(values["metric"]) < 2
        if not agree or not models or not may_share(models, X):
            return None
        metric = next((s["metric"] for s in settings if "metric" in s), "auto")
        if metric != "auto":
            return canonical_metric(metric)
        if isinstance(models[0], KernelKNeighborsClassifier):
            return models[0].metric
        return "cosine" if issparse(X) else "euclidean"

    def _own_panels(self, kind: int, X: Any, y: Ints) -> list[tuple[int, int, Panel]]:
        panels = []
        for topic, model in self._fitted(kind):
            known = self._known(kind, topic)
            asked, labels = self._asked(kind), y[:, topic]
            panel = Panel(asked, model, X, labels, response=self._response, held_out_scores=known)
            panels.append((kind, topic, panel))
        return panels

    def _seat(self, kinds: list[int], metric: Any, X: Any, y: Ints) -> None:
        """Build one index for several kinds of models, and a seat for each model at it."""
        firsts = [next(model for _, model in self._fitted(kind)) for kind in kinds]
        # One that votes by its neighbours goes first: it is recognised by the rows it was fitted on.
        firsts.sort(key=lambda model: not isinstance(model, KernelKNeighborsClassifier))
        needed = max(self._needed_neighbors(kind, X.shape[0]) for kind in kinds)
        index = NeighborhoodIndex(firsts[0], X, n_neighbors=needed, metric=metric)
        seats = []
        for kind in kinds:
            for topic, model in self._fitted(kind):
                known = self._known(kind, topic)
                own = index_for(
                    index, model, y[:, topic], response=self._response, held_out_scores=known
                )
                attached = [clone(indicator).attach(own) for indicator in self._asked(kind)]
                seats.append(Seat(kind, topic, own, attached))
        self._tables.append((index, seats))

    def _needed_neighbors(self, kind: int, n_rows: int) -> int:
        """Neighbours that the indicators of a kind need, and its own votes."""
        needs = [indicator.needed_neighbors(n_rows) for indicator in self._asked(kind)]
        _, model = next(self._fitted(kind))
        if isinstance(model, KernelKNeighborsClassifier) and not callable(model.kernel):
            cached = model.sample_neighbors == "cached" and max(needs, default=0) > 0
            needs.append(model.n_neighbors_ * (2 if cached else 1))
        return max(needs, default=0)

    def __call__(
        self, X: Any, names: Collection[str] | None = None, methods: Sequence[str] = ()
    ) -> PanelOutput:
        """Scores of the models, and the columns of each indicator, for every row of X.

        Scores have one column for each kind and topic, kind by kind; an indicator has its columns for
        each topic, topic by topic. They are NaN for a topic without a model.
        """
        scores = np.full((X.shape[0], len(self.models) * self.n_topics), np.nan)
        blocks: dict[tuple[int, int], list[Floats]] = {}
        for one in self._outputs(X):
            scores[:, one.kind * self.n_topics + one.topic] = one.scores[:, 0]
            blocks[one.kind, one.topic] = one.columns
        columns = [
            self._side_by_side(kind, place, blocks, X.shape[0])
            for kind in range(len(self.models))
            for place in range(len(self._asked(kind)))
        ]
        return PanelOutput(scores, dict(zip(self.indicators, columns, strict=True)), {})

    def _outputs(self, X: Any) -> Iterator[TopicOutput]:
        for kind, topic, panel in self._panels:
            output = panel(X)
            yield TopicOutput(kind, topic, output.scores, list(output.columns.values()))
        for index, seats in self._tables:
            samples = [i.needed_samples() for seat in seats for i in seat.indicators]
            batches = index.map(_Look(seats), X, max(samples, default=0))
            for seat, parts in zip(seats, zip(*batches, strict=True), strict=True):
                scores, *columns = (np.concatenate(part) for part in zip(*parts, strict=True))
                yield TopicOutput(seat.kind, seat.topic, scores, columns)

    def _side_by_side(self, kind: int, place: int, blocks: Any, n_rows: int) -> Floats:
        """Columns of one indicator for all topics; NaN where there is no model."""
        known = {t: blocks[kind, t][place] for t in range(self.n_topics) if (kind, t) in blocks}
        width = next(iter(known.values())).shape[1]
        nothing = np.full((n_rows, width), np.nan)
        return np.hstack([known.get(topic, nothing) for topic in range(self.n_topics)])

    def column_names(self) -> list[NDArray[np.object_]]:
        """Names of the columns of each indicator, in their order, for one topic."""
        attached = {seat.kind: seat.indicators for _, seats in self._tables for seat in seats}
        attached |= {kind: list(panel.indicators.values()) for kind, _, panel in self._panels}
        return [i.get_feature_names_out() for kind in sorted(attached) for i in attached[kind]]


class _Look:
    """Scores and columns of each seat for one batch of rows."""

    def __init__(self, seats: list[Seat]) -> None:
        self.seats = seats

    def __call__(self, first: Neighborhood) -> list[list[Floats]]:
        shared: dict[Any, Any] = {}
        values = []
        for seat in self.seats:
            near = SharedNeighborhood(seat.index, first, shared)
            values.append([near.scores, *(i.columns(near) for i in seat.indicators)])
        return values
