"""Long work: batches of rows within the memory, models that many tasks share, processes that end, and progress."""

import os
import pickle
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from joblib import effective_n_jobs, wrap_non_picklable_objects
from sklearn import get_config

from surefoot._sklearn_private import n_search_threads

# Several temporary arrays of a batch's size exist at once, and the model makes copies of its own.
SHARE_OF_WORKING_MEMORY = 1 / 8


def row_batches(n_rows: int, bytes_per_row: int, most_rows: int | None = None) -> Iterator[slice]:
    """Consecutive slices of `n_rows` rows whose temporary arrays fit the working memory."""
    allowed = get_config()["working_memory"] * 2**20 * SHARE_OF_WORKING_MEMORY
    size = max(1, int(min(allowed // max(1, bytes_per_row), most_rows or n_rows)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def in_threads(function: Callable[[slice], None], batches: Iterable[slice]) -> None:
    """Call a function for each batch, in at most as many threads as OpenMP may use, each for two batches or more.

    The function should spend its time where the interpreter's lock is not needed: in NumPy and in compiled loops.
    """
    batches = list(batches)
    n_threads = min(n_search_threads(), len(batches) // 2)
    if n_threads < 2:
        for batch in batches:
            function(batch)
        return
    with ThreadPoolExecutor(n_threads) as threads:
        for _ in threads.map(function, batches):
            pass  # an error in a thread is raised here


class PickledModel:
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
    return model if effective_n_jobs(n_jobs) == 1 else PickledModel(model)


def model_of(shared: Any) -> Any:
    """Model from what `shared_model` returned."""
    return shared.load() if isinstance(shared, PickledModel) else shared


def free_memory() -> float:
    """Bytes of memory that this process may still take: of the machine, of its container, and by its own limit."""
    of_machine = 1024 * numbers_in("/proc/meminfo").get("MemAvailable:", inf)
    of_container, group = inf, "/sys/fs/cgroup"
    limit, used = (lines_of(f"{group}/memory.{name}") for name in ("max", "current"))
    if limit and used and limit[0].isdigit():
        cached = numbers_in(f"{group}/memory.stat").get("inactive_file", 0)  # can be given up
        of_container = int(limit[0]) - int(used[0]) + cached
    try:
        import resource  # noqa: PLC0415 - Windows has no such module
    except ImportError:
        return min(of_machine, of_container)
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    of_process = inf if soft == resource.RLIM_INFINITY else soft
    return min(of_machine, of_container, of_process)


def numbers_in(path: str) -> dict[str, float]:
    """Names and whole numbers at the beginning of each line of a file of the system."""
    words = [line.split() for line in lines_of(path)]
    return {line[0]: int(line[1]) for line in words if len(line) > 1 and line[1].isdigit()}


def lines_of(path: str) -> list[str]:
    """Lines of a file of the system; none if it is not there."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


# Seconds between two looks at whether the process that started this one still lives.
WATCH_SECONDS = 1.0


@cache
def end_with(starter: int) -> None:
    """End this process soon after the one that started it, which may be killed: joblib would let it wait on."""

    def watch() -> None:
        while os.getppid() == starter:
            time.sleep(WATCH_SECONDS)
        os._exit(1)  # nobody is left to tell

    threading.Thread(target=watch, daemon=True).start()


# Progress

T = TypeVar("T")

WIDTH = 24

# Called with the share that is done, words for what is being done, and the seconds that the rest will take.
Show = Callable[[float, str, float | None], None]

_current: ContextVar["Plan | None"] = ContextVar("current plan", default=None)


class Plan:
    """Steps of some work, by kind, in the order in which the kinds begin; the share that is done never goes back.

    The rest is estimated from how long steps of the same kind took; before the first of a kind, from its cost
    relative to the kinds that were measured.

    Parameters
    ----------
    steps : mapping of str to int
        Number of steps of each kind.
    costs : mapping of str to float
        Cost of one step of each kind, relative to each other.
    words : mapping of str to str
        What is being done while a step of each kind runs.
    show : callable
        Called as `show(share, words, seconds_left)` after every step.
    clock : callable, default=time.perf_counter
        Seconds now.
    """

    def __init__(
        self,
        steps: Mapping[str, int],
        costs: Mapping[str, float],
        words: Mapping[str, str],
        show: Show,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.left, self.costs, self.words, self.show = Counter(steps), costs, words, show
        self.clock, self.began = clock, clock()
        self._last, self._share = self.began, 0.0
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._done: Counter[str] = Counter()
        show(0.0, words[next(iter(steps))], None)

    def done(self, kind: str) -> None:
        """Count a finished step, and show what is done and what comes next."""
        now = self.clock()
        self._spent[kind] += now - self._last
        self._last = now
        self._done[kind] += 1
        self.left[kind] = max(0, self.left[kind] - 1)
        rest = sum(count * self._seconds(each) for each, count in self.left.items())
        elapsed = now - self.began
        if elapsed + rest > 0:
            self._share = max(self._share, elapsed / (elapsed + rest))
        following = kind if self.left[kind] else next((k for k in self.left if self.left[k]), kind)
        self.show(self._share, self.words[following], rest)

    def finish(self) -> None:
        """Show that all is done, whatever was left out."""
        self.show(1.0, "", 0.0)

    def _seconds(self, kind: str) -> float:
        """Seconds of one step: as measured, or from its cost and those of the kinds that were measured."""
        if self._done[kind]:
            return self._spent[kind] / self._done[kind]
        cost = sum(self.costs[each] * count for each, count in self._done.items())
        return self.costs[kind] * sum(self._spent.values()) / cost


@contextmanager
def following(plan: Plan | None) -> Iterator[None]:
    """Count the steps that are finished in the block; nothing is counted without a plan."""
    token = _current.set(plan)
    try:
        yield
        if plan is not None:
            plan.finish()
    finally:
        _current.reset(token)


def step_done(kind: str) -> None:
    """Count a finished step of the work that is followed, if any is."""
    plan = _current.get()
    if plan is not None:
        plan.done(kind)


def counted(results: Iterable[T], kind: str) -> Iterator[T]:
    """Results of steps, each counted as it comes."""
    for result in results:
        step_done(kind)
        yield result


def bar() -> Show | None:
    """Function that draws the bar; None where nobody would see it."""
    if "ipykernel" not in sys.modules:
        return _on_terminal if sys.stderr.isatty() else None
    shown: Any = import_module("IPython.display").display(
        {"text/plain": ""}, raw=True, display_id=True
    )

    def show(share: float, words: str, seconds: float | None) -> None:
        shown.update({"text/plain": line(share, words, seconds)}, raw=True)

    return show


def line(share: float, words: str, seconds: float | None) -> str:
    """Bar as one line of text.

    Examples
    --------
    >>> line(0.5, "Measuring", 12.2)
    '━━━━━━━━━━━━╶╶╶╶╶╶╶╶╶╶╶╶  50 %  Measuring, about 12 s left'
    """
    full = round(WIDTH * share)
    left = "" if seconds is None or share == 1 else f", about {duration(seconds)} left"
    return f"{'━' * full}{'╶' * (WIDTH - full)} {100 * share:3.0f} %  {words}{left}"


def duration(seconds: float) -> str:
    """Time in the two largest units that it has.

    Examples
    --------
    >>> duration(12.2), duration(100), duration(7300)
    ('12 s', '1 min 40 s', '2 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _on_terminal(share: float, words: str, seconds: float | None) -> None:
    text = "" if share == 1 else line(share, words, seconds)
    sys.stderr.write(f"\r\033[K{text}")
    sys.stderr.flush()
