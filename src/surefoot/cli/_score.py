"""`surefoot score`: what a saved model predicts of each row, and how far to trust that."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot._parallel import model_of, shared_model
from surefoot._sure import Sure
from surefoot._table_files import is_score_column
from surefoot._words import LossUnit, plural
from surefoot.abstention import Promise, promise_for
from surefoot.cli._columns import without_infinities
from surefoot.cli._console import progress_bar, remark, working
from surefoot.cli._given_model import is_fitted, known_columns, load_file
from surefoot.cli._limits import Risk, limits_for
from surefoot.cli._memory import check_fits
from surefoot.cli._mistakes import Mistake, one_sentence_of, unknown_column
from surefoot.cli._output import check_output, check_outputs, write_output
from surefoot.cli._roles import check_confidence
from surefoot.cli._tables import read_table, table_bytes, table_name

# Rows that are judged at a time, so that there is progress to see.
CHUNK = 10_000


def run_score(
    model: Path,
    data: Path,
    out: Path,
    max_risk: Sequence[str] | None,
    confidence: float,
    keep: Sequence[str],
    as_json: bool,
    jobs: int = 1,
) -> None:
    """Judge every row of a table, write that, and say how many can be trusted."""
    check_output(out, ".csv", ".parquet")
    check_outputs([out], [model, data])
    check_kept(keep)
    check_fits(data, f"name a folder instead of {out}, and the rows are scored part by part")
    sure, promise, unit = prepare(model, max_risk, confidence)
    with working(f"Reading {data}"):
        table = read_table(data)
        kept = kept_columns(table, keep, table_name(data))
        X = without_infinities(known_columns(sure, table, table_name(data)))
        check_numbers(sure, X, table_name(data))
    with one_sentence_of(f"{model} cannot judge the rows of {table_name(data)}"):
        judged = judge_in_chunks(sure, X, promise, jobs)
    rows = pd.DataFrame({"row": np.arange(len(X))})
    write_output(out, table_bytes(pd.concat([rows, kept, judged], axis=1), out.suffix))
    summary = {
        **figures_of(out, promise, confidence),
        "n_rows": len(judged),
        "n_accepted": int(judged["accepted"].sum()),
        "n_novel": int(judged["novel"].sum()),
        "estimated_error": float(judged["estimated_error"].mean()),
    }
    print(json.dumps(summary) if as_json else in_words(summary, unit))


def prepare(
    model: Path, max_risk: Sequence[str] | None, confidence: float
) -> tuple[Sure, Promise, LossUnit]:
    """Error estimator of a file, its promise, and the unit of its errors."""
    check_confidence(confidence)
    with working(f"Reading {model}"):
        sure = load_sure(model)
        has_costs = sure.held_out_.costs is not None
        task = "classification" if is_classifier(sure) else "regression"
        risk = limits_for(max_risk, task, getattr(sure, "classes_", []), costs=has_costs)
    return sure, promise_or_remark(sure, risk, confidence), sure.held_out_.unit


def figures_of(out: Path, promise: Promise, confidence: float) -> dict[str, Any]:
    """Figures of the summary that do not depend on the rows."""
    return {
        "scores": str(out),
        "max_risk": promise.max_risk,
        "class_risks": {str(label): risk for label, risk in promise.class_risks.items()},
        "confidence": confidence,
        "limit": promise.limit if promise.kept else None,
    }


def load_sure(path: Path) -> Sure:
    """A model that `surefoot fit` saved; one sentence for any other."""
    model = load_file(path)
    if not isinstance(model, (IndividualErrorClassifier, IndividualErrorRegressor)):
        raise Mistake(f"{path} holds a {type(model).__name__}, not what `surefoot fit` saves.")
    if not is_fitted(model):
        raise Mistake(f"{path} holds a {type(model).__name__} that is not fitted.")
    return model


def check_kept(keep: Sequence[str]) -> None:
    """Raise one sentence for a column to be carried over that would be there twice."""
    for column in keep:
        if is_score_column(column):
            raise Mistake(f"--keep {column} has the name of a column that is written: rename it.")


def kept_columns(table: pd.DataFrame, keep: Sequence[str], name: str) -> pd.DataFrame:
    """Columns to be carried over, each once; one sentence for one that is not there."""
    for column in keep:
        if column not in table.columns:
            raise unknown_column(column, table.columns, name)
    return table[list(dict.fromkeys(keep))]


def check_numbers(sure: Sure, X: pd.DataFrame, name: str) -> None:
    """Say which texts stand where the model knows numbers: skrub would take them for gaps without a word."""
    kinds = getattr(first_step(sure.estimator_), "column_to_kind_", {})
    for column in X.columns[[kinds.get(column) == "numeric" for column in X.columns]]:
        if X[column].dtype.kind in "biuf":
            continue
        known = X[column].dropna()
        strange = known[pd.to_numeric(known, errors="coerce").isna()]
        if len(strange) and len(strange) == len(known):
            raise Mistake(
                f"Column {column!r} of {name} holds {str(strange.iloc[0])!r} where the model knows numbers."
            )
        if len(strange):
            remark(
                f"{plural(len(strange), 'value')} of {column!r}, such as {str(strange.iloc[0])!r}, "
                "taken for gaps: the model knows numbers there."
            )


def first_step(model: Any) -> Any:
    """What a pipeline does first."""
    return model[0] if isinstance(model, Pipeline) else model


def promise_or_remark(sure: Sure, max_risk: Risk, confidence: float) -> Promise:
    """Promise for the risk that was asked for, or for the automatic one; a remark if none can be made."""
    held_out = sure.held_out_
    promise = promise_for(held_out, max_risk, confidence)
    if not promise.kept:
        units = "row" if held_out.groups is None else "group"
        n_units = len(held_out) if held_out.groups is None else len(np.unique(held_out.groups))
        limits = held_out.unit.describe_limits(promise.max_risk, promise.class_risks)
        remark(
            f"No row is trusted: {plural(n_units, f'held-out {units}')} cannot promise {limits['short']} with a "
            f"confidence of {confidence:g}.{f' {promise.reason}' if promise.reason else ''}"
        )
    return promise


def judge_in_chunks(sure: Sure, X: pd.DataFrame, promise: Promise, jobs: int) -> pd.DataFrame:
    """Table of the judgement of each row, chunk by chunk."""
    parts = [X.iloc[start : start + CHUNK] for start in range(0, len(X), CHUNK)]
    shared = shared_model(sure, jobs)
    judged = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(judge_chunk)(shared, part, promise) for part in parts
    )
    shown = progress_bar(judged, total=len(parts), label="Judging")
    return pd.concat(list(shown), ignore_index=True)


def judge_chunk(shared: Any, part: pd.DataFrame, promise: Promise) -> pd.DataFrame:
    """Table of the judgement of a few rows."""
    return promise.apply(model_of(shared).judge(part)).to_frame()


def in_words(summary: dict[str, Any], unit: LossUnit) -> str:
    """How many rows can be trusted, and where all of them are."""
    limits = unit.describe_limits(summary["max_risk"], summary["class_risks"])["short"]
    return (
        f"{summary['n_accepted']:,} of {plural(summary['n_rows'], 'row')} can be trusted: {limits} "
        f"({summary['confidence']:.0%} confidence); {summary['n_novel']:,} are unlike any seen.\n"
        f"Every row: {summary['scores']}"
    )
