"""The model learns in a process of its own: labelling never waits for it."""

import os
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

from surefoot._parallel import end_with
from surefoot._words import plural, shortened
from surefoot.labeling._queue import Question

# Arguments of one of the two functions of `_round`, besides the rows of the pool and the model.
Work = dict[str, Any]

# How much the process that learns gives way to others (see nice(2)).
NICENESS = 10

# Seconds between two looks of the server at whether to stop, and after which a round that has not ended is given up.
STEP_SECONDS, MOST_SECONDS = 0.1, 1800.0

# What the process that learns keeps between two rounds.
_MATERIAL: dict[str, Any] = {}


class Details(NamedTuple):
    """What is known of a row besides its cells: guess, estimated error, doubts, and nearest labelled rows."""

    guess: str
    probability: float | None
    error: float | None
    why: str
    neighbors: list[int]


@dataclass(frozen=True)
class Round:
    """Result of a round of learning.

    Attributes
    ----------
    questions : list of Question
        Rows to ask about next, the most useful first.
    details : dict of int to Details
        Of each row that may be asked about next.
    columns : list of str
        Columns, the most telling first.
    measured : tuple or None
        Accuracy, both ends of its 95 % interval, and the number of random rows it was measured on.
    changed : dict or None
        Number of labels since the model of at most half as many, and the share of predictions that they changed.
    measured_models : list of dict
        Models that are measured, with their intervals: the state of a `Measurement`.
    """

    questions: list[Question]
    details: dict[int, Details] = field(default_factory=dict)
    columns: list[str] | None = None
    measured: tuple[float, float, float, int] | None = None
    changed: dict[str, Any] | None = None
    measured_models: list[dict[str, Any]] = field(default_factory=list)


def do_work(X: pd.DataFrame, estimator: Any, work: Work) -> Round | list[Question]:
    """Result of a round of learning, or questions about the rows that the user's own model would not answer."""
    from surefoot.labeling._round import rows_not_answered, run_round  # noqa: PLC0415 - slow to import

    return rows_not_answered(X, **work) if "open_rows" in work else run_round(X, estimator, **work)


class Trainer:
    """Thread that has a round of learning done, in another process, whenever there is something new to learn.

    Parameters
    ----------
    X : DataFrame
        Rows of the pool, with the columns that the model learns from.
    estimator : classifier
        The model; it is cloned and fitted.
    ask : callable
        Returns the next work, or None if there is nothing new.
    tell : callable
        Takes its result, or the sentence with the reason why there is none.
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
        self._thread = threading.Thread(target=self._run, name="surefoot trainer", daemon=True)
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

    def _run(self) -> None:
        while self._news.wait() and not self._stopping.is_set():
            self._news.clear()
            try:
                if (work := self._ask()) is not None:
                    self.is_learning = True
                    result = self._result(work)
                    self.is_learning = False
                    if not self._stopping.is_set():
                        self._tell(result)
                        self._news.set()  # answers may have come meanwhile
            except Exception as error:  # noqa: BLE001 - a full disk or a locked database passes: so the thread goes on
                self._tell(f"What the model learned could not be kept: {_first_line(error)}.")
        self._end_process()

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
            future, began = self._executor.submit(_do, work), time.monotonic()
            while not wait([future], STEP_SECONDS).done:
                if self._stopping.is_set() or time.monotonic() - began > MOST_SECONDS:
                    self._end_process()
                    return (
                        f"The model had not learned from the labels after {plural(round(MOST_SECONDS / 60), 'minute')}"
                        ", and was stopped; labels are saved, and go on."
                    )
            return future.result()
        except TerminatedWorkerError:
            self._end_process()
            return "The process that learns was ended, perhaps for want of memory; labels are saved, and go on."
        except Exception as error:  # noqa: BLE001 - whatever a model raises: labelling goes on
            if isinstance(error, BrokenProcessPool):
                self._end_process()
            return f"The model could not learn from the labels so far: {_first_line(error)}."

    def _end_process(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None


def _first_line(error: Exception) -> str:
    """First line of an error message, without a full stop."""
    return shortened((str(error).strip() or type(error).__name__).splitlines()[0]).rstrip(".")


def _prepare(X: pd.DataFrame, estimator: Any, server: int) -> None:
    """Keep what all rounds need, give way to others, and end when the server ends."""
    _MATERIAL.update(X=X, estimator=estimator)
    # Of fits to a few labels: nobody asked for these, and the next one is better.
    warnings.simplefilter("ignore")
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    end_with(server)


def _do(work: Work) -> Any:
    return do_work(_MATERIAL["X"], _MATERIAL["estimator"], work)
