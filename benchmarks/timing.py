"""Times of alternatives that take turns, so that a busy machine is busy for all of them."""

import time


def alternate(functions, repeats=5):
    """Best time of each function over rounds in which every one runs once."""
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def seconds(function):
    """Processor time of a call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def report(what, ratio, kind, asked):
    """Print a ratio beside what was asked of it."""
    held = ratio >= asked if kind == "at least" else ratio <= asked
    print(f"{what:<64} {ratio:8.2f}   asked: {kind} {asked}   {'yes' if held else 'NO'}")
