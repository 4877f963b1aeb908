"""What a confidence may be."""

from numbers import Real
from typing import Any


def check_confidence(confidence: Any) -> None:
    """Raise one sentence unless this is a share above 0 and below 1."""
    if (
        type(confidence) is bool
        or not isinstance(confidence, Real)
        or not 0 < float(confidence) < 1
    ):
        raise ValueError(
            f"confidence={confidence!r} is no share: it may be a float above 0 and below 1."
        )
