"""Columns of a table of scores."""

# All that `surefoot score` writes besides the probabilities and the columns that it copies.
NAMES = frozenset(
    [
        *("row", "prediction", "estimated_error", "low", "high", "residual"),
        *("shift", "spread", "worst", "flips", "novel", "accepted"),
    ]
)


def is_score_column(name: str) -> bool:
    """Whether a column has the name of one that `surefoot score` writes.

    >>> is_score_column("probability_yes"), is_score_column("age")
    (True, False)
    """
    return name in NAMES or name.startswith("probability_")
