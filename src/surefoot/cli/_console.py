"""What a person sees on the terminal while a command works; a pipe stays quiet."""

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def progress_bar(items: Iterable[T], *, total: int, label: str) -> Iterable[T]:
    """Show a bar on a terminal; stay quiet in a pipe."""
    from rich.console import Console  # noqa: PLC0415 - keeps --help fast
    from rich.progress import track  # noqa: PLC0415

    console = Console(stderr=True)
    if console.is_terminal:
        items = track(items, description=label, total=total, console=console)
    yield from items  # a bar that is only disabled ends with an empty line in rich 13


@contextmanager
def working(sentence: str) -> Iterator[None]:
    """Say on a terminal what takes a moment, for as long as it does; stay quiet in a pipe."""
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(sentence):
        yield


def remark(sentence: str) -> None:
    """Tell the user what was decided, beside the results."""
    print(sentence, file=sys.stderr)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Say warnings as remarks, without the place in the code; leave out what every cross-validation meets."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        warnings.showwarning = lambda message, *_, **__: remark(str(message))
        yield
