"""Mistakes that the user can correct: one sentence on stderr, and exit code 2."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

import typer

from surefoot._table_files import TableFileError
from surefoot._words import listed


class Mistake(typer.TyperException):
    """Error that the user can correct; its message is one sentence."""

    exit_code = 2


def unknown_column(name: str, columns: Iterable[str], where: str) -> Mistake:
    """Mistake for a column that does not exist, with the most similar name, else all names."""
    known = {column.casefold(): column for column in columns}
    close = get_close_matches(name.casefold(), known, n=1)
    hint = f"is it {known[close[0]]!r}?" if close else f"there are {listed(known.values())}."
    return Mistake(f"{where} has no column {name!r}: {hint}")


@contextmanager
def one_sentence_of(what: str) -> Iterator[None]:
    """Turn an error of a model into a `Mistake`: `what`, and the first line of its message; a `Mistake` stays."""
    try:
        yield
    except Mistake:
        raise
    except Exception as error:
        words = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Mistake(f"{what}: {words.rstrip('.')}.") from error


@contextmanager
def mistakes_of_tables() -> Iterator[None]:
    """Turn the sentence of a table that cannot be read or written into a `Mistake`."""
    try:
        yield
    except TableFileError as error:
        raise Mistake(str(error)) from error
