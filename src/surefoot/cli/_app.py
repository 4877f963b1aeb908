"""Commands and their options; the module that does the work is imported when its command runs."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import surefoot
from surefoot.cli._app_watch import watch
from surefoot.cli._as_typed import as_typed
from surefoot.cli._console import plain_warnings, working
from surefoot.cli._options import (
    TABLE,
    AuditAnswers,
    AuditLabels,
    AuditOut,
    Confidence,
    Cost,
    Estimator,
    FailAbove,
    Groups,
    IntervalConfidence,
    Jobs,
    Json,
    JsonRows,
    MaxRisk,
    RandomState,
    Sample,
    Table,
    Target,
    Task,
    TaskOption,
    Time,
    Tolerance,
)
from surefoot.cli._signals import stoppable

app = typer.Typer(
    help="Know where your model stands: how far each single prediction can be trusted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

PAGE = Path("report.html")


def run(arguments: list[str] | None = None) -> Any:
    """Run a command; exit code for a user's mistake, which is printed as one sentence."""
    # skrub makes a folder for data sets when it is imported, in the home that a service may not have. No command
    # uses it: one that is there already serves as well.
    os.environ.setdefault("SKB_DATA_DIRECTORY", str(Path(__file__).parent))
    try:
        with stoppable(), plain_warnings():
            return app(arguments, standalone_mode=False)
    except typer.TyperException as error:
        print(error.format_message(), file=sys.stderr)
        return error.exit_code


def show_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        print(surefoot.__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True),
    ] = False,
) -> None:
    """Know where your model stands: how far each single prediction can be trusted."""


@app.command()
def report(
    context: typer.Context,
    data: Annotated[
        Path | None, typer.Argument(help=f"{TABLE} Default: a generated example.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column to predict.")
    ] = None,
    estimator: Estimator = "boosting",
    task: TaskOption = Task.auto,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File for the page. Default: report.html; with --json, no page."
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for a table of all rows, .csv or .parquet."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    as_json: Json = False,
    json_rows: JsonRows = False,
    max_risk: MaxRisk = None,
    cost: Cost = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column whose groups are compared; may be repeated."),
    ] = None,
    groups: Groups = None,
    time: Time = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out what would help, which takes further fits.")
    ] = False,
    sample: Sample = None,
    random_state: RandomState = 0,
    jobs: Jobs = 1,
) -> None:
    """Write a page that shows how far each prediction of a model can be trusted, and what to do.

    --estimator also takes a model saved with skops. A fitted model is evaluated as it is: it must not have been
    trained on rows of this table.
    """
    with working("Starting"):
        from surefoot.cli._report import Request, Results, run_report  # noqa: PLC0415 - --help is fast

    as_json = as_json or json_rows
    page = PAGE if out is None and not as_json else out
    command = as_typed(context)
    run_report(
        Request(
            *(data, target, estimator, task, groups, max_risk, random_state, jobs, command),
            cost=cost or [],
            by=by or [],
            time=time,
            quick=quick,
            sample=sample,
        ),
        Results(page, scores, as_json, json_rows, show),
    )


@app.command()
def fit(
    data: Table,
    target: Target,
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the model, .skops.")],
    estimator: Estimator = "boosting",
    task: TaskOption = Task.auto,
    as_json: Json = False,
    cost: Cost = None,
    groups: Groups = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Labels of rows, as surefoot label writes them."),
    ] = None,
    sample: Sample = None,
    random_state: RandomState = 0,
    jobs: Jobs = 1,
) -> None:
    """Fit a model that also estimates its error on each row, and save it."""
    with working("Starting"):
        from surefoot.cli._fit import run_fit  # noqa: PLC0415

    known = (data, target, out, estimator, task, groups, random_state, jobs, as_json)
    run_fit(*known, cost or [], labels, sample)


@app.command()
def score(
    model: Annotated[Path, typer.Argument(help="Model file written by surefoot fit.")],
    data: Table,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="File for the scored rows, .csv or .parquet; or a folder for parts of a table of any size, where "
            "a run that was stopped goes on.",
        ),
    ],
    max_risk: MaxRisk = None,
    confidence: Confidence = 0.95,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column of DATA to copy to FILE; may be repeated."),
    ] = None,
    as_json: Json = False,
    jobs: Jobs = 1,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Scheduler of a Dask cluster whose workers judge the parts."
        ),
    ] = None,
) -> None:
    """Predict every row of a table, estimate its error, and mark the rows to trust."""
    with working("Starting"):
        from surefoot.cli._score import run_score  # noqa: PLC0415
        from surefoot.cli._score_folder import is_for_parts, run_score_folder  # noqa: PLC0415

    known = (model, data, out, max_risk, confidence, keep or [], as_json, jobs)
    if is_for_parts(out) or dask is not None:
        run_score_folder(*known, dask)
    else:
        run_score(*known)


@app.command()
def label(
    data: Table,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COLUMN",
            help="The column of the labels; a file of surefoot audit needs none.",
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Classes to choose from. Default: those in COLUMN."),
    ] = None,
    allow_new_classes: Annotated[
        bool, typer.Option("--allow-new-classes", help="Let people add classes on the page.")
    ] = False,
    strategy: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What to ask first; see surefoot.active_learning.query."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Model of surefoot fit: rows that it would not answer come first."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the labels, .csv.")] = Path(
        "labels.csv"
    ),
    db: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Database that keeps every answer. Default: DATA.labels.db."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 0,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines reach the page.")
    ] = False,
    lease: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Time after which an unanswered row may go to somebody else."
        ),
    ] = 300.0,
) -> None:
    """Serve a page on this machine that asks people for the labels that help most.

    Nothing that was answered is lost: the same command goes on where labelling stood.
    """
    with working("Starting"):
        from surefoot.cli._label import Answers, Place, run_label  # noqa: PLC0415

    run_label(
        data,
        target,
        classes,
        allow_new_classes=allow_new_classes,
        strategy=strategy,
        model=model,
        answers=Answers(out, db),
        place=Place(host, port, allow_remote, lease),
    )


@app.command()
def audit(
    model: Annotated[Path, typer.Argument(help="Model file written by surefoot fit.")],
    data: Table,
    labels: AuditLabels = None,
    out: AuditOut = None,
    answers: AuditAnswers = None,
    tolerance: Tolerance = None,
    confidence: IntervalConfidence = 0.9,
    fail_above: FailAbove = None,
    as_json: Json = False,
    random_state: RandomState = 0,
) -> None:
    """Draw the few rows whose labels tell how wrong a model is, and say so when they are labelled.

    The interval is valid whatever the model is and whatever has changed.
    """
    with working("Starting"):
        from surefoot.cli._audit import run_answers, run_draw  # noqa: PLC0415

    if answers:
        run_answers(model, data, answers, confidence, fail_above, as_json, (labels, out, tolerance))
    else:
        run_draw(model, data, labels, out, tolerance, random_state, as_json, fail_above)


app.command()(watch)
