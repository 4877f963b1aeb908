"""How much staying within the Voronoi cell matters, which Bennett (2007, section 5) leaves open."""

from pathlib import Path
from typing import Any

from scipy.sparse import issparse
from sklearn.neighbors import NearestNeighbors

from reproduction.bennett_table_2 import PROBLEMS, friedman_errors, recalibrated
from reproduction.results import (
    p_value_text,
    paired_p_value,
    spread_of,
    text_table,
    with_spread,
    write_table,
)
from surefoot import LocalSensitivity
from surefoot.datasets import make_friedman_problem
from surefoot.neighborhoods import Neighborhood, log_n_neighbors, voronoi_steps

ALL_RUNS, QUICK_RUNS = 30, 2


def run(out: Path, *, quick: bool = False) -> str:
    """Compare the ways of sampling, write `bennett-cell.csv`, and return the table as text."""
    n_runs = QUICK_RUNS if quick else ALL_RUNS
    errors = friedman_errors(make_models, range(n_runs), quick=quick)
    table = [
        {
            "problem": problem,
            "sampling": name,
            "mean_error": round(runs[p].mean(), 3),
            "std_error": round(spread_of(runs[p]), 3),
            "p_against_voronoi": round(paired_p_value(runs[p], errors["voronoi"][p]), 4),
            "midpoints_outside": round(share_of_problem(problem), 4),
        }
        for p, problem in enumerate(PROBLEMS)
        for name, runs in errors.items()
    ]
    write_table(out / "bennett-cell.csv", table)
    rows = [["problem", "sampling", "error", "p against voronoi", "midpoints outside the cell"]]
    for row in table:
        error = with_spread(row["mean_error"], row["std_error"])
        p_value = p_value_text(row["p_against_voronoi"])
        outside = f"{row['midpoints_outside']:.1%}"
        rows.append([str(row["problem"]), row["sampling"], error, p_value, outside])
    title = f"Error in % of Sensitivity Recalibrated by the way of sampling, mean of {n_runs} runs"
    return f"{title}\n{text_table(rows)}"


def make_models(_n_rows: int) -> dict[str, Any]:
    """Nearest neighbours recalibrated with samples drawn in each of the ways."""
    return {
        name: recalibrated(LocalSensitivity(sampling=name, random_state=0))
        for name in Neighborhood.SAMPLINGS
    }


def share_of_problem(problem: int) -> float:
    """Share of the midpoints outside the cell on one of the five problems, with the paper's k."""
    X, _ = make_friedman_problem(problem, PROBLEMS[problem], random_state=problem)
    X_test, _ = make_friedman_problem(problem, 500, random_state=100 + problem)
    return share_outside(X_test, X, log_n_neighbors(len(X)))


def share_outside(X: Any, train: Any, n_neighbors: int, metric: str = "euclidean") -> float:
    """Share of the midpoints between rows and their nearest training rows that another training row is nearer to."""
    search = NearestNeighbors(n_neighbors=n_neighbors, metric=metric).fit(train)
    near = search.kneighbors(X, return_distance=False)
    neighbors = train[near.ravel()] if issparse(train) else train[near]
    return float((voronoi_steps(X, neighbors, metric=metric) < 0.5).mean())
