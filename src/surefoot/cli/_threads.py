"""Threads where they pay."""

from typing import Any

from threadpoolctl import threadpool_limits

# Rows below which the threads of a boosting wait for each other longer than they work.
FEW_ROWS = 20_000


def threads_for(n_rows: int) -> Any:
    """Keep a fit on few rows to one thread: many are slower, and far slower on a busy machine."""
    return threadpool_limits(limits=1 if n_rows < FEW_ROWS else None, user_api="openmp")
