"""Compilation of the kernels, and the files in which their machine code waits for the next process."""

import logging
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from multiprocessing import current_process
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator that compiles a loop when it is first called, to run without the interpreter's lock.

    The machine code is stored beside the source, or in the user's folder for such files; where neither
    can be written, each process compiles again. `options` are those of `numba.njit`.
    """
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    compiled = njit(nogil=True, **options)(function)
    try:
        compiled._cache = KernelCache(function)  # noqa: SLF001 - numba has no public way to give it one
    except RuntimeError:  # numba found no folder that can be written
        remark_no_folder()
    return compiled


class KernelCache(FunctionCache):
    """Stored machine code of one kernel, out of date as soon as any kernel has changed.

    The code of a kernel holds that of the kernels it calls, while numba's own cache looks at no file but
    the kernel's. A file that cannot be read or written costs time, never the result.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file = IndexDataCacheFile(  # type: ignore[no-untyped-call]
            cache_path=self.cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=digest_of_sources(),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Stored code for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except OSError:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code for a signature, if the disk takes it."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError:
            remark_no_folder()


@cache
def digest_of_sources() -> bytes:
    """Digest of every source file of this package."""
    digest = sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + sha256(source.read_bytes()).digest())
    return digest.digest()


@cache
def remark_no_folder() -> None:
    """Say once why every process is slow to start.

    A log record, which Python prints on stderr by default, and no warning: where warnings are errors, the lack of
    a folder that only saves time would stop the work.
    """
    if current_process().name == "MainProcess":  # the workers need not repeat it
        logging.getLogger("surefoot").warning(
            "surefoot compiles its loops again in every process, because no folder can be written to store them: "
            "set NUMBA_CACHE_DIR to one that can."
        )
