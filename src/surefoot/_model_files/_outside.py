"""Parameters by which a model would reach what lies outside of it: folders, files, functions, processes."""

import os
import re
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from surefoot._model_files._refusal import Refusal, require
from surefoot._model_files._trusted import PLACES_OF_FUNCTIONS, WRAPPED_FUNCTIONS

# A folder of pickles: joblib would run what lies there, and write rows to it.
FOLDERS = ("memory",)

PROCESSES = ("n_jobs", "_n_threads")

# Parameters that a search sets on the model that it fits.
SETTINGS = ("param_grid", "param_distributions")

SOURCES = ("filename", "file")

# An expression that joblib evaluates.
DISPATCH = re.compile(r"all|n_jobs|\d{1,3}(\.\d)?\s*\*\s*n_jobs|\d{1,6}")

# A repeated group, or a reference to one, can take longer than anyone waits.
SLOW_PATTERN = re.compile(r"\)\s*[*+{?]|\\[1-9]|\(\?P=")

PLAIN_VALUES = (str, bool, int, float, type(None), np.dtype)

SAFE_TYPES = (bool, int, float, str, list, set, tuple, dict, map, np.ndarray)


def check_attributes(thing: Any) -> None:
    """Clear folders and too many processes; refuse files to read, and searches that set either."""
    values = vars(thing)
    for name in FOLDERS:
        if values.get(name) is not None:
            values[name] = None
    for name in PROCESSES:
        if values.get(name) is not None:
            values[name] = at_most_all(values[name], name)
    for name in SETTINGS:
        check_settings(values.get(name), name)
    dispatch = values.get("pre_dispatch")
    if isinstance(dispatch, str):
        require(DISPATCH.fullmatch(dispatch), f"its pre_dispatch is {dispatch!r}")
    check_texts(values)


def at_most_all(number: Any, name: str) -> int:
    """Number of processes, at most as many as there are processors."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise Refusal(f"its {name} is no whole number")
    n_processors = os.cpu_count() or 1
    return int(np.clip(number, -n_processors, n_processors))


def check_settings(settings: Any, name: str) -> None:
    """Refuse a search that would give the model a folder."""
    for choice in settings if isinstance(settings, (list, tuple)) else [settings]:
        keys = choice if isinstance(choice, dict) else ()
        for key in keys:
            require(str(key).rpartition("__")[2] not in FOLDERS, f"its {name} sets {str(key)!r}")


def check_texts(values: dict[str, Any]) -> None:
    """Refuse a vectorizer that opens files, or splits texts by a pattern that may never end."""
    if "token_pattern" not in values and "decode_error" not in values:
        return
    source = values.get("input")
    require(source not in SOURCES, f"it would read files, as its input is {source!r}")
    pattern = values.get("token_pattern")
    if isinstance(pattern, str):
        require(not SLOW_PATTERN.search(pattern), f"its token_pattern is {pattern!r}")


def check_function(function: Any, owner: Any, attribute: str) -> None:
    """Refuse a function that is not where models of ours have it."""
    if isinstance(function, type) and (function in SAFE_TYPES or issubclass(function, np.generic)):
        return
    name = name_of(function)
    place = (name_of(type(owner)), attribute)
    if name not in PLACES_OF_FUNCTIONS.get(place, ()):
        raise Refusal(f"{attribute or 'it'} of {type(owner).__name__} is {name!r}")
    if isinstance(function, partial):
        check_partial(function)


def check_partial(function: partial[Any]) -> None:
    """Refuse a partial function of another kind than boosting's check of its numbers."""
    given = [*function.args, *function.keywords.values()]
    flat = [part for value in given for part in (value if isinstance(value, list) else [value])]
    plain = all(
        isinstance(part, PLAIN_VALUES) or (isinstance(part, type) and issubclass(part, np.generic))
        for part in flat
    )
    require(
        name_of(function.func) in WRAPPED_FUNCTIONS and plain and not vars(function),
        f"it holds a partial {name_of(function.func)!r}",
    )


def name_of(function: Any) -> str:
    """Whole name of a function, type or module."""
    if isinstance(function, partial):
        return "functools.partial"
    if isinstance(function, ModuleType):
        return function.__name__
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{module}.{name}"
