"""`surefoot fit`: fit a model and its error estimator, and save both."""

import json
from pathlib import Path
from typing import Annotated

import typer

from surefoot import _tables as tables
from surefoot.cli._console import (
    TARGET,
    Cost,
    Estimator,
    Groups,
    Jobs,
    Json,
    Mistake,
    RandomState,
    Sample,
    Table,
    Task,
    check_output,
    check_outputs,
    working,
    write_output,
)


def fit(
    data: Table,
    target: Annotated[str, TARGET],
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the model, .skops.")],
    estimator: Estimator = "boosting",
    task: Task = "auto",
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
        from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
        from surefoot.cli._model import (
            cost_matrix,
            given_model,
            model_file,
            model_for,
            threads_for,
        )
        from surefoot.cli._rows import read_whole, take_apart, with_labels
        from surefoot.model_files import model_content

    check_output(out, ".skops")
    check_outputs([out], [data, model_file(estimator), labels])
    name = tables.table_name(data)
    with working(f"Reading {name}"):
        given = given_model(estimator, task)
        if sample is not None and labels is not None:
            raise Mistake("--labels counts the rows of the whole table: leave out --sample.")
        table = read_whole(data, sample, random_state, given.form)
        if labels is not None:
            table = with_labels(table, target, labels)
        rows = take_apart(table, target, given.task, groups, name, every=given.is_fitted)
        rows, model = model_for(rows, given, estimator, random_state)
    kind = IndividualErrorClassifier if rows.classes else IndividualErrorRegressor
    error_estimator = kind(model, random_state=random_state, n_jobs=jobs)
    if cost:
        error_estimator.set_params(loss=cost_matrix(cost, rows.classes))
    with working("Fitting the model and estimating its errors"), threads_for(len(rows.y)):
        error_estimator.fit(rows.X, rows.y, groups=rows.groups)
    error_estimator.input_form_["target"] = target  # measured by `watch` in new rows that have it
    with working(f"Writing {out}"):
        write_output(out, model_content(error_estimator))
    held_out = error_estimator.held_out_
    error = float(held_out.losses.mean())
    if as_json:
        summary = {"model": str(out), "task": rows.task, "target": target}
        print(json.dumps({**summary, "n_rows": len(rows.y), "error": error}))
    else:
        measured = held_out.unit.all_rows.format(held_out.unit.show(error))
        start = f"{measured[:1].upper()}{measured[1:]}"
        print(f"{start}, measured on held-out rows.\nThe model: {out}")
