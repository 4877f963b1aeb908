"""`surefoot audit`: rows whose labels tell how wrong a model is, and the verdict when they are labelled."""

import json
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from surefoot._sure import Sure
from surefoot._words import plural
from surefoot.cli._audit_file import (
    Code,
    digest_of,
    read_answers,
    rows_to_label,
    targets_of,
)
from surefoot.cli._columns import without_infinities
from surefoot.cli._console import working
from surefoot.cli._given_model import known_columns
from surefoot.cli._memory import check_fits
from surefoot.cli._mistakes import Mistake, one_sentence_of
from surefoot.cli._output import check_output, check_outputs, write_output
from surefoot.cli._roles import check_confidence
from surefoot.cli._score import check_numbers, load_sure
from surefoot.cli._tables import read_table, table_bytes, table_name
from surefoot.monitoring import Audit, AuditResult
from surefoot.monitoring import audit as draw_audit

# Rows to label if no number is given.
N_LABELS = 100

# Exit code for a promise that is broken, for programs that watch it.
BROKEN = 3


def run_draw(
    model: Path,
    data: Path,
    n_labels: int | None,
    out: Path | None,
    tolerance: float | None,
    random_state: int,
    as_json: bool,
    fail_above: float | None = None,
) -> None:
    """Draw rows of a table, and write them to a file where their labels are filled in."""
    if out is None:
        raise Mistake(
            "Pass --out with a file for the rows to label, or --answers with their labels."
        )
    if fail_above is not None:
        raise Mistake("--fail-above is for the verdict: pass it together with --answers.")
    check_output(out, ".csv")
    check_outputs([out], [model, data])
    if out.exists():
        raise Mistake(f"{out} is there already, perhaps with answers: name another file.")
    sure, table, X = read_both(model, data)
    n_labels = N_LABELS if n_labels is None else n_labels
    drawn = drawn_rows(sure, X, n_labels, tolerance, random_state, model, data)
    digest = digest_of(model, X, drawn)
    code = Code(n_labels, random_state, drawn.loss.tolerance, digest)
    write_output(out, table_bytes(rows_to_label(table, drawn, code), ".csv"))
    summary = {
        "ask": str(out),
        "n_rows": drawn.n_rows,
        "n_labels": n_labels,
        "n_different": len(set(drawn.rows.tolist())),
        "tolerance": drawn.loss.tolerance,
    }
    print(json.dumps(summary) if as_json else what_to_do(summary, model, data))


def run_answers(
    model: Path,
    data: Path,
    paths: Sequence[Path],
    confidence: float,
    fail_above: float | None,
    as_json: bool,
    drawing: tuple[Any, ...] = (),
) -> None:
    """Say how wrong the model is on a table, from the answers to an audit of it."""
    if any(option is not None for option in drawing):
        raise Mistake(
            "--labels, --out and --tolerance draw an audit: leave them out where --answers are given."
        )
    check_confidence(confidence)
    if fail_above is not None and not isfinite(fail_above):
        raise Mistake(f"--fail-above {fail_above:g} must be a number.")
    result = audit_result(model, data, paths, confidence)
    summary = figures_of(result, fail_above)
    print(json.dumps(summary) if as_json else in_words(result, summary, table_name(data)))
    if summary["broken"]:
        raise typer.Exit(BROKEN)


def audit_result(model: Path, data: Path, paths: Sequence[Path], confidence: float) -> AuditResult:
    """What the answers to an audit of a table tell; a `Mistake` if they belong to another audit."""
    answers = read_answers(paths)
    sure, _, X = read_both(model, data)
    code = answers.code
    drawn = drawn_rows(sure, X, code.n_labels, code.tolerance, code.random_state, model, data)
    if digest_of(model, X, drawn) != code.digest:
        raise Mistake(
            f"{answers.name} belongs to another audit: it was not drawn from {table_name(data)} by {model.name}."
        )
    return drawn.result(targets_of(answers, drawn), confidence)


