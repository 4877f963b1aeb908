"""Numbers and percentages as texts, rounded for people."""

from math import ceil, floor, log10

from surefoot._words import NONE, number, percent

__all__ = ["NONE", "number", "percent", "round_up"]


def round_up(value: float, digits: int = 2) -> float:
    """Next number with so many digits that is not below a positive value, for a bound that must not be rounded down.

    Examples
    --------
    >>> [round_up(value) for value in (0.151, 0.15, 0.0411, 46.1, 0.2)]
    [0.16, 0.15, 0.042, 47.0, 0.2]
    """
    if value <= 0:
        return value
    step = 10.0 ** (floor(log10(value)) - digits + 1)
    return float(f"{ceil(value / step - 1e-9) * step:.{digits}g}")
