"""How much staying within the Voronoi cell matters, which Bennett (2007, section 5) leaves open."""

from functools import partial
from pathlib import Path
from typing import Any

from sklearn.neighbors import NearestNeighbors

from surefoot.datasets import make_friedman_problem
from surefoot.experiments._csv_tables import write_table
from surefoot.experiments._friedman_runs import (
    PROBLEMS,
    TEN_FOLDS,
    TRAINING_ROWS,
    friedman_errors,
    paired_p_value,
    paper_knn,
)
from surefoot.experiments._progress import Progress, silent
from surefoot.indicators import LocalSensitivity
from surefoot.neighborhoods import Neighborhood, log_n_neighbors, voronoi_steps
from surefoot.recalibration import RecalibratedClassifier

ALL_RUNS, QUICK_RUNS = 30, 2


def recalibrated_with(sampling: str, _n_rows: int) -> Any:
    """Nearest neighbours recalibrated with samples drawn in one of the ways."""
    sensitivity = LocalSensitivity(sampling=sampling, random_state=0)
    return RecalibratedClassifier(paper_knn(), sensitivity, calibrator="platt", cv=TEN_FOLDS)


def share_outside(problem: int) -> float:
    """Share of the midpoints between a test row and its neighbours that another training row is nearer to."""
    X, _ = make_friedman_problem(problem, TRAINING_ROWS[problem], random_state=problem)
    X_test, _ = make_friedman_problem(problem, 500, random_state=100 + problem)
    near = NearestNeighbors(n_neighbors=log_n_neighbors(len(X))).fit(X).kneighbors(X_test)[1]
    return float((voronoi_steps(X_test, X[near]) < 0.5).mean())


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Compare the ways of sampling, write `bennett-cell.csv`, and return the table as text."""
    n_runs = QUICK_RUNS if quick else ALL_RUNS
    methods = {name: partial(recalibrated_with, name) for name in Neighborhood.SAMPLINGS}
    errors = friedman_errors(methods, n_runs, "ways of sampling", progress, quick=quick)
    table = [
        {
            "problem": problem,
            "sampling": name,
            "mean_error": round(runs.mean(), 3),
            "std_error": round(runs.std(ddof=1), 3),
            "p_against_voronoi": round(paired_p_value(runs, errors[p, :, 0]), 4),
            "midpoints_outside": round(share_outside(problem), 3),
        }
        for p, problem in enumerate(PROBLEMS)
        for name, runs in zip(Neighborhood.SAMPLINGS, errors[p].T, strict=True)
    ]
    path = out / "bennett-cell.csv"
    write_table(path, table)
    title = f"Error in % of Sensitivity Recalibrated by the way of sampling, mean of {n_runs} runs"
    return "\n".join([title, *map(_sentence, table), "", f"Written to {path}"])


def _sentence(row: dict[str, Any]) -> str:
    return (
        f"Problem {row['problem']}, {row['sampling']:<9}{row['mean_error']:6.2f} ± {row['std_error']:.2f}"
        f" (p against voronoi {row['p_against_voronoi']:.3f};"
        f" {row['midpoints_outside']:.0%} of midpoints are outside the cell)"
    )
