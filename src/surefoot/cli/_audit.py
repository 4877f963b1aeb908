"""`surefoot audit`: rows whose labels show how wrong a model is, and the verdict when they are labelled."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from surefoot import _tables as tables
from surefoot._words import listed, plural
from surefoot.cli._console import (
    ALARM,
    Answers,
    Confidence,
    Json,
    Mistake,
    ModelFile,
    Overwrite,
    RandomState,
    Table,
    check_output,
    one_sentence_of,
    remark,
    working,
    write_output,
)

# Rows to label if no number is given.
N_LABELS = 100

# What an audit is drawn from besides the model and the table: labels, seed, tolerance; and a digest of everything.
CODE = re.compile(r"audit (\d{1,12}) (\d{1,12}) (none|\d+(?:\.\d+)?(?:e[-+]\d+)?) [0-9a-f]{16}")
DIGITS = 16


def audit(
    model: ModelFile,
    data: Table,
    labels: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help=f"Number of rows to draw for labelling. Default: {N_LABELS}.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the rows to label, .csv.")
    ] = None,
    overwrite: Overwrite = False,
    answers: Answers = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            metavar="SIZE",
            help="Regression: error above which a prediction counts as wrong. Default: the size that "
            "10 % of the errors exceeded at training.",
        ),
    ] = None,
    confidence: Confidence = 0.9,
    fail_above: Annotated[
        float | None,
        typer.Option(
            metavar="RISK",
            help="Share of wrong predictions (with costs: mean cost) that was promised: exit code 3 if the whole "
            "interval is above it.",
        ),
    ] = None,
    as_json: Json = False,
    random_state: RandomState = 0,
) -> None:
    """Measure the error of a model in use with a few labels: draw the rows to label, then compute an interval.

    The interval is valid whatever the model is and whatever has changed.
    """
    if not answers:
        draw(
            *(model, data, labels, out, tolerance, random_state, fail_above),
            overwrite=overwrite,
            as_json=as_json,
        )
        return
    if any(option is not None for option in (labels, out, tolerance)):
        raise Mistake(
            "--labels, --out and --tolerance draw an audit: leave them out where --answers are given."
        )
    if fail_above is not None and not isfinite(fail_above):
        raise Mistake(f"--fail-above {fail_above:g} must be a number.")
    result, _ = audit_result(model, data, answers, confidence)
    low, high = result.interval
    summary = {
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
    print(json.dumps(summary) if as_json else audit_in_words(result, summary, data))
    if summary["broken"]:
        raise typer.Exit(ALARM)


def draw(
    model: Path,
    data: Path,
    n_labels: int | None,
    out: Path | None,
    tolerance: float | None,
    random_state: int,
    fail_above: float | None,
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Draw rows of a table, and write them to a file where their labels are filled in."""
    if out is None:
        raise Mistake(
            "Pass --out with a file for the rows to label, or --answers with their labels."
        )
    if fail_above is not None:
        raise Mistake("--fail-above is for the verdict: pass it together with --answers.")
    check_output(out, [".csv"], [model, data], are_unanswered, overwrite=overwrite)
    n_labels = N_LABELS if n_labels is None else n_labels
    rows = audited_rows(model, data)
    drawn, code = drawn_from(rows, n_labels, tolerance, random_state)
    write_output(out, tables.table_bytes(rows_to_label(rows, drawn, code), ".csv"))
    n_different = len(set(drawn.rows.tolist()))
    summary = {
        "ask": str(out),
        "n_rows": drawn.n_rows,
        "n_labels": n_labels,
        "n_different": n_different,
        "tolerance": drawn.loss.tolerance,
    }
    twice = "" if n_different == n_labels else f", {n_different:,} different ones"
    words = (
        f"Drew {plural(n_labels, 'row')}{twice}: {out}\n"
        f"Fill in its column 'label', or run: surefoot label {out}\n"
        f"Then run: surefoot audit {model} {data} --answers {out}, or with the file that the page writes"
    )
    print(json.dumps(summary) if as_json else words)


def are_unanswered(lines: Iterator[list[str]]) -> bool:
    """Whether lines are rows to label, and none of them has an answer."""
    n_columns = len(tables.AUDIT_COLUMNS)
    is_audit = next(lines, [])[:n_columns] == [*tables.AUDIT_COLUMNS]
    return is_audit and not any(line[n_columns - 1] for line in lines)


