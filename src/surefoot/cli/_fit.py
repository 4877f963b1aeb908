"""`surefoot fit`: fit a model and its error estimator, and save both."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot import _tables as tables
from surefoot._words import percent
from surefoot.cli._console import (
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
    Table,
    Task,
    Time,
    check_output,
    working,
    write_output,
)
from surefoot.cli._report import CHECKS


def fit(
    data: Table,
    target: Annotated[str, TARGET],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="File that the other commands read, .skops.")
    ],
    overwrite: Overwrite = False,
    estimator: Estimator = "boosting",
    classes: Classes = None,
    prediction: Prediction = None,
    probability: Probability = None,
    task: Task = "auto",
    as_json: Json = False,
    max_risk: MaxRisk = None,
    cost: Cost = None,
    groups: Groups = None,
    time: Time = None,
    drop: Drop = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Labels of rows, as surefoot label writes them."),
    ] = None,
    sample: Sample = None,
    random_state: RandomState = 0,
    jobs: Jobs = 1,
) -> None:
    """Fit a model that also estimates its error on each row, and save it.

    With --prediction no model is fitted: errors of predictions that were made elsewhere are learned, and new rows are
    judged with their predictions.
    """
    with working("Starting"):
        from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
        from surefoot.abstention import promise_of
        from surefoot.cli._model import (
            cost_matrix,
            errors_of,
            given_model,
            limits_for,
            model_file,
            model_for,
            threads_for,
        )
        from surefoot.cli._rows import read_whole, remark_on_progress, take_apart, with_labels
        from surefoot.model_files import model_content

    inputs = [data, model_file(estimator), labels]
    check_output(out, [".skops"], inputs, overwrite=overwrite)
    name = tables.table_name(data)
    with working(f"Reading {name}"):
        given = given_model(estimator, task, prediction, probability, classes)
        if sample is not None and labels is not None:
            raise Mistake("--labels counts the rows of the whole table: leave out --sample.")
        table = read_whole(data, sample, random_state, given.form)
        if labels is not None:
            table = with_labels(table, target, labels)
        rows = take_apart(
            table,
            target,
            given.task,
            groups,
            name,
            every=given.is_fitted,
            time=time,
            drop=drop or (),
            outputs=[*given.output_columns(table.columns)],
        )
        rows, model = model_for(rows, given, estimator, random_state)
        unit = "cost" if cost else "share" if rows.classes else "size"
        risk = limits_for(max_risk, unit, rows.classes)
        if time is None and not given.outputs:
            remark_on_progress(rows.X)
    kind = IndividualErrorClassifier if rows.classes else IndividualErrorRegressor
    error_estimator = kind(model, cv=rows.cv, random_state=random_state, n_jobs=jobs)
    if cost:
        error_estimator.set_params(loss=cost_matrix(cost, rows.classes))
    with (
        working("Fitting, and estimating errors"),
        threads_for(len(rows.y)),
        errors_of(given, estimator, name),
    ):
        error_estimator.fit(rows.X, rows.y, groups=rows.groups)
        error_estimator.row_order_ = {
            "time": rows.time,
            "sentence": order_in_words(error_estimator, rows),
        }
    error_estimator.input_form_["target"] = target  # measured by `watch` in new rows that have it
    held_out, order = error_estimator.held_out_, error_estimator.row_order_["sentence"]
    promise = error_estimator.promise_ = promise_of(error_estimator, risk)
    with working(f"Writing {out}"):
        write_output(out, model_content(error_estimator))
    error = float(held_out.losses.mean())
    if as_json:
        summary = {"model": str(out), "task": rows.task, "target": target, "time": rows.time}
        limit = {"max_risk": promise.max_risk if promise.kept else None, "order": order}
        print(json.dumps({**summary, "n_rows": len(rows.y), "error": error, **limit}))
        return
    measured = held_out.unit.all_rows.format(held_out.unit.show(error))
    promised = f"Nothing can be promised with {percent(promise.confidence)} confidence."
    if promise.kept:
        share = percent(promise.coverage)
        promised = f"{share} of the rows can be answered: {promise.in_words(held_out.unit)}."
    lines = [f"{measured[:1].upper()}{measured[1:]}, measured on held-out rows.", promised]
    print("\n".join([*lines, *filter(None, [order]), f"Saved for the other commands: {out}"]))


def order_in_words(error_estimator: Any, rows: Any) -> str | None:
    """Sentence on the time of rows, or on an order that matters although they were held out at random; else None."""
    from surefoot.checks import check_table

    if rows.time is not None:
        return (
            f"Errors were measured on later rows than those learned from, by {rows.time['column']!r} up to "
            f"{rows.time['last']}: the promise holds as far as the future is like the past."
        )
    findings = check_table(
        error_estimator.inputs(rows.X),
        rows.y,
        held_out=error_estimator.held_out_,
        ignore=set(CHECKS) - {"order", "labels"},
        estimator=error_estimator.estimator,
        coordinates=error_estimator.coordinates,
        random_state=error_estimator.random_state,
    )
    if not findings or findings[0].evidence["sorted_by_target"]:
        return None
    return (
        f"{findings[0].sentence} For later rows, errors and promises may be too low: fit with "
        f"{findings[0].evidence['time_option']}."
    )
