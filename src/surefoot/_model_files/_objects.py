"""Everything in a loaded model, at every depth: what lies elsewhere is let go of, forged parts are refused."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from sklearn._loss import _loss as losses

from surefoot._model_files._encoders import CHECKS_OF_ENCODERS
from surefoot._model_files._neighbors import CHECKS_OF_NEIGHBORS
from surefoot._model_files._outside import check_attributes, check_function
from surefoot._model_files._own_parts import CHECKS_OF_OWN_PARTS, check_root, check_usable
from surefoot._model_files._random import check_random
from surefoot._model_files._refusal import require
from surefoot._model_files._svm import CHECKS_OF_SVM
from surefoot._model_files._trees import CHECKS_OF_TREES

Check = Callable[[Any], None]

CHECKS: dict[str, Check] = {
    **CHECKS_OF_ENCODERS,
    **CHECKS_OF_NEIGHBORS,
    **CHECKS_OF_OWN_PARTS,
    **CHECKS_OF_SVM,
    **CHECKS_OF_TREES,
}

PLAIN = (str, int, float, complex, bytes, type(None), slice, np.generic, np.dtype, np.ufunc)
FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, partial, type)
RANDOM = (np.random.RandomState, np.random.Generator)

# Who makes the objects in a model, besides containers and arrays: anything else was slipped in.
MAKERS = ("pandas", "scipy", "sklearn", "skrub", "surefoot")
CONTAINERS = (dict, list, tuple, set, OrderedDict, defaultdict, np.ndarray, np.ma.MaskedArray)


def check_objects(model: Any) -> None:
    """Refuse a model with forged parts; clear whatever would read or write elsewhere."""
    check_root(model)
    checks: dict[type, list[Check]] = {}
    seen: set[int] = set()
    # Value, and the object and attribute that hold it.
    waiting: list[tuple[Any, Any, str]] = [(model, None, "")]
    while waiting:
        value, owner, name = waiting.pop()
        if isinstance(value, PLAIN) or (id(value) in seen and not isinstance(value, FUNCTIONS)):
            continue
        seen.add(id(value))
        if isinstance(value, FUNCTIONS):
            check_function(value, owner, name)
            continue
        if type(value) not in checks:
            checks[type(value)] = checks_of(type(value))
        for check in checks[type(value)]:
            check(value)
        waiting.extend(parts_of(value, owner, name))
    check_usable(model)


def checks_of(kind: type) -> list[Check]:
    """Checks of a type, and of those that it inherits from."""
    names = [f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__]
    require(
        names[0].partition(".")[0] in MAKERS or kind in (*CONTAINERS, *RANDOM) or is_loss(kind),
        f"it holds an object of type {names[0]!r}",
    )
    found = [CHECKS[name] for name in names if name in CHECKS]
    if issubclass(kind, RANDOM):
        found.append(check_random)
    return found


def is_loss(kind: type) -> bool:
    """Whether a type is one of scikit-learn's compiled losses.

    Before 1.9 their module calls itself `_loss`, and skops imports it by that name. It is imported here first, so that
    no file of this name can take its place.
    """
    return kind is getattr(losses, kind.__name__, None)


def parts_of(value: Any, owner: Any, name: str) -> Iterator[tuple[Any, Any, str]]:
    """Values within a container, which belong to its owner, or within an object, which belong to it."""
    if isinstance(value, np.ndarray):
        require(value.itemsize > 0 or value.size == 0, "an array in it has values of no size")
        within = value.ravel().tolist() if value.dtype.hasobject else ()
        yield from ((part, owner, name) for part in within)
    elif isinstance(value, (list, tuple, set)):
        yield from ((part, owner, name) for part in value)
    elif isinstance(value, dict):
        yield from ((part, owner, name) for part in value.values())
    if not isinstance(value, RANDOM) and not is_frame(value) and hasattr(value, "__dict__"):
        check_attributes(value)
        yield from ((part, value, key) for key, part in vars(value).items())


def is_frame(value: Any) -> bool:
    """Whether a value is a pandas frame, which holds values and nothing that is called."""
    return type(value).__module__.partition(".")[0] == "pandas"
