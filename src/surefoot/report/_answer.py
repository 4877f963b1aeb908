"""Section "What to check": risk and caught mistakes at each coverage, and the promises."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from surefoot._typing import Floats, Ints
from surefoot.abstention import Promise
from surefoot.metrics import risk_coverage_curve
from surefoot.report._statistics import Sample, finite, share_interval

GRID = np.arange(1, 201) / 200

N_RESAMPLES = 200

ABOUT = (
    "“About”: the limit was set on the held-out rows of all folds together. Each of them was predicted by a model of "
    "the other folds; the model that you use is fitted on all rows, and its answers differ slightly."
)


def describe_answering(
    sample: Sample, promise: Promise, *, is_asked: bool, is_useful: bool, random_state: int
) -> dict[str, Any]:
    """Risk at each coverage, by estimated error, by the model's own confidence and at best, and the promises.

    `is_asked` says that the user asked for the risk of `promise`, which is then offered even if it cannot be kept.
    Unless `is_useful`, no row is better left to a person than another, and nothing is offered.
    """
    held_out, losses, confidence = sample.held_out, sample.held_out.losses, sample.confidence
    promises = _offered(sample, promise, is_asked=is_asked) if is_useful else []
    # Coverages of promises are points of the curves; else rounding would show two numbers for one promise.
    grid = np.union1d(GRID, [each.coverage for each in promises if each.kept])
    bounds = np.full(len(grid), np.inf)
    if held_out.classes is not None or not np.isin(losses, (0, 1)).all():
        # The bound of a share is no bound of a size, which may be larger than 1.
        bounds = Promise.bounds(held_out, grid, confidence)
    for each in promises:
        # By groups, bounds are computed in steps, and a promise may lie between two of them.
        if each.kept and each.max_risk is not None:
            at = np.abs(grid - each.coverage) < 1e-9
            bounds[at] = np.minimum(bounds[at], each.max_risk)
    doubts = {
        "surefoot": np.minimum(held_out.doubt, np.finfo(np.float64).max),  # novel rows come last
        "own": held_out.own_doubt,
        "best": losses,
    }
    curves = {
        name: risk_coverage_curve(losses, doubt, coverages=grid)
        for name, doubt in doubts.items()
        if doubt is not None
    }
    risks = {name: risk for name, (_, risk, _) in curves.items()}
    total = losses.mean()
    caught = {
        name: np.zeros(len(grid)) if total == 0 else 1 - risk * grid / total
        for name, risk in risks.items()
    }
    # A part of a row is a row: 0.3 · 10 is a little more than 3.
    n_answered = np.ceil(grid * len(losses) - 1e-9).astype(int)
    return {
        "risk_name": held_out.unit.of_answers,
        "total": held_out.unit.total,
        "coverage": grid.tolist(),
        "risk": {name: risks[name].tolist() if name in risks else None for name in doubts},
        "caught": {
            name: caught[name].tolist() if name in caught else None for name in ("surefoot", "own")
        },
        "caught_interval": _caught_interval(sample, caught["surefoot"], n_answered),
        "is_useful": is_useful,
        "limit": np.minimum(curves["surefoot"][2], held_out.error.max()).tolist(),
        "overall_risk": float(total),
        "n_rows": len(losses),
        "n_answered": n_answered.tolist(),
        "bound": [finite(bound) for bound in bounds],
        "promises": [
            {
                "max_risk": each.max_risk,
                "by_class": [
                    {"label": str(label), "max_risk": risk}
                    for label, risk in each.class_risks.items()
                ],
                "coverage": each.coverage,
                "limit": each.threshold if each.kept else None,
                **each.describe(held_out.unit),
            }
            for each in promises
        ],
        "why_not": promise.reason,
        "about": ABOUT if promise.is_about else None,
        "confidence": confidence,
        "chosen": promises.index(promise) if promise.kept and is_useful else None,
        "augrc": _compare_areas(sample, random_state),
    }


def _offered(sample: Sample, promise: Promise, *, is_asked: bool) -> list[Promise]:
    """Promises to choose from, with the one that was asked for or chosen among them."""
    offered = Promise.offer(sample.held_out, sample.confidence)
    if promise in offered or not (promise.kept or is_asked):
        return offered
    if promise.max_risk is None or promise.class_risks:
        return [*offered, promise]
    return sorted([*offered, promise], key=lambda each: each.max_risk or 0.0)


def _caught_interval(sample: Sample, caught: Floats, n_answered: Ints) -> dict[str, list[Any]]:
    """Interval of the share of the total error that is caught, with each number of rows answered."""
    held_out = sample.held_out
    counted = held_out.losses > 0
    if not counted.any():
        return dict.fromkeys(("low", "high"), [None] * len(caught))
    rank = np.argsort(np.argsort(held_out.doubt, kind="stable"))[counted]
    weights = None if held_out.unit.is_share else held_out.losses[counted]
    low, high = np.transpose(
        [
            share_interval(rank >= n, sample.units[counted], sample.confidence, weights)
            for n in n_answered
        ]
    )
    return {
        "low": np.minimum(low, caught).tolist(),
        "high": np.maximum(high, caught).tolist(),
    }


def _compare_areas(sample: Sample, random_state: int) -> dict[str, float | None]:
    """Areas under the generalised risk-coverage curves (`augrc_loss`), and their ratio with a bootstrap interval.

    A regressor has no confidence of its own. It is compared with a random order, whose area is half of the mean error.
    """
    held_out, units, losses = sample.held_out, sample.units, sample.held_out.losses
    doubt = np.zeros(len(losses)) if held_out.own_doubt is None else held_out.own_doubt
    ours, other = (np.unique(each, return_inverse=True)[1] for each in (held_out.error, doubt))
    once = np.ones(len(losses))
    area, other_area = (area_of_draw(losses, places, once) for places in (ours, other))
    areas: dict[str, float | None] = {
        "surefoot": area,
        "own": None if held_out.own_doubt is None else other_area,
        **dict.fromkeys(("ratio", "low", "high")),
    }
    if np.count_nonzero(losses) < 2:  # a resample without an error has no ratio
        return areas
    draw, n_units, ratios = check_random_state(random_state), int(units.max()) + 1, []
    for _ in range(N_RESAMPLES):
        times = np.bincount(draw.randint(n_units, size=n_units), minlength=n_units)[units]
        of_draw = [area_of_draw(losses, places, times) for places in (ours, other)]
        ratios.append(of_draw[0] / of_draw[1] if of_draw[1] else 1.0)
    tails = (1 - sample.confidence) / 2
    low, high = np.quantile(ratios, [tails, 1 - tails])
    return areas | {"ratio": area / other_area, "low": float(low), "high": float(high)}


def area_of_draw(losses: Floats, places: Ints, times: NDArray[Any]) -> float:
    """Area under the generalised risk-coverage curve of rows in the order of their places, each drawn so many times.

    It is `augrc_loss` with weights, but sorts the rows only once for all draws. Rows at one place come in random order.
    """
    answered, lost = (
        np.append(0.0, np.cumsum(np.bincount(places, each))) for each in (times, times * losses)
    )
    return float(np.trapezoid(lost, answered)) / answered[-1] ** 2
