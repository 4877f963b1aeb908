"""`surefoot watch`: whether a model is still as good as when it was fitted, from new rows without labels."""

import json
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal

import typer

from surefoot._tables import STDIN, table_name
from surefoot.cli._console import (
    ALARM,
    Mistake,
    as_typed,
    check_output,
    check_outputs,
    mistakes_of_writing,
    one_sentence_of,
    remark,
    working,
)
from surefoot.cli._options import Json, MaxRisk, ModelFile, check_confidence


def watch(
    context: typer.Context,
    model: ModelFile,
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
        Literal["day", "week", "month", "quarter", "year"] | None,
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
        float,
        typer.Option(
            metavar="SHARE",
            help="Confidence of the intervals and of the promise.",
            callback=check_confidence,
        ),
    ] = 0.95,
) -> None:
    """Say whether a model is still as good as when it was fitted, from new rows without labels."""
    with working("Starting"):
        import numpy as np

        from surefoot._tables import infinities_in_words
        from surefoot.cli._audit import audit_result
        from surefoot.cli._model import load_with_promise, unit_of
        from surefoot.report import MonitoringReport
        from surefoot.scoring import judge_table

    if every is not None and time is None:
        raise Mistake("--every needs --time COLUMN.")
    if data == STDIN:
        raise Mistake("Standard input is not read as a stream: name a table.")
    check_output(out, ".html")
    check_outputs([out], [model, data, *(answers or ())])
    error_estimator, promise = load_with_promise(model, max_risk, confidence)
    check_limit(fail_above, unit_of(error_estimator))
    audit = audit_result(model, data, answers, confidence) if answers else None
    with one_sentence_of(f"{model} cannot watch {table_name(data)}"):
        report = MonitoringReport(
            error_estimator,
            every=every or "week",
            promise=promise,
            max_error=fail_above,
            confidence=confidence,
            audit=audit,
            name=table_name(data),
            command=as_typed(context),
        )
    n_infinite, has_times = 0, time is None
    with (
        working(f"Judging {data}"),
        one_sentence_of(f"{model} cannot judge the rows of {table_name(data)}"),
    ):
        for part in judge_table(error_estimator, data, time=time):
            report.add(part.X, part.times, part.judgement)
            n_infinite += part.n_infinite
            has_times = has_times or (part.times is not None and not np.isnat(part.times).all())
    if n_infinite:
        remark(infinities_in_words(n_infinite))
    if not has_times:
        raise Mistake(f"Column {time!r} of {data} has no times: every row lacks one.")
    summary = report.summarize()
    if out is not None:
        with mistakes_of_writing(out):
            report.write_html(out)
    verdict = summary["verdict"]
    page = [] if out is None else [f"Page: {out}"]
    words = "\n".join([verdict["headline"], *verdict["sentences"], *page])
    print(json.dumps(summary) if as_json else words)
    if fail_above is not None and verdict["alarms"]:
        raise typer.Exit(ALARM)


def check_limit(limit: float | None, unit: str) -> None:
    """Raise a `Mistake` for a limit that no error can pass, or that is no error."""
    if limit is None:
        return
    if not isfinite(limit) or limit < 0:
        raise Mistake(f"--fail-above {limit:g} is no error: it is 0 or more.")
    if unit == "classification" and limit >= 1:
        raise Mistake(
            f"--fail-above {limit:g} is never passed: it is a share of wrong answers, such as 0.1."
        )
