"""What would help: possible improvements of a model, each with its gain on held-out rows."""

from collections.abc import Callable, Collection
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from surefoot._crossfit import MOST_LEARNED_ROWS
from surefoot._models import (
    FittedModel,
    class_votes,
    fit_model,
    margin,
    predict_labels,
    split_model,
    top_class,
)
from surefoot._parallel import step_done
from surefoot._tables import count_rows, take_rows
from surefoot._typing import Floats, Ints, Mask
from surefoot._words import change_words, enumerated, number, percent, plural, quoted
from surefoot.active_learning import query
from surefoot.error_estimation import HeldOut
from surefoot.report._classes import class_scores, mean_auc
from surefoot.report._quality import brier_of
from surefoot.report._rows import row_labels
from surefoot.report._statistics import WORTH_A_CHANGE, Sample, relative_gain
from surefoot.resampling import HoldoutSplit

Improvement = dict[str, Any]

# Number of rows that are proposed to be labelled next.
N_NEXT = 10

# Where more rows help, models of all rows are better than those of the folds: gains over the latter may vanish.
STEEP = " It still learns much from more rows, so that with all of them the gain may be another."

# Share of the rows that a person answers in place of given predictions.
DEFERRED = 0.1

# Name of the change that a verdict may speak of even where chance may explain its gain.
ANOTHER = "Another model for every row"

# Names in sentences: of the model, and of fits on half of the rows.
MODEL, HALVES = "this model", "fitting on half of them"

# Names of the second opinions in sentences, for classes and for numbers.
OPINIONS = {
    "classification": {
        "trees": "a forest",
        "boosting": "boosted trees",
        "linear": "a logistic regression",
    },
    "regression": {
        "trees": "a forest",
        "boosting": "boosted trees",
        "linear": "a linear regression",
    },
}

# All of them and the model together, which is often better than each.
POOL = "a weighted mean of this model and others"

# Fewest rows on which two models differ, to learn which of them is better where.
LEAST_DIFFERENT = 20

# Largest change of a probability that is none.
UNCHANGED = 0.001

# Penalties to choose from, of the lines that expect how much less another model loses on a row.
PENALTIES = np.logspace(0, 5, 6)

# Folds whose training rows are fitted on again in parts: one for a large table, where a fit takes long and one fold has
# many rows to test on.
N_FOLDS, LARGE, N_LARGE_FOLDS = 2, 2000, 1
FITS_OF_A_FOLD = 4

# Labels to add, as a share of the first ones, and the fewest rows of a half to fit on.
MORE_LABELS = 0.25
LEAST_ROWS = 20


class NotMeasurableError(Exception):
    """Error for a gain that cannot be measured; its message is a sentence that says why."""


def n_refits(n_rows: int) -> int:
    """Number of further fits for a table of this many rows."""
    return FITS_OF_A_FOLD * (N_FOLDS if n_rows <= LARGE else N_LARGE_FOLDS)


