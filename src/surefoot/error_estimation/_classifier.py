"""Error estimator for classifiers: P(wrong) of each prediction (Buza et al. 2010, versions 1 and 2)."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import entr, logit
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metaestimators import available_if

from surefoot._crossfit import CrossFit, Outputs
from surefoot._models import FittedModel, margin, offered_by, top_class
from surefoot._typing import Floats, Mask
from surefoot._validation import check_rows, check_share, known_classes
from surefoot.error_estimation._base import IndividualErrorEstimator, is_own_confidence
from surefoot.error_estimation._conformal import check_supported, cv_plus_sets, nonconformity
from surefoot.error_estimation._error_probability import (
    CalibratedLearner,
    ErrorPrior,
    PretrainedLogisticRegression,
    ShrunkLogisticRegression,
    check_learner,
    prior_for,
)
from surefoot.error_estimation._judgement import (
    HeldOut,
    check_costs,
    cost_factor,
    expected_cost,
)
from surefoot.indicators import (
    Confidence,
    Indicator,
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
    SecondOpinion,
)
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Most rows times classes: about ten tables of so many probabilities exist at once, of 0.8 GB each.
MOST_PROBABILITIES = 100_000_000

# Rows that are added to those of which an error rate is taken, with the rate that is expected.
N_ADDED = 5.0


def _model_has(name: str) -> Any:
    """Check for `available_if`: raises the model's own AttributeError if it lacks the method."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return check


