"""Pretraining of the prior for sizes of errors: what large errors of regressors have in common on many tables.

    surefoot reproduce error-size-prior --out FOLDER

collects the cases of regression that FOLDER lacks, learns from them, and writes `size_prior.npz`, which ships in
`surefoot._priors`, and `error_size_prior.csv`: how well errors of each table are estimated from the other tables alone.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from surefoot._files import write_whole
from surefoot._priors import SIGNS, VERSION, SizePrior
from surefoot.experiments._boosted_export import tree_arrays
from surefoot.experiments._case_store import read_case
from surefoot.experiments._case_tables import case_tables
from surefoot.experiments._csv_tables import write_table
from surefoot.experiments._prior_cases import QUICK_TABLES, collect_all, plan
from surefoot.experiments._progress import Progress, silent

Floats = NDArray[np.float64]

# Models and training sizes of the cases.
MODELS = ("ridge", "forest", "boosting", "knn", "svr")
SIZES = (120, 350)

# Rows drawn from each case, so that large tables do not take longer; each table weighs the same.
ROWS_OF_A_CASE = 300

# Relative sizes of errors are held to this range: a few huge errors must not speak for all rows.
LEAST_RATIO, MOST_RATIO = 1e-3, 20.0


class SizeCase(NamedTuple):
    """Columns of the prior for rows of one case, sizes of their errors over the held-out mean, and who was held out."""

    family: str
    table: str
    columns: Floats
    ratios: Floats
    is_test: NDArray[np.bool_]


def size_case(arrays: dict[str, Any]) -> SizeCase:
    """Held-out rows and test rows of a stored case, with the columns that the prior learns from."""
    residuals = np.abs(np.concatenate([arrays["residuals"], arrays["test_residuals"]]))
    mean_size = float(np.abs(arrays["residuals"]).mean())
    prior = SizePrior().fit(arrays["columns"], list(arrays["column_names"]), mean_size)
    columns = prior.columns(np.vstack([arrays["columns"], arrays["test_columns"]]))
    is_test = np.arange(len(residuals)) >= len(arrays["residuals"])
    return SizeCase(arrays["family"], arrays["table"], columns, residuals / mean_size, is_test)


def pretrain(cases: Sequence[SizeCase], n_trees: int = 80) -> HistGradientBoostingRegressor:
    """Boosted trees for the logarithm of the relative size; each table weighs the same, and signs are kept.

    The loss is that of a gamma distribution: log(estimate) + size / estimate.
    """
    draw = np.random.default_rng(0)
    kept = [draw.permutation(len(case.ratios))[:ROWS_OF_A_CASE] for case in cases]
    names = [case.table for case in cases]
    weights = [
        np.full(len(rows), 1 / len(rows) / names.count(case.table))
        for case, rows in zip(cases, kept, strict=True)
    ]
    weight = np.concatenate(weights)
    ratios = np.concatenate([case.ratios[rows] for case, rows in zip(cases, kept, strict=True)])
    return HistGradientBoostingRegressor(
        loss="gamma",
        max_iter=n_trees,
        max_leaf_nodes=8,
        min_samples_leaf=100,
        learning_rate=0.1,
        early_stopping=False,
        monotonic_cst=list(SIGNS),
        random_state=0,
    ).fit(
        np.vstack([case.columns[rows] for case, rows in zip(cases, kept, strict=True)]),
        np.clip(ratios, LEAST_RATIO, MOST_RATIO),
        sample_weight=weight * len(weight) / weight.sum(),
    )


def held_out_losses(cases: Sequence[SizeCase], n_trees: int = 80) -> list[dict[str, Any]]:
    """Loss on the test rows of each table, by the mean size alone and by a prior that saw no table of its family."""
    lines = []
    for family in sorted({case.family for case in cases}):
        learned = pretrain([case for case in cases if case.family != family], n_trees)
        own = [case for case in cases if case.family == family]
        for table in sorted({case.table for case in own}):
            losses = [case_losses(case, learned) for case in own if case.table == table]
            constant, prior = np.mean(losses, axis=0)
            line = {"table": table, "family": family, "n_cases": len(losses)}
            lines.append(line | {"constant": f"{constant:.4f}", "prior": f"{prior:.4f}"})
    return lines


def case_losses(case: SizeCase, learned: Any) -> tuple[float, float]:
    """Mean of log(estimate) + size / estimate over the test rows: of the constant, and of the levelled prior."""
    log_sizes = np.log(learned.predict(case.columns))
    log_sizes += np.log(np.mean((case.ratios * np.exp(-log_sizes))[~case.is_test]))
    losses = log_sizes + case.ratios * np.exp(-log_sizes)
    return float(case.ratios[case.is_test].mean()), float(losses[case.is_test].mean())


def run(out: Path, *, quick: bool = False, progress: Progress = silent) -> str:
    """Collect, learn, write the trees and the figures of each table, and return a summary."""
    tables = QUICK_TABLES["regression"] if quick else case_tables("regression")
    kinds, sizes = (["ridge", "knn"], [60, 110]) if quick else (MODELS, SIZES)
    planned = plan(tables, kinds=kinds, sizes=sizes)
    collected = collect_all(planned, out, "regression", progress)
    cases = [size_case(read_case(case.path(out))) for case in planned]
    n_trees = 5 if quick else 80
    learned = pretrain(cases, n_trees)
    content = BytesIO()
    shown = cases[0].columns[:200]
    arrays = tree_arrays(learned, shown, np.log(learned.predict(shown)))
    np.savez_compressed(content, version=np.array(VERSION), **arrays)  # type: ignore[arg-type]
    write_whole(out / "size_prior.npz", content.getvalue())
    if quick:
        return collected
    lines = held_out_losses(cases)
    write_table(out / "error_size_prior.csv", lines)
    means = [np.mean([float(line[name]) for line in lines]) for name in ("constant", "prior")]
    return (
        f"{collected}\nMean loss over {len(lines)} tables: {means[0]:.4f} by the mean size, {means[1]:.4f} by a prior "
        f"that saw no table of the family. Trees in {out / 'size_prior.npz'}"
    )
