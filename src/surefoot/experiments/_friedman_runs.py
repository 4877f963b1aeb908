"""Test errors of classifiers on draws of Friedman's problems, as Bennett (2007, section 4.1) sets them up."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t as student
from sklearn.model_selection import StratifiedKFold

from surefoot._typing import Floats
from surefoot.datasets import make_friedman_problem
from surefoot.experiments._progress import Progress
from surefoot.neighborhoods import KernelKNeighborsClassifier

Methods = Mapping[str, Callable[[int], Any]]

PROBLEMS = (1, 2, 3, 4, 5)
TRAINING_ROWS = {1: 200, 2: 200, 3: 200, 4: 500, 5: 200}
TEST_ROWS, QUICK_TEST_ROWS = 2000, 400

# Folds in the order of the rows, as in the results that are published; the rows are drawn independently.
TEN_FOLDS = StratifiedKFold(10)


def paper_knn() -> KernelKNeighborsClassifier:
    """The paper's classifier: a Gaussian kernel with σ = 1, and no cache of neighbours."""
    return KernelKNeighborsClassifier(gamma=0.5, sample_neighbors="exact")


def friedman_errors(
    methods: Methods, n_runs: int, label: str, progress: Progress, *, quick: bool
) -> Floats:
    """Test errors in percent, shape (problems, runs, methods).

    A method makes a classifier for a number of training rows. Run r of problem p is drawn from
    seed 1000p + r, so that all methods meet the same rows.
    """
    tasks = [(problem, run) for problem in PROBLEMS for run in range(n_runs)]
    n_test = QUICK_TEST_ROWS if quick else TEST_ROWS
    finished = Parallel(return_as="generator")(
        delayed(_one_run)(list(methods.values()), problem, run, n_test) for problem, run in tasks
    )
    errors = np.array(list(progress(finished, total=len(tasks), label=label)))
    return errors.reshape(len(PROBLEMS), n_runs, len(methods))


def _one_run(
    makers: list[Callable[[int], Any]], problem: int, run: int, n_test: int
) -> list[float]:
    """Test error in percent of each method on one draw."""
    rng = np.random.RandomState(1000 * problem + run)
    n_rows = TRAINING_ROWS[problem]
    X, y = make_friedman_problem(problem, n_rows, rng)
    X_test, y_test = make_friedman_problem(problem, n_test, rng)
    return [
        100 * float((make(n_rows).fit(X, y).predict(X_test) != y_test).mean()) for make in makers
    ]


def paired_p_value(ours: Floats, theirs: Floats) -> float:
    """Two-tailed paired t-test; 1 where the runs do not differ at all."""
    difference = ours - theirs
    deviation = difference.std(ddof=1) / np.sqrt(len(difference))
    if deviation == 0:
        return 1.0 if difference.mean() == 0 else 0.0
    return float(2 * student.sf(abs(difference.mean()) / deviation, len(difference) - 1))
