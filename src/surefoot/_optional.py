"""Packages of surefoot's extras: imported where they are used, with a sentence on what to install."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed_for(user: str, extra: str, otherwise: str = "") -> Iterator[None]:
    """Say which extra to install if an import within the block finds no such package, or not a part of it.

    >>> with needed_for("This example", "report"):
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: This example needs no_such_package: pip install 'surefoot[report]'.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "surefoot"):
            raise
        hint = f"{user} needs {package}: pip install 'surefoot[{extra}]'{otherwise}."
        raise ModuleNotFoundError(hint, name=error.name) from error
