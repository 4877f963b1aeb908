"""The command `surefoot`: its subcommands, and the exit code of each run."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

import surefoot
from surefoot._files import FileError
from surefoot.cli._audit import audit
from surefoot.cli._console import Mistake, checked_output, plain_warnings, remark, stoppable
from surefoot.cli._fit import fit
from surefoot.cli._label import label
from surefoot.cli._report import report
from surefoot.cli._score import score
from surefoot.cli._watch import watch

app = typer.Typer(
    help="Know where your model stands: how far each single prediction can be trusted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (report, fit, score, label, audit, watch):
    app.command()(command)


def run(arguments: list[str] | None = None) -> Any:
    """Run a command; exit code for a user's mistake, which is printed as one sentence."""
    # skrub makes a folder for data sets when it is imported, in the home that a service may not have. No command
    # uses it: one that already exists serves as well.
    os.environ.setdefault("SKB_DATA_DIRECTORY", str(Path(__file__).parent))
    try:
        with stoppable(), plain_warnings(), checked_output():
            return app(arguments, standalone_mode=False)
    except typer.TyperException as error:
        remark(error.format_message())
        return error.exit_code
    except FileError as error:
        remark(str(error))
    except MemoryError as error:
        remark(f"There is not enough memory for this table{f': {error}' if str(error) else ''}.")
    return Mistake.exit_code


def show_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        print(surefoot.__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True),
    ] = False,
) -> None:
    """Know where your model stands: how far each single prediction can be trusted."""
