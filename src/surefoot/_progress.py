"""Progress of long work: which share of it is done, what is being done, and how long the rest will take."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, TypeVar

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
    if "ipykernel" in sys.modules:
        return _in_notebook()
    return _on_terminal if sys.stderr.isatty() else None


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
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _on_terminal(share: float, words: str, seconds: float | None) -> None:
    text = "" if share == 1 else line(share, words, seconds)
    sys.stderr.write(f"\r\033[K{text}")
    sys.stderr.flush()


def _in_notebook() -> Show:
    shown: Any = import_module("IPython.display").display(
        {"text/plain": ""}, raw=True, display_id=True
    )
    update: Callable[..., None] = shown.update

    def show(share: float, words: str, seconds: float | None) -> None:
        update({"text/plain": line(share, words, seconds)}, raw=True)

    return show
