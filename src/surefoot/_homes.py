"""Lasting homes of classes, so that a saved model can be loaded after a class has moved to another file."""

import sys
from typing import Any


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
