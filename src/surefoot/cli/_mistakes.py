"""Mistakes that the user can correct: one sentence on stderr, and exit code 2."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

import typer

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
    """Turn an error of a model into a `Mistake`: `what`, and the first line of its message."""
    try:
        yield
    except Exception as error:
        words = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Mistake(f"{what}: {words.rstrip('.')}.") from error


def check_names(names: list[str], path: Path) -> None:
    """Raise one sentence if two columns have the same name; columns without one are numbered by pandas."""
    named = Counter(name for name in names if name.strip())
    twice = [name for name, times in named.items() if times > 1]
    if twice:
        raise Mistake(f"{path} has more than one column {listed(twice)}: names must differ.")
