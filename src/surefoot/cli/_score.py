"""`surefoot score`: what a saved model predicts of each row, and how far to trust that."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot._words import plural
from surefoot.abstention import threshold_for_risk
from surefoot.cli._columns import without_infinities
from surefoot.cli._console import progress_bar, remark, working
from surefoot.cli._given_model import known_columns, load_file
from surefoot.cli._mistakes import Mistake, one_sentence_of, unknown_column
from surefoot.cli._output import check_output, write_output
from surefoot.cli._rows import check_confidence, check_risk
from surefoot.cli._tables import read_table, table_bytes

Sure = IndividualErrorClassifier | IndividualErrorRegressor

# Rows that are judged at a time, so that there is progress to see.
CHUNK = 10_000

# Shares of the error of the model that are tried as the risk to keep.
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9)


def run_score(
    model: Path,
    data: Path,
    out: Path,
    max_risk: float | None,
    confidence: float,
    keep: Sequence[str],
    as_json: bool,
) -> None:
    """Judge every row of a table, write that, and say how many can be trusted."""
    check_output(out, ".csv", ".parquet")
    check_confidence(confidence)
    with working(f"Reading {model} and {data}"):
        sure = load_sure(model)
        check_risk(max_risk, "classification" if is_classifier(sure) else "regression")
        table = read_table(data)
        kept = kept_columns(table, keep, data.name)
        X = without_infinities(known_columns(sure, table, data.name))
        check_numbers(sure, X, data.name)
    risk, limit = choose_limit(sure, max_risk, confidence)
    with one_sentence_of(f"{model} cannot judge the rows of {data.name}"):
        judged = judge(sure, X)
    judged["trust"] = judged["estimated_error"] <= limit
    rows = pd.DataFrame({"row": np.arange(len(X))})
    write_output(out, table_bytes(pd.concat([rows, kept, judged], axis=1), out.suffix))
    found = {
        "scores": str(out),
        "n_rows": len(judged),
        "n_trusted": int(judged["trust"].sum()),
        "n_novel": int(judged["novel"].sum()),
        "estimated_error": float(judged["estimated_error"].mean()),
        "max_risk": risk,
        "confidence": confidence,
        "limit": limit if np.isfinite(limit) else None,
    }
    print(json.dumps(found) if as_json else in_words(found, is_classifier(sure)))


def load_sure(path: Path) -> Sure:
    """A model that `surefoot fit` saved; one sentence for any other."""
    model = load_file(path)
    if not isinstance(model, (IndividualErrorClassifier, IndividualErrorRegressor)):
        raise Mistake(f"{path} holds a {type(model).__name__}, not what `surefoot fit` saves.")
    return model


def kept_columns(table: pd.DataFrame, keep: Sequence[str], name: str) -> pd.DataFrame:
    """Columns to be carried over; one sentence for one that is not there."""
    for column in keep:
        if column not in table.columns:
            raise unknown_column(column, table.columns, name)
    return table[list(keep)]


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


def choose_limit(sure: Sure, max_risk: float | None, confidence: float) -> tuple[float, float]:
    """The risk to keep, and the estimated error up to which rows are trusted to keep it.

    Without a risk, it is the least of some shares of the model's own that can be kept. The limit is −inf if none
    is known to keep it.
    """
    told = sure.held_out_
    mean = float(np.mean(told.errors))
    for risk in [share * mean for share in SHARES] if max_risk is None else [max_risk]:
        found = threshold_for_risk(-told.estimated_errors, told.errors, risk, confidence)
        if found.n_answered > 0:
            return risk, -found.score
    remark(
        f"No row is trusted: {plural(len(told.errors), 'row')} that were held out cannot promise a risk of {risk:.3g} "
        f"with a confidence of {confidence:g}."
    )
    return risk, -np.inf


def judge(sure: Sure, X: pd.DataFrame) -> pd.DataFrame:
    """What the model says of each row, and what is said of that, chunk by chunk."""
    parts = [X.iloc[start : start + CHUNK] for start in range(0, len(X), CHUNK)]
    shown = progress_bar(parts, total=len(parts), label="Judging")
    return pd.concat([judge_chunk(sure, part) for part in shown], ignore_index=True)


def judge_chunk(sure: Sure, X: pd.DataFrame) -> pd.DataFrame:
    """The same for a few rows."""
    columns: dict[str, NDArray[Any]] = {"prediction": sure.predict(X)}
    if hasattr(sure, "predict_proba"):
        chances = sure.predict_proba(X)
        columns["probability"] = chances.max(axis=1)
        for label, chance in zip(sure.classes_, chances.T, strict=True):
            columns[f"probability_{label}"] = chance
    if isinstance(sure, IndividualErrorRegressor):
        columns["low"], columns["high"] = sure.predict_interval(X, confidence=0.9).T
    columns["estimated_error"] = sure.predict_error(X)
    columns["shift"], columns["spread"] = sure.predict_stability(X).T
    columns["novel"] = sure.predict_novelty(X)
    return pd.DataFrame(columns)


def in_words(found: dict[str, Any], is_share: bool) -> str:
    """How many rows can be trusted, and where all of them are."""
    risk, n_rows = found["max_risk"], found["n_rows"]
    kept = f"at most {risk:.1%} wrong" if is_share else f"a mean error of at most {risk:.3g}"
    return (
        f"{found['n_trusted']:,} of {plural(n_rows, 'row')} can be trusted for {kept} "
        f"({found['confidence']:.0%} confidence); {found['n_novel']:,} are unlike any seen.\n"
        f"Every row: {found['scores']}"
    )
