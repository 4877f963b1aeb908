"""Error estimator for regressors: size of each prediction's error (Buza et al. 2010, version 3)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, is_regressor
from sklearn.utils.validation import check_is_fitted

from surefoot._crossfit import CrossFit, Outputs, units_of
from surefoot._typing import Floats
from surefoot._validation import check_option, check_rows, check_share
from surefoot.error_estimation._base import IndividualErrorEstimator, Row
from surefoot.error_estimation._conformal import (
    check_supported,
    conformal_quantile,
    cv_plus_intervals,
    held_out_intervals,
)
from surefoot.error_estimation._error_size import (
    ErrorSize,
    Sizes,
    check_targets,
    held_out_corrections,
)
from surefoot.error_estimation._judgement import HeldOut
from surefoot.indicators import Indicator, NeighborDisagreement, NeighborDistance, SecondOpinion

# Confidence of the intervals that `held_out_` holds.
HELD_OUT_CONFIDENCE = 0.9


class IndividualErrorRegressor(RegressorMixin, IndividualErrorEstimator):
    """Regressor that also estimates how wrong each of its predictions is; lower is better.

    An error estimator learns from out-of-fold predictions and indicators how large the error of a prediction is
    (`predict_error`), in which direction it goes (`predict_residual`), and a conformal prediction interval whose
    width depends on it (`predict_interval`). With `corrected=True`, `predict` adds the estimated residual, as far
    as that reduced the out-of-fold error; the error is then that of the corrected prediction. The interval is around
    the corrected prediction in either case, and contains the prediction.

    Parameters
    ----------
    estimator : regressor
        The model. In `FrozenEstimator` it is used as it is, and must not have been trained on the rows of `fit`.
    learner : regressor, default=None
        Learns residuals, and the size of errors, from the columns. By default residuals are learned by ridge
        regression, sizes by trees that start from what was learned on other tables (the prior).
    indicators : "auto", indicator or several, default="auto"
        Indicators that the error estimator learns from. "auto" is the prediction and the row itself, and in a
        scaled space `NeighborDisagreement`, `NeighborDistance` and a `SecondOpinion`.
    passthrough : bool, default=False
        Whether to add the row itself, as in the paper, if the indicators do not include it.
    cv : int, splitter or iterable of splits, default=5
        Splitter for the out-of-fold predictions; it need not be a partition. With a single split, such as
        `HoldoutSplit`, the model is not fitted again. A number means shuffled folds, which keep `groups` together.
    corrected : bool or "unshrunk", default=False
        Whether `predict` adds the estimated residual, which is shrunk by `shrinkage_`, to the model's prediction.
        "unshrunk" adds the whole estimate, as the paper does.
    intervals : {"narrow", "proven"}, default="narrow"
        "narrow" are intervals around the prediction of the deployed model, as wide as the errors of the held-out rows
        require. Their coverage was measured to be near `confidence`; with more than one fold no theorem guarantees it.
        "proven" are those of CV+: the true value is in them with a probability of at least 2·confidence − 1 for
        any model, less a term that vanishes with many rows per fold. They are wider, and usually cover more than
        `confidence`. Each pair of folds takes a further fit of the model, and an interval asks the models of all folds.
    loss : {"absolute", "squared"}, default="absolute"
        Unit of `predict_error`.
    max_reference_rows : int, default=5_000
        Most training rows in which neighbours are searched; of more rows a random sample is taken.
    random_state : int, RandomState or None, default=None
        Seed of all random draws: that sample, the folds, the error estimator, the indicators.
    n_jobs : int, default=None
        Number of parallel fits and folds.

    Attributes
    ----------
    estimator_ : regressor
        The fitted model, uncorrected.
    learner_ : regressor
        Fitted learner of residuals.
    shrinkage_ : float
        Factor in the correction of what the error estimator predicts: 0 if it does not reduce the error, at most 1; 1
        if `corrected="unshrunk"`.
    prior_version_ : int or None
        Version of the prior; None if other indicators or another `learner` leave no use for it.
    held_out_ : HeldOut
        Out-of-fold judgement of the training rows: predictions (corrected if `corrected=True`),
        estimates and losses by models, corrections and error estimators that did not see them.
    never_held_out_ : ndarray
        Empty; a classifier's rows of rare classes are never held out.
    n_splits_, splits_ : int, list of (train, test)
        Number of splits, and the positions of the rows that each of them learns from and holds out.
    reference_rows_ : ndarray
        Positions of the training rows in which neighbours are searched.
    novelty_threshold_ : float
        Logarithm of the distance beyond which `predict_novelty` flags a row.
    input_sample_ : object
        Uniform sample of the held-out rows' inputs, with which `surefoot.monitoring` compares new rows.
    n_features_in_ : int
        Columns seen in `fit`.
    given_outputs_ : object
        Columns of the table that stand in the place of a model, of `assess_predictions`; None with a model.
    feature_names_in_, input_form_ : ndarray of shape (n_columns,), dict
        Their names, where they are strings; their kinds and categories, and the library of the table.

    Notes
    -----
    A residual is truth minus prediction, so that it is added to correct; the paper has it the other way round.

    The paper's method is ``IndividualErrorRegressor(model, meta_model, indicators=[], passthrough=True,
    cv=HoldoutSplit(4 / 9), corrected="unshrunk")``, with two differences. The columns of the row are divided by their
    standard deviations among the training rows of the model (one with two values by √2 times their difference): this
    matters to a meta-model that depends on scales and does not scale its columns itself. And the model is not trained
    on rows whose inputs equal those of a held-out row.

    With a single split, intervals are those of split conformal prediction: for rows from the distribution of the
    training rows they contain the true value with a probability of at least `confidence`. Model, correction and scale
    are then fitted without the rows whose errors they are compared with, as they are with `intervals="proven"`, which
    is CV+ (Barber, Candès, Ramdas and Tibshirani 2021). With `intervals="narrow"` and several folds, correction and
    scale of a row are learned from other rows, whose models may have seen its target. There is no guarantee if splits
    overlap or follow time, or with `groups`.

    References
    ----------
    Buza, Nanopoulos and Schmidt-Thieme, "Individualized error estimation for classification and regression models",
    2010. Barber et al., "Predictive inference with the jackknife+", Annals of Statistics 49, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = IndividualErrorRegressor(Ridge(), random_state=0).fit(X[::2], y[::2])
    >>> low, high = model.predict_interval(X[1::2]).T
    >>> bool(((low <= y[1::2]) & (y[1::2] <= high)).mean() > 0.8)
    True
    """

    def __init__(
        self,
        estimator: Any,
        learner: Any = None,
        *,
        indicators: Any = "auto",
        passthrough: bool = False,
        cv: Any = 5,
        corrected: bool | str = False,
        intervals: str = "narrow",
        loss: str = "absolute",
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
        self.corrected = corrected
        self.intervals = intervals
        self.loss = loss

    def predict(self, X: Any) -> Floats:
        """Prediction of each row by the model, plus the correction if `corrected=True`."""
        if not self.corrected:
            return super().predict(X)
        columns, scores, _ = self._describe(self._rows(X))
        return scores[:, 0] + self._size(self._table(columns)).correction

    def predict_residual(self, X: Any) -> Floats:
        """Estimated truth minus prediction of the uncorrected model.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)

        Returns
        -------
        residuals : ndarray of shape (n_rows,)
            Estimated residuals, in the unit of the target: shrunk to what reduced the out-of-fold error, or as they are
            if `learner` was given.
        """
        columns, *_ = self._describe(self._rows(X))
        return self._size(self._table(columns)).residual

    def predict_interval(self, X: Any, confidence: float = 0.9) -> Floats:
        """Conformal prediction interval of each row's true value; narrower is more certain.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to assess.
        confidence : float, default=0.9
            Probability that it contains the true value; the parameter `intervals` of the class and its notes state
            what holds.

        Returns
        -------
        intervals : ndarray of shape (n_rows, 2)
            Lower and upper ends. Too few held-out rows for this confidence raise an error.
        """
        check_share(confidence, "confidence")
        X = check_rows(self, X)
        check_supported(len(self.held_out_.rows), confidence)
        return self._fields(X, self._panel(X, self._learned), confidence)["interval"]

    def held_out_intervals(self, confidence: float = 0.9) -> Floats:
        """Intervals of the held-out rows, in the order of `held_out_`, to measure their coverage.

        The model, correction and scale of a row come from the split that held it out, the width of its
        interval from the errors of the other splits, or with a single split from the other half of its rows.

        Parameters
        ----------
        confidence : float, default=0.9
            Probability that an interval contains the true value.

        Returns
        -------
        intervals : ndarray of shape (n_held_out, 2)
            Lower and upper ends.
        """
        check_is_fitted(self)
        check_share(confidence, "confidence")
        held_out = self.held_out_
        return _with_predictions(
            held_out_intervals(held_out.truth, *self._intervals, held_out.splits, confidence),
            held_out.prediction,
        )

    def held_out_corrections(self, y: Any) -> Floats:
        """Corrections of the held-out predictions: their estimated residuals, as far as the other splits support them.

        Added to the predictions they show what `corrected=True` would gain; `y` are the targets given to `fit`.
        """
        check_is_fitted(self)
        held_out = self.held_out_
        truth = np.asarray(y, dtype=np.float64)[held_out.rows]
        return held_out_corrections(
            truth - held_out.prediction, np.asarray(held_out.residual), held_out.splits
        )

    def _auto_indicators(self) -> list[Indicator]:
        return [
            Row(prediction=True, optional=True),
            NeighborDisagreement(n_neighbors=(10, 30), space="scaled"),
            NeighborDistance(n_neighbors=10, space="scaled"),
            SecondOpinion(space="scaled", random_state=self.random_state),
        ]

    def _check_target(self, y: NDArray[Any]) -> NDArray[Any]:
        check_option(self.loss, "loss", ("absolute", "squared"))
        check_option(self.intervals, "intervals", ("narrow", "proven"))
        if self.corrected not in (True, False):
            check_option(self.corrected, "corrected", ("unshrunk",), "a bool")
        if not is_regressor(self.estimator):
            raise ValueError(
                f"estimator={self.estimator!r} is no regressor: for a classifier there is IndividualErrorClassifier."
            )
        if self.learner is not None and not is_regressor(self.learner):
            raise TypeError(f"learner={self.learner!r} is no regressor: residuals are numbers.")
        return check_targets(y)

    def _learn(self, cross: CrossFit, known: dict[str, Any]) -> HeldOut:
        held_out, truth = cross.held_out, cross.truth
        splits, counts = held_out.splits, cross.training.copies.distinct[held_out.rows]
        self._size, sizes = self._fit_size(cross, held_out)
        self._folds = []
        for number, fold in enumerate(cross.folds):
            if fold.inner is None:
                continue
            where = splits == number
            size, _ = self._fit_size(cross, fold.inner)
            table = self._table({name: held_out.columns[name][where] for name in self._learned})
            for values, own in zip(sizes, size(table), strict=True):
                values[where] = own
            deviation = np.abs(truth - held_out.scores[:, 0] - sizes.center)
            scores = (deviation / sizes.scale)[where & counts]
            self._folds.append((fold.panel, size, scores))
        self.learner_, self.shrinkage_ = self._size.corrector_, self._size.shrinkage_
        prior = getattr(self._size.sizer_, "prior_", None) if self.learner is None else None
        self.prior_version_ = None if prior is None else prior.version_
        prediction = held_out.scores[:, 0] + sizes.correction
        self._intervals = held_out.scores[:, 0] + sizes.center, sizes.scale
        self._scores = (np.abs(truth - self._intervals[0]) / sizes.scale)[counts]
        intervals = held_out_intervals(truth, *self._intervals, splits, HELD_OUT_CONFIDENCE)
        return HeldOut(
            **known,
            prediction=prediction,
            error=sizes.error,
            interval=_with_predictions(intervals, prediction),
            residual=sizes.residual,
            losses=np.abs(truth - prediction) ** (2 if self.loss == "squared" else 1),
        )

    def _fit_size(self, cross: CrossFit, held_out: Any) -> tuple[ErrorSize, Sizes]:
        """Estimator fitted on out-of-fold columns, and estimates by learners without the row."""
        rows = held_out.rows
        size = ErrorSize(
            self.learner,
            names=self._known_column_names(),
            corrected=self.corrected,
            squared=self.loss == "squared",
            random_state=cross.training.seed,
        )
        sizes = size.fit_held_out(
            self._table(held_out.columns),
            cross.training.y[rows] - held_out.scores[:, 0],
            held_out.splits,
            None if cross.training.weight is None else cross.training.weight[rows],
            units_of(rows, cross.training.copies.groups),
        )
        return size, sizes

    def _fields(self, X: Any, output: Outputs, confidence: float) -> dict[str, Any]:
        """Fields of a judgement; intervals are narrow ones around the deployed model's predictions, or those of CV+.

        CV+ counts the differences between the fits of the folds twice: the held-out scores contain them, and its
        centers differ by them again, so it covers more than asked for. Narrow ones lay the scores around one
        prediction, which covers as asked if the deployed model errs like those of the folds. With a single fold both
        are split conformal prediction. Too few held-out rows give infinite intervals.
        """
        model, sizes = output.scores[:, 0], self._size(self._table(output.columns))
        prediction = model + sizes.correction
        if len(self._folds) > 1:
            outputs = [panel(X, self._learned) for panel, *_ in self._folds]
            by_fold = [
                self._center_and_scale(size, each)
                for (_, size, _), each in zip(self._folds, outputs, strict=True)
            ]
            held_out = [scores for *_, scores in self._folds]
            intervals = cv_plus_intervals(by_fold, held_out, confidence)
        else:
            center, scale = model + sizes.center, sizes.scale
            if self._folds:  # learned without the rows whose errors are compared with it
                center, scale = self._center_and_scale(self._folds[0][1], output)
            reach = scale * conformal_quantile(self._scores, confidence)
            intervals = np.column_stack([center - reach, center + reach])
        return {
            "prediction": prediction,
            "error": sizes.error,
            "interval": _with_predictions(intervals, prediction),
            "residual": sizes.residual,
        }

    def _center_and_scale(self, size: ErrorSize, output: Outputs) -> tuple[Floats, Floats]:
        """Middles of intervals, and the expected distances of the truth from them."""
        sizes = size(self._table(output.columns))
        return output.scores[:, 0] + sizes.center, sizes.scale

    def _estimate(self, columns: dict[str, Floats], scores: Floats, prediction: Any) -> Floats:
        return self._size(self._table(columns)).error


def _with_predictions(intervals: Floats, predictions: Floats) -> Floats:
    """Intervals, made to contain the predictions: the middle of one may lie far from an uncorrected prediction."""
    low, high = intervals.T
    return np.column_stack([np.minimum(low, predictions), np.maximum(high, predictions)])
