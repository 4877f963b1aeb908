"""Parts of sentences: names in a row, numbers of things, and what the system says went wrong."""

from collections.abc import Iterable


def listed(names: Iterable[object], most: int = 8) -> str:
    """Names in a row, the rest of a long list counted."""
    every = [repr(name) for name in names]
    more = [f"{len(every) - most} more"] if len(every) > most else []
    shown = [*every[:most], *more]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def plural(number: int, thing: str) -> str:
    """A number of things: "1 row", "2,000 rows", "3 classes"."""
    many = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else many}"


def reason(error: OSError) -> str:
    """What the system says of it, as part of a sentence."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:].rstrip(".")
