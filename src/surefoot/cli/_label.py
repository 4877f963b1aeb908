"""`surefoot label`: a local page on which people label the rows that help most."""

from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot import _tables as tables
from surefoot._optional import needed_for
from surefoot._words import listed
from surefoot.cli._console import (
    Mistake,
    Table,
    check_output,
    mistakes_of_writing,
    remark,
    uninterrupted,
    unknown_column,
    working,
)

REMOTE = (
    "Other machines can reach this page, and whoever has the address can read the table and answer. The connection is "
    "not encrypted: use it only in a network that you trust."
)
LOCAL = ("127.0.0.1", "localhost", "::1")

# More different numbers are no classes that a person can choose from.
MOST_NUMBERS = 100


def label(
    data: Table,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COLUMN",
            help="The column of the labels; a file of surefoot audit needs none.",
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Classes to choose from. Default: those in COLUMN."),
    ] = None,
    allow_new_classes: Annotated[
        bool, typer.Option("--allow-new-classes", help="Let people add classes on the page.")
    ] = False,
    strategy: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What to ask first; see surefoot.active_learning.query."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Model of surefoot fit: rows that it would not answer come first."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the labels, .csv.")] = Path(
        "labels.csv"
    ),
    db: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Database that keeps every answer. Default: DATA.labels.db."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 0,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines reach the page.")
    ] = False,
    lease: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Time after which an unanswered row may go to somebody else."
        ),
    ] = 300.0,
) -> None:
    """Serve a page on this machine that asks people for the labels that help most.

    No answer is lost: the same command resumes.
    """
    db = db or out.parent / f"{'pool' if data == tables.STDIN else data.stem}.labels.db"
    # The page knows by its database which lines of labels are its own.
    check_output(out, [".csv"], [data, model], overwrite=True)
    check_output(db, [], [data, model, out], overwrite=True)
    check_settings(host, lease, allow_remote=allow_remote)
    if host not in LOCAL:
        remark(REMOTE)
    name = tables.table_name(data)
    with working(f"Reading {name}"), needed_for("surefoot label", "label"):
        from surefoot.labeling import serve

        error_estimator = None if model is None else classifier_of(model)
        form = None if error_estimator is None else error_estimator.input_form_
        table = tables.read_table(data, remark, form)
        is_audit = tables.is_audit_file(table.columns)
        target = target or ("label" if is_audit else None)
        if target is None:
            raise Mistake(
                f"Pass --target with the column of the labels: {name} has {listed(table.columns)}."
            )
        has_classes = classes is not None or model is not None or allow_new_classes
        if target not in table.columns and not has_classes:
            raise unknown_column(target, table.columns, name)
        if is_audit and model is not None:
            raise Mistake(
                "The rows of an audit are asked about in the order of their draws: leave out --model."
            )
        settings = (
            {"estimator": None} if is_audit else learning(table, target, error_estimator, name)
        )
    try:
        page = serve(
            table,
            target,
            classes=None if classes is None else class_names(classes),
            allow_new_classes=allow_new_classes,
            strategy=strategy,
            out=out,
            db=db,
            name=name,
            host=host,
            port=port,
            allow_remote=allow_remote,
            lease_seconds=lease,
            **settings,
        )
    except (TypeError, ValueError) as error:
        raise Mistake(str(error)) from error
    try:
        print(page.url, flush=True)
        remark(f"Open this address in a browser. Ctrl-C stops the page and writes {out}.")
        page.wait()
    finally:
        stop(page, out)


def check_settings(host: str, lease: float, *, allow_remote: bool) -> None:
    """Raise a `Mistake` for an address or a time that cannot be used."""
    if not allow_remote and host not in LOCAL:
        raise Mistake(
            f"--host {host} may let other machines reach the page, over a connection that is not encrypted: pass "
            "--allow-remote if that is meant."
        )
    if not 1 <= lease < float("inf"):
        raise Mistake(f"--lease {lease:g} must be a number of seconds, at least 1.")


def learning(table: Any, target: str, error_estimator: Any, name: str) -> dict[str, Any]:
    """Model and columns to learn from, as settings of the page."""
    from surefoot.cli._rows import leave_out_useless

    if target in table.columns and table[target].dtype.kind in "iuf":
        n_values = table[target].nunique()
        if n_values > MOST_NUMBERS:
            raise Mistake(
                f"Column {target!r} holds {n_values:,} different numbers: people can be asked for classes only."
            )
    X = table.drop(columns=target, errors="ignore")
    if error_estimator is None:
        return {"inputs": list(leave_out_useless(X).columns)}
    from surefoot.cli._model import known_columns

    inputs = list(known_columns(error_estimator, X, name).columns)
    return {"estimator": error_estimator, "inputs": inputs}


def classifier_of(model: Path) -> Any:
    """Error estimator of a file; a `Mistake` if it predicts numbers."""
    from surefoot.cli._model import load_error_estimator  # without a model the page starts sooner

    error_estimator = load_error_estimator(model)
    if not hasattr(error_estimator, "classes_"):
        raise Mistake(f"{model} predicts numbers: people can be asked for classes only.")
    return error_estimator


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


def stop(page: Any, out: Path) -> None:
    """Stop the page; a `Mistake` if the answers could not be written, which are in the database all the same."""
    try:
        with uninterrupted(), mistakes_of_writing(out):
            page.stop()
    except ValueError as error:
        raise Mistake(str(error)) from error
