"""Parts of messages: lists of names, counted things, and reasons of the operating system."""

from collections.abc import Iterable


def listed(names: Iterable[object], most: int = 8) -> str:
    """List of names for a sentence: "'a', 'b' and 3 more"."""
    quoted = [repr(name) for name in names]
    more = [f"{len(quoted) - most} more"] if len(quoted) > most else []
    shown = [*quoted[:most], *more]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def plural(number: int, thing: str) -> str:
    """Number with its noun: "1 row", "2,000 rows", "3 classes"."""
    many = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else many}"


def reason(error: OSError) -> str:
    """Reason that the operating system gives for an error, in the form of a clause: "no space left on device"."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:].rstrip(".")
