"""What would help: possible improvements of a model, each with its gain on held-out rows."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from surefoot._crossfit import MOST_LEARNED_ROWS
from surefoot._models import fit_model, predict_labels, split_model
from surefoot._parallel import step_done
from surefoot._tables import count_rows, take_rows
from surefoot._typing import Floats, Ints, Mask
from surefoot._words import change_words, enumerated, number
from surefoot.active_learning import query
from surefoot.error_estimation import HeldOut
from surefoot.report._rows import row_labels
from surefoot.report._statistics import (
    GAIN_CONFIDENCE,
    WORTH_A_CHANGE,
    losses_of,
    relative_gain,
    unit_codes,
)
from surefoot.resampling import HoldoutSplit

Improvement = dict[str, Any]

# Number of rows that are proposed to be labelled next.
N_NEXT = 10

# Where more rows help, models of all rows are better than those of the folds: gains over the latter may vanish.
STEEP = " It still learns much from more rows, so that with all of them the gain may be another."

# Names of the second opinions in sentences, for classes and for numbers.
OPINIONS = {
    "trees": ("a forest", "a forest"),
    "boosting": ("boosted trees", "boosted trees"),
    "linear": ("a logistic regression", "a linear regression"),
}

# Fewest rows on which two models differ, to learn which of them is better where.
LEAST_DIFFERENT = 20

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
    *,
    groups: NDArray[Any] | None = None,
    brier: dict[str, Floats] | None = None,
    X_unlabelled: Any = None,
) -> list[Improvement]:
    """Improvements of a model, each with its gain on held-out rows as a share of its error; higher is better.

    Other models and corrections are measured on all held-out rows, by fits that were made already; the others take
    four more fits on parts of the training rows of one or two folds. An improvement "helps" if the 90 % interval of
    its gain lies above 0 and the gain is 2 % or more; it "would not help" if the interval lies below 10 %; otherwise
    the verdict is "cannot tell". Intervals account for new rows and for new fits.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Error estimator of the model, fitted on X and y.
    X, y : table and ndarray
        Rows and their targets.
    groups : ndarray of shape (n_rows,), default=None
        Groups of rows that stay together.
    brier : dict of ndarray, default=None
        Brier score of each held-out row, `before` and `after` recalibration.
    X_unlabelled : array-like, CSR or frame, default=None
        Rows without a target, some of which are proposed to be labelled next.

    Returns
    -------
    improvements : list of dict
        With `name`, `verdict`, `gain`, `low`, `high`, `of` (what the gain is a share of), `at_full_size` (whether the
        gain is one of the model as it is, not of one with fewer rows), `sentence` and `rows`.
    """
    held_out: HeldOut = error_estimator.held_out_
    others, refits = (
        OtherModels(error_estimator, len(y)),
        Refits(error_estimator, X, y, groups),
    )
    corrected: dict[str, Callable[[], Improvement]] = {
        "Correction by the expected error": lambda: _correct(error_estimator, y)
    }
    if held_out.classes is not None:
        corrected = {"Recalibrated probabilities": lambda: _recalibrate(held_out, brier)}
    labels, rows = "Labels for the most doubtful rows", "More rows"
    options: dict[str, Callable[[], Improvement]] = {
        "Another model for every row": others.everywhere,
        "Another model where it is better": others.where_better,
        **corrected,
        "Averaging several fits": refits.average,
        rows: refits.grow,
        labels: refits.label,
    }
    next_rows = _next_rows(error_estimator, X_unlabelled)
    improvements = {}
    for name, option in options.items():
        try:
            measured = option()
        except NotMeasurableError as reason:
            measured = dict.fromkeys(("gain", "low", "high", "of"))
            measured |= {"verdict": "cannot tell", "at_full_size": False, "sentence": str(reason)}
        own_rows = next_rows if name == labels else []
        improvements[name] = {"name": name, **measured, "rows": own_rows}
    if improvements[rows]["verdict"] == "helps":
        for improvement in improvements.values():
            improvement["sentence"] += STEEP if improvement["at_full_size"] else ""
            improvement["at_full_size"] = False
    return list(improvements.values())


def _measure(
    held_out: HeldOut,
    before: Floats,
    after: Floats,
    sentence: str,
    *,
    at_full_size: bool = True,
    fits: Ints | None = None,
    of: str = "its error",
) -> Improvement:
    """Improvement with its gain, a share of the sum of the losses `before`.

    `{}` in the sentence stands for the gain, and further words say why there is none, or none that is certain. `fits`
    numbers the fits that losses come from, by default the folds. `of` is what the losses are.
    """
    if before.sum() == 0:
        raise NotMeasurableError(
            "It made no mistake on these rows, so that nothing is left to gain."
        )
    unit, is_error = held_out.unit, of == "its error"
    gain = relative_gain(
        before,
        after,
        units=unit_codes(held_out),
        fits=held_out.splits if fits is None else fits,
        counts=unit.is_share and is_error,
    )
    words = (unit.less, unit.more) if is_error else ("lower", "higher")
    sentence = sentence.format(change_words(gain, GAIN_CONFIDENCE, *words))
    if gain.verdict == "cannot tell":
        sentence += " The rows are too few to tell."
    elif gain.verdict == "would not help" and gain.high <= 0:
        sentence += " It would be worse."
    elif gain.verdict == "would not help":
        sentence += f" Even at best, the gain is below {WORTH_A_CHANGE * 100:g} % of {of}."
    return {
        "verdict": gain.verdict,
        "gain": gain.value,
        "low": gain.low,
        "high": gain.high,
        "of": of,
        "at_full_size": at_full_size,
        "sentence": sentence,
    }


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


def _recalibrate(held_out: HeldOut, brier: dict[str, Floats] | None) -> Improvement:
    """Gain in Brier score of recalibrated probabilities: the same figures as in the section on probabilities."""
    if brier is None:
        raise NotMeasurableError(
            "The model gives no probabilities that could be checked and recalibrated."
        )
    before, after = brier["before"], brier["after"]
    if held_out.losses.sum() == 0:
        raise NotMeasurableError("It made no mistake, so that there is nothing to gain.")
    means = f"from {number(before.mean())} to {number(after.mean())}"
    sentence = f"Recalibration would make the Brier score {{}}, {means}."
    return _measure(held_out, before, after, sentence, of="its Brier score")


def _correct(error_estimator: Any, y: NDArray[Any]) -> Improvement:
    """Gain of a regressor's predictions with their expected residual added."""
    held_out: HeldOut = error_estimator.held_out_
    if held_out.losses.sum() == 0:
        raise NotMeasurableError("It makes no error that could be corrected.")
    corrected = held_out.prediction + error_estimator.held_out_corrections(y)
    sentence = "With the expected residual added to each prediction, it would make {}."
    return _measure(held_out, held_out.losses, losses_of(held_out, corrected), sentence)


