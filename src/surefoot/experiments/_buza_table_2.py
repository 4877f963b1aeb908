"""Buza, Nanopoulos and Schmidt-Thieme (2010), table 2: a number of neighbours for every series."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_rel
from sklearn.base import clone
from sklearn.model_selection import KFold

from surefoot._typing import Floats, Ints
from surefoot.datasets import fetch_ucr, list_ucr
from surefoot.experiments._progress import Progress, silent
from surefoot.experiments._stored_neighbors import StoredLists, StoredNeighbors, stored_lists
from surefoot.neighborhoods import infect_hubs
from surefoot.resampling import HoldoutSplit
from surefoot.time_series import KNeighborsDTWClassifier, LocalKNeighborsDTWClassifier

NOISE = (0.0, 0.01, 0.05, 0.1)
FEWEST_SERIES = 100
QUICK_SETS = 10
# Nine neighbours remain of these when a tenth and then half of the series are taken away.
LIST_LENGTH = 60
LEVEL = 0.05
# Wins (significant) and losses (significant) at 1, 5 and 10 % and in total, of 35 sets.
PAPER = {
    "1-NN": (("30 (20)", "34 (29)", "34 (31)", "98 (80)"), ("5 (1)", "1 (0)", "1 (0)", "7 (1)")),
    "k-NN": (("30 (15)", "30 (9)", "28 (14)", "88 (38)"), ("5 (1)", "5 (1)", "7 (1)", "17 (3)")),
}


@dataclass(frozen=True)
class Cell:
    """Accuracies of every method in the ten folds of one set at one level of noise."""

    name: str
    noise: float
    accuracies: dict[str, Floats]

    def gain(self, method: str, baseline: str) -> float:
        """Mean difference in accuracy, rounded so that equal means are equal."""
        return round(float((self.accuracies[method] - self.accuracies[baseline]).mean()), 12)

    def is_significant(self, method: str, baseline: str) -> bool:
        """Paired t-test over the folds."""
        difference = self.accuracies[method] - self.accuracies[baseline]
        if np.ptp(difference) < 1e-12:
            return abs(float(difference[0])) > 1e-12
        return bool(ttest_rel(difference, np.zeros_like(difference)).pvalue < LEVEL)


def run(
    out: Path,
    *,
    quick: bool = False,
    progress: Progress = silent,
    n_jobs: int | None = None,
) -> str:
    """Compare the local choice with 1-NN and the globally best k; higher accuracy wins.

    Every complete UCR set on disk with at least 100 series, train and test pooled, with 0, 1, 5
    and 10 % of the series, the best hubs, put into a class of their own; ten-fold
    cross-validation. Writes `buza-table-2-folds.csv` and `buza-table-2.csv` to `out`, keeps the
    neighbour lists in `out/neighbors`, and returns the table as text.

    Parameters
    ----------
    out : Path
        Folder for the results.
    quick : bool, default=False
        Whether to take the ten smallest sets only.
    progress : callable, default=silent
        Called as `progress(items, total=..., label=...)`; yields the items.
    n_jobs : int, default=None
        Threads of the neighbour search.

    Returns
    -------
    str
    """
    out.mkdir(parents=True, exist_ok=True)
    pooled = pooled_sets(quick=quick)
    cells: list[Cell] = []
    for name, (X, y) in progress(pooled.items(), total=len(pooled), label="UCR sets"):
        file = out / "neighbors" / f"{name}.npz"
        lists = stored_lists(X, file, length=LIST_LENGTH, n_jobs=n_jobs)
        cells += [evaluate(name, lists, y, noise) for noise in NOISE]
    write_folds(out / "buza-table-2-folds.csv", cells)
    rows = table_rows(cells)
    with (out / "buza-table-2.csv").open("w", newline="") as file_:
        csv.writer(file_).writerows(rows)
    return render(rows, len(pooled))


def pooled_sets(*, quick: bool) -> dict[str, tuple[Floats, Ints]]:
    """Series and labels of each set that is large enough, smallest first."""
    pooled = {}
    for name in list_ucr() or list_ucr(on_disk=False):
        data = fetch_ucr(name)
        X, y = np.vstack([data.X_train, data.X_test]), np.r_[data.y_train, data.y_test]
        if len(X) >= FEWEST_SERIES:
            pooled[name] = (X, y)
    ordered = sorted(pooled.items(), key=lambda item: item[1][0].size)
    return dict(ordered[: QUICK_SETS if quick else None])


def methods(lists: StoredLists, fold: int) -> dict[str, Any]:
    """The two baselines, the local choice, and the local choice by the paper's own rule."""
    search = StoredNeighbors(lists)
    holdout = HoldoutSplit(4 / 9, random_state=fold)
    plain = LocalKNeighborsDTWClassifier(
        cv=holdout,
        label_trust=np.inf,
        weights="uniform",
        tie_break="smallest",
        neighbors=search,
    )
    return {
        "1-NN": KNeighborsDTWClassifier(1, neighbors=search),
        # Infinite shrinkage leaves one error a k, and so the same k for every series.
        "k-NN": clone(plain).set_params(shrinkage=np.inf),
        "local": LocalKNeighborsDTWClassifier(neighbors=search),
        "literal": clone(plain).set_params(shrinkage=0),
    }


