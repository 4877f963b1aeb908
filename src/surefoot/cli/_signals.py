"""What happens when a command is told to stop: its worker processes, locks and files end with it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

# Handlers that nobody has replaced: whoever ignores a signal, such as a shell in the background, goes on to do so.
USUAL: dict[signal.Signals, Any] = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
}


@contextmanager
def stoppable() -> Iterator[None]:
    """Leave by an exception on SIGTERM and on Ctrl-C, with exit code 143 or 130: what is open is closed.

    By default a process that gets SIGTERM vanishes at once, and its worker processes work on.
    """
    if threading.current_thread() is not threading.main_thread():  # only this one gets signals
        yield
        return
    replaced = [number for number, usual in USUAL.items() if signal.getsignal(number) is usual]
    for number in replaced:
        signal.signal(number, _leave)
    try:
        yield
    except SystemExit:
        _restore(replaced)  # whoever asks again does not want to wait
        end_workers()
        raise
    finally:
        _restore(replaced)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a block that ends soon, such as the writing of a file, go on to its end whatever signal comes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in USUAL}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _leave(number: int, _frame: Any) -> None:
    raise SystemExit(128 + number)


def _restore(replaced: list[signal.Signals]) -> None:
    for number in replaced:
        signal.signal(number, USUAL[number])


def end_workers(seconds: float = 10.0) -> None:
    """Kill the worker processes of joblib, if it has any, and those that it was just starting.

    The threads that looked after them unlink semaphores as they end: a process that leaves before them has told
    joblib's tracker of a semaphore that is gone, and the tracker then warns of a leak.
    """
    executors = sys.modules.get("joblib.externals.loky.reusable_executor")
    if executors is None:
        return
    from multiprocessing import active_children  # noqa: PLC0415 - keeps --help fast

    executor = executors._executor  # noqa: SLF001 - get_reusable_executor() would start another
    if executor is not None:
        executor.shutdown(wait=True, kill_workers=True)
    for number in [process.pid for process in active_children()]:
        if number is not None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(number, signal.SIGKILL)  # joblib's processes have no kill()
    end = time.monotonic() + seconds
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(max(0.0, end - time.monotonic()))