class OtherModels:
    """The model beside the other models that were fitted on the same folds, for a second opinion.

    Which of them is the best, and which is better on a row, is learned for each fold from the rows of the others.
    """

    def __init__(self, error_estimator: Any, n_rows: int) -> None:
        self.held_out: HeldOut = error_estimator.held_out_
        own = kind_of_model(split_model(error_estimator.estimator)[1])
        self.losses = {
            name: losses_of(self.held_out, prediction)
            for name, prediction in self.held_out.opinions.items()
            if name != own
        }
        in_words = 1 if self.held_out.classes is None else 0
        self.names = {name: OPINIONS[name][in_words] for name in self.losses}
        self.note = ""
        if n_rows > MOST_LEARNED_ROWS:
            self.note = f" The other models were fitted on {number(MOST_LEARNED_ROWS)} rows only."

    def everywhere(self) -> Improvement:
        """Gain of the best other model in place of this one."""
        best = self._best_elsewhere(without=1)
        name = self.names[min(self.losses, key=lambda name: float(self.losses[name].mean()))]
        sentence = f"{name[0].upper()}{name[1:]} in its place would make {{}}.{self.note}"
        own, is_full = self.held_out.losses, not self.note
        return _measure(self.held_out, own, best, sentence, at_full_size=is_full)

    def where_better(self) -> Improvement:
        """Gain of choosing row by row between this model and the others, over the one that is best alone."""
        alone, chosen = self._best_elsewhere(), self._best_on_each_row()
        models = enumerated(["this model", *self.names.values()])
        sentence = f"Picking the best of {models} for each row would make {{}} than the best of them alone.{self.note}"
        return _measure(self.held_out, alone, chosen, sentence, at_full_size=not self.note)

    def _best_elsewhere(self, without: int = 0) -> Floats:
        """Losses of the model that has the least loss on the rows of the other folds, `without` the first ones."""
        if not self.losses:
            raise NotMeasurableError("No other model was fitted on the folds of this one.")
        if self.held_out.losses.sum() == 0:
            raise NotMeasurableError(
                f"It made no mistake on {number(len(self.held_out.rows))} rows, so that none can be better."
            )
        losses = np.array([self.held_out.losses, *self.losses.values()])[without:]
        best = np.empty(len(self.held_out.rows))
        for here in self._folds():
            best[here] = losses[losses[:, ~here].mean(axis=1).argmin(), here]
        return best

    def _best_on_each_row(self) -> Floats:
        """Losses of the candidate that is expected to lose least on each row, learned on the rows of other folds."""
        held_out, own = self.held_out, self.held_out.losses
        columns = np.hstack([*held_out.columns.values()])
        table = np.hstack([columns, np.abs(columns)])
        expected = np.zeros((len(own), 1 + len(self.losses)))
        for place, (name, losses) in enumerate(self.losses.items(), start=1):
            differ = held_out.opinions[name] != held_out.prediction
            for here in self._folds():
                known = ~here & differ
                if known.sum() >= LEAST_DIFFERENT:
                    line = make_pipeline(StandardScaler(), RidgeCV(PENALTIES))
                    line.fit(table[known], (losses - own)[known])
                    expected[here, place] = np.where(differ[here], line.predict(table[here]), 0.0)
        return np.choose(expected.argmin(axis=1), [own, *self.losses.values()])

    def _folds(self) -> list[Mask]:
        """Rows of each fold; a single fold is halved by its groups, or rows."""
        splits = self.held_out.splits
        if len(np.unique(splits)) == 1:
            splits = unit_codes(self.held_out) % 2
        return [splits == fold for fold in np.unique(splits)]


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


