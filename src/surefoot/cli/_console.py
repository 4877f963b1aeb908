"""What every command shares with its terminal: options, mistakes, messages, signals, exit codes, output files."""

import csv
import os
import shlex
import signal
import sys
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from traceback import walk_tb
from typing import Annotated, Any, Literal
from zipfile import BadZipFile, ZipFile

import typer

from surefoot import _tables as tables
from surefoot._files import FileError, check_not_read, linked_path, write_whole
from surefoot._words import listed, reason

# Exit code where an error is above the limit that was given, for programs that watch it.
ALARM = 3

# Handlers that nobody has replaced: whoever ignores a signal, such as a shell in the background, goes on to do so.
USUAL: dict[signal.Signals, Any] = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
}

# Folders of the system whose entries are no files, even where a link makes them look like one.
DEVICES = ("/dev/", "/proc/", "/sys/")
SHARED_MEMORY = "/dev/shm/"  # noqa: S108 - a folder as any other

# Links after which a path is thought to lead in a circle.
MOST_LINKS = 40

# Written in front of the name of a file until it is whole.
BESIDE = ".abcdefgh."

# What a page of surefoot, or the description in a model file, has among its first bytes.
MARKS = (b'name="generator" content="surefoot"', b'"__module__": "surefoot.model_files"')
LONGEST_HEAD = 4096

# Standard input as a path that leads to the file behind it, if there is one.
STDIN_FILE = Path("/dev/stdin")

# Whether a command writes a CSV file with these lines.
AreOwn = Callable[[Iterator[list[str]]], bool]

# Errors of files that are damaged.
BROKEN = (BadZipFile, EOFError, csv.Error, zlib.error)


class Mistake(typer.TyperException):
    """Error that the user can correct: one sentence on stderr, and exit code 2."""

    exit_code = 2


def unknown_column(name: str, columns: Iterable[str], where: str) -> Mistake:
    """Mistake for a column that does not exist, with the most similar name, else all names."""
    known = {column.casefold(): column for column in columns}
    close = get_close_matches(name.casefold(), known, n=1)
    hint = f"is it {known[close[0]]!r}?" if close else f"there are {listed(known.values())}."
    return Mistake(f"{where} has no column {name!r}: {hint}")


@contextmanager
def one_sentence_of(what: str) -> Iterator[None]:
    """Turn an error of a model into a `Mistake`: `what`, and the first line of its message; others stay.

    An error that a line of surefoot itself raises is a fault of surefoot, unless it is of a kind that says what is
    wrong with the input.
    """
    try:
        yield
    except (Mistake, FileError):
        raise
    except Exception as error:
        *_, (frame, _) = walk_tb(error.__traceback__)
        is_ours = str(frame.f_globals.get("__name__")).startswith("surefoot.")
        if is_ours and not isinstance(error, (MemoryError, TypeError, ValueError)):
            raise
        words = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Mistake(f"{what}: {words.rstrip('.')}.") from error


