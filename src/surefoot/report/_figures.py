"""Numbers and percentages as texts, rounded for people."""

from math import ceil, floor, log10

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


def _short(size: float, decimals: int) -> str:
    text = f"{size:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def _decimals(size: float, digits: int) -> int:
    return max(0, digits - 1 - floor(log10(size))) if size else 0


def _sign(value: float) -> str:
    return "−" if value < 0 else ""