def find_improvements(
    error_estimator: Any,
    X: Any,
    y: NDArray[Any],
    alternatives: "Alternatives",
    *,
    groups: NDArray[Any] | None = None,
    recalibrated: Floats | None = None,
    X_unlabelled: Any = None,
) -> list[Improvement]:
    """Improvements of a model, each with its gain on held-out rows as a share of an error; higher is better.

    Other models and corrections are measured on all held-out rows, by fits that were made already; the others take
    four more fits on parts of the training rows of one or two folds. Each is compared with the best of what is there
    already: the model itself, the best constant, and the other models. An improvement "helps" if the interval of its
    gain lies above 0 and the gain is 2 % or more; it "would not help" if the interval lies below 10 %, or if all of the
    gain comes from a class that is never predicted any more; otherwise the verdict is "cannot tell". Intervals account
    for new rows and for new fits.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Error estimator of the model, fitted on X and y.
    X, y : table and ndarray
        Rows and their targets.
    alternatives : Alternatives
        What the model is compared with.
    groups : ndarray of shape (n_rows,), default=None
        Groups of rows that stay together.
    recalibrated : ndarray of shape (n_held_out, n_classes), default=None
        Recalibrated probabilities of the held-out rows.
    X_unlabelled : array-like, CSR or frame, default=None
        Rows without a target, some of which are proposed to be labelled next.

    Returns
    -------
    improvements : list of dict
        With `name`, `verdict`, `gain`, `low`, `high`, `than` (what the gain is measured against, and a share of its
        error), `at_full_size` (whether the gain is one of the model as it is, not of one with fewer rows), `sentence`
        and `rows`.
    """
    held_out: HeldOut = error_estimator.held_out_
    refits = cache(lambda: refit(error_estimator, X, y, groups))
    corrected: dict[str, Callable[[], Improvement]] = {
        "Correction by the expected error": lambda: alternatives.corrected(
            error_estimator.held_out_corrections(y)
        )
    }
    if held_out.classes is not None:
        corrected = {"Recalibrated probabilities": lambda: alternatives.recalibrated(recalibrated)}
        if len(held_out.classes) == 2:
            corrected["The other class where it is better"] = alternatives.flipped
    labels, rows = "Labels for the most doubtful rows", "More rows"
    options: dict[str, Callable[[], Improvement]] = {
        ANOTHER: alternatives.everywhere,
        "Another model where it is better": alternatives.where_better,
        **corrected,
        "Averaging several fits": lambda: alternatives.average(refits()),
        rows: lambda: alternatives.grow(refits()),
        labels: lambda: alternatives.label(refits()),
    }
    if alternatives.is_given:  # outputs alone: there is no model to fit
        options = {**corrected, "A person for the most doubtful rows": alternatives.deferred}
        if held_out.classes is not None and held_out.probabilities is None:
            del options["Recalibrated probabilities"]
    next_rows = _next_rows(error_estimator, X_unlabelled) if labels in options else []
    perfect = (
        f"{held_out.unit.nothing.format(number(len(held_out.rows)))}: there is nothing to gain."
    )
    improvements = {}
    for name, option in options.items():
        try:
            measured = option() if held_out.losses.any() else _unmeasured("cannot tell", perfect)
        except NotMeasurableError as reason:
            measured = _unmeasured("cannot tell", str(reason))
        own_rows = next_rows if name == labels else []
        improvements[name] = {"name": name, **measured, "rows": own_rows}
    if rows in improvements and improvements[rows]["verdict"] == "helps":
        for improvement in improvements.values():
            improvement["sentence"] += STEEP if improvement["at_full_size"] else ""
            improvement["at_full_size"] = False
    return list(improvements.values())


def _unmeasured(verdict: str, sentence: str) -> Improvement:
    """Improvement without a gain."""
    nothing = dict.fromkeys(("gain", "low", "high", "than"))
    return {"verdict": verdict, **nothing, "at_full_size": False, "sentence": sentence}


def _next_rows(error_estimator: Any, X_unlabelled: Any) -> list[int]:
    """Labels of the unlabelled rows to label next, the most useful first."""
    if X_unlabelled is None or count_rows(X_unlabelled) == 0:
        return []
    if error_estimator.held_out_.classes is None:
        doubt = error_estimator.predict_error(X_unlabelled)
        chosen = np.argsort(-doubt, kind="stable")[:N_NEXT]
    else:
        model, seed = error_estimator.estimator_, error_estimator.random_state
        chosen = query("confidence", model, X_unlabelled, N_NEXT, random_state=seed)
    return row_labels(X_unlabelled)[chosen].tolist()


