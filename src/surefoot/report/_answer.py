"""Section "Answer or abstain": risk and caught mistakes at each coverage, and the promises."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from surefoot._typing import Floats
from surefoot.abstention import Promise
from surefoot.metrics import augrc_loss, risk_coverage_curve
from surefoot.report._assessment import Assessment
from surefoot.report._positions import describe_positions

GRID = np.arange(1, 201) / 200

N_RESAMPLES = 200


class Selection:
    """Risk, caught errors and limit at each coverage, if rows with the lowest doubt are answered first.

    Rows with equal doubt are answered in random order; figures are expected values over that order.
    """

    def __init__(self, errors: Floats, doubt: Floats) -> None:
        self.coverages, risks, self.limits = risk_coverage_curve(errors, doubt)
        self._ends = np.append(0.0, self.coverages)
        self._lost = np.append(0.0, self.coverages * risks)

    def lost(self, coverage: Any) -> Any:
        """Sum of the errors of the answered rows, divided by the number of all rows."""
        return np.interp(coverage, self._ends, self._lost)

    def risk(self, coverage: Any) -> Any:
        """Mean error of the answered rows."""
        return self.lost(coverage) / coverage

    def caught(self, coverage: Any) -> Any:
        """Share of the total error in the rows that are not answered; 0 if there is no error."""
        total = self._lost[-1]
        return 1 - self.lost(coverage) / total if total > 0 else np.zeros(np.shape(coverage))

    def limit(self, coverage: Any) -> Any:
        """Highest doubt that is answered."""
        return self.limits[np.searchsorted(self.coverages, np.asarray(coverage) - 1e-12)]


def describe_answering(assessment: Assessment) -> dict[str, Any]:
    """Risk at each coverage, by estimated error, by the model's own confidence and at best, and the promises."""
    orders = {
        "surefoot": assessment.estimated,
        "own": assessment.own_doubt,
        "best": assessment.losses,
    }
    selections = {
        name: None if order is None else Selection(assessment.losses, order)
        for name, order in orders.items()
    }
    # Coverages of promises are points of the curves; else rounding would show two figures for one promise.
    grid = np.union1d(GRID, [promise.coverage for promise in assessment.promises if promise.kept])
    return {
        "risk_name": assessment.unit.of_answers,
        "total": assessment.unit.total,
        "coverage": grid.tolist(),
        "risk": {name: _curve(one, "risk", grid) for name, one in selections.items()},
        "caught": {name: _curve(selections[name], "caught", grid) for name in ("surefoot", "own")},
        "limit": Selection(assessment.losses, assessment.estimated).limit(grid).tolist(),
        "overall_risk": float(assessment.losses.mean()),
        "n_rows": len(assessment.losses),
        **describe_positions(assessment, grid),
        "promises": [_as_dict(promise, assessment) for promise in assessment.promises],
        "why_not": assessment.promise.reason,
        "confidence": assessment.confidence,
        "chosen": assessment.chosen,
        "augrc": compare_orders(assessment),
    }


def _curve(selection: Selection | None, name: str, grid: Floats) -> list[float] | None:
    return None if selection is None else getattr(selection, name)(grid).tolist()


def _as_dict(promise: Promise, assessment: Assessment) -> dict[str, Any]:
    by_class = [
        {"label": str(label), "max_risk": risk} for label, risk in promise.class_risks.items()
    ]
    return {
        "max_risk": promise.max_risk,
        "by_class": by_class,
        "coverage": promise.coverage,
        "limit": promise.threshold if promise.kept else None,
        **assessment.unit.describe_limits(promise.max_risk, promise.class_risks),
    }


def compare_orders(assessment: Assessment) -> dict[str, float | None]:
    """Area under the generalised risk-coverage curve, and its ratio to that of own confidence, or of chance.

    A regressor has no confidence of its own. It is compared with a random order, whose area is half of the mean error.
    """
    areas: dict[str, float | None] = dict.fromkeys(("surefoot", "own", "ratio", "low", "high"))
    areas["surefoot"] = augrc_loss(assessment.losses, assessment.estimated)
    areas["own"] = (
        None
        if assessment.own_doubt is None
        else augrc_loss(assessment.losses, assessment.own_doubt)
    )
    if np.count_nonzero(assessment.losses) < 2:  # a resample without an error has no ratio
        return areas
    draw, codes = check_random_state(assessment.random_state), assessment.unit_codes
    n_units = int(codes.max()) + 1
    ratios = [
        _ratio(
            assessment, np.bincount(draw.randint(n_units, size=n_units), minlength=n_units)[codes]
        )
        for _ in range(N_RESAMPLES)
    ]
    tails = (1 - assessment.confidence) / 2
    low, high = np.quantile(ratios, [tails, 1 - tails])
    estimate = _ratio(assessment, np.ones(len(codes)))
    return areas | {"ratio": estimate, "low": float(low), "high": float(high)}


def _ratio(assessment: Assessment, weight: Any) -> float:
    """Ratio of the area by estimated error to that of own confidence, or of chance; `weight` counts draws of rows."""
    lost = float(np.average(assessment.losses, weights=weight))
    if lost == 0:
        return 1.0
    other = lost / 2
    if assessment.own_doubt is not None:
        other = augrc_loss(assessment.losses, assessment.own_doubt, sample_weight=weight)
    return augrc_loss(assessment.losses, assessment.estimated, sample_weight=weight) / other
