"""Batches of rows that keep temporary arrays within scikit-learn's `working_memory`."""

from collections.abc import Iterator

from sklearn import get_config

# Several temporary arrays of a batch's size exist at once, and the model makes copies of its own.
SHARE_OF_WORKING_MEMORY = 1 / 8


def row_batches(n_rows: int, bytes_per_row: int, most_rows: int | None = None) -> Iterator[slice]:
    """Consecutive slices of `n_rows` rows whose temporary arrays fit the working memory."""
    allowed = get_config()["working_memory"] * 2**20 * SHARE_OF_WORKING_MEMORY
    size = max(1, int(min(allowed // max(1, bytes_per_row), most_rows or n_rows)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
