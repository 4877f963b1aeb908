"""Buza, Nanopoulos and Schmidt-Thieme (2010), figure 4: which model estimates which model's errors well."""

import csv
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold

from surefoot._typing import Floats, Ints
from surefoot.datasets import fetch_communities, fetch_parkinsons, fetch_wine_quality
from surefoot.experiments._progress import Progress, silent
from surefoot.experiments._weka_models import RBF_NETWORK, SVM, todays_models, weka_models

N_SPLITS = 10
# Of the nine splits that are not tested, so many train the model; the others its meta-model.
N_MODEL_SPLITS = 5
QUICK_ROWS, QUICK_ROUNDS = 200, 1
GENERALLY_WELL = 8


@dataclass(frozen=True)
class Task:
    """A data set, how it is split, and the models to pair on it."""

    name: str
    X: Floats
    y: Floats
    groups: Ints | None = None
    make_models: Callable[[int], dict[str, Any]] = todays_models

    def splits(self) -> Ints:
        """Number of the split that each row belongs to; rows of a group share theirs."""
        splitter: Any = KFold if self.groups is None else GroupKFold
        rounds = splitter(N_SPLITS, shuffle=True, random_state=0).split(self.X, groups=self.groups)
        numbers = np.empty(len(self.X), dtype=np.int64)
        for number, (_, test) in enumerate(rounds):
            numbers[test] = number
        return numbers


@dataclass(frozen=True)
class Result:
    """Root mean squared errors of estimated residuals, a row a model and a column a meta-model."""

    task: str
    names: list[str]
    losses: Floats  # (models, meta-models, rounds)
    baseline: Floats  # (models, rounds): the estimate that every prediction is right

    @property
    def counts(self) -> Ints:
        """In how many rounds each meta-model is better than the baseline."""
        return (self.losses < self.baseline[:, None]).sum(axis=2)

    @property
    def ratios(self) -> Floats:
        """Error of each meta-model relative to the baseline's, geometric mean over the rounds."""
        ratios: Floats = np.exp(np.log(self.losses / self.baseline[:, None]).mean(axis=2))
        return ratios


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Pair eleven models with eleven meta-models on five targets; more rounds won are better.

    In each round of a ten-fold cross-validation five splits train a model, four its meta-model,
    which learns the residuals from the rows, and one tests both. Writes
    `buza-figure-4-rounds.csv`, `buza-figure-4.csv` and, where matplotlib is installed, a figure
    for each data set to `out`, and returns the counts as text.

    Parameters
    ----------
    out : Path
        Folder for the results.
    quick : bool, default=False
        Whether to take one round with 200 rows of Communities and of one Parkinson target only.
    progress : callable, default=silent
        Called as `progress(items, total=..., label=...)`; yields the items.

    Returns
    -------
    str
    """
    out.mkdir(parents=True, exist_ok=True)
    chosen = quick_tasks() if quick else all_tasks()
    n_rounds = QUICK_ROUNDS if quick else N_SPLITS
    jobs = [(task, number) for task in chosen for number in range(n_rounds)]
    finished = Parallel(return_as="generator")(delayed(one_round)(*job) for job in jobs)
    rounds = list(progress(finished, total=len(jobs), label="rounds"))
    results = []
    for i, task in enumerate(chosen):
        losses, baseline = zip(*rounds[i * n_rounds : (i + 1) * n_rounds], strict=True)
        names = list(task.make_models(task.X.shape[1]))
        stacked = np.stack(losses, axis=-1), np.stack(baseline, axis=-1)
        results.append(Result(task.name, names, *stacked))
    write_rounds(out / "buza-figure-4-rounds.csv", results)
    write_counts(out / "buza-figure-4.csv", results)
    drawn = draw(out, results)
    return "\n\n".join([*map(render, results), summary(results), drawn])


def all_tasks() -> list[Task]:
    """Every data set of the paper, and what it leaves open: settings, and patients kept together."""
    X, y = fetch_communities(return_X_y=True)
    tasks = [
        Task("Communities", X, y),
        Task("Communities, WEKA's defaults", X, y, make_models=weka_models),
        Task("Wine, red", *fetch_wine_quality("red", return_X_y=True)),
        Task("Wine, white", *fetch_wine_quality("white", return_X_y=True)),
    ]
    for target in ("motor", "total"):
        voices = fetch_parkinsons(target)
        name = f"Parkinson, {target}"
        tasks.append(Task(name, voices.data, voices.target))
        tasks.append(Task(f"{name}, by patient", voices.data, voices.target, voices.groups))
    return tasks


def quick_tasks() -> list[Task]:
    """The first rows of Communities, and some of one Parkinson target in both protocols."""
    X, y = fetch_communities(return_X_y=True)
    voices = fetch_parkinsons("motor")
    some = np.linspace(0, len(voices.data) - 1, QUICK_ROWS).astype(np.int64)
    picked = voices.data[some], voices.target[some]
    return [
        Task("Communities", X[:QUICK_ROWS], y[:QUICK_ROWS]),
        Task("Parkinson, motor", *picked),
        Task("Parkinson, motor, by patient", *picked, voices.groups[some]),
    ]


def parts(splits: Ints, number: int) -> tuple[Ints, Ints, Ints]:
    """Rows of a round that train the models (D_A), those that train the meta-models (D_B), and test rows."""
    turn = (splits - number) % N_SPLITS  # 0 is tested
    return (
        np.flatnonzero((turn >= 1) & (turn <= N_MODEL_SPLITS)),
        np.flatnonzero(turn > N_MODEL_SPLITS),
        np.flatnonzero(turn == 0),
    )


def one_round(task: Task, number: int) -> tuple[Floats, Floats]:
    """Errors of all pairs in one round, and of the baseline.

    What `IndividualErrorRegressor(model, meta, indicators=[], passthrough=True)` estimates with the
    single split of `parts`. But it would fit each model again for each of its meta-models, and
    each of these several times, for intervals that nobody asks for here.
    """
    first, second, test = parts(task.splits(), number)
    models = task.make_models(task.X.shape[1])
    losses, baseline = np.empty((len(models), len(models))), np.empty(len(models))
    with warnings.catch_warnings():
        # A perceptron that has not settled after its last pass is a model like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for i, model in enumerate(models.values()):
            predict = clone(model).fit(task.X[first], task.y[first]).predict
            seen = task.y[second] - predict(task.X[second])
            true = task.y[test] - predict(task.X[test])
            baseline[i] = root_mean_square(true)
            for j, meta in enumerate(models.values()):
                estimated = clone(meta).fit(task.X[second], seen).predict(task.X[test])
                losses[i, j] = root_mean_square(true - estimated)
    return losses, baseline


def root_mean_square(values: Floats) -> float:
    """Square root of the mean of the squares."""
    return float(np.sqrt(np.mean(values**2)))


def write_rounds(file: Path, results: list[Result]) -> None:
    """One line a data set, model, meta-model and round, with both errors."""
    with file.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["task", "model", "meta_model", "round", "rmse", "baseline_rmse"])
        for result in results:
            for (i, j, number), loss in np.ndenumerate(result.losses):
                pair = result.names[i], result.names[j]
                errors = f"{loss:.6g}", f"{result.baseline[i, number]:.6g}"
                writer.writerow([result.task, *pair, number, *errors])


def write_counts(file: Path, results: list[Result]) -> None:
    """One line a data set, model and meta-model: rounds won, and the error relative to the baseline's."""
    with file.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["task", "model", "meta_model", "rounds_better", "rounds", "relative_rmse"])
        for result in results:
            n_rounds = result.losses.shape[2]
            for (i, j), count in np.ndenumerate(result.counts):
                pair = result.names[i], result.names[j]
                writer.writerow([result.task, *pair, count, n_rounds, f"{result.ratios[i, j]:.4f}"])


