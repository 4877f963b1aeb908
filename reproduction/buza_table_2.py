"""Buza, Nanopoulos and Schmidt-Thieme (2010), table 2: a number of neighbours for every series."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from reproduction.data import fetch_ucr, list_ucr
from reproduction.results import Floats, Ints, paired_p_value, progress, text_table, write_table
from surefoot.neighborhoods import hubness, infect_hubs
from surefoot.resampling import HoldoutSplit
from surefoot.time_series import DTWNeighbors, KNeighborsDTWClassifier, LocalKNeighborsDTWClassifier

NOISE = (0.0, 0.01, 0.05, 0.1)
FEWEST_SERIES = 100
QUICK_SETS = 10
# Nine neighbours remain of these when a tenth and then half of the series are taken away.
LIST_LENGTH = 60
LEVEL = 0.05
SIZES = np.array([1, 3, 5, 7, 9])
# k', the numbers of nearby errors to average; the paper takes five.
ERROR_NEIGHBORS = np.arange(1, 16)
PAPER_ERROR_NEIGHBORS = 5
# The paper does not say which of several numbers with the lowest estimate is taken.
RULES = ("smallest", "largest", "best overall")
LITERAL = tuple(f"literal, {rule}" for rule in RULES)
METHODS = ("local", *LITERAL)
# Wins (significant) and losses (significant) at 1, 5 and 10 % and in total, of 35 sets.
PAPER = {
    "1-NN": (("30 (20)", "34 (29)", "34 (31)", "98 (80)"), ("5 (1)", "1 (0)", "1 (0)", "7 (1)")),
    "k-NN": (("30 (15)", "30 (9)", "28 (14)", "88 (38)"), ("5 (1)", "5 (1)", "7 (1)", "17 (3)")),
}
# Cells behind each of these counts.
PAPER_CELLS = (35, 35, 35, 105)
NOTE = (
    "sets, the paper 35; significant ones (paired t-test at 0.05) in brackets; equal accuracies count as neither. "
    "literal: the paper's method as written; of several k with the lowest estimate the smallest, the largest, or that "
    "with the lowest error on the held-out part. k-NN: the best k on a held-out part."
)


@dataclass(frozen=True)
class Cell:
    """Accuracies of every method in the ten folds of one set at one level of noise."""

    name: str
    noise: float
    accuracies: dict[str, Floats]
    literal: "LiteralScores | None" = None

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
    hubs = []
    for name, (X, y) in progress(pooled.items(), total=len(pooled), label="UCR sets"):
        lists = stored_lists(X, out / "neighbors" / f"{name}.npz", LIST_LENGTH)
        cells += [evaluate(name, lists, y, noise) for noise in NOISE]
        hubs.append(bad_hub_counts(lists.indices[:, :1], y))
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
    tables = table_rows(cells), distance_rows(cells), error_neighbor_rows(cells)
    for rows, suffix in zip(tables, ("", "-distances", "-error-neighbors"), strict=True):
        path = out / f"buza-table-2{suffix}.csv"
        write_table(path, [dict(zip(rows[0], row, strict=True)) for row in rows[1:]])
    counts, distances, by_error_neighbors = map(text_table, tables)
    return "\n".join(
        [
            f"{counts}\n\n{len(pooled)} {NOTE}",
            "\nOur share of wins or losses minus the paper's, in standard errors of the difference",
            f"{distances}\n",
            "Number k' of nearby errors, literal method, p > 0: squared error of the estimated likelihoods,",
            "mean accuracy relative to k' = 5 in points, and cells won against k-NN-DTW, by the rule for ties",
            by_error_neighbors,
            sensitivity_text(cells),
            "\nBad hubs without noise: {:.1%} of the series are one, and {:.0%} of the errors of 1-NN-DTW copy one's "
            "label".format(*np.sum(hubs, axis=0)[::2] / np.sum(hubs, axis=0)[1::2]),
        ]
    )


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
    """The two baselines and the local choice; `literal_scores` adds the paper's own method."""
    search = StoredNeighbors(lists)
    return {
        "1-NN": KNeighborsDTWClassifier(1, neighbors=search),
        # Infinite shrinkage leaves one error a k, and so the same k for every series.
        "k-NN": LocalKNeighborsDTWClassifier(
            cv=HoldoutSplit(4 / 9, random_state=fold),
            shrinkage=np.inf,
            label_trust=np.inf,
            weights="uniform",
            tie_break="smallest",
            neighbors=search,
        ),
        "local": LocalKNeighborsDTWClassifier(neighbors=search),
    }


