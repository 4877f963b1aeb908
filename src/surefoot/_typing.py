"""Types: names of array types that many modules use, and the module that a saved class is found in."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Positions of the rows to learn from, and of those that are held out.
Split = tuple[Ints, Ints]

__all__ = ["Floats", "Ints", "Mask", "Split", "settle"]


def settle(package: str, *functions: Any) -> None:
    """Make a package the module of all classes in its files, and of the given functions.

    Model files and pickles store where a class is found. Called at the end of a package's `__init__`, this makes it
    `surefoot.error_estimation.ErrorPrior`, whichever file of the package the class is written in.
    """
    home, prefix = sys.modules[package], f"{package}._"
    files = [module for name, module in list(sys.modules.items()) if name.startswith(prefix)]
    classes = [
        value
        for file in files
        for value in vars(file).values()
        if isinstance(value, type) and value.__module__ == file.__name__
    ]
    for settled in (*classes, *functions):
        if getattr(home, settled.__name__, settled) is not settled:
            raise TypeError(f"{package} has two classes of the name {settled.__name__}.")
        settled.__module__ = package
        setattr(home, settled.__name__, settled)