def as_typed(context: typer.Context) -> str:
    """Command line with the options that the user passed, to repeat the command."""
    words = ["surefoot", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if value is None or value == parameter.default:
            continue
        flag = [parameter.opts[0]] if parameter.opts[0].startswith("-") else []
        for each in value if isinstance(value, (list, tuple)) else [value]:
            words += flag if each is True else [*flag, str(each)]
    return shlex.join(words)


def remark(sentence: str) -> None:
    """Print a sentence for the user on stderr, apart from the results."""
    with suppress(OSError):  # it is full: there is no other place to say so
        print(sentence, file=sys.stderr)


class Output:
    """Standard output whose errors become a `Mistake`: typer ends in silence where the reader of a pipe is gone."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> Any:
        """Write a text."""
        return self._done("write", text)

    def flush(self) -> None:
        """Write what is left."""
        self._done("flush")

    def _done(self, method: str, *values: str) -> Any:
        try:
            return getattr(self.stream, method)(*values)
        except OSError as error:
            # Python writes what is left once more when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
            raise Mistake(f"Standard output cannot be written: {reason(error)}.") from error


@contextmanager
def checked_output() -> Iterator[None]:
    """Let everything that the block prints be written, or raise a `Mistake`; streams that are closed lead nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - until the end
    stream, sys.stdout = sys.stdout, Output(sys.stdout)
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout = stream


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print warnings as plain sentences; leave out those that folds repeat: unknown categories, columns by position."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        warnings.filterwarnings("ignore", "X has feature names, but", UserWarning)
        warnings.showwarning = lambda message, *_, **__: remark(str(message))
        yield


@contextmanager
def working(sentence: str) -> Iterator[None]:
    """Show a sentence with a spinner on a terminal while the block runs; nothing in a pipe."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(sentence):
        yield


@contextmanager
def stoppable() -> Iterator[None]:
    """Leave by an exception on SIGTERM and on Ctrl-C, with exit code 143 or 130: what is open is closed.

    By default a process that gets SIGTERM vanishes at once, and its worker processes work on.
    """

    def leave(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    usual = {each: handler for each, handler in USUAL.items() if signal.getsignal(each) is handler}
    try:
        with handled(dict.fromkeys(usual, leave)):
            yield
    except SystemExit:  # whoever asks again does not want to wait: the usual handlers are back
        end_workers()
        raise


@contextmanager
def handled(handlers: dict[signal.Signals, Any]) -> Iterator[None]:
    """Handle signals during a block; only the main thread gets any, and other threads change nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def uninterrupted() -> Any:
    """Context in which a block that ends soon, such as the writing of a file, ends whatever signal comes."""
    return handled(dict.fromkeys(USUAL, signal.SIG_IGN))


def end_workers(seconds: float = 10.0) -> None:
    """Kill the worker processes of joblib, if it has any, and those that it was just starting.

    The threads that looked after them unlink semaphores as they end: a process that leaves before them has told
    joblib's tracker of a semaphore that is gone, and the tracker then warns of a leak.
    """
    executors = sys.modules.get("joblib.externals.loky.reusable_executor")
    if executors is None:
        return
    from multiprocessing import active_children

    executor = executors._executor  # noqa: SLF001 - get_reusable_executor() would start another
    if executor is not None:
        executor.shutdown(wait=True, kill_workers=True)
    for number in [process.pid for process in active_children()]:
        if number is not None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(number, signal.SIGKILL)  # joblib's processes have no kill()
    end = time.monotonic() + seconds
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(max(0.0, end - time.monotonic()))


def check_output(
    path: Path | None,
    suffixes: Sequence[str],
    inputs: Iterable[Path | None],
    are_own: AreOwn = lambda _: False,
    *,
    overwrite: bool,
) -> None:
    """Raise one sentence if a file cannot be written, has an unknown suffix, or would replace what is of value.

    That is an input, by whatever name; and without `overwrite` any file that the command does not write: see `is_own`.
    """
    if path is None:
        return
    try:
        check_no_device(path)
        place = linked_path(path)
        if place.is_dir():
            raise Mistake(f"{path} is a folder: name a file to write.")
        if place.exists() and not place.is_file():
            raise Mistake(f"{path} is not a regular file and cannot be replaced.")
        if not place.parent.is_dir():
            raise Mistake(f"There is no folder {path.parent} to write {path.name} to.")
        if not os.access(place.parent, os.W_OK):
            raise Mistake(f"You have no permission to write to the folder {path.parent}.")
        longest = os.pathconf(place.parent, "PC_NAME_MAX") - len(BESIDE)
        if len(os.fsencode(place.name)) > longest:
            raise Mistake(f"The name of {path.name[:40]}… is too long for a file.")
    except OSError as error:
        raise Mistake(f"{path} cannot be written: {reason(error)}.") from error
    if suffixes and path.suffix not in suffixes:
        raise Mistake(f"{path} must end in {' or '.join(suffixes)}.")
    check_not_read(
        path, [STDIN_FILE if other == tables.STDIN else other for other in inputs if other]
    )
    if not overwrite:
        check_own(path, are_own)


def check_no_device(path: Path) -> None:
    """Raise a `Mistake` if a path, or anything that it links to, lies among the system's devices."""
    place = path
    problem = "links to itself"
    for _ in range(MOST_LINKS):
        place = linked_path(place.parent) / place.name
        if str(place).startswith(DEVICES) and not str(place).startswith(SHARED_MEMORY):
            problem = "is a device, not a file"
            break
        if not place.is_symlink():
            return
        place = place.parent / place.readlink()
    raise Mistake(f"{path} {problem}: name a file to write.")


def check_own(path: Path, are_own: AreOwn = lambda _: False) -> None:
    """Raise a `Mistake` if a file exists, with content, that the command does not write."""
    if path.is_file() and path.stat().st_size and not is_own(path, are_own):
        raise Mistake(
            f"{path} already exists, and is not what this command writes: name another file, or pass --overwrite."
        )


def is_own(path: Path, are_own: AreOwn) -> bool:
    """Whether surefoot has written a page, a model or a table; False for a file that cannot be read as one.

    `are_own` says of the lines of a CSV file whether the command writes them.
    """
    with suppress(OSError, RuntimeError, ValueError, LookupError, *BROKEN):
        if path.suffix == ".parquet":
            return tables.is_own_parquet(path)
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", errors="replace", newline="") as lines:
                return are_own(csv.reader(lines))
        with ZipFile(path).open("schema.json") if path.suffix == ".skops" else path.open("rb") as f:
            head = f.read(LONGEST_HEAD)
        return any(mark in head for mark in MARKS)
    return False


def write_output(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; if that fails, raise a `Mistake` and keep the old file."""
    with mistakes_of_writing(path):
        write_whole(path, content)


@contextmanager
def mistakes_of_writing(path: Path, remedy: str | None = None) -> Iterator[None]:
    """Turn the reason why a file, or one in a folder, could not be written into a `Mistake`."""
    try:
        yield
    except OSError as error:
        place = path if remedy is None else error.filename
        kept = "The old file is kept." if path.exists() else ""
        sentence = f"{place} could not be written: {reason(error)}."
        raise Mistake(f"{sentence} {kept if remedy is None else remedy}".rstrip()) from error


# Options that several commands share

Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace FILE whatever is in it; a file that is read is never replaced.",
    ),
]

# Classifier and regressor for each name of a model.
MODELS = {
    "boosting": (
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "sklearn.ensemble.HistGradientBoostingRegressor",
    ),
    "forest": (
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.ensemble.RandomForestRegressor",
    ),
    "logistic": ("sklearn.linear_model.LogisticRegression", "sklearn.linear_model.RidgeCV"),
    "svm": ("sklearn.svm.SVC", "sklearn.svm.SVR"),
    "knn": ("sklearn.neighbors.KNeighborsClassifier", "sklearn.neighbors.KNeighborsRegressor"),
}

# More processes than any machine that this is meant for has cores.
MOST_JOBS = 1024


def complete_models(start: str) -> list[str]:
    """Names of models that begin with `start`, for shell completion."""
    return [name for name in MODELS if name.startswith(start)]


def check_jobs(jobs: int) -> int:
    """Number of processes; a `Mistake` if it is 0 or too large."""
    if jobs == 0 or abs(jobs) > MOST_JOBS:
        raise Mistake(
            f"--jobs {jobs} is not allowed: pass -1 for all cores, or a number of processes up to {MOST_JOBS}."
        )
    return jobs


def check_confidence(confidence: float) -> float:
    """Confidence; a `Mistake` unless it is above 0 and below 1."""
    if not 0 < confidence < 1:
        raise Mistake(
            f"--confidence {confidence:g} is not a probability: it must be above 0 and below 1."
        )
    return confidence


TABLE = "Table in CSV or Parquet, also compressed (gzip, bzip2), a folder of Parquet files, or - for standard input."
Table = Annotated[Path, typer.Argument(metavar="DATA", help=TABLE)]
ModelFile = Annotated[Path, typer.Argument(help="Model file written by surefoot fit.")]
TARGET = typer.Option("--target", metavar="COLUMN", help="The column to predict.")
Estimator = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"{', '.join(MODELS)}; or a model: a file .skops, of LightGBM (.txt), XGBoost (.ubj), CatBoost (.cbm) "
        "or ONNX (.onnx), or mlflow:ADDRESS. In regression, logistic is a ridge regression.",
        autocompletion=complete_models,
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Classes of a fitted model that does not name them, in the order of its outputs. Default: 0, 1, 2, ... if "
        "the targets are such numbers, else the sorted targets, unless another order fits clearly better.",
    ),
]
Prediction = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of predictions that a model made elsewhere: they are judged, and no model is fitted. No row may "
        "be one that their model was trained on.",
    ),
]
Probability = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[CLASS=]COLUMN",
        help="Column of probabilities that came with --prediction: CLASS=COLUMN for each class, one column for the "
        "second of two classes, or one for the predicted class of several. Numbers outside 0 to 1 are scores.",
    ),
]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    typer.Option(
        "--task",
        metavar="TASK",
        help="classification, regression, or auto. With auto, strings, true/false values and up to 10 different whole "
        "numbers are classes; fractions and more than 100 different numbers are for regression; else you are asked.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of groups: rows of one group, such as one person, are held out together.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of numbers or dates (2026-11-16): rows are held out later than those that the model learns "
        "from. The column itself is no input.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column that is no input of the model; may be repeated."),
]
MaxRisk = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RISK",
        help="Highest share of wrong answers (regression: mean error; with costs: mean cost) allowed among trusted "
        "rows; CLASS=RISK for those whose true class it is, such as yes=0.2. May be repeated: all limits hold at once. "
        "Default: a round number near half of the model's error (regression and costs: 80 % of it), or the next "
        "larger one that can be promised.",
    ),
]
Cost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COST",
        help='Cost of a mistake, such as "yes->no=10": true class, predicted class, cost. May be repeated; other '
        "mistakes cost 1. All numbers are then costs.",
    ),
]
RandomState = Annotated[
    int, typer.Option(metavar="SEED", min=0, max=2**32 - 1, help="Seed of all random draws.")
]
Sample = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Use N rows drawn at random, for a table that does not fit in memory.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(metavar="N", help="Processes to use; -1 uses all cores.", callback=check_jobs),
]
Confidence = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Confidence of the promise and of the intervals, above 0 and below 1.",
        callback=check_confidence,
    ),
]
Answers = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Rows of an audit with their column label filled in, or what surefoot label wrote. May be repeated.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON, for other programs.")]
