"""`surefoot fit`: fit a model and its error estimator, and save both."""

import json
from pathlib import Path
from typing import Annotated

import typer

from surefoot._tables import table_name
from surefoot.cli._console import Mistake, check_output, check_outputs, working, write_output
from surefoot.cli._options import (
    TARGET,
    Cost,
    Estimator,
    Groups,
    Jobs,
    Json,
    RandomState,
    Sample,
    Table,
    Task,
    cost_matrix,
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
        from surefoot._validation import known_classes
        from surefoot.cli._model import given_model, is_fitted, model_file, model_for, threads_for
        from surefoot.cli._rows import read_whole, take_apart, with_labels
        from surefoot.model_files import model_content

    check_output(out, ".skops")
    check_outputs([out], [data, model_file(estimator), labels])
    with working(f"Reading {table_name(data)}"):
        given, task_of_model, form = given_model(estimator, task)
        if sample is not None and labels is not None:
            raise Mistake("--labels counts the rows of the whole table: leave out --sample.")
        table = read_whole(data, sample, random_state, form)
        if labels is not None:
            table = with_labels(table, target, labels)
        every = given is not None and is_fitted(given)
        rows = take_apart(table, target, task_of_model, groups, table_name(data), every=every)
        rows, model = model_for(rows, given, estimator, random_state)
    is_classification = rows.task == "classification"
    classes = known_classes(model, rows.y).tolist() if is_classification else []
    kind = IndividualErrorClassifier if is_classification else IndividualErrorRegressor
    error_estimator = kind(model, random_state=random_state, n_jobs=jobs)
    if cost:
        error_estimator.set_params(loss=cost_matrix(cost, rows.task, classes))
    with working("Fitting the model and estimating its errors"), threads_for(len(rows.y)):
        error_estimator.fit(rows.X, rows.y, groups=rows.groups)
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
