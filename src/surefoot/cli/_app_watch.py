"""The command `surefoot watch` and its options."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli._as_typed import as_typed
from surefoot.cli._console import working
from surefoot.cli._mistakes import Mistake
from surefoot.cli._options import Json, MaxRisk


class Every(StrEnum):
    """Length of a period."""

    day = "day"
    week = "week"
    month = "month"
    quarter = "quarter"
    year = "year"


def watch(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="Model file written by surefoot fit.")],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="New rows without labels: a table in CSV or Parquet, or a folder of Parquet files, of any size.",
        ),
    ],
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of times: the error is estimated by period."),
    ] = None,
    every: Annotated[
        Every | None,
        typer.Option(
            metavar="PERIOD", help="day, week (ISO 8601), month, quarter or year. Default: week."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the page, .html. Default: none.")
    ] = None,
    as_json: Json = False,
    fail_above: Annotated[
        float | None,
        typer.Option(
            metavar="ERROR",
            help="Exit with code 3 if the lower end of an interval, of a period or of all rows, is above this error.",
        ),
    ] = None,
    answers: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Answers to an audit of these rows, as for surefoot audit: what they tell is shown beside the "
            "estimate. May be repeated.",
        ),
    ] = None,
    max_risk: MaxRisk = None,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence of the intervals and of the promise.")
    ] = 0.95,
) -> None:
    """Say whether a model is still as good as when it was fitted, from new rows without labels."""
    with working("Starting"):
        from surefoot.cli._watch import Watched, run_watch  # noqa: PLC0415 - --help is fast

    if every is not None and time is None:
        raise Mistake("--every needs --time COLUMN.")
    run_watch(
        Watched(model, data, time, str(every or Every.week), answers or []),
        out,
        as_json=as_json,
        limit=fail_above,
        max_risk=max_risk,
        confidence=confidence,
        command=as_typed(context),
    )
