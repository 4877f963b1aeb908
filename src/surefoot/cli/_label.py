"""`surefoot label`: a local page on which people label the rows that help most."""

from pathlib import Path
from typing import Any, NamedTuple

from surefoot._optional import needed_for
from surefoot._table_files import is_audit_file
from surefoot._words import listed
from surefoot.cli._columns import leave_out_useless
from surefoot.cli._console import remark, working
from surefoot.cli._mistakes import Mistake, unknown_column
from surefoot.cli._output import check_output, check_outputs, not_written
from surefoot.cli._signals import uninterrupted
from surefoot.cli._tables import STDIN, read_table, table_name

REMOTE = (
    "Other machines can reach this page, and whoever has the address can read the table and answer. The connection is "
    "not encrypted: use it only in a network that you trust."
)


LOCAL = ("127.0.0.1", "localhost", "::1")


class Place(NamedTuple):
    """Where the page is served."""

    host: str
    port: int
    allow_remote: bool
    lease_seconds: float


class Answers(NamedTuple):
    """Where answers are kept: a CSV file, and a database."""

    out: Path
    db: Path | None


def run_label(
    data: Path,
    target: str | None,
    classes: str | None,
    *,
    allow_new_classes: bool,
    strategy: str | None,
    model: Path | None,
    answers: Answers,
    place: Place,
) -> None:
    """Serve the page until the command is stopped, then write the answers."""
    db = answers.db or answers.out.parent / f"{'pool' if data == STDIN else data.stem}.labels.db"
    check_output(answers.out, ".csv")
    check_output(db)
    check_outputs([answers.out, db], [data, model])
    check_settings(place)
    if place.host not in LOCAL:
        remark(REMOTE)
    with working(f"Reading {table_name(data)}"), needed_for("surefoot label", "label"):
        from surefoot.labeling import serve  # noqa: PLC0415 - only this command needs it

        table = read_table(data)
        name = table_name(data)
        target = target or target_of_audit(table, name)
        if (
            target not in table.columns
            and classes is None
            and model is None
            and not allow_new_classes
        ):
            raise unknown_column(target, table.columns, name)
        settings = settings_of_audit(table, model) or learning(table, target, model, name)
    try:
        page = serve(
            table,
            target,
            classes=None if classes is None else class_names(classes),
            allow_new_classes=allow_new_classes,
            strategy=strategy,
            out=answers.out,
            db=db,
            name=name,
            **settings,
            **place._asdict(),
        )
    except (TypeError, ValueError) as error:
        raise Mistake(str(error)) from error
    try:
        print(page.url, flush=True)
        remark(f"Open this address in a browser. Ctrl-C stops the page and writes {answers.out}.")
        page.wait()
    finally:
        stop(page, answers.out)


def target_of_audit(table: Any, name: str) -> str:
    """Column of the answers of a file of `surefoot audit`; a `Mistake` for any other table."""
    if is_audit_file(table.columns):
        return "label"
    raise Mistake(
        f"Pass --target with the column of the labels: {name} has {listed(table.columns)}."
    )


def settings_of_audit(table: Any, model: Path | None) -> dict[str, Any]:
    """Settings of the page for a file of `surefoot audit`, from which nothing is learned; none for any other table."""
    if not is_audit_file(table.columns):
        return {}
    if model is not None:
        raise Mistake(
            "The rows of an audit are asked about in the order of their draws: leave out --model."
        )
    return {"estimator": None}


def learning(table: Any, target: str, model: Path | None, name: str) -> dict[str, Any]:
    """Model and columns to learn from, as settings of the page."""
    if target in table.columns and table[target].dtype.kind in "iuf":
        n_values = table[target].nunique()
        if n_values > 100:
            raise Mistake(
                f"Column {target!r} holds {n_values:,} different numbers: people can be asked for classes only."
            )
    X = table.drop(columns=target, errors="ignore")
    if model is None:
        return {"inputs": list(leave_out_useless(X).columns)}
    from surefoot.cli._given_model import known_columns  # noqa: PLC0415 - without a model the page starts sooner
    from surefoot.cli._score import load_sure  # noqa: PLC0415

    sure = load_sure(model)
    if not hasattr(sure, "classes_"):
        raise Mistake(f"{model} predicts numbers: people can be asked for classes only.")
    return {"estimator": sure, "inputs": list(known_columns(sure, X, name).columns)}


def class_names(text: str) -> list[str]:
    """Classes of a list with commas, such as "a,b,c"; a `Mistake` if two are the same or one is empty."""
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise Mistake(
            f"--classes {text} has an empty name: pass names with commas between them, such as a,b,c."
        )
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise Mistake(f"--classes names {listed(twice)} more than once.")
    return names


def check_settings(place: Place) -> None:
    """Raise a `Mistake` for an address or a time that cannot be used."""
    if not place.allow_remote and place.host not in LOCAL:
        raise Mistake(
            f"--host {place.host} may let other machines reach the page, over a connection that is not encrypted: pass "
            "--allow-remote if that is meant."
        )
    if not 1 <= place.lease_seconds < float("inf"):
        raise Mistake(f"--lease {place.lease_seconds:g} must be a number of seconds, at least 1.")


def stop(page: Any, out: Path) -> None:
    """Stop the page; a `Mistake` if the answers could not be written, which are in the database all the same."""
    try:
        with uninterrupted():
            page.stop()
    except OSError as error:
        raise not_written(out, error) from error
    except ValueError as error:
        raise Mistake(str(error)) from error