class NeighborConfidence(Confidence):
    """Confidence in predicted classes that come without probabilities: how often they were right nearby.

    It is one minus the error rate of this predicted class among the nearest training rows, shrunk towards that among
    all of them, and stands in the place of the probability of the predicted class in the columns of `Confidence`.
    """

    doubt = "this prediction was often wrong on similar rows"

    needs_rows = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        response: str = "auto",
        per_class: bool = False,
        n_neighbors: int = 30,
        space: Any = "scaled",
        metric: Any = "auto",
    ) -> None:
        super().__init__(estimator, response=response, per_class=per_class)
        self.n_neighbors = n_neighbors
        self.space = space
        self.metric = metric

    def needed_neighbors(self, n_rows: int) -> int:
        """Neighbours needed among `n_rows` training rows."""
        return self.n_neighbors

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index, and count how often each prediction of its rows is wrong."""
        classes = index.model.classes
        self.predicted_ = top_class(index.scores)
        self.wrong_ = classes[self.predicted_] != index.labels
        counts, n_wrong = (
            np.bincount(self.predicted_, weights, len(classes))
            for weights in (None, self.wrong_.astype(float))
        )
        overall = shrunk_rate(self.wrong_.sum(), len(self.wrong_), 0.5)
        self.rates_ = shrunk_rate(n_wrong, counts, overall)
        return super().attach(index)

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Log-odds of being right, twice, entropy and probability of being right."""
        near, own = neighborhood.indices[:, : self.n_neighbors], top_class(neighborhood.scores)
        alike = self.predicted_[near] == own[:, None]
        n_wrong = (alike & self.wrong_[near]).sum(axis=1)
        rate = shrunk_rate(n_wrong, alike.sum(axis=1), self.rates_[own])
        return np.column_stack(
            [logit(1 - rate), logit(1 - rate), entr(rate) + entr(1 - rate), 1 - rate]
        )

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Probability of being right."""
        return self.columns(neighborhood)[:, 3]

    def known_column_names(self, name: str) -> list[str]:
        """Names of the columns of `Confidence`, in whose place these stand."""
        return super().known_column_names("Confidence")


def shrunk_rate(n_wrong: Any, n_rows: Any, expected: Any) -> Any:
    """Share of wrong rows, with a few more rows added of which the expected share is wrong."""
    return (n_wrong + N_ADDED * expected) / (n_rows + N_ADDED)


class IndividualErrorClassifier(ClassifierMixin, IndividualErrorEstimator):
    """Classifier that also estimates how likely each of its predictions is wrong; lower is better.

    It predicts like its model. An error estimator (meta-model) learns from out-of-fold predictions and
    indicators; `predict_error` is the calibrated probability of an error, or with `loss` the expected cost.

    Parameters
    ----------
    estimator : classifier
        The model. In `FrozenEstimator` it is used as it is, and must not have been trained on the rows of `fit`.
    learner : classifier or regressor, default=None
        Learns from the columns whether a prediction is wrong (1) or not (0), and is recalibrated on its
        out-of-fold output. The default is a logistic regression that starts from `prior`, or without one from the
        model's own confidence, and departs from it as far as the held-out rows support.
    indicators : "auto", indicator or several, default="auto"
        Indicators that the error estimator learns from. "auto" is the model's own `Confidence`, `LocalSensitivity`,
        `NeighborDisagreement` and `NeighborDistance` in a scaled space, and a `SecondOpinion`.
    passthrough : bool, default=False
        Whether to add the row itself, as in the paper.
    cv : int, splitter or iterable of splits, default=5
        Splitter for the out-of-fold predictions; it need not be a partition. With a single split, such as
        `HoldoutSplit`, the model is not fitted again. A number means shuffled folds, which keep `groups`
        together, at most as many as the rarest class has rows. A class with fewer than five rows, or fewer than the
        folds, does not count for that: its rows are used for training but not for evaluation (`never_held_out_`).
    loss : array-like of shape (n_classes, n_classes), default=None
        Cost matrix: entry (i, j) is the cost of predicting class j where class i is true, in the order
        of `classes_`. The default is 1 for any error.
    prior : "auto", ErrorPrior or None, default="auto"
        Weights learned on other tables, from which the default `learner` starts (pretrained meta-model).
        "auto" is the one that ships with surefoot, if the columns are those that it was learned on: the default
        indicators, on dense rows. With other columns there is no prior, and `prior_` is None.
    sets : bool, default=False
        Whether the models of the folds are kept, for `predict_set`: they make the object and its file larger.
    max_reference_rows : int, default=5_000
        Most training rows in which neighbours are searched; of more rows a random sample is taken. The model learns
        from all rows, and the other models of `SecondOpinion` from up to 50,000.
    random_state : int, RandomState or None, default=None
        Seed of all random draws: that sample, the folds, the error estimator, the indicators.
    n_jobs : int, default=None
        Number of parallel fits and folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimator_ : classifier
        The fitted model.
    learner_ : estimator
        Fitted learner; None if one was given and the held-out predictions are all right or all wrong.
    prior_ : ErrorPrior or None
        The prior that the error estimator started from, if any.
    held_out_ : HeldOut
        Out-of-fold judgement of the training rows, with the true error of each prediction.
    n_splits_, splits_ : int, list of (train, test)
        Number of splits, and the positions of the rows that each of them learns from and holds out.
    never_held_out_ : ndarray
        Positions of the rows that are used for training but not for evaluation: rows of classes with fewer rows than
        folds or than five, and of a class that occurs in one group only. Empty if `cv` is no number.
    reference_rows_ : ndarray
        Positions of the training rows in which neighbours are searched.
    novelty_threshold_ : float
        Logarithm of the distance beyond which `predict_novelty` flags a row.
    input_sample_ : object
        Uniform sample of the held-out rows' inputs, with which `surefoot.monitoring` compares new rows.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, where they are strings.
    given_outputs_ : object
        Columns of the table that stand in the place of a model, of `assess_predictions`; None with a model.
    input_form_ : dict
        Library of the table seen in `fit`, and the kinds and categories of its columns.

    See Also
    --------
    surefoot.abstention.AbstainingClassifier : Answers only rows with a low estimated error (selective prediction).

    Notes
    -----
    `predict_set`, which needs `sets=True`, is conformal prediction. With a single split, or a frozen model, the set
    contains the true class with a probability of at least `confidence`. With K folds it is CV+: the probability is at
    least 2·confidence − 1, less a term that vanishes with many rows per fold; in practice it is near `confidence`.
    There is no such guarantee if splits overlap or follow time, or with `groups`, whose rows are not independent.

    References
    ----------
    Buza, Nanopoulos and Schmidt-Thieme, "Individualized error estimation for classification and
    regression models", 2010. Barber, Candès, Ramdas and Tibshirani, "Predictive inference with the
    jackknife+", Annals of Statistics 49, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> error_estimator = IndividualErrorClassifier(model, random_state=0).fit(X[::2], y[::2])
    >>> errors = error_estimator.predict_error(X[1::2])
    >>> wrong = error_estimator.predict(X[1::2]) != y[1::2]
    >>> bool(errors[wrong].mean() > 5 * errors[~wrong].mean())
    True
    """

    _methods = ("predict", "predict_proba")

    def __init__(
        self,
        estimator: Any,
        learner: Any = None,
        *,
        indicators: Any = "auto",
        passthrough: bool = False,
        cv: Any = 5,
        loss: Any = None,
        prior: Any = "auto",
        sets: bool = False,
        max_reference_rows: int = 5_000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimator,
            learner,
            indicators=indicators,
            passthrough=passthrough,
            cv=cv,
            max_reference_rows=max_reference_rows,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.loss = loss
        self.prior = prior
        self.sets = sets

    def predict_set(self, X: Any, confidence: float = 0.9) -> Mask:
        """Conformal prediction set of each row: classes that cannot be ruled out; fewer is more certain.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to assess.
        confidence : float, default=0.9
            Probability that the set contains the true class; the notes of the class state the exact guarantee.

        Returns
        -------
        sets : ndarray of bool of shape (n_rows, n_classes)
            True for the classes in the set.
        """
        check_share(confidence, "confidence")
        X = check_rows(self, X)
        if self._fold_models is None:
            raise ValueError(
                "predict_set needs the models of the folds: fit with sets=True, which keeps them."
            )
        check_supported(sum(map(len, self._held_out_nonconformity)), confidence)
        models = (FittedModel(model, "auto", self._n_trained) for model in self._fold_models)
        new = [nonconformity(model.score(X)) for model in models]
        return cv_plus_sets(new, self._held_out_nonconformity, confidence)

    @available_if(_model_has("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the model."""
        X = check_rows(self, X)
        return np.asarray(self.estimator_.predict_proba(X))

    @available_if(_model_has("decision_function"))
    def decision_function(self, X: Any) -> Floats:
        """Decision values of the model."""
        X = check_rows(self, X)
        return np.asarray(self.estimator_.decision_function(X))

    def _auto_indicators(self) -> list[Indicator]:
        opinion = SecondOpinion(space="scaled", random_state=self.random_state)
        if offered := offered_by(self.estimator, "error_indicators"):
            return [*offered, opinion]
        has_confidence = self.given_outputs_ is None or bool(self.given_outputs_.columns)
        return [
            Confidence() if has_confidence else NeighborConfidence(),
            LocalSensitivity(n_neighbors=10, space="scaled"),
            NeighborDisagreement(n_neighbors=(3, 10, 30), space="scaled"),
            NeighborDistance(n_neighbors=10, space="scaled"),
            opinion,
        ]

    def _check_target(self, y: NDArray[Any]) -> NDArray[Any]:
        if not is_classifier(self.estimator):
            raise ValueError(
                f"estimator={self.estimator!r} is no classifier: for a regressor there is IndividualErrorRegressor."
            )
        check_learner(self.learner)
        prior = self.prior
        if not (prior is None or isinstance(prior, ErrorPrior) or prior == "auto"):
            raise ValueError(
                f"prior={prior!r} is not known: it may be 'auto', an ErrorPrior or None."
            )
        self.classes_ = known_classes(self.estimator, y)
        n_rows, n_classes = len(y), len(self.classes_)
        if n_rows * n_classes > MOST_PROBABILITIES:
            raise ValueError(
                f"y has {n_classes:,} classes and {n_rows:,} rows: tables of their probabilities would take about "
                f"{80 * n_rows * n_classes / 1e9:.0f} GB. Merge rare classes, or pass at most "
                f"{MOST_PROBABILITIES // n_classes:,} rows."
            )
        self._costs = None if self.loss is None else check_costs(self.loss, len(self.classes_))
        self._error_methods = () if self.loss is None else ("predict",)
        return y

    def _learn(self, cross: CrossFit, known: dict[str, Any]) -> HeldOut:
        held_out, truth, weight = cross.held_out, cross.truth, cross.weight
        prediction = held_out.answers["predict"]
        wrong = (prediction != truth).astype(np.int64)
        self._learner = self._new_learner(cross.training.seed)
        self._learner.fit(self._table(held_out.columns), wrong, weight, cross.units)
        self.learner_ = self._learner if self.learner is None else self._learner.learner_
        codes = np.searchsorted(self.classes_, truth)
        losses, error = wrong.astype(float), self._learner.held_out_probability_
        if self._costs is not None:
            predicted = np.searchsorted(self.classes_, prediction)
            losses = self._costs[codes, predicted]
            error = expected_cost(self._costs, held_out.scores, predicted, error)
            self._cost_factor = cost_factor(losses, error, weight)
            error = self._cost_factor * error
        self._fold_models: list[Any] | None = None
        if self.sets:
            self._keep_for_sets(cross, codes)
        return HeldOut(
            **known,
            prediction=prediction,
            error=error,
            classes=self.classes_,
            probabilities=held_out.answers.get("predict_proba"),
            pooled=held_out.answers.get("pool"),
            losses=losses,
            wrong=self._learner.held_out_probability_,
            costs=self._costs,
        )

    def _with_pools(self, cross: CrossFit) -> CrossFit:
        """Result with columns of second opinions that are pooled by what each opinion is worth, out of fold."""
        held_out = cross.held_out
        columns, answers = dict(held_out.columns), dict(held_out.answers)
        for name in self._learned:
            opinion = cross.deployed.panel.indicators[name]
            if not isinstance(opinion, SecondOpinion):
                continue
            own = held_out.answers.get("predict_proba")
            if own is None:
                own = opinion.index_.model.probabilities_of_scores(held_out.scores)
            opinion.weights_, answers["pool"] = opinion.learn_pool(
                [own, *(held_out.opinions[other] for other, _ in opinion.opinions_)],
                np.searchsorted(self.classes_, cross.truth),
                cross.weight,
                cross.units,
                cross.training.seed,
            )
            log_odds = opinion.log_odds(answers["pool"], top_class(held_out.scores))
            columns[name] = log_odds[:, None]
        return replace(cross, held_out=held_out._replace(columns=columns, answers=answers))

    def _new_learner(self, seed: int) -> Any:
        """Unfitted learner of errors: the one given, or a logistic regression from the prior or from own confidence."""
        self.prior_ = None
        if self.learner is not None:
            return CalibratedLearner(self.learner, seed)
        is_text = issparse(self._index.space.rows)  # which no prior has seen
        self.prior_ = (
            None
            if is_text and self.prior == "auto"
            else prior_for(self._known_column_names(), self.prior)
        )
        if self.prior_ is not None:
            return PretrainedLogisticRegression(self.prior_, random_state=seed)
        learned = [self._panel.indicators[name] for name in self._learned]
        directions = [indicator.column_directions() for indicator in learned]
        n_own = len(directions[0]) if is_own_confidence(learned[0]) else 0
        return ShrunkLogisticRegression(
            n_own=n_own, directions=np.concatenate(directions), random_state=seed
        )

    def _keep_for_sets(self, cross: CrossFit, codes: NDArray[Any]) -> None:
        """Keep the model of each fold, and the nonconformity scores of the rows it did not see."""
        held_out, self._n_trained = cross.held_out, cross.deployed.panel.index.n_trained
        scores = -margin(held_out.scores, codes)
        counts = cross.training.copies.distinct[held_out.rows]
        # A frozen model is one model for all rows, each of which counts once.
        if isinstance(self.estimator, FrozenEstimator):
            first = np.unique(held_out.rows[counts], return_index=True)[1]
            self._fold_models = [cross.deployed.model]
            self._held_out_nonconformity = [scores[counts][first]]
            return
        self._fold_models = [fold.model for fold in cross.folds]
        self._held_out_nonconformity = [
            scores[counts & (held_out.splits == number)] for number in range(len(cross.folds))
        ]

    def _fields(self, X: Any, output: Outputs, confidence: float) -> dict[str, Any]:
        wrong = self._wrong(output.columns)
        prediction = output.answers["predict"]
        return {
            "prediction": prediction,
            "error": self._in_costs(wrong, output.scores, prediction),
            "wrong": wrong,
            "classes": self.classes_,
            "probabilities": output.answers.get("predict_proba"),
        }

    def _estimate(self, columns: dict[str, Floats], scores: Floats, prediction: Any) -> Floats:
        return self._in_costs(self._wrong(columns), scores, prediction)

    def _wrong(self, columns: dict[str, Floats]) -> Floats:
        """Estimated probability that each prediction is wrong."""
        return np.asarray(self._learner.predict_proba(self._table(columns))[:, 1])

    def _in_costs(self, wrong: Floats, scores: Floats, prediction: NDArray[Any]) -> Floats:
        """Expected cost of predictions that are wrong with these probabilities; without costs the probabilities."""
        if self._costs is None:
            return wrong
        codes = np.searchsorted(self.classes_, prediction)
        return self._cost_factor * expected_cost(self._costs, scores, codes, wrong)
