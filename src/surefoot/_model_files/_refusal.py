"""Reasons why a file is not loaded."""

from typing import Any


class ModelFileError(ValueError):
    """A file that holds no model that can be loaded, in one sentence."""


class Refusal(Exception):  # noqa: N818 - a reason, and no fault of ours
    """Reason why the content of a file is not loaded: the end of a sentence, without its full stop."""


class UntrustedTypes(Exception):  # noqa: N818 - named for what it lists
    """Types in a file that are not on the list, or that are stored in a way that is not theirs."""

    def __init__(self, names: set[str]) -> None:
        super().__init__(names)
        self.names = names


def require(holds: Any, reason: str) -> None:
    """Refuse the file unless the condition holds."""
    if not holds:
        raise Refusal(reason)
