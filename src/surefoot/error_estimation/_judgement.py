"""Result of `judge`: prediction, estimated error, stability and novelty of each row; and errors in costs."""

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.utils import check_array

from surefoot._optional import needed_for
from surefoot._tables import frame_of_kind
from surefoot._task import Task
from surefoot._typing import Floats, Ints, Mask
from surefoot._words import InWords, LossUnit, number, plural

# Fields of a judgement without an entry for each row.
NOT_BY_ROWS = ("classes", "costs", "seen", "refitted", "library")

# Rows that the repr of a judgement shows, those with the highest estimated errors.
N_SHOWN = 5

# Columns of stability, of a cell and of neighbours.
STABILITY = (
    *("shift", "spread", "worst", "flips"),
    *("neighbor_change", "neighbor_spread", "neighbor_worst", "other_distance", "other_share"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Judgement(InWords):
    """Prediction, estimated error, stability and novelty of each row; arrays with one entry per row.

    Attributes
    ----------
    prediction : ndarray of shape (n_rows,)
        Prediction of the model.
    error : ndarray of shape (n_rows,)
        Estimated error of the prediction, lower is better: the probability that it is wrong, its expected cost,
        or its expected size.
    novel : ndarray of bool of shape (n_rows,)
        Whether the row is out of distribution: further from training rows than they are from each other, or with
        missing inputs that training rows have.
    columns : dict of str to ndarray of shape (n_rows, n_columns)
        Input of the error estimator (meta-features), by the name of the indicator.
    stability : dict of str to ndarray of shape (n_rows,)
        `shift`, `spread` and `worst`: mean, standard deviation and minimum of the change of the model's output within
        the row's Voronoi cell, nearer to 0 is more stable; `flips`: share of the samples in the cell that get another
        class (not for a regressor). Without the model there are no samples, and the neighbours stand in their place:
        `neighbor_change` and `neighbor_spread`, mean and standard deviation of the change from the row's output to
        theirs; `other_share` of them with another class, and `other_distance` of the nearest of these, or twice that of
        the furthest neighbour if there is none (for a regressor `neighbor_worst`). Each is also an attribute, None
        where it was not measured.
    classes : ndarray of shape (n_classes,), or None
        Labels in the order of `probabilities`; None for a regressor.
    probabilities : ndarray of shape (n_rows, n_classes), or None
        Class probabilities of the model; None where it has none.
    interval : ndarray of shape (n_rows, 2), or None
        Conformal prediction interval of the true value; None for a classifier.
    residual : ndarray of shape (n_rows,), or None
        Estimated truth minus prediction of the model; None for a classifier.
    wrong : ndarray of shape (n_rows,), or None
        Estimated probability that the prediction is wrong, whatever the costs; None for a regressor.
    accepted : ndarray of bool of shape (n_rows,), or None
        Whether the row is answered under a promise (selective prediction); None without a promise. Novel rows and
        training rows never are.
    known : ndarray of bool of shape (n_rows,), or None
        Whether the row has the inputs of a training row, which the model has learned from. Its `error` is then at least
        the held-out estimate of that row. None for held-out rows.
    index : pandas.Index, or None
        Index of the rows, which `to_frame` keeps; None without one.
    library : str, or None
        Library of the frame that the rows came in, such as "polars", which `to_frame` returns; None for arrays.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> judgement = model.judge(X[400:])
    >>> wrong = judgement.prediction != y[400:]
    >>> bool(judgement.error[wrong].mean() > 3 * judgement.error[~wrong].mean())
    True
    >>> list(judgement.to_frame())[:4]
    ['prediction', 'probability_0', 'probability_1', 'estimated_error']
    >>> judgement
    169 predictions, mean estimated error 0.0581.
    1 novel row; the highest estimated errors:
    row 21: 0, estimated error 0.844
    row 65: 0, estimated error 0.755
    row 91: 0, estimated error 0.75
    row 136: 1, estimated error 0.679
    row 13: 1, estimated error 0.553
    """

    prediction: NDArray[Any]
    error: Floats
    novel: Mask
    columns: dict[str, Floats]
    stability: dict[str, Floats] = field(default_factory=dict)
    classes: NDArray[Any] | None = None
    probabilities: Floats | None = None
    interval: Floats | None = None
    residual: Floats | None = None
    wrong: Floats | None = None
    accepted: Mask | None = None
    known: Mask | None = None
    index: Any = None
    library: str | None = None

    def _lines(self) -> list[str]:
        mean = number(float(self.error.mean())) if len(self) else number(None)
        return [
            f"{plural(len(self), 'prediction')}, mean estimated error {mean}.",
            *self._doubtful(),
        ]

    def _doubtful(self) -> list[str]:
        """Number of novel and of accepted rows, and the rows with the highest estimated errors."""
        order = np.argsort(-self.error, kind="stable")[:N_SHOWN].tolist()
        labels, show = self._labels(), number if self.classes is None else str
        counts = f"{plural(int(self.novel.sum()), 'novel row')}"
        if self.accepted is not None:
            counts += f", {self.accepted.sum():,} accepted"
        lines = [f"{counts}; the highest estimated errors:"]
        for i in order:
            row, error = i if labels is None else labels[i], number(float(self.error[i]))
            lines.append(f"row {row}: {show(self.prediction[i])}, estimated error {error}")
        return lines

    def __len__(self) -> int:
        return len(self.error)

    def __getattr__(self, name: str) -> Any:
        """Stability by its name, such as `shift`; None where it was not measured."""
        if name not in STABILITY:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self.stability.get(name)

    def take(self, rows: Any) -> Self:
        """Judgement of some of the rows: positions, or a mask."""
        parts: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, dict):
                parts[each.name] = {name: column[rows] for name, column in value.items()}
            elif value is not None and each.name not in NOT_BY_ROWS:
                parts[each.name] = value[rows]
        return replace(self, **parts)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Columns of `to_frame` by name, one array each."""
        arrays: dict[str, Any] = {"prediction": self.prediction}
        if self.probabilities is not None and self.classes is not None:
            for label, probability in zip(self.classes, self.probabilities.T, strict=True):
                arrays[f"probability_{label}"] = probability
        arrays["estimated_error"] = self.error
        if self.interval is not None:
            arrays["low"], arrays["high"] = self.interval.T
        for name in ("residual", *self.stability, "novel", "known", "accepted"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        return arrays

    def to_frame(self) -> Any:
        """Table with one row per judged row: of polars for rows of polars, otherwise of pandas, with their index.

        Returns
        -------
        frame : pandas.DataFrame, or a frame of the library of the rows
            Columns prediction, probability_<class> for each class, estimated_error, low and high (ends of the
            interval), residual, those of `stability`, novel, known and accepted, in this order, without those that
            are None.
        """
        with needed_for("to_frame", "report"):
            return frame_of_kind(self.to_arrays(), self.library, self._labels())

    def _labels(self) -> Any:
        """Index of the rows, else the positions of held-out rows; None without either."""
        return getattr(self, "rows", None) if self.index is None else self.index


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class HeldOut(Judgement):
    """Out-of-fold judgement of training rows, by models, neighbours and error estimators that never saw them.

    Attributes
    ----------
    rows : ndarray of shape (n_held_out,)
        Positions in the training table, ascending.
    losses : ndarray of shape (n_held_out,)
        True error of each prediction, in the unit of `error`.
    scores : ndarray of shape (n_held_out, 1 or n_classes)
        Out-of-fold scores: log-odds-like for a classifier, predictions of a regressor.
    splits : ndarray of shape (n_held_out,)
        Number of the split that held the row out.
    opinions : dict of str to ndarray of shape (n_held_out,), or (n_held_out, n_classes)
        Out-of-fold outputs of the other models that `SecondOpinion` fitted, by name: predictions of regressors,
        probabilities of classifiers; empty without it.
    pooled : ndarray of shape (n_held_out, n_classes), or None
        Out-of-fold class probabilities of the pool of these models and the model itself; None for a regressor, without
        `SecondOpinion`, and in a file.
    groups : ndarray of shape (n_held_out,), or None
        Group of each row, as given to `fit`; copies of a row (equal inputs that are no coincidence) are in one group.
    distinct : ndarray of bool of shape (n_held_out,), or None
        True for one row of each set of copies, which counts in promises and intervals; None if there are no copies.
    truth : ndarray of shape (n_held_out,)
        Target of each row.
    costs : ndarray of shape (n_classes, n_classes), or None
        Cost matrix, truth by prediction, that `losses` and `error` are in; None without one.
    seen : bool
        True if the model was frozen and has learned these rows so well that nearly no error is left, or if given
        predictions equal the target in every row: then nothing can be promised.
    refitted : bool
        True if models of several folds predicted the rows, and not the one that is used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> held_out = error_estimator.held_out_
    >>> float((held_out.prediction != y).mean()) == float(held_out.losses.mean())
    True
    >>> repr(held_out).splitlines()[0]
    'Wrong on 4.7 % of rows, measured on 150 held-out rows.'
    """

    rows: Ints
    losses: Floats
    scores: Floats
    splits: Ints
    opinions: dict[str, NDArray[Any]] = field(default_factory=dict)
    pooled: Floats | None = None
    groups: NDArray[Any] | None = None
    distinct: Mask | None = None
    truth: NDArray[Any]
    costs: Floats | None = None
    seen: bool = False
    refitted: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """State to save: the fields, without the index, which may hold anything, and the pool, which a report needs."""
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        return state | {"index": None, "pooled": None}

    def _lines(self) -> list[str]:
        measured = self.unit.all_rows.format(self.unit.show(float(self.losses.mean())))
        n_rows = plural(len(self), "held-out row")
        return [f"{measured[:1].upper()}{measured[1:]}, measured on {n_rows}.", *self._doubtful()]

    @cached_property
    def evidence(self) -> Self:
        """Rows that promises are made from: one of each set of copies, and none that is novel."""
        return self.take(~self.novel if self.distinct is None else self.distinct & ~self.novel)

    @cached_property
    def doubt(self) -> Floats:
        """Estimated errors that rank rows: those of novel rows, which are never answered, are infinite."""
        return np.where(self.novel, np.inf, self.error)

    @cached_property
    def task(self) -> Task:
        """What is predicted, and what a wrong prediction costs."""
        return Task(self.classes, self.costs)

    @cached_property
    def unit(self) -> LossUnit:
        """Unit of `losses` and `error`: a share of mistakes, a cost or a size, with its words."""
        return self.task.unit

    @cached_property
    def codes(self) -> tuple[Ints, Ints]:
        """Positions among the classes of the truth and of the prediction of each row."""
        return self.task.codes(self.truth), self.task.codes(self.prediction)

    @cached_property
    def mistakes(self) -> Mask | None:
        """Which predictions are another class than the truth; None for numbers, which are more or less off."""
        return None if self.classes is None else self.prediction != self.truth

    @cached_property
    def bands(self) -> Floats:
        """Ends and middle of the band that the output has around each row: its mean there, and two standard deviations.

        The output is the prediction of a number, or the probability of the predicted class against the second one.
        """
        output = self.scores[:, 0] if self.classes is None else self.lead
        shift, spread, *_ = self.stability.values()
        bands = (output + shift + spread * np.array([[-2], [0], [2]])).T
        return np.asarray(bands if self.classes is None else expit(bands))

    @cached_property
    def lead(self) -> Floats:
        """Lead of each predicted class over the runner-up, like log-odds."""
        if self.scores.shape[1] == 1:
            return np.abs(self.scores[:, 0])
        return np.asarray(np.diff(np.sort(self.scores, axis=1)[:, -2:])[:, 0])

    @cached_property
    def own_doubt(self) -> Floats | None:
        """Doubt of the model itself: 1 − its probability of the class, or minus its lead; None without either.

        With costs, the expected cost by its own probabilities.
        """
        if self.classes is None:
            return None
        if self.probabilities is None:
            return -self.lead if np.ptp(self.lead) > 0 else None
        _, predicted = self.codes
        if self.costs is None:
            return 1 - self.probabilities[np.arange(len(predicted)), predicted]
        return np.asarray((self.probabilities * self.costs[:, predicted].T).sum(axis=1))

    @cached_property
    def loss_values(self) -> dict[Any, Floats] | None:
        """Values that the loss of a row can have, by its true class; None without a cost matrix."""
        if self.costs is None or self.classes is None:
            return None
        return dict(zip(self.classes.tolist(), self.costs, strict=True))


def expected_cost(costs: Floats, scores: Floats, predicted: Ints, wrong: Floats) -> Floats:
    """Expected cost of each prediction that is wrong with the probability `wrong`.

    The probability of a mistake is divided among the other classes in proportion to the model's scores.
    """
    two_classes = scores.shape[1] == 1
    probabilities = (
        np.hstack([expit(-scores), expit(scores)]) if two_classes else softmax(scores, axis=1)
    )
    others = probabilities + 1e-12
    others[np.arange(len(others)), predicted] = 0.0
    others /= others.sum(axis=1, keepdims=True)
    if_wrong = (others * costs[:, predicted].T).sum(axis=1)
    return wrong * if_wrong + (1 - wrong) * costs[predicted, predicted]


def cost_factor(costs: Floats, estimated: Floats, weight: Floats | None) -> float:
    """Factor by which estimated costs are multiplied, so that their mean is the true one."""
    weight = np.ones(len(costs)) if weight is None else weight
    total, true_total = float(weight @ estimated), float(weight @ costs)
    return true_total / total if total > 0 and true_total > 0 else 1.0


def check_costs(loss: Any, n_classes: int) -> Floats:
    """Cost matrix as floats; raises if it has the wrong shape or an entry below 0."""
    costs = check_array(loss, dtype=np.float64, input_name="loss")
    if costs.shape != (n_classes, n_classes) or (costs < 0).any():
        raise ValueError(
            f"loss must be {n_classes} × {n_classes} costs of zero or more, truth by prediction; "
            f"it has shape {costs.shape} and a least entry of {costs.min():g}."
        )
    return np.asarray(costs)
