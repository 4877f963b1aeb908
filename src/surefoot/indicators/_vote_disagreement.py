"""Disagreement of an ensemble's members about a prediction."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.base import is_classifier
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.utils.validation import check_is_fitted

from surefoot._refits import tree_answers
from surefoot._sklearn_private import BaseForest
from surefoot._tables import is_frame
from surefoot._typing import Floats, Ints
from surefoot.indicators._confidence import class_column_names
from surefoot.indicators._indicator import Indicator
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Ensembles whose members were fitted on codes 0, 1, ... in place of the labels.
ENCODING = (BaggingClassifier, VotingClassifier, StackingClassifier)


class VoteDisagreement(Indicator):
    """Agreement of an ensemble's members with each prediction; a higher score is more agreement.

    Two columns: `disagreement`, the share of members that vote for another class than the ensemble
    predicts; and `vote_entropy` of the votes, in nats. In both, lower is more agreement. A
    regressor has one column, `spread`, the standard deviation of the members' predictions. `score_samples` is the share
    of members that agree; for a regressor minus the spread.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        An ensemble with members in `estimators_`: bagging, a forest, a vote, a stack, AdaBoost and
        surefoot's own. Cloned and fitted, or used as it is inside `FrozenEstimator`. In an action, the action's
        model is used instead.
    per_class : bool, default=False
        If True, the columns are the shares of votes of each class; of two classes the positive one's.

    Attributes
    ----------
    index_ : NeighborhoodIndex
        The fitted ensemble.

    See Also
    --------
    surefoot.indicators.ResamplingSpread : Disagreement of refits, for a model that is no ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from surefoot.indicators import VoteDisagreement
    >>> X, y = load_iris(return_X_y=True)
    >>> votes = VoteDisagreement(BaggingClassifier(n_estimators=20, random_state=0)).fit(X, y)
    >>> votes.transform(X[[0, 70]]).round(2)
    array([[0.  , 0.  ],
           [0.45, 0.69]])
    """

    doubt = "its own members disagree"

    directions: ClassVar[dict[str, int]] = {"disagreement": 1, "vote_entropy": 1}

    def __init__(self, estimator: Any = None, *, per_class: bool = False) -> None:
        self.estimator = estimator
        self.per_class = per_class

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index that an action built, in place of `fit`."""
        members = getattr(index.model.predictor, "estimators_", None)
        if members is None or len(members) == 0 or _are_no_voters(index.model.predictor, members):
            raise ValueError(
                f"{type(index.model.predictor).__name__} has no members that vote: estimator may be an ensemble with "
                "estimators_, and ResamplingSpread takes any model."
            )
        return super().attach(index)

    def needed_samples(self) -> int:
        """Votes for each row, which bound the size of a batch."""
        return len(self.index_.model.predictor.estimators_)

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Disagreement and entropy of the votes, or the share of votes of each class."""
        if not is_classifier(self.index_.model.predictor):
            return self._answers(neighborhood).std(axis=1)[:, None]
        shares = self._shares(neighborhood)
        if self.per_class:
            return shares[:, 1:] if shares.shape[1] == 2 else shares
        return np.column_stack([1 - self._agreeing(neighborhood, shares), entr(shares).sum(axis=1)])

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Share of the members that agree; for a regressor minus their spread."""
        if not is_classifier(self.index_.model.predictor):
            return -self._answers(neighborhood).std(axis=1)
        return self._agreeing(neighborhood, self._shares(neighborhood))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        if not is_classifier(self.index_.model.predictor):
            return np.array(["spread"], dtype=object)
        if self.per_class:
            return class_column_names(["votes"], self.index_.model.classes)
        return np.array(["disagreement", "vote_entropy"], dtype=object)

    def _answers(self, neighborhood: Neighborhood) -> Floats:
        inputs = self.index_.input.as_model_sees(neighborhood.inputs)
        return member_answers(self.index_.model.predictor, inputs)

    def _shares(self, neighborhood: Neighborhood) -> Floats:
        """Share of the votes for each class, shape (n_rows, n_classes)."""
        codes = self._answers(neighborhood)
        n_classes = len(self.index_.model.classes)
        return (codes[:, :, None] == np.arange(n_classes)).mean(axis=1)

    def _agreeing(self, neighborhood: Neighborhood, shares: Floats) -> Floats:
        """Share of the votes for the class that the ensemble predicts."""
        model = self.index_.model.predictor
        predictions = model.predict(self.index_.input.as_model_sees(neighborhood.inputs))
        return shares[np.arange(len(shares)), np.searchsorted(model.classes_, predictions)]


def member_answers(model: Any, X: Any) -> Floats:
    """Class codes, or a regressor's predictions, of each member; shape (n, n_members)."""
    if hasattr(model, "member_codes"):
        return np.asarray(model.member_codes(X), dtype=np.float64)
    if isinstance(model, BaseForest):
        answers = tree_answers(model, X)
        return (
            answers.argmax(axis=2).astype(np.float64) if is_classifier(model) else answers[:, :, 0]
        )
    if isinstance(model, (BaggingClassifier, BaggingRegressor)):
        predictions = [
            member.predict(_columns(X, features))
            for member, features in zip(model.estimators_, model.estimators_features_, strict=True)
        ]
    else:
        predictions = [member.predict(X) for member in model.estimators_]
    votes: NDArray[Any] = np.column_stack(predictions)
    if is_classifier(model) and not isinstance(model, ENCODING):
        votes = np.searchsorted(model.classes_, votes)
    return votes.astype(np.float64)


def _columns(X: Any, features: Ints) -> Any:
    """Columns that a bagged member was fitted on, without names, as bagging passes arrays to its members."""
    return (np.asarray(X) if is_frame(type(X)) else X)[:, features]


def _are_no_voters(model: Any, members: Any) -> bool:
    """Whether the members do not predict the ensemble's target, as in gradient boosting."""
    if hasattr(model, "member_codes"):
        return False
    member = np.ravel(np.asarray(members, dtype=object))[0]
    return not hasattr(member, "predict") or is_classifier(member) != is_classifier(model)