def read_both(model: Path, data: Path) -> tuple[Sure, pd.DataFrame, pd.DataFrame]:
    """Model, table, and the columns of the table that the model knows."""
    check_fits(
        data, "audit a random sample of its rows, which is about as many rows as this machine holds"
    )
    with working(f"Reading {data}"):
        sure, table = load_sure(model), read_table(data)
        X = without_infinities(known_columns(sure, table, table_name(data)))
        check_numbers(sure, X, table_name(data))
    return sure, table, X


def drawn_rows(
    sure: Sure,
    X: pd.DataFrame,
    n_labels: int,
    tolerance: float | None,
    random_state: int,
    model: Path,
    data: Path,
) -> Audit:
    """Audit of a table; a `Mistake` if its rows cannot be judged."""
    with (
        working("Judging"),
        one_sentence_of(f"{model} cannot judge the rows of {table_name(data)}"),
    ):
        return draw_audit(sure, X, n_labels, tolerance=tolerance, random_state=random_state)


def figures_of(result: AuditResult, fail_above: float | None) -> dict[str, Any]:
    """Figures of the verdict."""
    low, high = result.interval
    return {
        "n_rows": result.audit.n_rows,
        "n_labels": len(result.audit.rows),
        "n_answered": result.n_answered,
        "estimate": result.estimate,
        "low": low,
        "high": high,
        "confidence": result.confidence,
        "when_fitted": result.audit.loss.when_fitted,
        "tolerance": result.audit.loss.tolerance,
        "fail_above": fail_above,
        "broken": fail_above is not None and result.is_broken(fail_above),
        "kept": fail_above is not None and result.is_kept(fail_above),
        "false_alarm_rate": result.false_alarm_rate,
    }


def what_to_do(summary: dict[str, Any], model: Path, data: Path) -> str:
    """What a person does with the rows that were drawn."""
    ask, n_labels, n_different = (summary[name] for name in ("ask", "n_labels", "n_different"))
    twice = "" if n_different == n_labels else f", {n_different:,} different ones"
    return (
        f"Drew {plural(n_labels, 'row')}{twice}: {ask}\n"
        f"Fill in its column 'label', or run: surefoot label {ask}\n"
        f"Then run: surefoot audit {model} {data} --answers {ask}, or with the file that the page writes"
    )


def in_words(result: AuditResult, summary: dict[str, Any], name: str) -> str:
    """Verdict: how wrong the model is, how sure that is, and whether a promise is kept."""
    loss = result.audit.loss
    sure, missed = (f"{100 * share:.3g}%" for share in (result.confidence, 1 - result.confidence))
    shown = "{:.1%}" if loss.is_share else "{:.3g}"
    estimate, low, high, before = (
        shown.format(summary[key]) for key in ("estimate", "low", "high", "when_fitted")
    )
    what = "wrong" if loss.tolerance is None else f"off by more than {loss.tolerance:g}"
    rows = f"the {plural(summary['n_rows'], 'row')} of {name}"
    start = (
        f"About {estimate} of the predictions for {rows} are {what}"
        if loss.is_share
        else f"The mean cost of the predictions for {rows} is about {estimate}"
    )
    lines = [
        f"{start} ({low} to {high}, {sure} confidence); {before} when the model was fitted.",
        f"At most {missed} of such audits miss the truth, whatever the model is and whatever changed.",
    ]
    if (n_open := summary["n_labels"] - summary["n_answered"]) > 0:
        lines.append(
            f"{n_open:,} of {plural(summary['n_labels'], 'draw')} have no answer: each counts as the worst case."
        )
    if summary["fail_above"] is not None:
        lines.append(about_promise(summary, shown.format(summary["fail_above"])))
    return "\n".join(lines)


def about_promise(summary: dict[str, Any], limit: str) -> str:
    """Whether a promise is broken, with the rate of false alarms."""
    rate = f"{summary['false_alarm_rate']:.2g}"
    if summary["broken"]:
        return f"The promise of at most {limit} is broken; the probability of a false alarm is at most {rate}."
    if summary["kept"]:
        return f"The promise of at most {limit} is kept; the probability that this is wrong is at most {rate}."
    return f"Whether the promise of at most {limit} is kept is open: more labels may tell."
