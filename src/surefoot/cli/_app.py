"""The commands, each a few lines over the public API, which is imported when a command runs."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer

import surefoot
from surefoot.cli._demo import run_demo

T = TypeVar("T")

app = typer.Typer(
    help="Know where your model stands: how far each single prediction can be trusted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Out = Annotated[Path, typer.Option(help="Folder to write tables and figures to.")]


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
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


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="The experiment; --list names them.")] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Name the experiments.")] = False,
    all_of_them: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
    quick: Annotated[bool, typer.Option(help="Few runs, to see that it works.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes to use; -1 is one a core.")] = -1,
    out: Out = Path("surefoot-results"),
) -> None:
    """Reproduce a table or figure of the papers, beside the printed figures."""
    from joblib import parallel_config  # noqa: PLC0415 - keeps --help fast

    from surefoot.experiments import EXPERIMENTS, run_experiment  # noqa: PLC0415

    if list_them:
        for known, about in EXPERIMENTS.items():
            print(f"{known:<20}{about}")
        return
    if name is not None and name not in EXPERIMENTS:
        fail(f"There is no experiment {name!r}: it may be {', '.join(EXPERIMENTS)}.")
    if name is None and not all_of_them:
        fail("Name an experiment, or pass --list to see them or --all to run them all.")
    if jobs == 0:
        fail("--jobs 0 leaves nobody to work: it may be -1 or a number of processes.")
    for chosen in EXPERIMENTS if all_of_them else [name]:
        with parallel_config(n_jobs=jobs), one_sentence():
            print(run_experiment(str(chosen), out, quick=quick, progress=progress_bar))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Table to write.")] = Path("surefoot-demo.csv"),
) -> None:
    """Judge every prediction of a model on data that comes with scikit-learn."""
    with one_sentence():
        print(run_demo(out))


def progress_bar(items: Iterable[T], *, total: int, label: str) -> Iterable[T]:
    """Show a bar on a terminal; stay quiet in a pipe."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import track  # noqa: PLC0415

    console = Console(stderr=True)
    yield from track(
        items, description=label, total=total, console=console, disable=not console.is_terminal
    )


@contextmanager
def one_sentence() -> Iterator[None]:
    """Say in one sentence what the file system refuses; anything else is a defect, with its traceback."""
    try:
        yield
    except OSError as error:
        fail(str(error))


def fail(sentence: str) -> None:
    """Say what is wrong in one sentence and leave with exit code 2."""
    print(sentence, file=sys.stderr)
    raise typer.Exit(2)
