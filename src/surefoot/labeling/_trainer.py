"""The model learns in a process of its own: labelling never waits for it."""

import os
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

import pandas as pd
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

from surefoot._parallel import end_with
from surefoot._words import plural

Work = Callable[[pd.DataFrame, Any], Any]

# How much the process that learns gives way to others (see nice(2)).
NICENESS = 10

# Seconds between two looks of the process at whether the server still lives, and of the server at whether to stop.
WATCH_SECONDS, STEP_SECONDS = 1.0, 0.1

# Seconds after which a round that has not ended is given up.
MOST_SECONDS = 1800.0

# Characters of what a model says of its failure that are passed on.
LONGEST_REASON = 300

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
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            if self._stopping.is_set():
                break
            try:
                self._learn()
            except Exception as error:  # noqa: BLE001 - a full disk or a locked database passes: so the thread goes on
                self._tell(f"What the model learned could not be kept: {_first_line(error)}.")
        self._end_process()

    def _learn(self) -> None:
        """Have one round done, if there is something new."""
        work = self._ask()
        if work is None:
            return
        self.is_learning = True
        try:
            result = self._result(work)
        finally:
            self.is_learning = False
        if not self._stopping.is_set():
            self._tell(result)
            self._news.set()  # answers may have come meanwhile

    def _result(self, work: Work) -> Any:
        """Result of some work, or why there is none, in one sentence."""
        try:
            return self._wait_for(self._process().submit(_do, work))
        except _GivenUp:
            self._end_process()
            return (
                f"The model had not learned from the labels after {plural(round(MOST_SECONDS / 60), 'minute')}, and "
                "was stopped; labels are saved, and go on."
            )
        except TerminatedWorkerError:
            self._end_process()
            return "The process that learns was ended, perhaps for want of memory; labels are saved, and go on."
        except Exception as error:  # noqa: BLE001 - whatever a model raises: labelling goes on
            if isinstance(error, BrokenProcessPool):
                self._end_process()
            return f"The model could not learn from the labels so far: {_first_line(error)}."

    def _wait_for(self, future: Future[Any]) -> Any:
        """Result of a round; `_GivenUp` if it takes too long, or the page is stopped."""
        began = time.monotonic()
        while not wait([future], STEP_SECONDS).done:
            if self._stopping.is_set() or time.monotonic() - began > MOST_SECONDS:
                raise _GivenUp
        return future.result()

    def _process(self) -> ProcessPoolExecutor:
        """Process that learns; another one if the last has ended."""
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                max_workers=1,
                timeout=None,
                initializer=_prepare,
                initargs=(*self._material, os.getpid()),
                env={"OMP_NUM_THREADS": "1"},
            )
        return self._executor

    def _end_process(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None


class _GivenUp(Exception):  # noqa: N818 - no error of the program
    """Round that nobody waits for any more."""


def _first_line(error: Exception) -> str:
    """First line of what an error says, without a full stop."""
    words = (str(error).strip() or type(error).__name__).splitlines()[0]
    if len(words) > LONGEST_REASON:
        words = f"{words[:LONGEST_REASON]}…"
    return words.rstrip(".")


def _prepare(X: pd.DataFrame, estimator: Any, server: int) -> None:
    """Keep what all rounds need, give way to others, and end when the server ends."""
    _MATERIAL.update(X=X, estimator=estimator)
    # Of fits to a few labels: nobody asked for these, and the next one is better.
    warnings.simplefilter("ignore")
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    end_with(server)


def _do(work: Work) -> Any:
    return work(_MATERIAL["X"], _MATERIAL["estimator"])