class Alternatives:
    """The model beside the other models that were fitted on the same folds, for a second opinion, and a constant.

    Attributes
    ----------
    predictions, losses : dict of str to ndarray of shape (n_held_out,)
        Of the model, of others that are not of its kind, and of the best constant, by their names in sentences.
    probabilities : dict of str to ndarray of shape (n_held_out, n_classes)
        Of those that have any; a regressor has none.
    """

    def __init__(self, sample: Sample, estimator: Any, n_rows: int, *, is_given: bool) -> None:
        self.sample, self.held_out, self.is_given = sample, sample.held_out, is_given
        held_out, classes = self.held_out, self.held_out.classes
        # Rows of each fold; a single fold is halved by its groups, or rows.
        splits = held_out.splits if np.ptp(held_out.splits) else sample.units % 2
        self.folds: list[Mask] = [splits == fold for fold in np.unique(splits)]
        own = kind_of_model(split_model(estimator)[1])
        outputs = {
            name: held_out.opinions[kind]
            for kind, name in OPINIONS[held_out.task.kind].items()
            if kind in held_out.opinions and kind != own
        }
        if held_out.pooled is not None and len(held_out.opinions) > 1:
            outputs[POOL] = held_out.pooled
        self.others = list(outputs)
        # What given outputs could be is compared with these outputs, not with other models of the table.
        self.aside = self.others if is_given else []
        self.constant = f"always predicting {sample.constant.name}"
        constant = np.full(len(held_out.rows), sample.constant.prediction)
        self.predictions = {MODEL: held_out.prediction, **outputs, self.constant: constant}
        self.probabilities: dict[str, Floats] = {}
        if classes is not None:
            shares = np.tile((held_out.truth[:, None] == classes).mean(axis=0), (len(constant), 1))
            self.predictions |= {
                name: classes[each.argmax(axis=1)] for name, each in outputs.items()
            }
            self.probabilities = {**outputs, self.constant: shares}
            if held_out.probabilities is not None:
                self.probabilities[MODEL] = held_out.probabilities
        self.losses = {
            name: held_out.task.losses(held_out.truth, each)
            for name, each in self.predictions.items()
        }
        self.note = ""
        if n_rows > MOST_LEARNED_ROWS:
            self.note = f" The other models were fitted on {number(MOST_LEARNED_ROWS)} rows only."

    def compare(self) -> list[dict[str, Any]]:
        """Mean loss of each, with ROC AUC and log loss of classifiers, R² of regressors; the model first."""
        truth, classes = self.held_out.truth, self.held_out.classes
        rows: list[dict[str, Any]] = []
        for name, losses in self.losses.items():
            rows.append({"name": name, "error": float(losses.mean())})
            if classes is None:
                squares, spread = (truth - self.predictions[name]) ** 2, float(np.var(truth))
                rows[-1]["r2"] = 1 - float(squares.mean()) / spread if spread > 0 else None
                continue
            shares, (codes, _) = self.probabilities.get(name), self.held_out.codes
            scores = class_scores(self.held_out) if shares is None else shares
            rows[-1] |= {"roc_auc": mean_auc(codes, scores), "log_loss": None}
            if shares is not None:
                of_truth = shares[np.arange(len(codes)), codes]
                logs = np.log(np.clip(of_truth, np.finfo(np.float64).eps, 1))
                rows[-1]["log_loss"] = float(-logs.mean())
        return rows

    def measure(
        self,
        option: str,
        predicted: NDArray[Any],
        *,
        rows: Any = None,
        before: tuple[str, NDArray[Any]] | None = None,
        without: Collection[str] = (),
        fits: Ints | None = None,
        at_full_size: bool = True,
    ) -> Improvement:
        """Improvement by other predictions, over the best of this model, the constant and the others.

        `option` begins the sentence, `rows` are those that are predicted, by default all. `before` has the name and the
        predictions of what takes the model's place. `without` are not compared with; `fits` numbers the fits that
        predictions come from, by default the folds.
        """
        rows = np.arange(len(self.held_out.rows)) if rows is None else rows
        part = self.held_out.take(rows)
        left_out = {*without, *self.aside}
        losses = {name: each[rows] for name, each in self.losses.items() if name not in left_out}
        if before is not None:
            losses = {before[0]: part.task.losses(part.truth, before[1]), **losses}
            del losses[MODEL]
        after = part.task.losses(part.truth, predicted)
        fits = part.splits if fits is None else fits
        card = self._judge(option, losses, after, rows, fits)
        card["at_full_size"] = at_full_size
        # A gain that only comes from never predicting a class is no help.
        never = np.setdiff1d(np.intersect1d(part.prediction, part.truth), predicted)
        if card["verdict"] == "helps" and part.classes is not None and never.size:
            kept = np.where(np.isin(part.prediction, never), losses[card["than"]], after)
            if self._judge(option, losses, kept, rows, fits)["verdict"] != "helps":
                card["verdict"] = "would not help"
                card["sentence"] += f" That is only because it never predicts {quoted(never)}."
        return card

    def _judge(
        self,
        option: str,
        losses: dict[str, Floats],
        after: Floats,
        rows: Ints,
        fits: Ints,
        words: tuple[str, str, str] | None = None,
    ) -> Improvement:
        """Improvement with the losses `after` of some rows, over the lowest of the other losses.

        `words` are those of a change in another loss than that of the model.
        """
        than = min(losses, key=lambda name: float(losses[name].mean()))
        if losses[than].sum() == 0:
            sentence = (
                f"{than[0].upper()}{than[1:]} makes no mistake, so that nothing is left to gain."
            )
            return _unmeasured("would not help", sentence)
        unit = self.held_out.unit
        gain = relative_gain(
            losses[than],
            after,
            units=self.sample.units[rows],
            fits=fits,
            confidence=self.sample.confidence,
            counts=words is None and unit.is_share,
        )
        words = words or (unit.less, unit.more, unit.times)
        sentence = f"{option} {change_words(gain, than, *words)}."
        if gain.verdict == "would not help" and gain.high > 0:
            sentence += f" Even at best, the gain is below {WORTH_A_CHANGE * 100:g} %."
        return {
            "verdict": gain.verdict,
            "gain": gain.value,
            "low": gain.low,
            "high": gain.high,
            "than": than,
            "at_full_size": True,
            "sentence": sentence,
        }

    def recalibrated(self, probabilities: Floats | None) -> Improvement:
        """Gain in Brier score of recalibrated probabilities: the same numbers as in the section on probabilities."""
        held_out = self.held_out
        if probabilities is None:
            raise NotMeasurableError(
                "The model gives no probabilities that could be checked and recalibrated."
            )
        scores = {name: brier_of(held_out, each) for name, each in self.probabilities.items()}
        losses = {f"that of {name}": scores[name] for name in (MODEL, self.constant)}
        option = "Recalibration (RecalibratedClassifier) would make the Brier score"
        words, after = ("lower", "higher", "times as high {} as"), brier_of(held_out, probabilities)
        every = np.arange(len(after))
        card = self._judge(option, losses, after, every, held_out.splits, words)
        if np.allclose(probabilities, self.probabilities[MODEL], atol=UNCHANGED):
            card["sentence"] = "Recalibration leaves the probabilities of this model as they are."
        others = [name for name in self.others if name not in self.aside]
        best = min(others, key=lambda name: float(scores[name].mean()), default=None)
        if best is not None and scores[best].mean() < after.mean():
            means = f"{number(scores[best].mean())}, less than the {number(after.mean())} after it"
            card["sentence"] += f" {best[0].upper()}{best[1:]} has {means}."
        return card

    def corrected(self, corrections: Floats) -> Improvement:
        """Gain of a regressor's predictions with their expected residual added."""
        option = "With the expected residual added to each prediction, it would make"
        return self.measure(option, self.held_out.prediction + corrections)

    def deferred(self) -> Improvement:
        """Gain of right answers to the rows with the highest estimated error."""
        n_asked = round(DEFERRED * len(self.held_out.rows))
        asked = np.argsort(-self.held_out.doubt, kind="stable")[:n_asked]
        predicted = self.held_out.prediction.copy()
        predicted[asked] = self.held_out.truth[asked]
        option = f"Right answers to the {percent(DEFERRED)} of the rows with the highest estimated error would make"
        return self.measure(option, predicted)

    def flipped(self) -> Improvement:
        """Gain of the other of two classes in rows where it is expected to cost less.

        The estimates are out of fold, so the same rows can measure the gain.
        """
        classes, costs = np.asarray(self.held_out.classes), self.held_out.task.cost_matrix
        _, answer = self.held_out.codes
        wrong = np.asarray(self.held_out.wrong)
        expected, other = (
            right * costs[each, each] + (1 - right) * costs[1 - each, each]
            for each, right in ((answer, 1 - wrong), (1 - answer, wrong))
        )
        flipped = other < expected
        if not flipped.any():
            return _unmeasured("would not help", "On no row is the other class better.")
        where = self.held_out.unit.flipped
        option = f"The other class on the {plural(int(flipped.sum()), 'row')} where it {where} would make"
        return self.measure(option, classes[np.where(flipped, 1 - answer, answer)])

    def everywhere(self) -> Improvement:
        """Gain of the best other model in place of this one; which is the best is learned on the other folds."""
        losses = np.array([self.losses[name] for name in self.others])
        places = np.empty(len(self.held_out.rows), dtype=np.int64)
        for here in self.folds:
            places[here] = losses[:, ~here].mean(axis=1).argmin()
        name = self.others[int(losses.mean(axis=1).argmin())]
        option = f"{name[0].upper()}{name[1:]} in its place would make"
        return self._chosen(option, self.others, places, without=self.others)

    def where_better(self) -> Improvement:
        """Gain of choosing row by row between this model and the others, learned on the rows of other folds."""
        held_out, own, names = self.held_out, self.held_out.losses, [MODEL, *self.others]
        columns = np.hstack([*held_out.columns.values()])
        table = np.hstack([columns, np.abs(columns)])
        expected = np.zeros((len(own), len(names)))
        for place, name in enumerate(self.others, start=1):
            differ = self.predictions[name] != held_out.prediction
            for here in self.folds:
                known = ~here & differ
                if known.sum() >= LEAST_DIFFERENT:
                    line = make_pipeline(StandardScaler(), RidgeCV(PENALTIES))
                    line.fit(table[known], (self.losses[name] - own)[known])
                    expected[here, place] = np.where(differ[here], line.predict(table[here]), 0.0)
        option = f"Picking the best of {enumerated(names)} for each row would make"
        return self._chosen(option, names, expected.argmin(axis=1))

    def average(self, refits: "Refits") -> Improvement:
        """Gain of the average of three fits, on all training rows and on each half, over the first."""
        option = "The average of three fits, on all rows and on each half of them, would make"
        return self.measure(option, refits.predictions["averaged"], rows=refits.rows)

    def grow(self, refits: "Refits") -> Improvement:
        """Gain of all training rows of a fold over half of them.

        It is not compared with other models, which more rows would help, too.
        """
        part, predictions = self.held_out.take(refits.rows), refits.predictions
        halves = np.append(predictions["first half"], predictions["second half"])
        card = self.measure(
            f"Fitting on {number(refits.n_trained)} rows made",
            np.tile(part.prediction, 2),
            rows=np.tile(refits.rows, 2),
            before=(HALVES, halves),
            without=self.others,
            fits=2 * np.tile(part.splits, 2) + np.repeat([0, 1], len(part)),
            at_full_size=False,
        )
        if card["than"] == HALVES:
            card["sentence"] += " If this trend continues, twice as many rows gain at most as much."
        return card

    def label(self, refits: "Refits") -> Improvement:
        """Gain of labels for the most doubtful rows over as many for random rows."""
        why = self.held_out.unit.doubtful
        return self.measure(
            f"Starting from {number(refits.n_trained // 2)} labels, 25 % more for the rows where it is {why} "
            "would make",
            refits.predictions["asked"],
            rows=refits.rows,
            before=("as many for random rows", refits.predictions["drawn"]),
            without=self.others,
            at_full_size=False,
        )

    def _chosen(
        self, option: str, names: list[str], places: Ints, without: Collection[str] = ()
    ) -> Improvement:
        """Improvement by the prediction, in each row, of the model at its place in the names."""
        every = np.array([self.predictions[name] for name in names])
        predicted = every[places, np.arange(len(places))]
        card = self.measure(option, predicted, without=without, at_full_size=not self.note)
        return card | {"sentence": card["sentence"] + self.note}


