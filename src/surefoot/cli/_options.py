"""Options that several commands share: their names, their help, and the limits and costs that their texts mean."""

from collections.abc import Sequence
from math import inf, isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from surefoot._words import listed
from surefoot.cli._console import Mistake

# Classifier and regressor for each name of a model.
MODELS = {
    "boosting": (
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "sklearn.ensemble.HistGradientBoostingRegressor",
    ),
    "forest": (
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.ensemble.RandomForestRegressor",
    ),
    "logistic": ("sklearn.linear_model.LogisticRegression", "sklearn.linear_model.RidgeCV"),
    "svm": ("sklearn.svm.SVC", "sklearn.svm.SVR"),
    "knn": ("sklearn.neighbors.KNeighborsClassifier", "sklearn.neighbors.KNeighborsRegressor"),
}

# More processes than any machine that this is meant for has cores.
MOST_JOBS = 1024


def complete_models(start: str) -> list[str]:
    """Names of models that begin with `start`, for shell completion."""
    return [name for name in MODELS if name.startswith(start)]


def check_jobs(jobs: int) -> int:
    """Number of processes; a `Mistake` if it is 0 or too large."""
    if jobs == 0 or abs(jobs) > MOST_JOBS:
        raise Mistake(
            f"--jobs {jobs} is not allowed: pass -1 for all cores, or a number of processes up to {MOST_JOBS}."
        )
    return jobs


def check_confidence(confidence: float) -> float:
    """Confidence; a `Mistake` unless it is above 0 and below 1."""
    if not 0 < confidence < 1:
        raise Mistake(
            f"--confidence {confidence:g} is not a probability: it must be above 0 and below 1."
        )
    return confidence


TABLE = "Table in CSV or Parquet, also packed by gzip or bzip2, a folder of Parquet files, or - for standard input."
Table = Annotated[Path, typer.Argument(metavar="DATA", help=TABLE)]
ModelFile = Annotated[Path, typer.Argument(help="Model file written by surefoot fit.")]
TARGET = typer.Option("--target", metavar="COLUMN", help="The column to predict.")
Estimator = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"{', '.join(MODELS)}, or a model saved as .skops; in regression, logistic is a ridge regression.",
        autocompletion=complete_models,
    ),
]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    typer.Option(
        "--task",
        metavar="TASK",
        help="classification, regression, or auto. With auto, texts and true/false values are classes, and so are up "
        "to 5 different numbers. 6 to 20 different whole numbers are for regression if neighbouring values are "
        "about equally frequent, as with school marks, and not all values are; else they are classes. All other "
        "numbers are for regression. If the values cannot be learned that way, auto tries the other task.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of groups: rows of one group, such as one person, are held out together.",
    ),
]
MaxRisk = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RISK",
        help="Highest share of wrong answers (regression: mean error; with costs: mean cost) allowed among trusted "
        "rows; CLASS=RISK for those whose true class it is, such as yes=0.2. May be repeated: all limits hold at once. "
        "Default: a round number near half of the model's error (regression and costs: 80 % of it), or the next "
        "larger one that can be promised.",
    ),
]
Cost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COST",
        help='Cost of a mistake, such as "yes->no=10": true class, predicted class, cost. May be repeated; other '
        "mistakes cost 1. All figures are then costs.",
    ),
]
RandomState = Annotated[
    int, typer.Option(metavar="SEED", min=0, max=2**32 - 1, help="Seed of all random draws.")
]
Sample = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Use N rows, drawn at random, of a table that is larger, such as one beyond the memory.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(metavar="N", help="Processes to use; -1 uses all cores.", callback=check_jobs),
]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON, for other programs.")]

# What a limit of the risk is in each unit of the loss, and what it must be below.
RISKS = {
    "classification": ("a share of wrong answers: it must be above 0 and below 1", 1.0),
    "cost": ("a mean cost: it must be above 0", inf),
    "regression": ("a mean error: it must be above 0", inf),
}


def limits_for(texts: Sequence[str] | None, task: str, classes: Any, *, costs: bool) -> Any:
    """Largest permitted risk, or risks by class with None for all rows, from texts such as "0.05" and "yes=0.2".

    None without texts; a `Mistake` for a risk out of its range or of an unknown class.
    """
    risks: dict[Any, float] = {}
    what, most = RISKS["cost" if costs else task]
    for text in texts or ():
        name, is_of_class, number = text.rpartition("=")
        risk = read_number(number, "--max-risk", text, "0.05, or yes=0.2 for a class")
        if is_of_class and task != "classification":
            raise Mistake(
                f"--max-risk {name.strip()}={risk:g} names a class, and a number is predicted."
            )
        if not 0 < risk < most:
            raise Mistake(f"--max-risk {risk:g} is not {what}.")
        label = class_named(name.strip(), classes, "--max-risk") if is_of_class else None
        if label in risks:
            whose = "all rows" if label is None else f"{name.strip()!r}"
            raise Mistake(f"--max-risk limits the risk of {whose} twice: {text!r} is one too many.")
        risks[label] = risk
    return risks.get(None) if set(risks) <= {None} else risks


def cost_matrix(texts: Sequence[str] | None, task: str, classes: Any) -> Any:
    """Cost matrix, truth by prediction, from texts such as "yes->no=10"; other mistakes cost 1. None without costs."""
    import numpy as np

    if not texts:
        return None
    if task != "classification":
        raise Mistake(f"--cost {texts[0]} names classes, and a number is predicted.")
    names = [str(label) for label in classes]
    matrix, given = 1.0 - np.eye(len(names)), set()
    for text in texts:
        pair, _, number = text.rpartition("=")
        cost = read_number(number, "--cost", text, "yes->no=10: true class, predicted class, cost")
        truth, prediction = mistake_named(pair, text, names)
        if (truth, prediction) in given:
            raise Mistake(f"--cost {text} is given twice for the same mistake.")
        if truth == prediction:
            raise Mistake(f"--cost {text} is about a right answer, which costs nothing.")
        if cost < 0:
            raise Mistake(f"--cost {text} is below 0: a mistake costs 0 or more.")
        given.add((truth, prediction))
        matrix[names.index(truth), names.index(prediction)] = cost
    if not matrix.any():
        raise Mistake("With these --cost no mistake costs anything: there is nothing to estimate.")
    return matrix


def mistake_named(pair: str, text: str, names: list[str]) -> tuple[str, str]:
    """Names of the true and of the predicted class in "yes->no"; an arrow may also be part of a name."""
    parts = pair.split("->")
    halves = [
        ("->".join(parts[:i]).strip(), "->".join(parts[i:]).strip()) for i in range(1, len(parts))
    ]
    if not halves:
        raise Mistake(
            f"--cost {text} has no arrow: write it as yes->no=10: true class, predicted class, cost."
        )
    truth, prediction = next((half for half in halves if set(half) <= set(names)), halves[0])
    return class_named(truth, names, "--cost"), class_named(prediction, names, "--cost")


def class_named(name: str, classes: Any, option: str) -> Any:
    """Class whose label reads like the name; a `Mistake` with all classes if there is none."""
    by_name = {str(label): label for label in classes}
    if name not in by_name:
        raise Mistake(f"{option} names the class {name!r}: there are {listed(by_name)}.")
    return by_name[name]


def read_number(number: str, option: str, text: str, example: str) -> float:
    """Number that an option holds; a `Mistake` with an example for anything else."""
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise Mistake(f"{option} {text} has no number: write it as {example}.")
    return value
