"""Checks that more than one package makes of what a user passes."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

from sklearn.utils import check_scalar


def check_share(value: Any, name: str) -> None:
    """Raise one sentence unless `value` is a number above 0 and below 1."""
    check_scalar(value, name, Real, min_val=0, max_val=1, include_boundaries="neither")


def check_option(value: Any, name: str, options: Sequence[str], other: str = "") -> None:
    """Raise one sentence unless `value` is one of the options.

    The sentence names the parameter and what it may be; `other` says in words what it may be besides.
    """
    if not (isinstance(value, str) and value in options):
        allowed = ", ".join(repr(option) for option in options) + (f" or {other}" if other else "")
        raise ValueError(f"{name}={value!r} is not known: it may be {allowed}.")
