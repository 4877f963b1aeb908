"""Batches of rows that keep temporary arrays within scikit-learn's `working_memory`."""

from collections.abc import Iterator

from sklearn import get_config

# Several temporaries of a batch's size live at once, and the model makes copies of its own.
SHARE_OF_WORKING_MEMORY = 1 / 8


def row_batches(n_rows: int, bytes_per_row: int, most_rows: int | None = None) -> Iterator[slice]:
    """Cut `n_rows` rows into consecutive slices whose temporaries fit the working memory."""
    allowed = get_config()["working_memory"] * 2**20 * SHARE_OF_WORKING_MEMORY
    size = max(1, int(min(allowed // max(1, bytes_per_row), most_rows or n_rows)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
