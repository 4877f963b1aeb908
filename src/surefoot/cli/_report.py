"""`surefoot report`: read a table, evaluate a model on it, write the page."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot import _tables as tables
from surefoot._words import listed
from surefoot.cli._console import (
    TABLE,
    TARGET,
    Classes,
    Cost,
    Drop,
    Estimator,
    Groups,
    Jobs,
    Json,
    MaxRisk,
    Mistake,
    Overwrite,
    Prediction,
    Probability,
    RandomState,
    Sample,
    Task,
    Time,
    as_typed,
    check_output,
    mistakes_of_writing,
    working,
    write_output,
)

PAGE = Path("report.html")

# Columns that the table of all rows always has, and one that it may have beside the scores.
ALWAYS, SOMETIMES = {"row", "truth", "prediction", "estimated_error", "loss"}, {"own_error"}

# Codes of checks that may be left out.
CHECKS = ("leak", "duplicate", "entity", "order", "identifier", "equal", "labels")


def report(
    context: typer.Context,
    data: Annotated[
        Path | None, typer.Argument(help=f"{TABLE} Default: a generated example.")
    ] = None,
    target: Annotated[str | None, TARGET] = None,
    estimator: Estimator = "boosting",
    classes: Classes = None,
    prediction: Prediction = None,
    probability: Probability = None,
    task: Task = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File for the page. Default: report.html; with --json, no page."
        ),
    ] = None,
    overwrite: Overwrite = False,
    scores: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for a table of all rows, .csv or .parquet."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    as_json: Json = False,
    json_rows: Annotated[
        bool,
        typer.Option("--json-rows", help="Like --json, with the rows of the page and its map."),
    ] = False,
    max_risk: MaxRisk = None,
    cost: Cost = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column whose groups are compared; may be repeated."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help=f"Check of the table to leave out: {', '.join(CHECKS)}; may be repeated.",
        ),
    ] = None,
    groups: Groups = None,
    time: Time = None,
    drop: Drop = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Leave out the section on what would help, which fits more models."
        ),
    ] = False,
    sample: Sample = None,
    random_state: RandomState = 0,
    jobs: Jobs = 1,
) -> None:
    """Write a page that shows how far each prediction of a model can be trusted, and what to do.

    --estimator also takes a model saved with skops. A fitted model is evaluated as it is: it must not have been
    trained on rows of this table. With --prediction the report is on predictions that were made elsewhere.
    """
    with working("Starting"):
        from surefoot.cli._model import (
            cost_matrix,
            errors_of,
            given_model,
            limits_for,
            model_file,
            model_for,
            threads_for,
        )
        from surefoot.cli._rows import take_apart
        from surefoot.report import ReliabilityReport

    as_json = as_json or json_rows
    page = PAGE if out is None and not as_json else out
    inputs = [data, model_file(estimator)]
    check_output(page, [".html", ".htm"], inputs, overwrite=overwrite)
    check_output(scores, [".csv", ".parquet"], [*inputs, page], are_scores, overwrite=overwrite)
    if unknown := [code for code in ignore or () if code not in CHECKS]:
        raise Mistake(f"--ignore {unknown[0]} is not known: there are {listed(CHECKS)}.")
    with working(f"Reading {data or 'an example'}"):
        given = given_model(estimator, task, prediction, probability, classes)
        table, name, column, chosen = table_or_example(
            data, target, given.task, sample, random_state, given.form
        )
        rows = take_apart(
            table,
            column,
            chosen,
            groups,
            name,
            every=given.is_fitted,
            by=by or (),
            time=time,
            drop=drop or (),
            outputs=[*given.output_columns(table.columns)],
        )
        rows, model = model_for(rows, given, estimator, random_state)
        loss = cost_matrix(cost, rows.classes)
        unit = "size" if not rows.classes else "share" if loss is None else "cost"
        computed = ReliabilityReport(
            model,
            rows.X,
            rows.y,
            cv=rows.cv,
            groups=rows.groups,
            X_unlabelled=rows.unlabelled,
            max_risk=limits_for(max_risk, unit, rows.classes),
            loss=loss,
            by=rows.by,
            ignore=ignore or (),
            random_state=random_state,
            n_jobs=jobs,
            name=rows.name,
            target=rows.target,
            command=as_typed(context),
            quick=quick,
            progress=True,
        )
    with threads_for(len(rows.y)), errors_of(given, estimator, name):
        summary = computed.summarize()
    if page is not None:
        with mistakes_of_writing(page):
            computed.write_html(page)
    if scores is not None:
        write_output(scores, tables.table_bytes(computed.to_frame(), scores.suffix))
    if as_json:
        print(json.dumps(summary if json_rows else without_rows(summary)))
    else:
        verdict = summary["verdict"]
        places = {"The page": page, "Every row": scores}
        written = [f"{what}: {path}" for what, path in places.items() if path is not None]
        print("\n".join([verdict["headline"], *verdict["sentences"], *written]))
    if show and page is not None:
        typer.launch(page.resolve().as_uri())


def are_scores(lines: Iterator[list[str]]) -> bool:
    """Whether lines are a table of all rows: it has the columns that one always has, and none that it never has."""
    names = set(next(lines, []))
    known = ALWAYS | SOMETIMES | {name for name in names if tables.is_score_column(name)}
    return ALWAYS <= names <= known


def table_or_example(
    data: Path | None,
    target: str | None,
    task: str,
    sample: int | None,
    random_state: int,
    form: dict[str, Any] | None,
) -> tuple[Any, str, str, str]:
    """Table, its name, its target and its task: the user's, or without `data` a generated example's."""
    from surefoot.cli._rows import read_whole
    from surefoot.datasets import make_subscriptions

    if data is not None:
        table = read_whole(data, sample, random_state, form)
        if target is None:
            raise Mistake(
                f"Pass --target with the column to predict: {tables.shown_path(data)} has {listed(table.columns)}."
            )
        return table, tables.table_name(data), target, task
    if sample is not None:
        raise Mistake("--sample draws rows of a table: name one.")
    X, y = make_subscriptions(random_state=0)
    if target is None and task == "auto":
        task = "classification"
    return X.assign(**{str(y.name): y}), "the example", target or str(y.name), task


def without_rows(summary: dict[str, Any]) -> dict[str, Any]:
    """Summary without its rows and the map of them."""
    regions = {name: value for name, value in summary["regions"].items() if name != "map"}
    return {name: value for name, value in summary.items() if name != "rows"} | {"regions": regions}