class AuditedRows(NamedTuple):
    """Rows that are audited: the file of their model, their own, the whole table, and what the model takes of it."""

    model: Path
    data: Path
    error_estimator: Any
    table: Any
    X: Any

    def times(self, name: str | None) -> Any:
        """Times in a column of the table; None if none is named."""
        from pyarrow import array

        if name is None:
            return None
        if name not in self.table.columns:
            raise Mistake(f"{self.data} lacks {name!r}, which has the times.")
        try:
            return tables.column_times(array(self.table[name]), name, self.data)
        except tables.RowError as error:
            raise Mistake(str(error)) from None


def audited_rows(model: Path, data: Path, error_estimator: Any = None) -> AuditedRows:
    """Rows of a table and the model that judges them, which is loaded unless it is given."""
    with working("Starting"):
        from surefoot.cli._model import known_columns, load_error_estimator
        from surefoot.cli._rows import with_missing

    tables.check_fits(
        data, "audit a random sample of its rows, which is about as many rows as this machine holds"
    )
    with working(f"Reading {data}"):
        error_estimator = error_estimator or load_error_estimator(model)
        table = tables.read_table(data, remark, error_estimator.input_form_)
        X = with_missing(known_columns(error_estimator, table, tables.table_name(data)))
    return AuditedRows(model, data, error_estimator, table, X)


def drawn_from(
    rows: AuditedRows, n_labels: int, tolerance: float | None, random_state: int
) -> tuple[Any, str]:
    """Audit of rows, and its code; a `Mistake` if they cannot be judged.

    The code has a digest of the model file, of the rows that it judges, and of the draws.
    """
    from pandas.util import hash_pandas_object

    from surefoot.monitoring import audit as draw_audit

    name, X = tables.table_name(rows.data), rows.X
    with working("Judging"), one_sentence_of(f"{rows.model} cannot judge the rows of {name}"):
        drawn = draw_audit(
            rows.error_estimator, X, n_labels, tolerance=tolerance, random_state=random_state
        )
    digest = hashlib.sha256(rows.model.read_bytes())
    digest.update(json.dumps([list(X.columns), drawn.rows.tolist()]).encode())
    for name in X.columns:
        column = X[name].map(str) if X[name].dtype.kind == "O" else X[name]
        digest.update(hash_pandas_object(column, index=False).to_numpy().tobytes())
    size = "none" if drawn.loss.tolerance is None else repr(drawn.loss.tolerance)
    return drawn, f"audit {n_labels} {random_state} {size} {digest.hexdigest()[:DIGITS]}"


def rows_to_label(rows: AuditedRows, drawn: Any, code: str) -> Any:
    """One line a draw: what it belongs to, an empty cell for the answer, and the columns of the table to look at."""
    import pandas as pd

    from surefoot._models import unseen_columns

    n_draws, classes = len(drawn.rows), drawn.loss.classes
    answers = None if classes is None else json.dumps([str(label) for label in classes])
    own = {
        "draw": range(n_draws),
        "row": drawn.rows,
        "audit": code,
        "answers": [answers, *[None] * (n_draws - 1)],
        "label": None,
    }
    unseen = unseen_columns(rows.error_estimator.estimator, rows.table)
    shown = rows.table.drop(columns=unseen).iloc[drawn.rows].reset_index(drop=True)
    shown.columns = [
        f"{name} (input)" if name in tables.AUDIT_COLUMNS else name for name in shown.columns
    ]
    return pd.concat([pd.DataFrame(own), shown], axis=1)


