"""Arguments and options that several commands have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli._mistakes import Mistake
from surefoot.cli._models import MODELS


class Task(StrEnum):
    """What kind of value the target is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


def complete_models(start: str) -> list[str]:
    """Names of models, for the shell to complete."""
    return [name for name in MODELS if name.startswith(start)]


def check_jobs(jobs: int) -> int:
    """Raise one sentence if nobody is left to work."""
    if jobs == 0:
        raise Mistake("--jobs 0 leaves nobody to work: it may be -1 or a number of processes.")
    return jobs


Table = Annotated[Path, typer.Argument(metavar="DATA", help="Table in CSV or Parquet.")]
Target = Annotated[str, typer.Option("--target", metavar="COLUMN", help="The column to predict.")]
Estimator = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"{', '.join(MODELS)}, or a model saved as .skops; logistic is a ridge for numbers.",
        autocompletion=complete_models,
    ),
]
TaskOption = Annotated[
    Task,
    typer.Option(
        "--task",
        metavar="TASK",
        help="classification, regression, or auto: texts, truth values and up to five different numbers are "
        "classes; so are up to 20 whole numbers, unless they grow more frequent up to one value and rarer "
        "after it, as marks do. All others are numbers.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that says which rows belong together, such as those of one person.",
    ),
]
MaxRisk = Annotated[
    float | None,
    typer.Option(
        metavar="RISK",
        help="Share of wrong answers, or mean error, to keep among trusted rows. Default: half of the model's.",
    ),
]
Confidence = Annotated[
    float, typer.Option(metavar="SHARE", help="Probability with which that risk is kept.")
]
RandomState = Annotated[
    int, typer.Option(metavar="SEED", min=0, max=2**32 - 1, help="Draws everything that is drawn.")
]
Jobs = Annotated[
    int,
    typer.Option(metavar="N", help="Processes to use; -1 is one a core.", callback=check_jobs),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines, and nothing else.")]
