"""Error estimator for classifiers: P(wrong) of each prediction (Buza et al. 2010, versions 1 and 2)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metaestimators import available_if

from surefoot._crossfit import CrossFit, HeldOutOutputs, PanelOutput, check_rows, known_classes
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_share
from surefoot.error_estimation._conformal import check_supported, cv_plus_sets
from surefoot.error_estimation._costs import check_costs, cost_factor, expected_cost
from surefoot.error_estimation._default_indicators import classifier_indicators
from surefoot.error_estimation._error_probability import ErrorProbability, check_learner
from surefoot.error_estimation._individual_error import IndividualErrorEstimator
from surefoot.error_estimation._judgement import HeldOut
from surefoot.error_estimation._prior import check_prior, prior_for
from surefoot.error_estimation._strangeness import class_strangeness, true_class_strangeness
from surefoot.indicators import (
    Confidence,
    Indicator,
)
from surefoot.neighborhoods import NeighborhoodIndex


def _model_has(name: str) -> Any:
    """Check for `available_if`: raises the model's own AttributeError if it lacks the method."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return check


class IndividualErrorClassifier(ClassifierMixin, IndividualErrorEstimator):
    """Classifier that also estimates how likely each of its predictions is wrong; lower is better.

    It predicts like its model. An error estimator (meta-model) learns from out-of-fold predictions and
    indicators; `predict_error` is the calibrated probability of an error, or with `loss` the expected cost.

    Parameters
    ----------
    estimator : classifier
        The model. In `FrozenEstimator` it is used as it is, and must not have been trained on the rows of `fit`.
    error_estimator : classifier or regressor, default=None
        Learns from the columns whether a prediction is wrong (1) or not (0), and is recalibrated on its
        out-of-fold output. The default is a logistic regression that starts from `prior`, or without one from the
        model's own confidence, and leaves it as far as the held-out rows show.
    indicators : "auto", indicator or several, default="auto"
        Indicators that the error estimator learns from. "auto" is the model's own `Confidence`, `LocalSensitivity`,
        `NeighborDisagreement` and `NeighborDistance` in a scaled space, and a `SecondOpinion`.
    passthrough : bool, default=False
        Whether to add the row itself, as in the paper.
    cv : int, splitter or iterable of splits, default=5
        Splitter for the out-of-fold predictions; it need not be a partition. With a single split, such as
        `HoldoutSplit`, the model is not fitted again. A number stands for shuffled folds, which keep `groups`
        together, at most as many as the rarest class has rows. A class with fewer than five rows, or fewer than the
        folds, does not count for that: its rows are learned from but never held out (`never_held_out_`).
    loss : array-like of shape (n_classes, n_classes), default=None
        Cost matrix: entry (i, j) is the cost of predicting class j where class i is true, in the order
        of `classes_`. The default is 1 for any error.
    prior : "auto", ErrorPrior or None, default="auto"
        What errors looked like on other tables, as a start for the default `error_estimator` (pretrained meta-model).
        "auto" is the one that ships with surefoot, if the columns are those that it was learned on: the default
        indicators, on dense rows. With others the estimator does without it, and `prior_` is None.
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
    error_estimator_ : estimator
        Fitted error estimator; None if one was given and the held-out predictions are all right or all wrong.
    prior_ : ErrorPrior or None
        The prior that the error estimator started from; None if it did without one.
    held_out_ : HeldOut
        Out-of-fold judgement of the training rows, with the true error of each prediction.
    n_splits_ : int
        Number of splits.
    never_held_out_ : ndarray
        Positions of the training rows that are learned from but never held out: of classes with fewer rows than
        folds or than five, or of groups that alone have a class. Empty if `cv` is no number.
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
    input_form_ : dict
        Library of the table seen in `fit`, and the kinds and categories of its columns.

    See Also
    --------
    surefoot.abstention.AbstainingClassifier : Answers only rows with a low estimated error (selective prediction).

    Notes
    -----
    `predict_set` is conformal prediction. With a single split, or a frozen model, the set contains the true class
    with a probability of at least `confidence`. With K folds it is CV+: the probability is at least
    2·confidence − 1, less a term that vanishes with many rows per fold; in practice it is near `confidence`. There
    is no such guarantee if splits overlap or follow time, or with `groups`, whose rows are not independent.

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
    >>> assessed = IndividualErrorClassifier(model, random_state=0).fit(X[::2], y[::2])
    >>> errors = assessed.predict_error(X[1::2])
    >>> wrong = assessed.predict(X[1::2]) != y[1::2]
    >>> bool(errors[wrong].mean() > 5 * errors[~wrong].mean())
    True
    """

    def __init__(
        self,
        estimator: Any,
        error_estimator: Any = None,
        *,
        indicators: Any = "auto",
        passthrough: bool = False,
        cv: Any = 5,
        loss: Any = None,
        prior: Any = "auto",
        max_reference_rows: int = 5_000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.error_estimator = error_estimator
        self.indicators = indicators
        self.passthrough = passthrough
        self.cv = cv
        self.loss = loss
        self.prior = prior
        self.max_reference_rows = max_reference_rows
        self.random_state = random_state
        self.n_jobs = n_jobs

    def predict_error(self, X: Any) -> Floats:
        """Probability that each prediction is wrong, or its expected cost; lower is better.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to assess.

        Returns
        -------
        errors : ndarray of shape (n_rows,)
            Probabilities, or costs in the unit of `loss`.
        """
        methods = () if self.loss is None else ("predict",)
        return self._estimated_error(self._describe(X, methods))

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
        check_supported(sum(map(len, self._held_out_strangeness)), confidence)
        new = [class_strangeness(self._fold_scores(model, X)) for model in self._fold_models]
        return cv_plus_sets(new, self._held_out_strangeness, confidence)

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

    def _methods(self) -> tuple[str, ...]:
        return ("predict", "predict_proba")

    def _fields(self, X: Any, output: PanelOutput, confidence: float) -> dict[str, Any]:
        wrong = self._error(self._table(output.columns))
        return {
            "prediction": output.answers["predict"],
            "error": self._estimated_error(output, wrong),
            "wrong": wrong,
            "classes": self.classes_,
            "probabilities": output.answers.get("predict_proba"),
        }

    def _error(self, table: Floats) -> Floats:
        return self._error_probability.predict(table)

    def _estimated_error(self, output: PanelOutput, wrong: Floats | None = None) -> Floats:
        """Probability of a mistake, or its expected cost where there is a `loss`."""
        wrong = self._error(self._table(output.columns)) if wrong is None else wrong
        if self.loss is None:
            return wrong
        codes = np.searchsorted(self.classes_, output.answers["predict"])
        return self._cost_factor * expected_cost(self._costs, output.scores, codes, wrong)

    def explain_error(self, X: Any = None) -> Floats:
        """Contribution of each indicator to the estimated error, or cost, of each row; below 0 it lowers it."""
        effects = super().explain_error(X)
        if self.loss is None:
            return effects
        if X is None:
            scores, predictions = self.held_out_.scores, self.held_out_.prediction
        else:
            output = self._describe(X, ("predict",))
            scores, predictions = output.scores, output.answers["predict"]
        codes = np.searchsorted(self.classes_, predictions)
        right, wrong = (
            expected_cost(self._costs, scores, codes, np.full(len(codes), chance))
            for chance in (0.0, 1.0)
        )
        return effects * (self._cost_factor * (wrong - right))[:, None]

    def _auto_indicators(self) -> list[Indicator]:
        return classifier_indicators(self.estimator, self.random_state)

    def _resolve_indicators(self) -> list[Indicator]:
        """Checked indicators, own confidence first, where the default error estimator expects it."""
        return sorted(super()._resolve_indicators(), key=lambda i: not _is_own_confidence(i))

    def _check_target(self, y: NDArray[Any]) -> NDArray[Any]:
        if not is_classifier(self.estimator):
            raise ValueError(
                f"estimator={self.estimator!r} is no classifier: for a regressor there is IndividualErrorRegressor."
            )
        check_learner(self.error_estimator)
        check_prior(self.prior)
        self.classes_ = known_classes(self.estimator, y)
        if self.loss is not None:
            self._costs = check_costs(self.loss, len(self.classes_))
        return y

    def _learn(self, cross: CrossFit) -> HeldOut:
        held_out, truth, weight = cross.held_out, cross.truth, cross.weight
        predictions = held_out.answers["predict"]
        wrong = (predictions != truth).astype(np.int64)
        is_default = self.error_estimator is None
        self.prior_ = prior_for(self.get_column_names(), self.prior if is_default else None)
        self._error_probability = ErrorProbability(
            self.error_estimator,
            n_own=self._n_own(held_out),
            random_state=cross.seed,
            directions=self._directions(),
            prior=self.prior_,
        ).fit(self._table(held_out.columns), wrong, weight, cross.units)
        self.error_estimator_ = self._error_probability.fitted_
        losses, error = wrong.astype(float), self._error_probability.held_out_
        if self.loss is not None:
            codes = np.searchsorted(self.classes_, predictions)
            losses = self._costs[np.searchsorted(self.classes_, truth), codes]
            costs = expected_cost(self._costs, held_out.scores, codes, error)
            self._cost_factor = cost_factor(losses, costs, weight)
            error = self._cost_factor * costs
        self._remember_strangeness(cross)
        return HeldOut(
            **self._held_out_fields(cross),
            prediction=predictions,
            error=error,
            classes=self.classes_,
            probabilities=held_out.answers.get("predict_proba"),
            losses=losses,
            wrong=self._error_probability.held_out_,
            costs=None if self.loss is None else self._costs,
        )

    def _directions(self) -> Ints:
        """Whether a mistake is more (1) or less likely (-1) where each column is higher; 0 if that is not known."""
        learned = [self._panel.indicators[name] for name in self._learned]
        return np.concatenate([indicator.column_directions() for indicator in learned])

    def _n_own(self, held_out: HeldOutOutputs) -> int:
        """Number of leading columns that are the model's own confidence."""
        first = self._learned[0]
        if not _is_own_confidence(self._panel.indicators[first]):
            return 0
        return int(held_out.columns[first].shape[1])

    def _fold_scores(self, model: Any, X: Any) -> Floats:
        """Scores of rows by the model of a fold."""
        index = NeighborhoodIndex(model, X, n_neighbors=0, n_trained=self._n_trained)
        return np.concatenate(index.map(lambda near: near.scores, X, 0))

    def _remember_strangeness(self, cross: CrossFit) -> None:
        """Store the model of each fold, and the nonconformity scores of the rows it did not see."""
        held_out = cross.held_out
        codes = np.searchsorted(self.classes_, cross.truth)
        strangeness = true_class_strangeness(held_out.scores, codes)
        self._n_trained = cross.panel.indexes[0].n_trained
        # A frozen model is one model for all rows, each of which counts once.
        if isinstance(self.estimator, FrozenEstimator):
            first = np.unique(held_out.rows, return_index=True)[1]
            self._fold_models = [cross.model]
            self._held_out_strangeness = [strangeness[first]]
            return
        self._fold_models = [fold.model for fold in cross.folds]
        self._held_out_strangeness = [
            strangeness[held_out.splits == number] for number in range(len(cross.folds))
        ]


def _is_own_confidence(indicator: Indicator) -> bool:
    return isinstance(indicator, Confidence) and not indicator.per_class
