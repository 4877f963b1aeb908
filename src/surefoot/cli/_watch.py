"""`surefoot watch`: whether a model is still as good as when it was fitted, from new rows with or without labels."""

import json
import shlex
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from surefoot import _tables as tables
from surefoot._words import listed
from surefoot.cli._console import (
    ALARM,
    Answers,
    Confidence,
    Json,
    MaxRisk,
    Mistake,
    ModelFile,
    Overwrite,
    as_typed,
    check_output,
    mistakes_of_writing,
    one_sentence_of,
    remark,
    working,
)


def watch(
    context: typer.Context,
    model: ModelFile,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="New rows: a table in CSV or Parquet, or a folder of Parquet files, of any size.",
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
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of true values, to measure the error. Default: that of fit, if DATA has it.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the page, .html. Default: none.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
    fail_above: Annotated[
        float | None,
        typer.Option(
            metavar="ERROR",
            help="Exit with code 3 if the lower end of an interval, of a period or of all rows, is above this error, "
            "measured where there are true values.",
        ),
    ] = None,
    answers: Answers = None,
    max_risk: MaxRisk = None,
    confidence: Confidence = 0.95,
) -> None:
    """Estimate the error of a model on new rows, or measure it where they have labels, and compare it with training."""
    with working("Starting"):
        from surefoot.cli._audit import audit_result
        from surefoot.cli._model import load_with_promise
        from surefoot.report import MonitoringReport
        from surefoot.scoring import judge_table

    if every is not None and time is None:
        raise Mistake("--every needs --time COLUMN.")
    if data == tables.STDIN:
        raise Mistake("Standard input is not read as a stream: name a table.")
    check_output(out, [".html"], [model, data, *(answers or ())], overwrite=overwrite)
    error_estimator, promise = load_with_promise(model, max_risk, confidence)
    check_limit(fail_above, is_share=error_estimator.held_out_.unit.is_share)
    name, audit = tables.table_name(data), None
    column = target or error_estimator.input_form_.get("target")
    judged = judge_table(error_estimator, data, time=time, target=column)
    parts: Any = (
        (part.X, part.times, part.judgement, part.targets, part.n_infinite) for part in judged
    )
    if answers:  # an audit is of all rows at once: the table is read into memory, and only once
        audit, rows = audit_result(model, data, answers, confidence, error_estimator)
        targets = rows.table[column].tolist() if column in rows.table.columns else None
        parts = [(rows.X, rows.times(time), None, targets, 0)]
    with one_sentence_of(f"{model} cannot watch {name}"):
        report = MonitoringReport(
            error_estimator,
            every=every or "week",
            promise=promise,
            max_error=fail_above,
            confidence=confidence,
            audit=audit,
            name=name,
            command=as_typed(context),
            ask=shlex.join(
                ["surefoot", "audit", f"{model}", f"{data}", "--labels", "100", "--out", "ask.csv"]
            ),
        )
    classes = getattr(error_estimator, "classes_", None)
    n_infinite = 0
    with working(f"Judging {data}"), one_sentence_of(f"{model} cannot judge the rows of {name}"):
        for X, times, judgement, targets, n_replaced in parts:
            if targets is None and target is not None:
                raise Mistake(f"{data} lacks {target!r}, which has the true values.")
            y = None if targets is None else known_targets(targets, classes, str(column), data)
            report.add(X, times, judgement, y)
            n_infinite += n_replaced
    if n_infinite:
        remark(tables.infinities_in_words(n_infinite))
    summary = report.summarize()
    if time is not None and summary["data"]["n_without_time"] == summary["data"]["n_rows"]:
        raise Mistake(f"Column {time!r} of {data} has no times: every row lacks one.")
    if out is not None:
        with mistakes_of_writing(out):
            report.write_html(out)
    verdict = summary["verdict"]
    page = [] if out is None else [f"Page: {out}"]
    words = "\n".join([verdict["headline"], *verdict["sentences"], *page])
    print(json.dumps(summary) if as_json else words)
    if fail_above is not None and verdict["alarms"]:
        raise typer.Exit(ALARM)


def known_targets(targets: Sequence[Any], classes: Any, column: str, data: Path) -> list[Any]:
    """True values as the model knows them, None where they are missing; a class that it does not know stays a text."""
    from surefoot._models import class_text

    texts = [None if tables.is_missing(value) else class_text(value) for value in targets]
    if classes is None:
        try:
            return [float(text) if text else None for text in texts]
        except ValueError as error:
            raise Mistake(
                f"Column {column!r} of {data} holds true values that are no numbers: {error}."
            ) from None
    known = {str(label): label for label in classes.tolist()}
    strange = sorted({text for text in texts if text} - set(known))
    if strange and not set(texts) & set(known):
        raise Mistake(
            f"Column {column!r} of {data} holds {listed(strange)}, but the model knows only {listed(known)}."
        )
    return [known.get(text, text) if text else None for text in texts]


def check_limit(limit: float | None, *, is_share: bool) -> None:
    """Raise a `Mistake` for a limit that no error can pass, or that is no error."""
    if limit is None:
        return
    if not isfinite(limit) or limit < 0:
        raise Mistake(f"--fail-above {limit:g} is no error: it is 0 or more.")
    if is_share and limit >= 1:
        raise Mistake(
            f"--fail-above {limit:g} is never passed: it is a share of wrong answers, such as 0.1."
        )
