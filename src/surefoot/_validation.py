"""Checks that more than one package makes of what a user passes."""

from collections.abc import Sequence
from typing import Any


def check_option(value: Any, name: str, options: Sequence[Any]) -> None:
    """Raise one sentence naming the parameter and what it may be, unless `value` is an option."""
    if not any(
        value is option or (isinstance(value, str) and value == option) for option in options
    ):
        allowed = ", ".join(repr(option) for option in options)
        raise ValueError(f"{name}={value!r} is not known: it may be {allowed}.")
