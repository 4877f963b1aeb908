"""What a user can put right: one sentence on stderr, and exit code 2."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

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
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        words = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Mistake(f"{what}: {words.rstrip('.')}.") from error


def check_names(names: list[str], path: Path) -> None:
    """Raise one sentence if two columns have the same name; columns without one are numbered by pandas."""
    named = Counter(name for name in names if name.strip())
    twice = [name for name, times in named.items() if times > 1]
    if twice:
        raise Mistake(f"{path} has more than one column {listed(twice)}: names must differ.")
