"""How an experiment reports progress; by default, not at all."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Progress(Protocol):
    """Passes items on, and may show how many of them are done."""

    def __call__(self, items: Iterable[T], *, total: int, label: str) -> Iterable[T]:
        """Yield the items."""


def silent(items: Iterable[T], *, total: int, label: str) -> Iterable[T]:  # noqa: ARG001
    """Pass the items on without a word."""
    return items
