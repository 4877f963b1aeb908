"""Models of several kinds, one for each topic, and their out-of-fold scores and columns."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, Self

from joblib import Parallel, delayed
from sklearn.base import BaseEstimator

from surefoot._crossfit import CrossFitter, ModelRows
from surefoot._models import fit_model
from surefoot._parallel import counted
from surefoot._typing import Floats, Ints
from surefoot.ensemble._topic_panel import TopicPanel
from surefoot.indicators import Indicator
from surefoot.neighborhoods import KernelKNeighborsClassifier


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


class TopicCrossFitter(CrossFitter):
    """`CrossFitter` for several kinds of models and many topics, whose panels are `TopicPanel`.

    `y` of `fit` has a column of zeros and ones for each topic.

    Parameters
    ----------
    indicators : list of lists of Indicator
        For each kind of model the indicators that describe it.
    estimators : list of classifiers
        One unfitted model of each kind.
    **options : dict
        Further parameters of `CrossFitter`.
    """

    def __init__(
        self,
        indicators: Sequence[Sequence[Indicator]],
        estimators: Sequence[Any],
        **options: Any,
    ) -> None:
        self.owners = [kind for kind, group in enumerate(indicators) for _ in group]
        models = TopicModels(list(estimators), self.owners)
        super().__init__([i for group in indicators for i in group], models, **options)

    def build(self, parts: list[ModelRows], n_trained: int, like: Any) -> list[Any]:
        """Panel of each part; the first is that of the deployed models, if there is none yet."""
        first = [] if like is not None else [self._panel(parts[0], n_trained, None)]
        deployed = first[0] if like is None else like
        rest = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(self._panel)(part, n_trained, deployed) for part in parts[len(first) :]
        )
        return list(counted(chain(first, rest), "search"))

    def _panel(self, part: ModelRows, n_trained: int, like: Any) -> TopicPanel:
        return TopicPanel(
            self.indicators,
            part.model,
            part.X,
            part.y,
            response=self.response,
            n_trained=n_trained,
            like=like,
            counted=part.counted,
        )

    def score(self, part: ModelRows, X: Any, n_trained: int, like: Any) -> Floats:
        """Scores of rows by the models of a part."""
        given = part.model, part.X, part.y
        return TopicPanel({}, *given, response=self.response, n_trained=n_trained)(X).scores
