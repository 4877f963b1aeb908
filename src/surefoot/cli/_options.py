"""Arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli._mistakes import Mistake
from surefoot.cli._models import MODELS

# More processes than any machine that this is meant for has cores.
MOST_JOBS = 1024


class Task(StrEnum):
    """Kind of the target: classes, numbers, or chosen automatically."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


def complete_models(start: str) -> list[str]:
    """Names of models that begin with `start`, for shell completion."""
    return [name for name in MODELS if name.startswith(start)]


def check_jobs(jobs: int) -> int:
    """Number of processes; a `Mistake` if it is 0."""
    if jobs == 0 or abs(jobs) > MOST_JOBS:
        raise Mistake(
            f"--jobs {jobs} is not allowed: pass -1 for all cores, or a number of processes up to {MOST_JOBS}."
        )
    return jobs


TABLE = "Table in CSV or Parquet, also packed by gzip or bzip2, a folder of Parquet files, or - for standard input."
Table = Annotated[Path, typer.Argument(metavar="DATA", help=TABLE)]
Target = Annotated[str, typer.Option("--target", metavar="COLUMN", help="The column to predict.")]
Estimator = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"{', '.join(MODELS)}, or a model saved as .skops; in regression, logistic is a ridge regression.",
        autocompletion=complete_models,
    ),
]
TaskOption = Annotated[
    Task,
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
Time = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of times, numbers or dates: rows are held out later than those the model learns from. The column "
        "itself is no input.",
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
Confidence = Annotated[
    float, typer.Option(metavar="SHARE", help="Probability that the risk stays within --max-risk.")
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
JsonRows = Annotated[
    bool, typer.Option("--json-rows", help="Like --json, with the rows of the page and its map.")
]
AuditLabels = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Number of rows to draw for labelling. Default: 100."),
]
AuditOut = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File for the rows to label, .csv.")
]
AuditAnswers = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="That file with its column label filled in, or what surefoot label wrote; may be repeated.",
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        metavar="SIZE",
        help="Regression: error beyond which a prediction counts as wrong. Default: what 10 % of the errors "
        "were beyond when the model was fitted.",
    ),
]
IntervalConfidence = Annotated[
    float, typer.Option(metavar="SHARE", help="Probability that the interval holds the truth.")
]
FailAbove = Annotated[
    float | None,
    typer.Option(
        metavar="RISK",
        help="Share of wrong predictions (with costs: mean cost) that was promised: exit code 3 if the whole "
        "interval is above it.",
    ),
]
