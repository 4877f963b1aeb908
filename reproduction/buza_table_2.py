"""Buza, Nanopoulos and Schmidt-Thieme (2010), table 2: a number of neighbours for every series."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold

from reproduction.data import fetch_ucr, list_ucr
from reproduction.results import Floats, Ints, paired_p_value, progress, text_table, write_table
from surefoot.neighborhoods import DTWNeighbors, infect_hubs
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
NOTE = (
    "sets, the paper 35; significant ones (paired t-test at 0.05) in brackets; equal accuracies count as neither. "
    "literal: the paper's rule as written; k-NN: the best k on a held-out part."
)


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
        return paired_p_value(self.accuracies[method], self.accuracies[baseline]) < LEVEL


def run(out: Path, *, quick: bool = False) -> str:
    """Compare the local choice with 1-NN and the globally best k; higher accuracy wins.

    Every complete UCR set on disk with at least 100 series, train and test pooled, with 0, 1, 5 and 10 % of the series,
    the best hubs, put into a class of their own; ten-fold cross-validation. Writes `buza-table-2-folds.csv` and
    `buza-table-2.csv`, keeps the neighbour lists in the folder `neighbors`, and returns the table as text. Quick: the
    ten smallest sets.
    """
    pooled = pooled_sets(quick=quick)
    cells: list[Cell] = []
    for name, (X, y) in progress(pooled.items(), total=len(pooled), label="UCR sets"):
        lists = stored_lists(X, out / "neighbors" / f"{name}.npz", LIST_LENGTH)
        cells += [evaluate(name, lists, y, noise) for noise in NOISE]
    folds = [
        {
            "set": cell.name,
            "noise": str(cell.noise),
            "fold": fold,
            **{method: scores[fold] for method, scores in cell.accuracies.items()},
        }
        for cell in cells
        for fold in range(10)
    ]
    write_table(out / "buza-table-2-folds.csv", folds, ".6f")
    rows = table_rows(cells)
    write_table(
        out / "buza-table-2.csv", [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    )
    return f"{text_table(rows)}\n\n{len(pooled)} {NOTE}"


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


@dataclass(frozen=True)
class StoredLists:
    """Series, and the nearest others of each, nearest first."""

    series: Floats
    distances: Floats
    indices: Ints


def stored_lists(series: Floats, file: Path, length: int) -> StoredLists:
    """Neighbour lists from a file, or searched and written to it; it is bound to these series."""
    digest = hashlib.sha256(series.tobytes()).hexdigest()
    length = min(length, len(series) - 1)
    if file.exists():
        with np.load(file) as stored:
            if str(stored["digest"]) == digest and stored["indices"].shape[1] >= length:
                return StoredLists(series, stored["distances"], stored["indices"])
    distances, indices = DTWNeighbors(length).fit(series).kneighbors()
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, digest=digest, distances=distances, indices=indices)
    return StoredLists(series, distances, indices)


class StoredNeighbors(BaseEstimator):
    """The interface of DTWNeighbors over stored lists; X is a column of row numbers.

    If too few entries of a list are training rows, the row is searched again among the training series.
    """

    def __init__(self, lists: StoredLists) -> None:
        self.lists = lists

    def __sklearn_clone__(self) -> "StoredNeighbors":
        """A search in the same lists: they are large and never change."""
        return StoredNeighbors(self.lists)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the numbers of the training rows."""
        self._rows = np.asarray(X)[:, 0]
        self.n_samples_fit_ = len(self._rows)
        return self

    def kneighbors(self, X: Any = None, n_neighbors: int = 5) -> tuple[Floats, Ints]:
        """Distances and positions of the nearest training rows, nearest first, self excluded."""
        queries = self._rows if X is None else np.asarray(X)[:, 0]
        position = np.full(len(self.lists.series), -1)
        position[self._rows] = np.arange(len(self._rows))
        positions = position[self.lists.indices[queries]]
        enough = (positions >= 0).sum(axis=1) >= n_neighbors
        shape = (len(queries), n_neighbors)
        distances, nearest = np.empty(shape), np.empty(shape, dtype=np.int64)
        if enough.any():
            # A stable sort on a boolean moves the training rows to the front and keeps their order.
            front = np.argsort(positions < 0, axis=1, kind="stable")[enough, :n_neighbors]
            known = self.lists.distances[queries[enough]]
            distances[enough] = np.take_along_axis(known, front, 1)
            nearest[enough] = np.take_along_axis(positions[enough], front, 1)
        if not enough.all():
            again = self._search(queries[~enough], position[queries[~enough]], n_neighbors)
            distances[~enough], nearest[~enough] = again
        return distances, nearest

    def _search(self, queries: Ints, own: Ints, n_neighbors: int) -> tuple[Floats, Ints]:
        """Search the training series; `own` are the positions of the queries among them, or -1."""
        length = min(n_neighbors + 1, len(self._rows))
        search = DTWNeighbors(length).fit(self.lists.series[self._rows])
        distances, positions = search.kneighbors(self.lists.series[queries])
        others = np.argsort(positions == own[:, None], axis=1, kind="stable")[:, :n_neighbors]
        return np.take_along_axis(distances, others, 1), np.take_along_axis(positions, others, 1)


def methods(lists: StoredLists, fold: int) -> dict[str, Any]:
    """The two baselines, the local choice, and the local choice by the paper's own rule."""
    search = StoredNeighbors(lists)
    plain = LocalKNeighborsDTWClassifier(
        cv=HoldoutSplit(4 / 9, random_state=fold),
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
            points = [f"{100 * gain:+.2f}" for gain in gains]
            rows.append([f"{method}: mean gain on {baseline}-DTW, points", *points])
    return rows
