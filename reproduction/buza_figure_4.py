"""Buza, Nanopoulos and Schmidt-Thieme (2010), figure 4: which model estimates which model's errors well."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold

from reproduction.data import fetch_communities, fetch_parkinsons, fetch_wine_quality
from reproduction.regressors import RBF_NETWORK, SVM, todays_models, weka_models
from reproduction.results import Floats, Ints, in_parallel, text_table, write_table
from surefoot.plots import ErrorMatrixDisplay

N_SPLITS = 10
# Of the nine splits that are not tested, so many train the model; the others its meta-model.
N_MODEL_SPLITS = 5
QUICK_ROWS, QUICK_ROUNDS = 200, 1
GENERALLY_WELL = 0.8


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
        return np.asarray((self.losses < self.baseline[:, None]).sum(axis=2))

    @property
    def ratios(self) -> Floats:
        """Error of each meta-model relative to the baseline's, geometric mean over the rounds."""
        return np.asarray(np.exp(np.log(self.losses / self.baseline[:, None]).mean(axis=2)))


def run(out: Path, *, quick: bool = False) -> str:
    """Pair eleven models with eleven meta-models on five targets; more rounds won are better.

    In each round of a ten-fold cross-validation five splits train a model, four its meta-model, which learns the
    residuals from the rows, and one tests both. Writes `buza-figure-4-rounds.csv`, `buza-figure-4.csv` and a figure for
    each data set, and returns the counts as text. Quick: one round with 200 rows of Communities and of one Parkinson
    target.
    """
    chosen = quick_tasks() if quick else all_tasks()
    n_rounds = QUICK_ROUNDS if quick else N_SPLITS
    jobs = [(task, number) for task in chosen for number in range(n_rounds)]
    rounds = list(in_parallel(one_round, jobs, "rounds"))
    results = []
    for i, task in enumerate(chosen):
        losses, baseline = zip(*rounds[i * n_rounds : (i + 1) * n_rounds], strict=True)
        names = list(task.make_models(task.X.shape[1]))
        stacked = np.stack(losses, axis=-1), np.stack(baseline, axis=-1)
        results.append(Result(task.name, names, *stacked))
    by_round = [
        {
            "task": result.task,
            "model": result.names[i],
            "meta_model": result.names[j],
            "round": number,
            "rmse": loss,
            "baseline_rmse": result.baseline[i, number],
        }
        for result in results
        for (i, j, number), loss in np.ndenumerate(result.losses)
    ]
    counts = [
        {
            "task": result.task,
            "model": result.names[i],
            "meta_model": result.names[j],
            "rounds_better": count,
            "rounds": n_rounds,
            "relative_rmse": result.ratios[i, j],
        }
        for result in results
        for (i, j), count in np.ndenumerate(result.counts)
    ]
    write_table(out / "buza-figure-4-rounds.csv", by_round, ".6g")
    write_table(out / "buza-figure-4.csv", counts, ".4f")
    for result in results:
        draw(out, result)
    return "\n\n".join([*map(render, results), summary(results)])


def all_tasks() -> list[Task]:
    """Every data set of the paper, and what it leaves open: settings, and patients kept together."""
    X, y = fetch_communities()
    tasks = [
        Task("Communities", X, y),
        Task("Communities, WEKA's defaults", X, y, make_models=weka_models),
        Task("Wine, red", *fetch_wine_quality("red")),
        Task("Wine, white", *fetch_wine_quality("white")),
    ]
    for target in ("motor", "total"):
        X, y, patients = fetch_parkinsons(target)
        tasks.append(Task(f"Parkinson, {target}", X, y))
        tasks.append(Task(f"Parkinson, {target}, by patient", X, y, patients))
    return tasks


def quick_tasks() -> list[Task]:
    """The first rows of Communities, and some of one Parkinson target in both protocols."""
    X, y = fetch_communities()
    voices, scores, patients = fetch_parkinsons("motor")
    some = np.linspace(0, len(voices) - 1, QUICK_ROWS).astype(np.int64)
    return [
        Task("Communities", X[:QUICK_ROWS], y[:QUICK_ROWS]),
        Task("Parkinson, motor", voices[some], scores[some]),
        Task("Parkinson, motor, by patient", voices[some], scores[some], patients[some]),
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
    each of these several times, for intervals that are not needed here.
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


def draw(out: Path, result: Result) -> None:
    """Write the matrix of one data set as a figure."""
    figure = Figure(figsize=(6.5, 6.5), layout="constrained")
    display = ErrorMatrixDisplay.from_losses(
        result.losses,
        result.baseline,
        row_names=result.names,
        column_names=result.names,
        ax=figure.subplots(),
    )
    display.ax_.set_title(f"{result.task}\n{display.ax_.get_title()}", fontsize="medium")
    slug = re.sub(r"\W", "-", result.task.lower().replace(", ", "-"))
    figure.savefig(out / f"buza-figure-4-{slug}.png", dpi=150)


def render(result: Result) -> str:
    """The matrix of one data set as text: models down, meta-models across in the same order."""
    title = f"{result.task}: rounds of {result.losses.shape[2]} in which the meta-model beats the baseline"
    rows = [["", *(str(number) for number, _ in enumerate(result.names, start=1))]]
    for number, (name, counts) in enumerate(zip(result.names, result.counts, strict=True), start=1):
        rows.append([f"{number:2} {name}", *map(str, counts)])
    return f"{title}\n{text_table(rows)}"


def summary(results: list[Result]) -> str:
    """For how many models each of the paper's two favourites works well, beside the paper's words."""
    rows = [["", RBF_NETWORK, SVM, "best"]]
    for result in results:
        well = result.counts >= GENERALLY_WELL * result.losses.shape[2]
        per_meta = dict(zip(result.names, well.sum(axis=0).tolist(), strict=True))
        most = max(per_meta.values())
        best = ", ".join(name for name, models in per_meta.items() if models == most > 0)
        favourites = [str(per_meta[RBF_NETWORK]), str(per_meta[SVM])]
        rows.append([result.task, *favourites, f"{best or 'no meta-model'}: {most} of {len(well)}"])
    return (
        "Models whose errors a meta-model beats the baseline on in at least "
        f"{GENERALLY_WELL:.0%} of the rounds\n{text_table(rows)}\n"
        'The paper: "RBF-Networks and SVMs seem to work generally well as meta-models", with '
        '"very similar trends on all data sets". Its counts are shades of grey without numbers.'
    )
