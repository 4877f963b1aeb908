"""Number of threads for fits."""

from typing import Any

from threadpoolctl import threadpool_limits

# With fewer rows, the threads of gradient boosting spend more time waiting than working.
FEW_ROWS = 20_000


def threads_for(n_rows: int) -> Any:
    """Context that limits a fit on few rows to one thread: more threads are slower, above all on a busy machine."""
    return threadpool_limits(limits=1 if n_rows < FEW_ROWS else None, user_api="openmp")
