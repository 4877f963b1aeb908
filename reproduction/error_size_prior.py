"""Prior for sizes of errors: what large errors of regressors have in common on many tables.

Collects the cases of regression that the folder lacks, learns from them, and writes `size_prior.npz`, which ships with
surefoot, and `error_size_prior.csv`: how well errors of each table are estimated from the other tables alone.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from reproduction.prior_cases import QUICK_TABLES, case_tables, collect_all, plan, read_case
from reproduction.results import Floats, Mask, write_table, write_whole

# Models and training sizes of the cases.
MODELS = ("ridge", "forest", "boosting", "knn", "svr")
SIZES = (120, 350)
N_TREES, QUICK_TREES = 80, 5

# Rows drawn from each case, so that large tables do not take longer; each table weighs the same.
ROWS_OF_A_CASE = 300
# Relative sizes of errors are limited to this range: a few huge errors must not outweigh all others.
LEAST_RATIO, MOST_RATIO = 1e-3, 20.0

# Version of the columns, and the columns of the default indicators that they are made of: surefoot reads both.
VERSION = 4
LENGTHS = (
    "NeighborDisagreement__gap_10",
    "NeighborDisagreement__gap_30",
    "NeighborDisagreement__spread_10",
    "NeighborDisagreement__spread_30",
    "SecondOpinion__trees_gap",
    "SecondOpinion__trees_spread",
    "SecondOpinion__boosting_gap",
    "SecondOpinion__linear_gap",
    "SecondOpinion__kernel_gap",
)
DISTANCE = "NeighborDistance__log_distance_10"
PREDICTION = "Row__prediction"
# Signs of the effects of `prior_columns`: a larger gap, spread or distance is never safer; a high or an extreme
# prediction may be either.
SIGNS = (*(1 for _ in LENGTHS), 1, 0, 0)
# Lengths below a tenth of the mean hardly differ, and those beyond a million times it do not either.
SMALL_LENGTH, LARGE_LENGTH = 0.1, 1e6
# Most standard deviations that a prediction differs from the mean prediction.
MOST_PREDICTION = 4.0

# Most that two sums of the same leaves may differ by.
ROUNDING = 1e-9


class SizeCase(NamedTuple):
    """Columns of the prior for rows of one case, sizes of their errors over the held-out mean, and the test rows."""

    family: str
    table: str
    columns: Floats
    ratios: Floats
    is_test: Mask


def run(out: Path, *, quick: bool = False) -> str:
    """Collect, learn, write the trees and the results of each table, and return a summary."""
    tables = QUICK_TABLES["regression"] if quick else case_tables("regression")
    kinds, sizes = (["ridge", "knn"], [60, 110]) if quick else (MODELS, SIZES)
    planned = plan(tables, kinds=kinds, sizes=sizes)
    collected = collect_all(planned, out)
    cases = [size_case(read_case(case.path(out))) for case in planned]
    learned = learn(cases, QUICK_TREES if quick else N_TREES)
    content = BytesIO()
    shown = cases[0].columns[:200]
    arrays = tree_arrays(learned, shown, np.log(learned.predict(shown)))
    asked = np.array([*LENGTHS, DISTANCE, PREDICTION])
    np.savez_compressed(content, version=np.array(VERSION), columns=asked, **arrays)  # type: ignore[arg-type]
    write_whole(out / "size_prior.npz", content.getvalue())
    if quick:
        return collected
    lines = held_out_losses(cases)
    write_table(out / "error_size_prior.csv", lines, ".4f")
    constant, prior = (np.mean([line[name] for line in lines]) for name in ("constant", "prior"))
    return (
        f"{collected}\nMean loss over {len(lines)} tables: {constant:.4f} by the mean size, {prior:.4f} by a prior "
        "that was learned without the tables of the family"
    )


def size_case(arrays: dict[str, Any]) -> SizeCase:
    """Held-out rows and test rows of a stored case, with the columns that the prior learns from."""
    sizes = np.abs(np.concatenate([arrays["residuals"], arrays["test_residuals"]]))
    mean_size = float(np.abs(arrays["residuals"]).mean())
    columns = prior_columns(arrays, mean_size)
    is_test = np.arange(len(sizes)) >= len(arrays["residuals"])
    return SizeCase(arrays["family"], arrays["table"], columns, sizes / mean_size, is_test)


def prior_columns(arrays: dict[str, Any], mean_size: float) -> Floats:
    """Columns that mean the same on every table: logarithms of lengths, distances, standardised predictions.

    They must be those that `IndividualErrorRegressor` asks the prior with.
    """
    names = list(arrays["column_names"])
    known, table = arrays["columns"], np.vstack([arrays["columns"], arrays["test_columns"]])
    lengths = table[:, [names.index(name) for name in LENGTHS]]
    distance, prediction = names.index(DISTANCE), names.index(PREDICTION)
    center, spread = known[:, prediction].mean(), known[:, prediction].std()
    ahead = (table[:, prediction] - center) / max(spread, 1e-300)
    ahead = np.clip(ahead, -MOST_PREDICTION, MOST_PREDICTION)
    distances = log_length(np.exp(table[:, distance]), np.exp(known[:, distance]).mean())
    return np.column_stack([log_length(lengths, mean_size), distances, ahead, np.abs(ahead)])


def log_length(lengths: Floats, mean: float) -> Floats:
    """Logarithm of lengths over a mean, which levels off below a tenth of it: rows that occur twice have distance 0."""
    with np.errstate(over="ignore"):
        relative = np.minimum(np.abs(lengths) / max(mean, 1e-300), LARGE_LENGTH)
    return np.asarray(np.log(np.hypot(relative, SMALL_LENGTH)))


def learn(cases: Sequence[SizeCase], n_trees: int = N_TREES) -> HistGradientBoostingRegressor:
    """Boosted trees for the logarithm of the relative size; each table weighs the same, and signs are kept.

    The loss is that of a gamma distribution: log(estimate) + size / estimate.
    """
    random = np.random.default_rng(0)
    names = [case.table for case in cases]
    columns, ratios, weights = [], [], []
    for case in cases:
        rows = random.permutation(len(case.ratios))[:ROWS_OF_A_CASE]
        columns.append(case.columns[rows])
        ratios.append(np.clip(case.ratios[rows], LEAST_RATIO, MOST_RATIO))
        weights.append(np.full(len(rows), 1 / len(rows) / names.count(case.table)))
    weight = np.concatenate(weights)
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
        np.vstack(columns),
        np.concatenate(ratios),
        sample_weight=weight * len(weight) / weight.sum(),
    )


def held_out_losses(cases: Sequence[SizeCase], n_trees: int = N_TREES) -> list[dict[str, Any]]:
    """Loss on the test rows of each table, by the mean size alone and by a prior without the tables of its family."""
    lines = []
    for family in sorted({case.family for case in cases}):
        learned = learn([case for case in cases if case.family != family], n_trees)
        own = [case for case in cases if case.family == family]
        for table in sorted({case.table for case in own}):
            losses = [case_losses(case, learned) for case in own if case.table == table]
            constant, prior = np.mean(losses, axis=0)
            line = {"table": table, "family": family, "n_cases": len(losses)}
            lines.append(line | {"constant": constant, "prior": prior})
    return lines


def case_losses(case: SizeCase, learned: Any) -> tuple[float, float]:
    """Mean of log(estimate) + size / estimate over the test rows: of the constant, and of the levelled prior."""
    log_sizes = np.log(learned.predict(case.columns))
    log_sizes += np.log(np.mean((case.ratios * np.exp(-log_sizes))[~case.is_test]))
    losses = log_sizes + case.ratios * np.exp(-log_sizes)
    return float(case.ratios[case.is_test].mean()), float(losses[case.is_test].mean())


def tree_arrays(boosting: Any, table: Floats, expected: Floats) -> dict[str, NDArray[Any]]:
    """Plain arrays of a fitted histogram gradient boosting, as surefoot reads them.

    `boosting` has numeric columns and one sum of trees. `expected` are its own sums for the rows of `table`, on the
    scale that it boosts on; other sums of the arrays raise an error.
    """
    trees = [tree.nodes.copy() for (tree,) in boosting._predictors]  # noqa: SLF001 - fitted trees have no public name
    roots = np.cumsum([0, *map(len, trees)])[:-1]
    for root, own in zip(roots.tolist(), trees, strict=True):
        for side in ("left", "right"):
            own[side][own["is_leaf"] == 0] += root
    nodes = np.concatenate(trees)
    is_leaf = nodes["is_leaf"] == 1
    arrays: dict[str, NDArray[Any]] = {
        "feature": np.where(is_leaf, -1, nodes["feature_idx"].astype(np.int64)).astype(np.int16),
        "threshold": np.where(is_leaf, 0.0, nodes["num_threshold"]),
        "left": np.where(is_leaf, 0, nodes["left"]).astype(np.int32),
        "right": np.where(is_leaf, 0, nodes["right"]).astype(np.int32),
        "missing_left": nodes["missing_go_to_left"] == 1,
        "value": np.where(is_leaf, nodes["value"], 0.0),
        "roots": roots.astype(np.int32),
        "constant": np.array(np.squeeze(boosting._baseline_prediction)),  # noqa: SLF001 - as above
        "depth": np.array(int(nodes["depth"].max())),
    }
    if not np.allclose([walk(arrays, row) for row in table], expected, rtol=0, atol=ROUNDING):
        raise ValueError("The arrays do not predict as the boosting does.")
    return arrays


def walk(arrays: dict[str, NDArray[Any]], row: Floats) -> float:
    """Sum of the leaves that one row reaches, node by node."""
    total = float(arrays["constant"])
    for root in arrays["roots"]:
        node = root
        while (column := arrays["feature"][node]) >= 0:
            value, is_left = row[column], arrays["missing_left"][node]
            if not np.isnan(value):
                is_left = value <= arrays["threshold"][node]
            node = arrays["left" if is_left else "right"][node]
        total += float(arrays["value"][node])
    return total