@dataclass(frozen=True)
class LiteralScores:
    """Scores of the paper's method as written, for each k'."""

    accuracies: Floats  # (folds, rules, k'); one fold has no first axis
    losses: Floats  # (folds, k'): mean squared error of the estimated likelihoods of an error
    fixed: Floats  # (folds, sizes): accuracy with the same k for every series


def literal_scores(indices: Ints, codes: Ints, train: Ints, test: Ints, fold: int) -> LiteralScores:
    """Scores of one fold, from neighbour lists of all series and their classes, for every rule and k' at once.

    `LocalKNeighborsDTWClassifier(cv=HoldoutSplit(4 / 9), shrinkage=0, label_trust=np.inf, weights="uniform")` does the
    same for one k': with `tie_break="smallest"` or "largest", and for the best overall with a shrinkage of 1e-6.
    """
    [(first, second)] = HoldoutSplit(4 / 9, random_state=fold).split(train[:, None], codes[train])
    first, second = train[first], train[second]
    votes = majority(nearest_among(indices[second], first, int(SIZES[-1])), codes)
    wrong = np.zeros((len(codes), len(SIZES)))
    wrong[second] = votes != codes[second, None]
    nearby = nearest_among(indices[test], second, int(ERROR_NEIGHBORS[-1]))
    known = nearby >= 0
    sums = (wrong[nearby] * known[:, :, None]).cumsum(axis=1)
    estimates = sums / known.cumsum(axis=1)[:, :, None]
    overall = 1e-6 * wrong[second].mean(axis=0)
    rounded = estimates.round(12)
    chosen = (
        rounded.argmin(axis=2),
        len(SIZES) - 1 - rounded[:, :, ::-1].argmin(axis=2),
        (rounded + overall).argmin(axis=2),
    )
    right = (
        majority(nearest_among(indices[test], train, int(SIZES[-1])), codes) == codes[test, None]
    )
    return LiteralScores(
        np.array([np.take_along_axis(right, choice, axis=1).mean(axis=0) for choice in chosen]),
        ((estimates - ~right[:, None]) ** 2).mean(axis=(0, 2)),
        right.mean(axis=0),
    )


def nearest_among(indices: Ints, allowed: Ints, count: int) -> Ints:
    """First entries of each list that are allowed; -1 where a list has fewer."""
    is_allowed = np.isin(indices, allowed)
    front = np.argsort(~is_allowed, axis=1, kind="stable")[:, :count]
    near = np.take_along_axis(indices, front, axis=1)
    return np.where(np.take_along_axis(is_allowed, front, axis=1), near, -1)


def majority(near: Ints, codes: Ints) -> Ints:
    """Most frequent class among the first k neighbours for every k, shape (rows, sizes)."""
    votes = (codes[near][:, :, None] == np.arange(codes.max() + 1)) & (near >= 0)[:, :, None]
    return votes.cumsum(axis=1)[:, SIZES - 1].argmax(axis=2)


def evaluate(name: str, lists: StoredLists, y: Ints, noise: float) -> Cell:
    """Accuracy of every method in each of ten folds."""
    labels = infect_hubs(y, lists.indices, noise)
    codes = np.unique(labels, return_inverse=True)[1]
    rows = np.arange(len(labels))[:, None]
    accuracies: dict[str, list[float]] = {}
    literal = []
    splits = KFold(10, shuffle=True, random_state=0).split(rows)
    for fold, (train, test) in enumerate(splits):
        for method, model in methods(lists, fold).items():
            score = model.fit(rows[train], labels[train]).score(rows[test], labels[test])
            accuracies.setdefault(method, []).append(score)
        literal.append(literal_scores(lists.indices, codes, train, test, fold))
    stacked = LiteralScores(
        np.array([each.accuracies for each in literal]),
        np.array([each.losses for each in literal]),
        np.array([each.fixed for each in literal]),
    )
    by_method = {method: np.array(all_) for method, all_ in accuracies.items()}
    by_rule = stacked.accuracies[:, :, ERROR_NEIGHBORS == PAPER_ERROR_NEIGHBORS][:, :, 0]
    return Cell(name, noise, by_method | dict(zip(LITERAL, by_rule.T, strict=True)), stacked)


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
            for method in METHODS:
                counts = [count(group, method, baseline, sign) for group in groups]
                rows.append([f"{method}: {verb} against {baseline}-DTW", *counts])
            rows.append([f"paper: {verb} against {baseline}-DTW", "", *published])
        for method in METHODS:
            gains = [np.mean([cell.gain(method, baseline) for cell in group]) for group in groups]
            points = [f"{100 * gain:+.2f}" for gain in gains]
            rows.append([f"{method}: mean gain on {baseline}-DTW, points", *points])
    return rows