class Refits:
    """Fits on halves of a fold's training rows, and on one half and a few more rows; made at the first request."""

    def __init__(
        self,
        error_estimator: Any,
        X: Any,
        y: NDArray[Any],
        groups: NDArray[Any] | None,
    ) -> None:
        self.estimator = error_estimator.estimator
        self.held_out: HeldOut = error_estimator.held_out_
        self.X, self.y, self.groups = X, y, groups
        # Where rows are held out in time, the last splits have the most training rows.
        n_folds = n_refits(len(y)) // FITS_OF_A_FOLD
        self.folds = [(fold, train) for fold, (train, _) in enumerate(error_estimator.splits_)][
            -n_folds:
        ]
        self.random = check_random_state(error_estimator.random_state)

    def grow(self) -> Improvement:
        """Gain of all training rows of a fold over half of them."""
        part, losses = self.fits
        both = part.take(np.tile(np.arange(len(part.rows)), 2))
        halves = np.append(losses["first half"], losses["second half"])
        fits = 2 * both.splits + np.repeat([0, 1], len(part.rows))
        sentence = (
            f"Fitting on {number(len(self.folds[-1][1]))} rows instead of half of them led to {{}}. If this trend "
            "continues, twice as many rows would gain at most about as much."
        )
        return _measure(both, halves, both.losses, sentence, at_full_size=False, fits=fits)

    def label(self) -> Improvement:
        """Gain of labels for the most doubtful rows over as many for random rows."""
        part, losses = self.fits
        why = "expected to be furthest off" if part.classes is None else "least sure"
        sentence = (
            f"Starting from {number(len(self.folds[-1][1]) // 2)} labels, 25 % more for the rows where it is {why} "
            "would lead to {} than as many for random rows."
        )
        return _measure(part, losses["drawn"], losses["asked"], sentence, at_full_size=False)

    def average(self) -> Improvement:
        """Gain of the average of three fits, on all training rows and on each half, over the first."""
        part, losses = self.fits
        sentence = (
            "The average of three fits, on all rows and on each half of them, would lead to {}."
        )
        return _measure(part, part.losses, losses["averaged"], sentence)

    @cached_property
    def fits(self) -> tuple[HeldOut, dict[str, Floats]]:
        """Held-out rows of the folds that are fitted on again, and their losses by each kind of fit."""
        if isinstance(self.estimator, FrozenEstimator):
            raise NotMeasurableError(
                "The model is not fitted again, so that this cannot be measured."
            )
        if self.held_out.losses.sum() == 0:
            raise NotMeasurableError("It made no mistake, so that there is nothing to gain.")
        if min(len(train) for _, train in self.folds) < 2 * LEAST_ROWS:
            raise NotMeasurableError(
                f"{number(len(self.y))} rows are too few to fit on parts of them."
            )
        splits = self.held_out.splits
        places = [np.flatnonzero(splits == fold) for fold, _ in self.folds]
        try:
            fits = [
                self._refit(self.held_out.take(rows), train)
                for rows, (_, train) in zip(places, self.folds, strict=True)
            ]
        except ValueError as error:
            raise NotMeasurableError(
                f"The model cannot be fitted on half of the rows, which the measurement needs: {error}"
            ) from error
        losses = {name: np.concatenate([fit[name] for fit in fits]) for name in fits[0]}
        return self.held_out.take(np.concatenate(places)), losses

    def _refit(self, part: HeldOut, train: Ints) -> dict[str, Floats]:
        """Losses of the held-out rows of one fold, by fits on parts of its training rows."""
        labels = None if part.classes is None else self.y[train]
        groups = None if self.groups is None else self.groups[train]
        [halves] = HoldoutSplit(0.5, random_state=self.random).split(train, labels, groups)
        first, second = train[halves[0]], train[halves[1]]
        models = {"first half": self._fitted(first), "second half": self._fitted(second)}
        n_more = round(MORE_LABELS * len(first))
        more = {
            "asked": self._most_doubtful(models["first half"], second, n_more),
            "drawn": self.random.permutation(second)[:n_more],
        }
        table = take_rows(self.X, part.rows)
        averaged = self._averaged(part, [*models.values()], table)
        models |= {name: self._fitted(np.sort(np.append(first, more[name]))) for name in more}
        losses = {
            name: losses_of(part, predict_labels(model, table)) for name, model in models.items()
        }
        return losses | {"averaged": losses_of(part, averaged)}

    def _fitted(self, rows: Ints) -> Any:
        model = fit_model(self.estimator, take_rows(self.X, rows), self.y[rows])
        step_done("refit")
        return model

    def _most_doubtful(self, model: Any, rest: Ints, n_more: int) -> Ints:
        """Rows to label: those that the model is least sure of, or a regressor's with the highest estimated error."""
        if self.held_out.classes is not None:
            # A quarter of the rows is diverse by itself.
            return rest[query("confidence", model, take_rows(self.X, rest), n_more, diverse=False)]
        estimated = np.full(len(self.y), -np.inf)
        estimated[self.held_out.rows] = self.held_out.error
        return rest[np.argsort(-estimated[rest], kind="stable")[:n_more]]

    def _averaged(self, part: HeldOut, models: list[Any], table: Any) -> NDArray[Any]:
        """Mean prediction of the held-out model and the others, by mean probabilities, or the vote of classes."""
        classes, probabilities = part.classes, part.probabilities
        if classes is None:
            others = [predict_labels(model, table) for model in models]
            return np.mean([part.prediction, *others], axis=0)
        # The model of all rows decides where two without probabilities disagree.
        own = (
            1.5 * (part.prediction[:, None] == classes) if probabilities is None else probabilities
        )
        votes = np.zeros(own.shape)
        for model in models:
            known = np.searchsorted(classes, model.classes_)
            if probabilities is None:
                votes[:, known] += predict_labels(model, table)[:, None] == model.classes_
            else:
                votes[:, known] += np.asarray(model.predict_proba(table))
        return np.asarray(classes[(votes + own).argmax(axis=1)])
