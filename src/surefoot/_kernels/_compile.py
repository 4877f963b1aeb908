"""Decorators that compile the kernels, when one of their file is first called: numba takes half a second to import."""

import logging
import sys
from collections.abc import Callable
from functools import cache, wraps
from multiprocessing import current_process
from threading import Lock
from typing import Any

# More than the kernels that any one kernel calls.
MOST_KERNELS = 50

# Kernels that no call has compiled yet, with their options, by module.
WAITING: dict[str, list[tuple[Callable[..., Any], dict[str, Any]]]] = {}
COMPILING = Lock()


# Most rows for which NumPy does what a kernel would, until numba is imported: 1,000 rows take a tenth of the import.
FEW_ROWS = 1_000


def is_worth_compiling(n_rows: int) -> bool:
    """Whether to call a kernel: numba is imported already, or there are many rows, or one, as a service asks again."""
    return "numba" in sys.modules or not 1 < n_rows <= FEW_ROWS


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator that compiles a loop when it is first called, to run without the interpreter's lock.

    numba stores the machine code beside the source, or in the user's folder for such files, until the source
    changes: a kernel may call kernels of its own file only. `options` are those of `numba.njit`.
    """
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    WAITING.setdefault(function.__module__, []).append((function, options))
    return function


def jitted(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Function that numba compiles when it is called."""
    from numba import njit  # noqa: PLC0415 - see above

    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # numba found no folder that can be written
        remark_not_stored()
        return njit(nogil=True, **options)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Decorator of a kernel that Python calls: it runs even if the disk has no room for its machine code.

    numba keeps what it compiled in memory before it writes it, so that every attempt gets at least one kernel further.
    """
    module = function.__module__

    @cache
    def compiled() -> Any:
        with COMPILING:
            for other, options in WAITING.pop(module, ()):
                other.__globals__[other.__name__] = jitted(other, options)
            return jitted(function, {})

    @wraps(function)
    def call(*args: Any) -> Any:
        for _ in range(MOST_KERNELS):
            try:
                return compiled()(*args)
            except OSError:
                remark_not_stored()
        return compiled()(*args)

    return call


@cache
def remark_not_stored() -> None:
    """Log once why every process is slow to start.

    A log record, which Python prints on stderr by default, and no warning: where warnings are errors, the lack of
    a folder that only saves time would stop the work.
    """
    if current_process().name == "MainProcess":  # the workers need not repeat it
        logging.getLogger("surefoot").warning(
            "surefoot compiles its loops again in every process, because no folder can be written to store them: "
            "set NUMBA_CACHE_DIR to one that can."
        )
