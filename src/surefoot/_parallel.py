"""Batches of rows within scikit-learn's `working_memory`, models that many tasks share, and the memory that is free."""

import pickle
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from joblib import effective_n_jobs, wrap_non_picklable_objects
from sklearn import get_config

# Several temporary arrays of a batch's size exist at once, and the model makes copies of its own.
SHARE_OF_WORKING_MEMORY = 1 / 8


def row_batches(n_rows: int, bytes_per_row: int, most_rows: int | None = None) -> Iterator[slice]:
    """Consecutive slices of `n_rows` rows whose temporary arrays fit the working memory."""
    allowed = get_config()["working_memory"] * 2**20 * SHARE_OF_WORKING_MEMORY
    size = max(1, int(min(allowed // max(1, bytes_per_row), most_rows or n_rows)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


class Stored:
    """Model as bytes in one array, an argument of many tasks: joblib hands an array to other processes once.

    As an argument itself, the model would be pickled for every task, and each time joblib would store its large
    arrays anew.

    Parameters
    ----------
    model : object
        The model.
    """

    _loaded: dict[str, Any] = {}  # noqa: RUF012 - the last model that this process has loaded, for all tasks

    def __init__(self, model: Any) -> None:
        # Also what is defined in a script or inside a function, as joblib itself does.
        content = pickle.dumps(wrap_non_picklable_objects(model, keep_wrapper=False))
        self.content: Any = np.frombuffer(content, dtype=np.uint8)
        self.key = uuid4().hex

    def load(self) -> Any:
        """Model; its bytes, which this run has written, are read by the first task of a process only."""
        if self.key not in self._loaded:
            self._loaded.clear()
            self._loaded[self.key] = pickle.loads(self.content)  # noqa: S301
        return self._loaded[self.key]


def shared_model(model: Any, n_jobs: int | None) -> Any:
    """Model as an argument of many tasks; `model_of` makes the model of it again."""
    return model if effective_n_jobs(n_jobs) == 1 else Stored(model)


def model_of(shared: Any) -> Any:
    """Model from what `shared_model` returned."""
    return shared.load() if isinstance(shared, Stored) else shared


def free_memory() -> float:
    """Bytes of memory that this process may still take: of the machine, of its container, and by its own limit."""
    return min(of_machine(), of_container(), of_process())


def of_process() -> float:
    """Memory that the process may take by its own limit; infinite without one."""
    try:
        import resource  # noqa: PLC0415 - Windows has no such module
    except ImportError:
        return inf
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return inf if soft == resource.RLIM_INFINITY else soft


def of_machine() -> float:
    """Memory that the system calls available, with what it would give back; infinite if it does not tell."""
    available = figures("/proc/meminfo").get("MemAvailable:")
    return inf if available is None else 1024 * available


def of_container() -> float:
    """Memory that the container (cgroup) still allows; infinite without a limit. Cached files can be given up."""
    group = "/sys/fs/cgroup"
    limit, used = (lines_of(f"{group}/memory.{name}") for name in ("max", "current"))
    if not limit or not used or not limit[0].isdigit():
        return inf
    cached = figures(f"{group}/memory.stat").get("inactive_file", 0)
    return int(limit[0]) - int(used[0]) + cached


def figures(path: str) -> dict[str, int]:
    """Names and whole numbers at the beginning of each line of a file of the system."""
    words = [line.split() for line in lines_of(path)]
    return {line[0]: int(line[1]) for line in words if len(line) > 1 and line[1].isdigit()}


def lines_of(path: str) -> list[str]:
    """Lines of a file of the system; none if it is not there."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
