"""Tables of simulated labelling: labels needed, their spread, and when the rule said stop."""

import csv
from pathlib import Path

import numpy as np

from surefoot._typing import Floats, Ints
from surefoot.active_learning import DEFAULT_STRATEGY, SimulationResult, StoppingRule

Results = dict[str, SimulationResult]

GOAL = 0.95
TOLERANCES = (0.03, 0.05, 0.07, 0.09, 0.11, 0.15)
N_DRAWS = 500


def describe(results: dict[float, Results]) -> str:
    """All tables as text, by the share of wrong answers."""
    lines = []
    for wrong, tables in results.items():
        n_repeats = [len(result.full_accuracy) for result in tables.values()]
        title = (
            f"{wrong:.0%} wrong answers, at least {min(n_repeats)} repeats: labels until the mean accuracy reaches "
            f"{GOAL:.0%} of that with all labels (– is never)"
        )
        lines += [
            title,
            *_needed_lines(tables),
            "",
            *_ratio_lines(tables),
            "",
            *_spread_lines(tables),
            "",
            *_stop_lines(tables),
            "",
        ]
    return "\n".join(lines[:-1])


def _needed_lines(tables: Results) -> list[str]:
    names = strategies_of(tables)
    lines = [f"{'':<16}{'all labels':>11}" + "".join(f"{name:>13}" for name in names)]
    for table, result in tables.items():
        needed = result.labels_needed(GOAL)
        cells = [f"{needed[name]:.0f}" if np.isfinite(needed[name]) else "–" for name in names]
        cells = [
            f"{result.full_accuracy.mean():.3f}".rjust(11),
            *(cell.rjust(13) for cell in cells),
        ]
        lines.append(f"{table:<16}" + "".join(cells))
    return lines


def _ratio_lines(tables: Results) -> list[str]:
    """Means, where never counts as all that were asked for, and ratios with 90 % intervals."""
    names = strategies_of(tables)
    needed = needed_labels(tables)
    draws = resampled(tables)
    lines = []
    for place, name in enumerate(names):
        means, logs = needed.mean(axis=0), np.log(needed / needed[:, :1])
        ratios = draws.mean(axis=1)[:, place] / draws.mean(axis=1)[:, 0]
        low, high = np.quantile(ratios, [0.05, 0.95])
        lines.append(
            f"{name:<13} mean {means[place]:6.1f} labels; {means[place] / means[0]:.2f} of random's "
            f"({low:.2f} to {high:.2f}); geometric mean {np.exp(logs[:, place].mean()):.2f}; fewer on "
            f"{int((needed[:, place] < needed[:, 0]).sum())} and more on "
            f"{int((needed[:, place] > needed[:, 0]).sum())} of {len(tables)} tables"
        )
    if {"confidence", DEFAULT_STRATEGY} <= set(names):
        ours, other = names.index(DEFAULT_STRATEGY), names.index("confidence")
        ratios = draws.mean(axis=1)[:, ours] / draws.mean(axis=1)[:, other]
        low, high = np.quantile(ratios, [0.05, 0.95])
        share = needed[:, ours].mean() / needed[:, other].mean()
        lines.append(f"{DEFAULT_STRATEGY} / confidence: {share:.2f} ({low:.2f} to {high:.2f})")
    return lines


def _spread_lines(tables: Results) -> list[str]:
    """Quartiles over repeats of the labels that single runs needed."""
    names = [name for name in ("random", DEFAULT_STRATEGY) if name in strategies_of(tables)]
    lines = [f"{'single runs':<16}" + "".join(f"{name + ': quartiles':>22}" for name in names)]
    for table, result in tables.items():
        cells = []
        for name in names:
            low, middle, high = np.quantile(single_runs(result, name), [0.25, 0.5, 0.75])
            cells.append(f"{low:.0f} {middle:.0f} {high:.0f}".rjust(22))
        lines.append(f"{table:<16}" + "".join(cells))
    return lines