def evaluate(name: str, lists: StoredLists, y: Ints, noise: float) -> Cell:
    """Accuracy of every method in each of ten folds."""
    labels = infect_hubs(y, lists.indices, noise)
    rows = np.arange(len(labels))[:, None]
    accuracies: dict[str, list[float]] = {}
    splits = KFold(10, shuffle=True, random_state=0).split(rows)
    for fold, (train, test) in enumerate(splits):
        for method, model in methods(lists, fold).items():
            score = model.fit(rows[train], labels[train]).score(rows[test], labels[test])
            accuracies.setdefault(method, []).append(score)
    return Cell(name, noise, {method: np.array(all_) for method, all_ in accuracies.items()})


def write_folds(file: Path, cells: Iterable[Cell]) -> None:
    """One line a set, level of noise and fold, with the accuracy of each method."""
    with file.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["set", "noise", "fold", "1-NN", "k-NN", "local", "literal"])
        for cell in cells:
            for fold, scores in enumerate(zip(*cell.accuracies.values(), strict=True)):
                writer.writerow(
                    [cell.name, cell.noise, fold, *(f"{score:.6f}" for score in scores)]
                )


def count(cells: list[Cell], method: str, baseline: str, sign: int) -> str:
    """How many cells are won (sign 1) or lost (-1), and in brackets how many significantly."""
    decided = [cell for cell in cells if np.sign(cell.gain(method, baseline)) == sign]
    return f"{len(decided)} ({sum(cell.is_significant(method, baseline) for cell in decided)})"


def table_rows(cells: list[Cell]) -> list[list[str]]:
    """The table, headline first: ours and the paper's counts beside each other."""
    noisy = [cell for cell in cells if cell.noise > 0]
    groups = [[cell for cell in cells if cell.noise == noise] for noise in NOISE] + [noisy]
    rows = [["", "p = 0 %", "p = 1 %", "p = 5 %", "p = 10 %", "total, p > 0"]]
    for baseline, paper in PAPER.items():
        for sign, verb, published in ((1, "wins", paper[0]), (-1, "losses", paper[1])):
            for method in ("local", "literal"):
                counts = [count(group, method, baseline, sign) for group in groups]
                rows.append([f"{method}: {verb} against {baseline}-DTW", *counts])
            rows.append([f"paper: {verb} against {baseline}-DTW", "", *published])
        for method in ("local", "literal"):
            gains = [np.mean([cell.gain(method, baseline) for cell in group]) for group in groups]
            rows.append(
                [
                    f"{method}: mean gain on {baseline}-DTW, points",
                    *(f"{100 * gain:+.2f}" for gain in gains),
                ]
            )
    return rows


def render(rows: list[list[str]], n_sets: int) -> str:
    """The table as plain text, with a line on how to read it."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    note = (
        f"{n_sets} sets, the paper 35; significant ones (paired t-test at {LEVEL}) in brackets; "
        "equal accuracies count as neither. literal: the paper's rule as written; "
        "k-NN: the best k on a held-out part."
    )
    return "\n".join([*lines, "", note])
