"""Gains of other models: in place of the model, or only for the rows where they are better."""

from typing import Any

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot._crossfit import MOST_LEARNED_ROWS
from surefoot._models import split_model
from surefoot._typing import Floats, Mask
from surefoot._words import number
from surefoot.report._assessment import Assessment
from surefoot.report.improvements._gain import Gain, NotMeasurableError, relative_gain
from surefoot.report.improvements._measured import Improvement, amount, measured

# Fewest rows on which two models differ, to learn which of them is better where.
LEAST_DIFFERENT = 20

# Penalties to choose from, of the lines that expect how much less another model loses on a row.
PENALTIES = np.logspace(0, 5, 6)

# Names of the second opinions in sentences, for classes and for numbers.
NAMES = {
    "trees": ("a forest", "a forest"),
    "boosting": ("boosted trees", "boosted trees"),
    "linear": ("a logistic regression", "a linear regression"),
}


class OtherModels:
    """The model beside the other models that were fitted on the same folds, for a second opinion.

    Which of them is the best, and which is better on a row, is learned for each fold from the rows of the others.
    """

    def __init__(self, assessment: Assessment) -> None:
        self.assessment = assessment
        own = kind_of(split_model(assessment.error_estimator.estimator)[1])
        self.losses = {
            name: assessment.losses_of(prediction)
            for name, prediction in assessment.held_out.opinions.items()
            if name != own
        }
        if not self.losses:
            raise NotMeasurableError("No other model was fitted on the folds of this one.")
        if assessment.losses.sum() == 0:
            raise NotMeasurableError(
                f"It made no mistake on {number(len(assessment.losses))} rows, so that none can be better."
            )

    def everywhere(self) -> Improvement:
        """Gain of the best other model in place of this one."""
        gain = self._gain(self.assessment.losses, self._best_elsewhere(list(self.losses.values())))
        best = self._in_words(min(self.losses, key=lambda name: float(self.losses[name].mean())))
        head = (
            f"{best[0].upper()}{best[1:]} in its place would make {amount(gain, self.assessment)}."
        )
        return measured(gain, head + self._note, at_full_size=not self._note)

    def where_better(self) -> Improvement:
        """Gain of choosing row by row between this model and the others, over the one that is best alone."""
        models = [self.assessment.losses, *self.losses.values()]
        gain = self._gain(self._best_elsewhere(models), self._best_on_each_row())
        names = ["it", *(self._in_words(name) for name in self.losses)]
        head = (
            f"Choosing row by row between {', '.join(names[:-1])} and {names[-1]}, by what is known of each row, "
            f"would make {amount(gain, self.assessment)} than the one that is best alone."
        )
        return measured(gain, head + self._note, at_full_size=not self._note)

    @property
    def _note(self) -> str:
        """Sentence that says how many rows the other models learned from, if not all; else empty."""
        if len(self.assessment.y) <= MOST_LEARNED_ROWS:
            return ""
        return f" The other models were fitted on {number(MOST_LEARNED_ROWS)} rows only."

    def _in_words(self, name: str) -> str:
        return NAMES[name][0 if self.assessment.is_classifier else 1]

    def _gain(self, before: Floats, after: Floats) -> Gain:
        if before.sum() == 0:
            raise NotMeasurableError(
                "One of the two makes no mistake, so that nothing is left to gain."
            )
        return relative_gain(
            before,
            after,
            units=self.assessment.unit_codes,
            fits=self.assessment.held_out.splits,
            counts=self.assessment.counts_mistakes,
        )

    def _best_elsewhere(self, losses: list[Floats]) -> Floats:
        """Losses of the candidate that has the least loss on the rows of the other folds."""
        best = np.empty(len(losses[0]))
        for here, elsewhere in self._folds():
            means = [float(one[elsewhere].mean()) for one in losses]
            best[here] = losses[int(np.argmin(means))][here]
        return best

    def _best_on_each_row(self) -> Floats:
        """Losses of the candidate that is expected to lose least on each row, learned on the rows of other folds."""
        own = self.assessment.losses
        columns = np.hstack([*self.assessment.held_out.columns.values()])
        table = np.hstack([columns, np.abs(columns)])
        expected = np.zeros((len(own), 1 + len(self.losses)))
        for here, elsewhere in self._folds():
            for place, (name, losses) in enumerate(self.losses.items(), start=1):
                differ = (
                    self.assessment.held_out.opinions[name] != self.assessment.held_out.prediction
                )
                known = elsewhere & differ
                if known.sum() >= LEAST_DIFFERENT:
                    line = make_pipeline(StandardScaler(), RidgeCV(PENALTIES))
                    line.fit(table[known], (losses - own)[known])
                    expected[here, place] = np.where(differ[here], line.predict(table[here]), 0.0)
        return np.choose(expected.argmin(axis=1), [own, *self.losses.values()])

    def _folds(self) -> list[tuple[Mask, Mask]]:
        """Rows of each fold, and those of the others; a single fold is halved by its groups, or rows."""
        splits = self.assessment.held_out.splits
        if len(np.unique(splits)) == 1:
            splits = self.assessment.unit_codes % 2
        return [(splits == number, splits != number) for number in np.unique(splits)]


def kind_of(predictor: Any) -> str:
    """Name of the second opinion that is of the model's own kind, or "other"."""
    name, module = type(predictor).__name__, type(predictor).__module__
    if "Forest" in name or "ExtraTrees" in name:
        return "trees"
    if "Boost" in name or name.startswith(("XGB", "LGBM")):
        return "boosting"
    if "linear_model" in module or name.startswith("Linear"):
        return "linear"
    inner = getattr(predictor, "estimator", None)  # of a search, or a model around another
    return "other" if inner is None else kind_of(inner)