def _stop_lines(tables: Results) -> list[str]:
    """How the stops of each strategy compare with the labels needed, and those of the default by tolerance."""
    lines = [
        "the rule says stop      after 95 %  share of full accuracy  before twice  stop / needed  never"
    ]
    usual = StoppingRule().tolerance
    rows = [(name, name, usual) for name in strategies_of(tables)]
    title = f"{DEFAULT_STRATEGY}, tolerance"
    rows += [(f"{title} {limit:.0%}", DEFAULT_STRATEGY, limit) for limit in TOLERANCES]
    for title, name, tolerance in rows:
        stops = stops_of(tables, name, tolerance)
        in_time = stops[:, 0] <= 2 * stops[:, 1]
        lines.append(
            f"{title:<20}{(stops[:, 0] >= stops[:, 1]).mean():>14.0%}{stops[:, 2].mean():>24.1%}"
            f"{in_time.mean():>14.0%}{np.median(stops[:, 0] / stops[:, 1]):>15.2f}"
            f"{stops[:, 3].mean():>7.0%}"
        )
    return lines


def strategies_of(tables: Results) -> list[str]:
    """Names of the strategies."""
    return list(next(iter(tables.values())).accuracy)


def needed_labels(tables: Results) -> Floats:
    """Labels needed, a row for each table and a column for each strategy; never counts as the most."""
    return np.array([
        np.minimum(list(result.labels_needed(GOAL).values()), result.n_labels[-1])
        for result in tables.values()
    ])  # fmt: skip


def resampled(tables: Results, n_draws: int = N_DRAWS) -> Floats:
    """`needed_labels` of tables and repeats drawn anew, shape (draws, tables, strategies)."""
    random = np.random.RandomState(0)
    drawn = []
    results = list(tables.values())
    for _ in range(n_draws):
        parts = {}
        for place, which in enumerate(random.randint(len(results), size=len(results))):
            n_repeats = len(results[which].full_accuracy)
            repeats = random.randint(n_repeats, size=n_repeats)
            parts[str(place)] = part_of(results[which], repeats)
        drawn.append(needed_labels(parts))
    return np.array(drawn)


def part_of(result: SimulationResult, repeats: Ints) -> SimulationResult:
    """Some of the repeats of a result."""
    return SimulationResult(
        n_labels=result.n_labels,
        accuracy={name: curves[repeats] for name, curves in result.accuracy.items()},
        full_accuracy=result.full_accuracy[repeats],
        changed={name: shares[repeats] for name, shares in result.changed.items()},
    )


def single_runs(result: SimulationResult, name: str) -> Floats:
    """Labels that each repeat needed by itself; never counts as the most."""
    repeats = np.arange(len(result.full_accuracy))
    needed = [part_of(result, repeats[[i]]).labels_needed(GOAL)[name] for i in repeats]
    return np.minimum(needed, result.n_labels[-1])


def stops_of(tables: Results, name: str, tolerance: float) -> Floats:
    """Of each run: labels at the stop, labels needed, share of the full accuracy at the stop, and if it never stopped.

    A run that never stopped, or never had the accuracy, counts with all its labels. Labels needed are counted in
    whole steps here, as stops are.
    """
    rows = []
    for result in tables.values():
        stops = result.labels_at_stop(tolerance)[name]
        for curve, full, stop in zip(
            result.accuracy[name], result.full_accuracy, stops, strict=True
        ):
            reached = np.flatnonzero(curve >= GOAL * full)
            needed = result.n_labels[reached[0]] if len(reached) else result.n_labels[-1]
            step = int(np.searchsorted(result.n_labels, min(stop, result.n_labels[-1])))
            rows.append([result.n_labels[step], needed, curve[step] / full, np.isinf(stop)])
    return np.array(rows, dtype=np.float64)


def write_table(path: Path, results: dict[float, Results]) -> None:
    """Write the mean learning curves and the labels needed as CSV."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["table", "wrong", "strategy", "labels_needed", "full_accuracy", "labels", "accuracy"]
        )
        for wrong, tables in results.items():
            for table, result in tables.items():
                needed, full = result.labels_needed(GOAL), f"{result.full_accuracy.mean():.4f}"
                for name, curves in result.accuracy.items():
                    for labels, accuracy in zip(result.n_labels, curves.mean(axis=0), strict=True):
                        cells = [f"{needed[name]:.1f}", full, labels, f"{accuracy:.4f}"]
                        writer.writerow([table, wrong, name, *cells])
