"""`surefoot fit`: fit a model and its error estimator, and save both."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot._crossfit import known_classes
from surefoot.cli._console import working
from surefoot.cli._given_model import model_file, rows_and_model
from surefoot.cli._limits import cost_matrix
from surefoot.cli._output import check_output, check_outputs, write_output
from surefoot.cli._roles import read_rows
from surefoot.cli._tables import table_name
from surefoot.cli._threads import threads_for
from surefoot.model_files import model_content


def run_fit(
    data: Path,
    target: str,
    out: Path,
    estimator: str,
    task: str,
    groups: str | None,
    random_state: int,
    jobs: int,
    as_json: bool,
    cost: Sequence[str] = (),
    labels: Path | None = None,
    sample: int | None = None,
) -> None:
    """Fit a model to a table, save it, and print its held-out error."""
    check_output(out, ".skops")
    check_outputs([out], [data, model_file(estimator), labels])
    with working(f"Reading {table_name(data)}"):
        find_rows = partial(
            read_rows,
            data,
            target,
            groups=groups,
            labels=labels,
            sample=sample,
            random_state=random_state,
        )
        rows, chosen = rows_and_model(find_rows, estimator, task, random_state)
    kind = IndividualErrorRegressor if rows.task == "regression" else IndividualErrorClassifier
    model = kind(chosen, random_state=random_state, n_jobs=jobs)
    if cost:
        classes: Any = known_classes(chosen, rows.y) if rows.task == "classification" else []
        model.set_params(loss=cost_matrix(cost, rows.task, classes))
    with working("Fitting the model and estimating its errors"), threads_for(len(rows.y)):
        model.fit(rows.X, rows.y, groups=rows.groups)
    with working(f"Writing {out}"):
        write_output(out, model_content(model))
    error = float(np.mean(model.held_out_.losses))
    summary = {
        "model": str(out),
        "task": rows.task,
        "target": rows.target,
        "n_rows": len(rows.y),
        "error": error,
    }
    measured = model.held_out_.unit.all_rows.format(model.held_out_.unit.show(error))
    words = f"{measured[:1].upper()}{measured[1:]}, measured on held-out rows.\nThe model: {out}"
    print(json.dumps(summary) if as_json else words)
