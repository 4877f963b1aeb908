"""Parts of sentences: numbers and percentages rounded for people, lists of names, counted things, reasons."""

from collections.abc import Iterable
from math import floor, log10

# Most names that `quoted` lists.
MOST_QUOTED = 20


def listed(names: Iterable[object], most: int = 8) -> str:
    """List of names for a sentence: "'a', 'b' and 3 more"."""
    shown = [repr(name) for name in names]
    if len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def plural(count: int, thing: str) -> str:
    """Number with its noun: "1 row", "2,000 rows", "3 classes"."""
    many = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{count:,} {thing if count == 1 else many}"


def quoted(names: Iterable[object]) -> str:
    """List of names in typographic quotes; of many, the first ones and the number of the others."""
    shown = [f"“{name}”" for name in names]
    if len(shown) > MOST_QUOTED:
        shown = [*shown[: MOST_QUOTED - 1], f"{len(shown) - MOST_QUOTED + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def p_value_words(p_value: float) -> str:
    """P-value for a sentence: "p = 0.0012"."""
    return "p < 0.001" if p_value < 0.001 else f"p = {number(p_value)}"


def reason(error: OSError) -> str:
    """Reason that the operating system gives for an error, in the form of a clause: "no space left on device"."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:].rstrip(".")


NONE = "–"


def percent(share: float | None) -> str:
    """Write a share as a percentage, with decimals only if it is close to 0 or to 1.

    Examples
    --------
    >>> [percent(share) for share in (0.4124, 0.0415, 0.0996, 0.9951, 0.99999, 1, 0.0002, -0.04)]
    ['41 %', '4.2 %', '10 %', '99.5 %', '99.9 %', '100 %', '0.02 %', '−4 %']
    >>> percent(1e-9), percent(None)
    ('below 0.01 %', '–')
    """
    if share is None:
        return NONE
    value = 100 * share
    size = abs(value)
    if 0 < size < 0.01:
        return "below 0.01 %" if value > 0 else "above −0.01 %"
    if 99 < size < 100:
        size = floor(size * 10 + 1e-9) / 10  # never rounded up to 100 %
    decimals = _decimals(size, 2) if size < 1 else 1 if size < 10 or size > 99 else 0
    return f"{_sign(value)}{_short(size, decimals)} %"


def number(value: float | None) -> str:
    """Write a number with three significant digits, or with all digits if it is whole.

    Examples
    --------
    >>> [number(value) for value in (3333, 1234.56, 47.249, 0.012345, 2.0, -0.5, 1e-7, 0)]
    ['3,333', '1,235', '47.2', '0.0123', '2', '−0.5', '1e-07', '0']
    """
    if value is None:
        return NONE
    size = abs(value)
    if 0 < size < 1e-4 or size >= 1e12:
        return f"{_sign(value)}{size:.3g}"
    decimals = 0 if size == round(size) else _decimals(size, 3)
    return f"{_sign(value)}{_short(size, decimals)}"


def _short(size: float, decimals: int) -> str:
    text = f"{size:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def _decimals(size: float, digits: int) -> int:
    return max(0, digits - 1 - floor(log10(size))) if size else 0


def _sign(value: float) -> str:
    return "−" if value < 0 else ""