def audit_result(
    model: Path, data: Path, paths: Sequence[Path], confidence: float, error_estimator: Any = None
) -> tuple[Any, AuditedRows]:
    """Result of an audit from its answers, and the rows; a `Mistake` if they belong to another audit."""
    name = " and ".join(tables.table_name(path) for path in paths)
    code, labels = read_answers(paths, name)
    if (drawn_with := CODE.fullmatch(code)) is None:
        raise Mistake(
            f"Column 'audit' of {name} holds {code!r}, which surefoot audit has not written."
        )
    rows = audited_rows(model, data, error_estimator)
    n_labels, random_state, tolerance = drawn_with.groups()
    size = None if tolerance == "none" else float(tolerance)
    drawn, redrawn = drawn_from(rows, int(n_labels), size, int(random_state))
    if redrawn != code:
        raise Mistake(
            f"{name} belongs to another audit: it was not drawn from {tables.table_name(data)} by {model.name}."
        )
    strange_rows = sorted(set(labels) - set(drawn.rows.tolist()))
    if strange_rows:
        raise Mistake(f"{name} has an answer to row {strange_rows[0]}, which was not drawn.")
    classes = drawn.loss.classes
    known = None if classes is None else {str(label): label for label in classes}
    targets = {row: as_target(label, known, name) for row, label in labels.items()}
    answers = [targets.get(row) for row in drawn.rows.tolist()]
    return drawn.result(answers, confidence), rows


def read_answers(paths: Sequence[Path], name: str) -> tuple[str, dict[int, Any]]:
    """Code of the audit, and the answer to each row that has one, from one or more files.

    A `Mistake` if they contradict each other or belong to different audits.
    """
    from surefoot.cli._rows import answered_lines

    labels: dict[int, Any] = {}
    codes: set[str] = set()
    for path in paths:
        lines = answered_lines(path, ["row", "label", "audit"], "surefoot audit or surefoot label")
        codes.update(tables.audit_codes(lines, tables.table_name(path)))
        lines = lines[lines["label"].notna()]
        for row, label in zip(lines["row"].tolist(), lines["label"].tolist(), strict=True):
            if labels.setdefault(row, label) != label:
                raise Mistake(f"{tables.table_name(path)} has two different answers to row {row}.")
    if len(codes) != 1:
        raise Mistake(f"{name} must hold the answers to one audit, not to {len(codes)}.")
    if not labels:
        raise Mistake(f"{name} has no answers: fill in the column 'label'.")
    return codes.pop(), labels


def as_target(label: Any, classes: dict[str, Any] | None, name: str) -> Any:
    """Answer as the model knows it: one of its classes, or a number."""
    from surefoot._models import class_text

    if classes is not None:
        for text in (class_text(label), str(label).strip()):
            if text in classes:
                return classes[text]
        raise Mistake(
            f"{name} has the label {label!r}, but the model knows only {listed(classes)}: leave the cell empty if none "
            "of these is true."
        )
    try:
        return float(label)
    except (TypeError, ValueError):
        raise Mistake(f"{name} has the label {label!r}, which is not a number.") from None


def audit_in_words(result: Any, summary: dict[str, Any], data: Path) -> str:
    """Verdict: how wrong the model is, how certain that is, and whether a promise is kept."""
    loss = result.audit.loss
    share, missed = (f"{100 * level:.3g}%" for level in (result.confidence, 1 - result.confidence))
    shown = "{:.1%}" if loss.is_share else "{:.3g}"
    estimate, low, high, before = (
        shown.format(summary[key]) for key in ("estimate", "low", "high", "when_fitted")
    )
    what = "wrong" if loss.tolerance is None else f"off by more than {loss.tolerance:g}"
    rows = f"the {plural(summary['n_rows'], 'row')} of {tables.table_name(data)}"
    start = (
        f"About {estimate} of the predictions for {rows} are {what}"
        if loss.is_share
        else f"The mean cost of the predictions for {rows} is about {estimate}"
    )
    lines = [
        f"{start} ({low} to {high}, {share} confidence); {before} when the model was fitted.",
        f"At most {missed} of such audits miss the true value, for any model and any change.",
    ]
    if (n_open := summary["n_labels"] - summary["n_answered"]) > 0:
        lines.append(
            f"{n_open:,} of {plural(summary['n_labels'], 'draw')} have no answer: each counts as the worst case."
        )
    if summary["fail_above"] is None:
        return "\n".join(lines)
    promise, rate = (
        f"The promise of at most {shown.format(summary['fail_above'])}",
        f"{result.false_alarm_rate:.2g}",
    )
    if summary["broken"]:
        lines.append(f"{promise} is broken; the probability of a false alarm is at most {rate}.")
    elif summary["kept"]:
        lines.append(f"{promise} is kept; the probability that this is wrong is at most {rate}.")
    else:
        lines.append(
            f"These labels do not decide whether the promise of at most {shown.format(summary['fail_above'])} is kept: "
            "more of them may."
        )
    return "\n".join(lines)
