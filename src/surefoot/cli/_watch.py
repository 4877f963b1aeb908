"""`surefoot watch`: whether a model is still as good as when it was fitted, by new rows without labels."""

import json
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer
from sklearn.base import is_classifier

from surefoot._words import plural
from surefoot.cli._audit import audit_result
from surefoot.cli._console import remark, working
from surefoot.cli._mistakes import Mistake, mistakes_of_tables, one_sentence_of
from surefoot.cli._output import check_output, check_outputs, write_output
from surefoot.cli._score import prepare
from surefoot.cli._tables import STDIN, table_name
from surefoot.report import MonitoringReport
from surefoot.scoring import judge_table

# Exit code where an error is above the limit.
ALARM = 3


class Watched(NamedTuple):
    """What is watched: the model, the new rows, their column of times and its periods, and answers to an audit."""

    model: Path
    data: Path
    time: str | None
    every: str
    answers: Sequence[Path]


def run_watch(
    watched: Watched,
    out: Path | None,
    *,
    as_json: bool,
    limit: float | None,
    max_risk: Sequence[str] | None,
    confidence: float,
    command: str,
) -> None:
    """Estimate the error of a table, write the page, print the verdict; exit code 3 if an error is above the limit."""
    model, data = watched.model, watched.data
    if data == STDIN:
        raise Mistake("Standard input is not read as a stream: name a table.")
    check_output(out, ".html")
    check_outputs([out], [model, data, *watched.answers])
    sure, promise, _ = prepare(model, max_risk, confidence)
    check_limit(limit, sure)
    audit = audit_result(model, data, watched.answers, confidence) if watched.answers else None
    with one_sentence_of(f"{model} cannot watch {table_name(data)}"):
        report = MonitoringReport(
            sure,
            every=watched.every,
            promise=promise,
            max_error=limit,
            confidence=confidence,
            audit=audit,
            name=table_name(data),
            command=command,
        )
    add_rows(report, watched)
    summary = report.summarize()
    if out is not None:
        from surefoot.report.page import render_watch  # noqa: PLC0415 - takes a second to import

        write_output(out, render_watch(summary).encode())
    print(json.dumps(summary) if as_json else in_words(summary, out))
    if limit is not None and summary["verdict"]["alarms"]:
        raise typer.Exit(ALARM)


def check_limit(limit: float | None, sure: Any) -> None:
    """Raise a `Mistake` for a limit that no error can pass, or that is no error."""
    if limit is None:
        return
    if not isfinite(limit) or limit < 0:
        raise Mistake(f"--fail-above {limit:g} is no error: it is 0 or more.")
    if is_classifier(sure) and sure.held_out_.costs is None and limit >= 1:
        raise Mistake(
            f"--fail-above {limit:g} is never passed: it is a share of wrong answers, such as 0.1."
        )


def add_rows(report: MonitoringReport, watched: Watched) -> None:
    """Judge the table part by part, once."""
    data, n_infinite, has_times = watched.data, 0, watched.time is None
    with (
        working(f"Judging {data}"),
        one_sentence_of(f"{watched.model} cannot judge the rows of {table_name(data)}"),
        mistakes_of_tables(),
    ):
        for part in judge_table(report.error_estimator, data, time=watched.time):
            report.add(part.X, part.times, part.judgement)
            n_infinite += part.n_infinite
            has_times = has_times or (part.times is not None and not np.isnat(part.times).all())
    if n_infinite:
        remark(f"{plural(n_infinite, 'infinite value')} treated as missing.")
    if not has_times:
        raise Mistake(f"Column {watched.time!r} of {data} has no times: every row lacks one.")


def in_words(summary: dict[str, Any], out: Path | None) -> str:
    """The verdict, and where the page is."""
    verdict = summary["verdict"]
    page = [] if out is None else [f"Page: {out}"]
    return "\n".join([verdict["headline"], *verdict["sentences"], *page])
