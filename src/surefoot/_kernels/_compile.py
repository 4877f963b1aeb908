"""Decorator that compiles the kernels."""

import logging
from collections.abc import Callable
from functools import cache
from multiprocessing import current_process
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator that compiles a loop when it is first called, to run without the interpreter's lock.

    numba stores the machine code beside the source, or in the user's folder for such files, until the source
    changes: a kernel may call kernels of its own file only. `options` are those of `numba.njit`.
    """
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # numba found no folder that can be written
        remark_no_folder()
        return njit(nogil=True, **options)(function)


@cache
def remark_no_folder() -> None:
    """Log once why every process is slow to start.

    A log record, which Python prints on stderr by default, and no warning: where warnings are errors, the lack of
    a folder that only saves time would stop the work.
    """
    if current_process().name == "MainProcess":  # the workers need not repeat it
        logging.getLogger("surefoot").warning(
            "surefoot compiles its loops again in every process, because no folder can be written to store them: "
            "set NUMBA_CACHE_DIR to one that can."
        )