def distance_rows(cells: list[Cell]) -> list[list[str]]:
    """Our shares of cells won and lost minus the paper's, in standard errors, at each level of noise and in total."""
    noisy = [cell for cell in cells if cell.noise > 0]
    groups = [[cell for cell in cells if cell.noise == noise] for noise in NOISE[1:]] + [noisy]
    rows = [["", "p = 1 %", "p = 5 %", "p = 10 %", "total, p > 0"]]
    for baseline, paper in PAPER.items():
        for sign, verb, published in ((1, "wins", paper[0]), (-1, "losses", paper[1])):
            for method in METHODS:
                numbers = []
                for group, theirs, of in zip(groups, published, PAPER_CELLS, strict=True):
                    ours = sum(np.sign(cell.gain(method, baseline)) == sign for cell in group)
                    gap = difference_in_errors(ours, len(group), int(theirs.split()[0]), of)
                    numbers.append(f"{gap:+.1f}")
                rows.append([f"{method}: {verb} against {baseline}-DTW", *numbers])
    return rows


def difference_in_errors(ours: int, of_ours: int, theirs: int, of_theirs: int) -> float:
    """Difference of two shares in standard errors (two independent proportions, pooled); 0 if both are 0 or 1."""
    pooled = (ours + theirs) / (of_ours + of_theirs)
    error = np.sqrt(pooled * (1 - pooled) * (1 / of_ours + 1 / of_theirs))
    return float((ours / of_ours - theirs / of_theirs) / error) if error > 0 else 0.0


def error_neighbor_rows(cells: list[Cell]) -> list[list[str]]:
    """Loss of the estimates, gain over k' = 5 and cells won, by k'."""
    scores = [cell for cell in cells if cell.noise > 0 and cell.literal]
    losses = np.mean([cell.literal.losses.mean(axis=0) for cell in scores], axis=0)  # type: ignore[union-attr]
    accuracies = np.array([cell.literal.accuracies.mean(axis=0) for cell in scores])  # type: ignore[union-attr]
    baseline = np.array([cell.accuracies["k-NN"].mean() for cell in scores])
    won = (accuracies - baseline[:, None, None]).round(12) > 0
    rows = [["k'", "loss", *(f"{rule}: {what}" for rule in RULES for what in ("points", "won"))]]
    for place, number in enumerate(ERROR_NEIGHBORS):
        gains = 100 * (accuracies[:, :, place] - accuracies[:, :, PAPER_ERROR_NEIGHBORS - 1])
        pairs = zip(gains.mean(axis=0), won[:, :, place].sum(axis=0), strict=True)
        cells_of_rules = [text for gain, wins in pairs for text in (f"{gain:+.2f}", str(wins))]
        rows.append([str(number), f"{losses[place]:.4f}", *cells_of_rules])
    return rows


def sensitivity_text(cells: list[Cell]) -> str:
    """How much accuracy depends on k, the same for all series, and on k' of the literal method."""
    scores = [cell.literal for cell in cells if cell.noise > 0 and cell.literal]
    by_size = np.mean([np.ptp(each.fixed.mean(axis=0)) for each in scores])
    ranges = np.mean([np.ptp(each.accuracies.mean(axis=0), axis=1) for each in scores], axis=0)
    odd = [np.ptp(each.accuracies.mean(axis=0)[:, SIZES - 1], axis=1) for each in scores]
    wide, narrow = (
        ", ".join(f"{100 * value:.2f} ({rule})" for value, rule in zip(values, RULES, strict=True))
        for values in (ranges, np.mean(odd, axis=0))
    )
    return (
        f"Best minus worst accuracy in points, mean over the cells: {100 * by_size:.2f} over k = 1, 3, 5, 7, 9 for all "
        f"series alike;\n{narrow} over k' = 1, 3, 5, 7, 9; {wide} over k' = 1 to 15"
    )


def bad_hub_counts(nearest: Ints, y: Ints) -> tuple[int, int, int, int]:
    """Bad hubs and all series; errors of 1-NN whose nearest neighbour is a bad hub, and all errors of 1-NN."""
    hubs = hubness(nearest, y).bad_hubs
    copied = nearest[y[nearest[:, 0]] != y, 0]
    return len(hubs), len(y), int(np.isin(copied, hubs).sum()), len(copied)