def draw(out: Path, results: list[Result]) -> str:
    """Write a figure for each data set; say in a sentence what was written."""
    if find_spec("matplotlib") is None:
        return f"Written to {out}, without figures: they need matplotlib, which is not installed."
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    from surefoot.plots import ErrorMatrixDisplay  # noqa: PLC0415

    for result in results:
        figure = Figure(figsize=(6.5, 6.5), layout="constrained")
        display = ErrorMatrixDisplay.from_losses(
            result.losses,
            result.baseline,
            row_names=result.names,
            column_names=result.names,
            ax=figure.subplots(),
        )
        display.ax_.set_title(f"{result.task}\n{display.ax_.get_title()}", fontsize="medium")
        slug = "".join(c if c.isalnum() else "-" for c in result.task.lower().replace(", ", "-"))
        figure.savefig(out / f"buza-figure-4-{slug}.png", dpi=150)
    return f"Tables and figures are in {out}."


def render(result: Result) -> str:
    """The matrix of one data set as text: models down, meta-models across in the same order."""
    width = max(map(len, result.names)) + 4
    n_rounds = result.losses.shape[2]
    numbers = range(1, len(result.names) + 1)
    lines = [f"{result.task}: rounds of {n_rounds} in which the meta-model beats the baseline"]
    lines.append(" " * width + "".join(f"{number:4}" for number in numbers))
    for number, name, row in zip(numbers, result.names, result.counts, strict=True):
        label = f"{number:2} {name}"
        lines.append(label.ljust(width) + "".join(f"{count:4}" for count in row))
    return "\n".join(lines)


def summary(results: list[Result]) -> str:
    """For how many models each of the paper's two favourites works well, beside the paper's words."""
    share = GENERALLY_WELL / N_SPLITS
    lines = [
        f"Models whose errors a meta-model beats the baseline on in at least {share:.0%} of the rounds",
        f"{'':<32}{RBF_NETWORK:>12}{SVM:>6}  best",
    ]
    for result in results:
        well = result.counts >= share * result.losses.shape[2]
        per_meta = dict(zip(result.names, well.sum(axis=0).tolist(), strict=True))
        most = max(per_meta.values())
        best = ", ".join(name for name, models in per_meta.items() if models == most > 0)
        favourites = f"{per_meta[RBF_NETWORK]:12}{per_meta[SVM]:6}"
        lines.append(
            f"{result.task:<32}{favourites}  {best or 'no meta-model'}: {most} of {len(well)}"
        )
    lines.append(
        'The paper: "RBF-Networks and SVMs seem to work generally well as meta-models", with '
        '"very similar trends on all data sets". Its counts are shades of grey without numbers.'
    )
    return "\n".join(lines)
