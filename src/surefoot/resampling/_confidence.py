"""Check of the parameter `confidence`."""

from numbers import Real
from typing import Any


def check_confidence(confidence: Any) -> None:
    """Raise a ValueError unless this is a number above 0 and below 1."""
    if (
        type(confidence) is bool
        or not isinstance(confidence, Real)
        or not 0 < float(confidence) < 1
    ):
        raise ValueError(
            f"confidence={confidence!r} is no share: it may be a float above 0 and below 1."
        )
