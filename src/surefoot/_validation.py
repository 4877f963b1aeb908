"""Checks that more than one package makes of what a user passes."""

from collections.abc import Sequence
from typing import Any


def check_option(value: Any, name: str, options: Sequence[str], other: str = "") -> None:
    """Raise one sentence unless `value` is one of the options.

    The sentence names the parameter and what it may be; `other` says in words what it may be besides.
    """
    if not (isinstance(value, str) and value in options):
        allowed = ", ".join(repr(option) for option in options) + (f" or {other}" if other else "")
        raise ValueError(f"{name}={value!r} is not known: it may be {allowed}.")
