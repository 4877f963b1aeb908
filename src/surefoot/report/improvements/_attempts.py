"""Attempts to improve a model: other models, more labels, more rows, averaging."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats
from surefoot.active_learning import query
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.report._figures import percent
from surefoot.report.improvements._correct_output import correct, recalibrate
from surefoot.report.improvements._gain import NotMeasurableError
from surefoot.report.improvements._models import other_models
from surefoot.report.improvements._trial import SMALLEST_PART, Trial
from surefoot.resampling import BiasVarianceResult, bias_variance
from surefoot.selection import LocalSelectionClassifier, LocalSelectionRegressor

Improvement = dict[str, Any]

# Labels to add, as a share of the first ones, and the fewest labels to start from.
MORE_LABELS = 0.25
LEAST_LABELS = 20

# Numbers of repeated fits on parts of the rows; fewer for regression and for large tables, where a fit takes long.
N_LABELLINGS, N_LABELLINGS_OF_REGRESSION = 3, 2
N_PAIRS_OF_HALVES, N_PAIRS_OF_LARGE_HALVES = 3, 2
N_AVERAGED = 9

# Folds of the error estimator that chooses rows to label.
FOLDS = 3


class Choice(NamedTuple):
    """Losses of local selection on the test rows, and those of the other model that is best out of fold."""

    local: Floats
    other: Floats
    name: str


class Attempts:
    """Attempts to improve the model of one trial; results that several attempts need are computed once."""

    LABELS = "Labels for the most doubtful rows"

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.others = other_models(trial.table.estimator, trial.task, trial.seed)

    @classmethod
    def names(cls, task: str) -> list[str]:
        """Names of the attempts, in the order of `steps`."""
        classifies = task == "classification"
        return [
            "Another model where it is better",
            "Recalibrated probabilities" if classifies else "Correction by the expected error",
            cls.LABELS,
            "More rows",
            "Averaging many fits",
            "Another kind of model everywhere",
        ]

    def steps(self) -> list[Callable[[], Improvement]]:
        """Functions that make the attempts, one for each name."""
        return [self.choose, self.correct_output, self.label, self.grow, self.average, self.enrich]

    def choose(self) -> Improvement:
        """Try local selection between the model and two others, or one of the others alone if that is as good."""
        trial, choice = self.trial, self.choice
        local, swap = trial.gain(trial.loss, choice.local), trial.gain(trial.loss, choice.other)
        beyond = trial.gain(choice.other, choice.local)
        listed = " and ".join(self.others)
        if swap.low > 0 and beyond.low <= 0:
            head = f"{_capital(choice.name)} in place of this model would {trial.change(swap)}"
            return trial.describe(
                swap,
                f"{head}; choosing a model row by row does not help measurably.{trial.size_note}",
            )
        head = f"Choosing row by row between this model, {listed} would {trial.change(local)}"
        alone = "" if local == swap else f"; {choice.name} alone would {trial.change(swap)}"
        return trial.describe(local, f"{head}{alone}.{trial.size_note}")

    def correct_output(self) -> Improvement:
        """Try recalibrated probabilities, or for a regressor corrected predictions."""
        return recalibrate(self.trial) if self.trial.classifies else correct(self.trial)

    def label(self) -> Improvement:
        """Try 25 % more labels for the most doubtful rows, and as many for random rows."""
        trial = self.trial
        self._refuse_frozen("the gain from more labels")
        n_start = round(SMALLEST_PART * len(trial.learn))
        if n_start < LEAST_LABELS:
            raise NotMeasurableError(
                f"{len(trial.learn)} rows are too few to measure the gain from more labels."
            )
        n_draws = N_LABELLINGS if trial.classifies else N_LABELLINGS_OF_REGRESSION
        start, asked, drawn = np.stack([self._label_once() for _ in range(n_draws)], axis=1)
        gain, by_chance = trial.gain(start, asked), trial.gain(start, drawn)
        why = "least sure" if trial.classifies else "expected to be furthest off"
        less = f"; from all {len(trial.everything.y):,} the gain is probably smaller"
        return trial.describe(
            gain,
            f"With 25 % more labels, for the rows where it is {why}, it would {trial.change(gain)}; "
            f"with as many labels for random rows it would {trial.change(by_chance)}. "
            f"This was measured starting from {n_start:,} labels{less}.",
        )

    def grow(self) -> Improvement:
        """Compare fits on all rows with fits on half of them."""
        trial = self.trial
        self._refuse_frozen("the gain from more rows")
        n_rows, halves, whole = trial.grow(N_PAIRS_OF_HALVES, N_PAIRS_OF_LARGE_HALVES)
        gain = trial.gain(halves, whole, shared=True)
        return trial.describe(
            gain,
            f"Fitting on all {n_rows:,} rows instead of half of them made it {trial.change(gain)}; "
            "twice as many rows would gain at most about as much, if this trend continues.",
        )

    def average(self) -> Improvement:
        """Try a vote, or the mean, of fits on halves of the rows."""
        trial = self.trial
        self._refuse_frozen("how much it varies between fits")
        gain = trial.gain(trial.loss, trial.cost(self.parts.main_prediction))
        how = "A vote" if trial.classifies else "The mean"
        return trial.describe(
            gain,
            f"{how} of {N_AVERAGED} models, each fitted on half of the rows, would {trial.change(gain)}: variance "
            f"makes up {percent(self.variance_share)} of its {trial.parted}.{trial.size_note}",
        )

    def enrich(self) -> Improvement:
        """Try another kind of model for all rows, and say which share of the error is bias and noise."""
        trial, choice = self.trial, self.choice
        gain = trial.gain(trial.loss, choice.other)
        improvement = trial.describe(
            gain,
            f"{_capital(choice.name)} in its place would {trial.change(gain)}.{trial.size_note}",
        )
        if not trial.frozen and self.parts.mean_error > 0:
            improvement["sentence"] = (
                f"Bias and noise make up {percent(1 - self.variance_share)} of its {trial.parted}. "
                f"{improvement['sentence']}"
            )
        if improvement["verdict"] == "would not help" and trial.relevant > 0:
            improvement["sentence"] += " The rest of the error may be noise, or need other columns."
        return improvement

    @cached_property
    def choice(self) -> Choice:
        """Test losses of local selection, fitted on the learning rows, and of the best other model."""
        trial = self.trial
        self._check_choice()
        settings: dict[str, Any] = {
            "cv": trial.folds,
            "random_state": trial.seed,
            "n_jobs": trial.n_jobs,
        }
        names = [f"other{number}" for number in range(len(self.others))]
        models = [("own", trial.table.estimator), *zip(names, self.others.values(), strict=True)]
        if trial.classifies:
            ensemble: Any = LocalSelectionClassifier(models, **settings)
        else:
            ensemble = LocalSelectionRegressor(models, loss="absolute", **settings)
        ensemble.fit(*trial.table.rows(trial.learn), groups=trial.table.groups_of(trial.learn))
        best = int(ensemble.held_out_.losses[:, 1:].mean(axis=0).argmin())
        other = trial.loss_of(ensemble.named_estimators_[names[best]])
        return Choice(trial.loss_of(ensemble), other, list(self.others)[best])

    @cached_property
    def parts(self) -> BiasVarianceResult:
        """Bias and variance on the test rows, of fits on halves of the learning rows."""
        trial = self.trial

        def draw(_: Any) -> tuple[Any, NDArray[Any]]:
            half, _ = trial.table.divide(trial.learn, 0.5, trial.random)
            return trial.table.rows(half)

        return bias_variance(
            trial.table.estimator,
            None,
            None,
            trial.test_rows,
            trial.test_targets,
            loss="zero_one" if trial.classifies else "squared",
            sampler=draw,
            n_resamples=N_AVERAGED,
            random_state=trial.seed,
            n_jobs=trial.n_jobs,
        )

    @property
    def variance_share(self) -> float:
        """Share of the error that is variance: it differs between fits on different rows."""
        error = self.parts.mean_error
        return float(np.clip(self.parts.net_variance.mean() / error, 0.0, 1.0)) if error else 0.0

    def _refuse_frozen(self, what: str) -> None:
        if self.trial.frozen:
            raise NotMeasurableError(
                f"The model is not fitted again, so {what} cannot be measured."
            )

    def _check_choice(self) -> None:
        """Raise an error if a frozen model knows classes that other models cannot learn from the learning rows."""
        trial = self.trial
        if not trial.classifies:
            return
        known, learned = (
            set(trial.model.classes_.tolist()),
            set(trial.table.y[trial.learn].tolist()),
        )
        if known != learned:
            raise NotMeasurableError(
                "The model knows classes that have too few rows here for other models to learn."
            )

    def _label_once(self) -> Floats:
        """Losses with a third of the labels, with more for the most doubtful rows, and with more for random rows."""
        trial = self.trial
        start, rest = trial.table.divide(
            trial.learn, 1 - SMALLEST_PART, trial.random, whole_groups=False
        )
        model, n_more = trial.table.fitted(start), round(MORE_LABELS * len(start))
        X_start, y_start = trial.table.rows(start)
        X_rest = trial.table.rows(rest)[0]
        if trial.classifies:
            asked = query(
                "confidence", model, X_rest, n_more, random_state=trial.random, n_jobs=trial.n_jobs
            )
        else:
            doubt = expected_errors(
                trial.table.estimator,
                X_start,
                y_start,
                X_rest,
                random_state=trial.seed,
                n_jobs=trial.n_jobs,
            )
            asked = np.argsort(-doubt, kind="stable")[:n_more]
        drawn = trial.random.permutation(len(rest))[:n_more]
        grown = [
            trial.table.fitted(np.sort(np.append(start, rest[more]))) for more in (asked, drawn)
        ]
        return np.stack([trial.loss_of(fit) for fit in (model, *grown)])


def expected_errors(
    estimator: Any, X: Any, y: Any, X_new: Any, *, random_state: Any, n_jobs: int | None
) -> Floats:
    """Estimated error of a regressor on each new row."""
    error_estimator = IndividualErrorRegressor(
        estimator, cv=FOLDS, random_state=random_state, n_jobs=n_jobs
    )
    return error_estimator.fit(X, y).predict_error(X_new)


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]
