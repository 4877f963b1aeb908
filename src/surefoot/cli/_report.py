"""`surefoot report`: read a table, evaluate a model on it, write the page."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import typer

from surefoot._crossfit import known_classes
from surefoot.cli._console import working
from surefoot.cli._given_model import model_file, rows_and_model
from surefoot.cli._limits import cost_matrix, limits_for
from surefoot.cli._mistakes import Mistake
from surefoot.cli._output import check_output, check_outputs, not_written, write_output
from surefoot.cli._roles import Rows, read_rows, take_apart
from surefoot.cli._tables import table_bytes
from surefoot.cli._threads import threads_for
from surefoot.datasets import make_subscriptions
from surefoot.report import ReliabilityReport


class Request(NamedTuple):
    """Options of the command that concern the report itself."""

    data: Path | None
    target: str | None
    estimator: str
    task: str
    groups: str | None
    max_risk: list[str] | None
    random_state: int
    jobs: int
    command: str
    cost: Sequence[str] = ()
    by: Sequence[str] = ()
    time: str | None = None
    quick: bool = False
    sample: int | None = None


class Results(NamedTuple):
    """Options of the command that say where the results go."""

    page: Path | None
    scores: Path | None
    as_json: bool
    json_rows: bool
    show: bool


def run_report(request: Request, results: Results) -> None:
    """Evaluate the model, write the requested files, and print the verdict."""
    check_output(results.page, ".html", ".htm")
    check_output(results.scores, ".csv", ".parquet")
    check_outputs([results.page, results.scores], [request.data, model_file(request.estimator)])
    with working(f"Reading {request.data or 'an example'}"):
        report = prepare(request)
    with threads_for(len(report.y)):
        summary = report.summarize()
    if results.page is not None:
        write_page(report, results.page)
    if results.scores is not None:
        write_output(results.scores, table_bytes(report.to_frame(), results.scores.suffix))
    print(in_json(summary, results) if results.as_json else in_words(summary, results))
    if results.show and results.page is not None:
        typer.launch(results.page.resolve().as_uri())


def prepare(request: Request) -> ReliabilityReport:
    """Report that is not computed yet; all mistakes of the user are raised here, before the work."""
    rows, model = rows_and_model(
        partial(find_rows, request), request.estimator, request.task, request.random_state
    )
    is_classification = rows.task == "classification"
    classes: Any = known_classes(model, rows.y) if is_classification else []
    loss = cost_matrix(request.cost, rows.task, classes)
    max_risk = limits_for(request.max_risk, rows.task, classes, costs=loss is not None)
    return ReliabilityReport(
        model,
        rows.X,
        rows.y,
        cv=rows.cv,
        groups=rows.groups,
        X_unlabelled=rows.unlabelled,
        max_risk=max_risk,
        loss=loss,
        by=rows.by,
        random_state=request.random_state,
        n_jobs=request.jobs,
        name=rows.name,
        target=rows.target,
        command=request.command,
        quick=request.quick,
        progress=True,
    )


def find_rows(request: Request, task: str, *, every: bool = False) -> Rows:
    """Rows of the user's table, or of an example."""
    roles: dict[str, Any] = {"every": every, "by": request.by, "time": request.time}
    if request.data is not None:
        roles |= {"sample": request.sample, "random_state": request.random_state}
        return read_rows(request.data, request.target, task, request.groups, **roles)
    if request.sample is not None:
        raise Mistake("--sample draws rows of a table: name one.")
    X, y = make_subscriptions(random_state=0)
    table = X.assign(**{str(y.name): y})
    if request.target is None:
        example_task = "classification" if task == "auto" else task
        return take_apart(table, str(y.name), example_task, request.groups, "the example", **roles)
    return take_apart(table, request.target, task, request.groups, "the example", **roles)


def write_page(report: ReliabilityReport, page: Path) -> None:
    """Write the page; if that fails, raise a `Mistake` and keep the old file."""
    try:
        report.write_html(page)
    except OSError as error:
        raise not_written(page, error) from error


def in_json(summary: dict[str, Any], results: Results) -> str:
    """Summary as JSON, the numbers first; without its rows and the map of them unless they are wanted."""
    if results.json_rows:
        return json.dumps(summary)
    regions = {name: value for name, value in summary["regions"].items() if name != "map"}
    sections = {name: value for name, value in summary.items() if name != "rows"}
    return json.dumps(sections | {"regions": regions})


def in_words(summary: dict[str, Any], results: Results) -> str:
    """Sentences of the verdict, and the paths of the files."""
    verdict = summary["verdict"]
    written = [
        f"{what}: {path}"
        for what, path in (("The page", results.page), ("Every row", results.scores))
        if path
    ]
    return "\n".join([verdict["headline"], *verdict["sentences"], *written])
