"""Messages and progress bars on a terminal; nothing is shown in a pipe."""

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def progress_bar(items: Iterable[T], *, total: int, label: str) -> Iterable[T]:
    """Iterate over items with a progress bar on a terminal; without one in a pipe."""
    from rich.console import Console  # noqa: PLC0415 - keeps --help fast
    from rich.progress import track  # noqa: PLC0415

    console = Console(stderr=True)
    if console.is_terminal:
        items = track(items, description=label, total=total, console=console)
    yield from items  # a bar that is only disabled ends with an empty line in rich 13


@contextmanager
def working(sentence: str) -> Iterator[None]:
    """Show a sentence with a spinner on a terminal while the block runs; nothing in a pipe."""
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(sentence):
        yield


def remark(sentence: str) -> None:
    """Print a sentence for the user on stderr, apart from the results."""
    print(sentence, file=sys.stderr)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print warnings as plain sentences; leave out the one about unknown categories, which folds often cause."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        warnings.showwarning = lambda message, *_, **__: remark(str(message))
        yield
