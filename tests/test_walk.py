"""How far a reader walks: what `fit`, `judge`, `summarize` and the command `score` enter; `make check` prints it.

300 rows and 8 columns of `make_classification`, and a logistic regression; threads are off. Counted are distinct named
functions of surefoot (no lambdas, comprehensions or generated code), the modules that these are in, distinct pairs of
modules of different packages, caller and callee, and the depth: how many functions of surefoot lie above another. A new
process counts, so that nothing is left out that an earlier test has cached.
"""

import importlib
import json
import pkgutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import surefoot
from surefoot import IndividualErrorClassifier
from surefoot.cli import main
from surefoot.neighborhoods import log_n_neighbors
from surefoot.report import ReliabilityReport

ROOT = Path(surefoot.__file__).parent
N_ROWS = 300


class Walk(NamedTuple):
    """Counts of what an operation enters; None in a limit stands for any number."""

    functions: int
    edges: int | None = None
    depth: int | None = None
    modules: int | None = None


# The most of each that a reader may meet. A change that needs more says what it replaced.
LIMITS = {
    "fit": Walk(245, 61, 14, 26),
    "judge": Walk(103),
    "summarize": Walk(500, 115),
    "score": Walk(248),
}


def walk_of(operation):
    """Walk of an operation."""
    functions, edges, depths = set(), set(), [0]

    def note(frame, event, _):
        code = frame.f_code
        if event != "call" or code.co_name.startswith("<") or (module := module_of(code)) is None:
            return
        functions.add((module, code.co_qualname))
        depths.append(depth_of(frame))
        caller = None if frame.f_back is None else module_of(frame.f_back.f_code)
        if caller is not None and package_of(caller) != package_of(module):
            edges.add((caller, module))

    with parallel_config("sequential"), ExitStack() as stack:
        stack.callback(sys.setprofile, sys.getprofile())
        sys.setprofile(note)
        operation()
    modules = {module for module, _ in functions}
    return Walk(len(functions), len(edges), max(depths), len(modules))


def depth_of(frame):
    """How many named functions of surefoot are open above a frame."""
    depth = 0
    while (frame := frame.f_back) is not None:
        depth += module_of(frame.f_code) is not None and not frame.f_code.co_name.startswith("<")
    return depth


@cache
def module_of(code):
    """Module of surefoot that code is from; None for other code."""
    path = Path(code.co_filename)
    return ".".join(path.relative_to(ROOT).parts) if path.is_relative_to(ROOT) else None


def package_of(module):
    """First part of a module's name: its package, or the module itself."""
    return module.partition(".")[0]


def operations(folder):
    """The operations by name; every module is imported first, as what an import runs does not count."""
    for module in pkgutil.walk_packages(surefoot.__path__, "surefoot."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError:  # an extra that is not installed
            continue
    X, y = make_classification(2 * N_ROWS, n_features=8, random_state=0)
    X, y, X_new = X[:N_ROWS], y[:N_ROWS], X[N_ROWS:]
    error_estimator = IndividualErrorClassifier(LogisticRegression())
    yield "fit", lambda: error_estimator.fit(X, y)
    yield "judge", lambda: error_estimator.judge(X_new)
    yield "summarize", lambda: ReliabilityReport(LogisticRegression(), X, y).summarize()
    yield "score", scoring(error_estimator, X_new, folder)


def scoring(error_estimator, X, folder):
    """The command `score` on a CSV, by the file of an error estimator."""
    surefoot.save(error_estimator, folder / "m.skops")
    pd.DataFrame(X).to_csv(folder / "new.csv", index=False)
    command = ["score", "m.skops", "new.csv", "--out", "scores.csv"]

    def score():
        with pytest.raises(SystemExit) as left:
            main([str(folder / part) if "." in part else part for part in command])
        assert not left.value.code

    return score


def count_walks():
    """Walks by operation, on the last line of the output."""
    with tempfile.TemporaryDirectory() as folder:
        walks = {name: walk_of(operation) for name, operation in operations(Path(folder))}
    print("", json.dumps(walks), sep="\n")


def test_a_reader_meets_few_functions():
    for name in ("report", "cli"):
        pytest.importorskip(f"surefoot.{name}", reason=f"the extra '{name}' is not installed")
    child = subprocess.run([sys.executable, __file__], check=True, capture_output=True, text=True)
    counts = json.loads(child.stdout.splitlines()[-1])
    walks = {name: Walk(*counts[name]) for name in LIMITS}
    print("", f"{'':<12}" + "".join(f"{field:>20}" for field in Walk._fields), sep="\n")
    for name, walk in walks.items():
        limits = ["" if most is None else f"{most:,}" for most in LIMITS[name]]
        cells = [f"{n:>11,} of {most:>5}" for n, most in zip(walk, limits, strict=True)]
        print(f"{name:<12}" + "".join(f"{cell:>20}" for cell in cells))
    too_far = {
        name: (walk, LIMITS[name])
        for name, walk in walks.items()
        if any(most is not None and n > most for n, most in zip(walk, LIMITS[name], strict=True))
    }
    assert not too_far


def test_the_walk_counts_functions_modules_edges_and_depth():
    """`log_n_neighbors` calls nothing of surefoot."""
    assert walk_of(lambda: log_n_neighbors(10)) == Walk(functions=1, edges=0, depth=0, modules=1)


if __name__ == "__main__":
    count_walks()
