"""Section "What to check": risk and caught mistakes at each coverage, and the promises."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from surefoot._typing import Floats, Ints
from surefoot.abstention import Promise
from surefoot.error_estimation import HeldOut
from surefoot.report._statistics import finite, share_interval, unit_codes

GRID = np.arange(1, 201) / 200

N_RESAMPLES = 200

ABOUT = (
    "“About”: the limit was set on the held-out rows of all folds together. Each of them was predicted by a model of "
    "the other folds; the model that you use is fitted on all rows, and its answers differ slightly."
)


def describe_answering(
    held_out: HeldOut, promise: Promise, *, is_asked: bool, is_useful: bool, random_state: int
) -> dict[str, Any]:
    """Risk at each coverage, by estimated error, by the model's own confidence and at best, and the promises.

    `is_asked` says that the user asked for the risk of `promise`, which is then offered even if it cannot be kept.
    Unless `is_useful`, no row is better left to a person than another, and nothing is offered.
    """
    losses, doubt = held_out.losses, own_doubt(held_out)
    surefoot, best = Selection(losses, held_out.doubt), Selection(losses, losses)
    own = None if doubt is None else Selection(losses, doubt)
    confidence, is_plain = promise.confidence, not promise.class_risks
    is_offered = is_plain and (promise.kept or is_asked)
    also = [promise.max_risk] if is_offered and promise.max_risk is not None else []
    promises = Promise.offer(held_out, confidence, also) + ([] if is_plain else [promise])
    promises = promises if is_useful else []
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
    # A part of a row is a row: 0.3 · 10 is a little more than 3.
    n_answered = np.ceil(grid * len(losses) - 1e-9).astype(int)
    return {
        "risk_name": held_out.unit.of_answers,
        "total": held_out.unit.total,
        "coverage": grid.tolist(),
        "risk": {
            "surefoot": surefoot.risk(grid).tolist(),
            "own": None if own is None else own.risk(grid).tolist(),
            "best": best.risk(grid).tolist(),
        },
        "caught": {
            "surefoot": surefoot.caught(grid).tolist(),
            "own": None if own is None else own.caught(grid).tolist(),
        },
        "caught_interval": _caught_interval(
            held_out, surefoot.caught(grid), n_answered, confidence
        ),
        "is_useful": is_useful,
        "limit": np.minimum(surefoot.limit(grid), held_out.error.max()).tolist(),
        "overall_risk": float(losses.mean()),
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
        "augrc": _compare_areas(held_out, own, confidence, random_state),
    }


def _caught_interval(
    held_out: HeldOut, caught: Floats, n_answered: Ints, confidence: float
) -> dict[str, list[float | None]]:
    """Interval of the share of the total error that is caught, with each number of rows answered."""
    counted = held_out.losses > 0
    if not counted.any():
        return dict.fromkeys(("low", "high"), [None] * len(caught))
    rank = np.argsort(np.argsort(held_out.doubt, kind="stable"))[counted]
    units, losses = unit_codes(held_out)[counted], held_out.losses[counted]
    weights = None if held_out.unit.is_share else losses
    ends = [share_interval(rank >= n, units, confidence, weights) for n in n_answered]
    return {
        "low": [min(low, share) for (low, _), share in zip(ends, caught.tolist(), strict=True)],
        "high": [max(high, share) for (_, high), share in zip(ends, caught.tolist(), strict=True)],
    }


def own_doubt(held_out: HeldOut) -> Floats | None:
    """Doubt of the model itself: 1 − its probability of the class, or minus its lead; None for numbers or bare labels.

    With costs, the expected cost by its own probabilities.
    """
    if held_out.classes is None:
        return None
    if held_out.probabilities is None:
        doubt = -lead(held_out)
        return doubt if np.ptp(doubt) > 0 else None
    codes = np.searchsorted(held_out.classes, held_out.prediction)
    if held_out.costs is not None:
        return (held_out.probabilities * held_out.costs[:, codes].T).sum(axis=1)
    return 1 - held_out.probabilities[np.arange(len(codes)), codes]


def lead(held_out: HeldOut) -> Floats:
    """Lead of each predicted class over the runner-up, like log-odds."""
    if held_out.scores.shape[1] == 1:
        return np.abs(held_out.scores[:, 0])
    return np.diff(np.sort(held_out.scores, axis=1)[:, -2:])[:, 0]


class Selection:
    """Risk, caught errors and limit at each coverage, if rows with the lowest doubt are answered first.

    Rows with equal doubt are answered in random order; numbers are expected values over that order.
    """

    def __init__(self, losses: Floats, doubt: Floats) -> None:
        self.losses = losses
        self.limits, self._places = np.unique(doubt, return_inverse=True)
        self._ends, self._lost = self._curve(np.ones(len(losses)))

    def _curve(self, weight: Floats) -> tuple[Floats, Floats]:
        """Share of rows up to each limit, and their losses over the number of all rows, both from 0."""
        answered = np.cumsum(np.bincount(self._places, weight))
        lost = np.cumsum(np.bincount(self._places, weight * self.losses))
        return np.append(0.0, answered) / answered[-1], np.append(0.0, lost) / answered[-1]

    def risk(self, coverage: Any) -> Any:
        """Mean error of the answered rows."""
        return np.interp(coverage, self._ends, self._lost) / coverage

    def caught(self, coverage: Any) -> Any:
        """Share of the total error in the rows that are not answered; 0 if there is no error."""
        if self._lost[-1] == 0:
            return np.zeros(np.shape(coverage))
        return 1 - np.interp(coverage, self._ends, self._lost) / self._lost[-1]

    def limit(self, coverage: Any) -> Any:
        """Highest doubt that is answered."""
        return self.limits[np.searchsorted(self._ends[1:], np.asarray(coverage) - 1e-12)]

    def area(self, weight: Floats | None = None) -> float:
        """Area under the generalised risk-coverage curve (`augrc_loss`); `weight` counts draws of rows."""
        ends, lost = (self._ends, self._lost) if weight is None else self._curve(weight)
        return float(np.trapezoid(lost, ends))


def _compare_areas(
    held_out: HeldOut,
    own: Selection | None,
    confidence: float,
    random_state: int,
) -> dict[str, float | None]:
    """Areas under the generalised risk-coverage curves, and their ratio with a bootstrap interval.

    A regressor has no confidence of its own. It is compared with a random order, whose area is half of the mean error.
    """
    surefoot = Selection(held_out.losses, held_out.error)
    areas = dict.fromkeys(("ratio", "low", "high"))
    areas = {"surefoot": surefoot.area(), "own": None if own is None else own.area(), **areas}
    if np.count_nonzero(held_out.losses) < 2:  # a resample without an error has no ratio
        return areas

    def ratio(weight: Any) -> float:
        lost = float(np.average(held_out.losses, weights=weight))
        if lost == 0:
            return 1.0
        return surefoot.area(weight) / (lost / 2 if own is None else own.area(weight))

    draw, codes = check_random_state(random_state), unit_codes(held_out)
    n_units = int(codes.max()) + 1
    ratios = [
        ratio(np.bincount(draw.randint(n_units, size=n_units), minlength=n_units)[codes])
        for _ in range(N_RESAMPLES)
    ]
    tails = (1 - confidence) / 2
    low, high = np.quantile(ratios, [tails, 1 - tails])
    return areas | {"ratio": ratio(np.ones(len(codes))), "low": float(low), "high": float(high)}