def kind_of_model(predictor: Any) -> str:
    """Name of the second opinion that is of the model's own kind, or "other"."""
    name, module = type(predictor).__name__, type(predictor).__module__
    if "Forest" in name or "ExtraTrees" in name:
        return "trees"
    if "Boost" in name or name.startswith(("XGB", "LGBM")):
        return "boosting"
    if "linear_model" in module or name.startswith("Linear"):
        return "linear"
    inner = getattr(predictor, "estimator", None)  # of a search, or a model around another
    return "other" if inner is None else kind_of_model(inner)


class Refits(NamedTuple):
    """Predictions of held-out rows by each kind of fit on parts of a fold, and the number of rows of a whole fold."""

    rows: Ints
    predictions: dict[str, NDArray[Any]]
    n_trained: int


def refit(error_estimator: Any, X: Any, y: NDArray[Any], groups: NDArray[Any] | None) -> Refits:
    """Fits on halves of a fold's training rows, and on one half and a few more rows, for one fold or two."""
    estimator, held_out = error_estimator.estimator, error_estimator.held_out_
    if isinstance(estimator, FrozenEstimator):
        raise NotMeasurableError("The model is not fitted again, so that this cannot be measured.")
    # Where rows are held out in time, the last splits have the most training rows.
    folds = [(fold, train) for fold, (train, _) in enumerate(error_estimator.splits_)]
    folds = folds[-(n_refits(len(y)) // FITS_OF_A_FOLD) :]
    if min(len(train) for _, train in folds) < 2 * LEAST_ROWS:
        raise NotMeasurableError(f"{number(len(y))} rows are too few to fit on parts of them.")
    places = [np.flatnonzero(held_out.splits == fold) for fold, _ in folds]
    estimated = np.full(len(y), -np.inf)
    estimated[held_out.rows] = held_out.error
    random, fits = check_random_state(error_estimator.random_state), []

    def fitted(rows: Ints) -> Any:
        model = fit_model(estimator, take_rows(X, rows), y[rows])
        step_done("refit")
        return model

    try:
        for rows, (_, train) in zip(places, folds, strict=True):
            part, labels = held_out.take(rows), None if held_out.classes is None else y[train]
            own_groups = None if groups is None else groups[train]
            [halves] = HoldoutSplit(0.5, random_state=random).split(train, labels, own_groups)
            first, second = (train[half] for half in halves)
            models = {"first half": fitted(first), "second half": fitted(second)}
            table, n_more = take_rows(X, part.rows), round(MORE_LABELS * len(first))
            averaged = _averaged(part, [*models.values()], table)
            shuffled = random.permutation(second)  # rows with equal doubt come in random order
            if held_out.classes is None:
                trust = -estimated[shuffled]
            else:
                half = FittedModel(models["first half"], "auto", len(first))
                scores = half.score(take_rows(X, shuffled))
                trust = margin(scores, top_class(scores))
            doubtful = np.argsort(trust, kind="stable")[:n_more]
            more = {"asked": shuffled[doubtful], "drawn": shuffled[:n_more]}
            models |= {name: fitted(np.sort(np.append(first, more[name]))) for name in more}
            predicted = {name: predict_labels(model, table) for name, model in models.items()}
            fits.append(predicted | {"averaged": averaged})
    except ValueError as error:
        raise NotMeasurableError(
            f"The model cannot be fitted on half of the rows, which the measurement needs: {error}"
        ) from error
    predictions = {name: np.concatenate([fit[name] for fit in fits]) for name in fits[0]}
    return Refits(np.concatenate(places), predictions, len(folds[-1][1]))


def _averaged(part: HeldOut, models: list[Any], table: Any) -> NDArray[Any]:
    """Mean prediction of the held-out model and the others, by mean probabilities, or the vote of classes."""
    classes, probabilities = part.classes, part.probabilities
    if classes is None:
        others = [predict_labels(model, table) for model in models]
        return np.mean([part.prediction, *others], axis=0)
    # The model of all rows decides where two without probabilities disagree.
    own = 1.5 * (part.prediction[:, None] == classes) if probabilities is None else probabilities
    votes = own.astype(np.float64)
    for model in models:
        votes[:, np.searchsorted(classes, model.classes_)] += class_votes(model, table)
    return np.asarray(classes[votes.argmax(axis=1)])
