"""Number of neighbours, given as an int or "log"."""

from math import ceil, log2
from numbers import Integral

from sklearn.utils import check_scalar

from surefoot._validation import check_option


def log_n_neighbors(n: int) -> int:
    """Number of neighbours for `n` training rows, 2⌈log2 n⌉ + 1 (Bennett 2007, section 4.1).

    Examples
    --------
    >>> log_n_neighbors(200)
    17
    """
    return 2 * ceil(log2(n)) + 1


def resolve_n_neighbors(n_neighbors: int | str, n_rows: int) -> int:
    """Number of neighbours that `n_neighbors`, an int or "log", means for `n_rows` training rows."""
    if isinstance(n_neighbors, str):
        check_option(n_neighbors, "n_neighbors", ["log"], other="a positive int")
        return log_n_neighbors(n_rows)
    return int(check_scalar(n_neighbors, "n_neighbors", Integral, min_val=1))
