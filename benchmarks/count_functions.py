"""How much code a reader meets: functions entered, and calls between packages, in `fit`, `judge` and `summarize`.

    python -m benchmarks.count_functions

300 rows of `make_classification` and a logistic regression. Counted are distinct named functions of surefoot (no
lambdas, comprehensions or generated code), and distinct pairs of modules of different packages, caller and callee.
"""

import importlib
import pkgutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import surefoot
from surefoot import IndividualErrorClassifier
from surefoot.report import ReliabilityReport

ROOT = Path(surefoot.__file__).parent
N_ROWS = 300


def main() -> None:
    """Print the counts of each operation; with the argument `list`, every function and every edge too."""
    import_everything()
    X, y = make_classification(2 * N_ROWS, random_state=0)
    X, y, X_new = X[:N_ROWS], y[:N_ROWS], X[N_ROWS:]
    error_estimator = IndividualErrorClassifier(LogisticRegression())
    operations: dict[str, Callable[[], Any]] = {
        "fit": lambda: error_estimator.fit(X, y),
        "judge": lambda: error_estimator.judge(X_new),
        "summarize": lambda: ReliabilityReport(LogisticRegression(), X, y).summarize(),
    }
    for name, operation in operations.items():
        functions, edges = count(operation)
        print(f"{name:10} {len(functions):4} functions {len(edges):4} edges between packages")
        if "list" in sys.argv[1:]:
            print(*(f"    {module} {function}" for module, function in sorted(functions)), sep="\n")
            print(*(f"    {caller} -> {callee}" for caller, callee in sorted(edges)), sep="\n")


def import_everything() -> None:
    """Import every module first: what an import runs does not count."""
    for module in pkgutil.walk_packages(surefoot.__path__, "surefoot."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError:  # an extra that is not installed
            continue


def count(operation: Callable[[], Any]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Functions that an operation enters, with their modules, and pairs of modules of different packages."""
    functions, edges = set(), set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name.startswith("<") or (module := module_of(code)) is None:
            return
        functions.add((module, code.co_qualname))
        caller = None if frame.f_back is None else module_of(frame.f_back.f_code)
        if caller is not None and package_of(caller) != package_of(module):
            edges.add((caller, module))

    sys.setprofile(note)
    try:
        operation()
    finally:
        sys.setprofile(None)
    return functions, edges


@cache
def module_of(code: CodeType) -> str | None:
    """Module of surefoot that code is from; None for other code."""
    path = Path(code.co_filename)
    return (
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if path.is_relative_to(ROOT)
        else None
    )


def package_of(module: str) -> str:
    """First part of a module's name: its package, or the module itself."""
    return module.partition(".")[0]


if __name__ == "__main__":
    main()
