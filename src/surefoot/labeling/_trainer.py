"""The model learns in a process of its own: labelling never waits for it."""

import os
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import TerminatedWorkerError

Work = Callable[[pd.DataFrame, Any], Any]

# How much the process that learns gives way to others (see nice(2)).
NICENESS = 10

# Seconds between two looks of the process at whether the server still lives.
WATCH_SECONDS = 1.0

# What the process that learns keeps between two rounds.
_MATERIAL: dict[str, Any] = {}


class Trainer:
    """Thread that has a round of learning done, in another process, whenever there is something new to learn.

    Parameters
    ----------
    X : DataFrame
        Rows of the pool, with the columns that the model learns from.
    estimator : classifier
        The model; it is cloned and fitted.
    ask : callable
        Gives the next work, a function of `X` and `estimator`, or None if there is nothing new.
    tell : callable
        Takes its result, or the sentence that says why there is none.
    """

    def __init__(
        self,
        X: pd.DataFrame,
        estimator: Any,
        ask: Callable[[], Work | None],
        tell: Callable[[Any], None],
    ) -> None:
        self._material = (X, estimator)
        self._ask, self._tell = ask, tell
        self._news, self._stopping = threading.Event(), threading.Event()
        self._executor: ProcessPoolExecutor | None = None
        self._thread = threading.Thread(target=self._work, name="surefoot trainer", daemon=True)
        self.is_learning = False

    def start(self) -> None:
        """Begin with the first round."""
        self._news.set()
        self._thread.start()

    def wake(self) -> None:
        """Look whether there is something new to learn, now or when the round under way is done."""
        self._news.set()

    def stop(self) -> None:
        """End the process and the thread; a round under way is given up."""
        self._stopping.set()
        self._news.set()
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
        self._thread.join()

    def _work(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            if self._stopping.is_set():
                return
            work = self._ask()
            if work is None:
                continue
            self.is_learning = True
            result = self._result(work)
            self.is_learning = False
            if self._stopping.is_set():
                return
            self._tell(result)
            self._news.set()  # answers may have come meanwhile

    def _result(self, work: Work) -> Any:
        """Result of some work, or why there is none, in one sentence."""
        try:
            if self._executor is None:
                self._executor = ProcessPoolExecutor(
                    max_workers=1,
                    timeout=None,
                    initializer=_prepare,
                    initargs=(*self._material, os.getpid()),
                    env={"OMP_NUM_THREADS": "1"},
                )
            return self._executor.submit(_do, work).result()
        except TerminatedWorkerError:
            self._executor = None
            return "The process that learns was ended, perhaps for want of memory; labels are saved, and go on."
        except Exception as error:  # noqa: BLE001 - whatever a model raises: labelling goes on
            words = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
            return f"The model could not learn from the labels so far: {words}."


def _prepare(X: pd.DataFrame, estimator: Any, server: int) -> None:
    """Keep what all rounds need, give way to others, and end when the server ends."""
    _MATERIAL.update(X=X, estimator=estimator)
    warnings.simplefilter(
        "ignore"
    )  # of fits to a few labels: nobody asked for these, and the next one is better
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    threading.Thread(target=_end_with, args=(server,), daemon=True).start()


def _end_with(server: int) -> None:
    while os.getppid() == server:
        time.sleep(WATCH_SECONDS)
    os._exit(1)  # nobody is left to tell


def _do(work: Work) -> Any:
    return work(_MATERIAL["X"], _MATERIAL["estimator"])
