"""What a user can put right: one sentence on stderr, and exit code 2."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

import typer

from surefoot._words import listed


class Mistake(typer.TyperException):
    """Something that the user can put right, in one sentence."""

    exit_code = 2


def unknown_column(name: str, columns: Iterable[str], where: str) -> Mistake:
    """There is no such column: name the one that was probably meant, else all."""
    known = {column.casefold(): column for column in columns}
    close = get_close_matches(name.casefold(), known, n=1)
    hint = f"is it {known[close[0]]!r}?" if close else f"there are {listed(known.values())}."
    return Mistake(f"{where} has no column {name!r}: {hint}")


@contextmanager
def one_sentence_of(what: str) -> Iterator[None]:
    """Say in one sentence that a model refuses the rows, in the first of its own words."""
    try:
        yield
    except Exception as error:
        words = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Mistake(f"{what}: {words.rstrip('.')}.") from error
