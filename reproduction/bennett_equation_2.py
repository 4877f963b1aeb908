"""Equation 2 of Bennett (2007): the best local line where the true log-odds are known, on problems 1 and 2."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import spearmanr
from sklearn.neighbors import NearestNeighbors

from reproduction.bennett_table_2 import PROBLEMS, paper_knn, recalibrated
from reproduction.results import Floats, in_parallel, text_table, write_table
from surefoot import LocallyRecalibratedClassifier, LocalSensitivity
from surefoot.datasets import make_friedman_problem
from surefoot.neighborhoods import log_n_neighbors, voronoi_samples

# The classes of problems 3 to 5 are certain, so their log-odds are infinite.
WITH_TRUTH = (1, 2)
N_RUNS, QUICK_RUNS, TEST_ROWS = 20, 2, 500

KNN, EQUATION_3, SENSITIVITY = "kNN", "equation 3 (Recalibrated)", "Sensitivity Recal."
LOCAL = "local weights from labels"
TRUE_LINE, TRUE_CELL = "one line from the truth", "equation 2 from the truth"
FACTORS = ["σ of the truth", "1/σ of the estimate", "|ρ|"]


def run(out: Path, *, quick: bool = False) -> str:
    """Compare the weights of equation 2 with what is learned from labels, and write `bennett-equation-2.csv`.

    Lower is better: both the distance from the true log-odds and the decisions that differ from the best possible.
    """
    jobs = [(problem, r) for problem in WITH_TRUTH for r in range(QUICK_RUNS if quick else N_RUNS)]
    results = list(in_parallel(one_run, jobs, "runs"))
    table = [row for rows, _ in results for row in rows]
    write_table(out / "bennett-equation-2.csv", table, ".4f")
    lines = [
        f"Log-odds by six ways against the true ones, mean ± standard deviation of {len(jobs) // 2} runs"
    ]
    cells = [["problem, log-odds by", "median |λ* − λ|", "decisions unlike the best, %"]]
    for problem in WITH_TRUTH:
        for name in (KNN, EQUATION_3, SENSITIVITY, LOCAL, TRUE_LINE, TRUE_CELL):
            own = [row for row in table if (row["problem"], row["log_odds_by"]) == (problem, name)]
            values = [np.array([row[k] for row in own]) for k in ("distance", "unlike_best")]
            spreads = [f"{v.mean():.2f} ± {v.std(ddof=1):.2f}" for v in values]
            cells.append([f"{problem}, {name}", *spreads])
    lines += [
        text_table(cells),
        "\nRank correlation of |w1| with each factor of equation 2, over test rows",
    ]
    parts = [["problem", *FACTORS, "mean ρ"]]
    for problem in WITH_TRUTH:
        found = [of for (p, _), (_, of) in zip(jobs, results, strict=True) if p == problem]
        parts.append([str(problem), *(f"{v:+.2f}" for v in np.mean(found, axis=0))])
    return "\n".join([*lines, text_table(parts)])


def one_run(problem: int, number: int) -> tuple[list[dict[str, Any]], list[float]]:
    """Distances of the log-odds from the truth on one draw, and what the slope of equation 2 goes with."""
    random = np.random.RandomState(1000 * problem + number)
    X, y = make_friedman_problem(problem, PROBLEMS[problem], random)
    X_test, _ = make_friedman_problem(problem, TEST_ROWS, random)
    knn, truth = paper_knn().fit(X, y), true_log_odds(problem, X_test)
    estimate = knn.decision_function(X_test)
    near = NearestNeighbors(n_neighbors=log_n_neighbors(len(X))).fit(X).kneighbors(X_test)[1]
    samples = voronoi_samples(X_test, X[near])
    flat = samples.reshape(-1, X.shape[1])
    in_cell = knn.decision_function(flat).reshape(near.shape)
    true_in_cell = true_log_odds(problem, flat).reshape(near.shape)
    offset, slope = cell_weights(in_cell, true_in_cell)
    line = np.polyfit(estimate, truth, 1)
    local = LocallyRecalibratedClassifier(paper_knn(), random_state=0).fit(X, y)
    log_odds = {
        KNN: estimate,
        EQUATION_3: log_odds_of(recalibrated().fit(X, y), X_test),
        SENSITIVITY: log_odds_of(recalibrated(LocalSensitivity()).fit(X, y), X_test),
        LOCAL: log_odds_of(local, X_test),
        TRUE_LINE: np.polyval(line, estimate),
        TRUE_CELL: offset + slope * estimate,
    }
    rows = [
        {
            "problem": problem,
            "run": number,
            "log_odds_by": name,
            "distance": float(np.median(np.abs(values - truth))),
            "unlike_best": 100 * float(((values > 0) != (truth > 0)).mean()),
        }
        for name, values in log_odds.items()
    ]
    sizes = true_in_cell.std(axis=1), 1 / in_cell.std(axis=1)
    rho = slope / (sizes[0] * sizes[1])
    factors = [*sizes, np.abs(rho)]
    return rows, [*(float(spearmanr(np.abs(slope), f)[0]) for f in factors), float(rho.mean())]


def cell_weights(estimate: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """Weights w0 and w1 of equation 2, from estimated and true log-odds at the samples of each row (n, k)."""
    centred = estimate - estimate.mean(axis=1, keepdims=True)
    slope = (centred * truth).mean(axis=1) / (centred**2).mean(axis=1)
    return truth.mean(axis=1) - slope * estimate.mean(axis=1), slope


def true_log_odds(problem: int, X: Floats) -> Floats:
    """True log-odds of the positive class on problem 1 or 2: the difference of two normal log-densities."""
    i = np.arange(1, 11)
    means, variances = np.sqrt(i if problem == 1 else 11 - i) / 2, 1 / np.sqrt(i)
    positive = (X - means) ** 2 / variances + np.log(variances)
    return np.asarray((X**2 - positive).sum(axis=1) / 2)


def log_odds_of(model: Any, X: Floats) -> Floats:
    """Log-odds of the positive class by a model's probabilities, kept finite."""
    return np.asarray(logit(np.clip(model.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)))
