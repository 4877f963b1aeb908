"""Answer or abstain: what is risked at each share of rows that the model answers."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from surefoot._typing import Floats
from surefoot.abstention import threshold_for_risk
from surefoot.metrics import augrc_loss, risk_coverage_curve
from surefoot.report._judged import Judged

GRID = np.arange(1, 201) / 200

# Shares of wrong answers that people choose between.
ROUND_RISKS = (
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.03,
    0.05,
    0.075,
    0.1,
    0.15,
    0.2,
    0.25,
    0.3,
    0.4,
    0.5,
)

# Shares of the mean error, for a regressor, and the one of either kind that is shown first.
ERROR_SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.05, 1.1, 1.2, 1.5, 2.0)
FIRST_SHARE = {True: 0.5, False: 0.8}

N_RESAMPLES = 200


class Selection:
    """What is lost, kept and caught when the rows with the least estimated error are answered.

    Rows with equal estimates are answered in random order: figures are the expectation over it.
    """

    def __init__(self, errors: Floats, estimated: Floats) -> None:
        self.coverages, risks, self.limits = risk_coverage_curve(errors, estimated)
        self._ends = np.append(0.0, self.coverages)
        self._lost = np.append(0.0, self.coverages * risks)

    def lost(self, coverage: Any) -> Any:
        """Mean over all rows of the errors of the answered ones."""
        return np.interp(coverage, self._ends, self._lost)

    def risk(self, coverage: Any) -> Any:
        """Mean error of the answered rows."""
        return self.lost(coverage) / coverage

    def caught(self, coverage: Any) -> Any:
        """Share of the total error among the rows that are not answered; 0 if there is none."""
        total = self._lost[-1]
        return 1 - self.lost(coverage) / total if total > 0 else np.zeros(np.shape(coverage))

    def limit(self, coverage: Any) -> Any:
        """The highest estimated error that is answered."""
        return self.limits[np.searchsorted(self.coverages, np.asarray(coverage) - 1e-12)]


def describe_answering(judged: Judged) -> dict[str, Any]:
    """Risk against coverage by the report, by the model's own confidence and at best, and what can be promised."""
    orders = {"surefoot": judged.estimated, "own": judged.own, "best": judged.errors}
    chosen = {
        name: None if order is None else Selection(judged.errors, order)
        for name, order in orders.items()
    }
    promises = make_promises(judged)
    # What is promised must be a point of the curves, or rounding would tell two figures of it.
    grid = np.union1d(GRID, [promise["coverage"] for promise in promises if promise["coverage"]])
    return {
        "risk_name": "share of wrong answers" if judged.is_classifier else "mean error",
        "coverage": grid.tolist(),
        "risk": {name: _listed(found, "risk", grid) for name, found in chosen.items()},
        "caught": {name: _listed(chosen[name], "caught", grid) for name in ("surefoot", "own")},
        "limit": Selection(judged.errors, judged.estimated).limit(grid).tolist(),
        "overall_risk": float(judged.errors.mean()),
        "n_rows": len(judged.errors),
        "promises": promises,
        "confidence": judged.confidence,
        "chosen": _first(promises, judged),
        "augrc": compare_orders(judged),
    }


def _listed(found: Selection | None, name: str, grid: Floats) -> list[float] | None:
    return None if found is None else getattr(found, name)(grid).tolist()


def make_promises(judged: Judged) -> list[dict[str, float]]:
    """Risks to choose from, ascending, with the share of rows that each can be promised for.

    Those below the risk of answering everything, and the least one that can be promised for every row.
    """
    overall = float(judged.errors.mean())
    if judged.is_classifier:
        risks = [risk for risk in ROUND_RISKS if risk >= overall / 8]
    else:
        risks = [float(f"{share * overall:.2g}") for share in ERROR_SHARES]
    below = [risk for risk in risks if risk < overall]
    above = (
        _promise(judged, risk) for risk in risks if risk >= overall > 0 or judged.is_classifier
    )
    everything = next((promise for promise in above if promise["coverage"] == 1), None)
    given = [] if judged.max_risk is None else [judged.max_risk]
    promises = [_promise(judged, risk) for risk in sorted({*below, *given})]
    if everything is not None and everything["max_risk"] not in given:
        promises.append(everything)
    return sorted(promises, key=lambda promise: promise["max_risk"])


def _promise(judged: Judged, max_risk: float) -> dict[str, float]:
    found = threshold_for_risk(
        -judged.estimated,
        judged.errors,
        max_risk,
        judged.confidence,
        groups=judged.held_out_groups,
    )
    share = found.n_answered / len(judged.errors)
    most = float(judged.estimated.max())
    limit = min(-found.score, most) if share else 0.0
    return {"max_risk": max_risk, "coverage": share, "limit": limit}


def _first(promises: list[dict[str, float]], judged: Judged) -> int | None:
    """The promise that was asked for, else one that about halves the risk; None if no promise can be kept."""
    kept = [i for i, promise in enumerate(promises) if promise["coverage"] > 0]
    if judged.max_risk is not None:
        return next((i for i in kept if promises[i]["max_risk"] == judged.max_risk), None)
    goal = FIRST_SHARE[judged.is_classifier] * judged.errors.mean()
    return min(kept, key=lambda i: abs(promises[i]["max_risk"] - goal), default=None)


def compare_orders(judged: Judged) -> dict[str, float | None]:
    """Area under the generalised risk-coverage curve, and its ratio to that of own confidence, or of chance.

    A regressor has no confidence of its own: any order that knows nothing has half of the mean error.
    """
    found: dict[str, float | None] = dict.fromkeys(("surefoot", "own", "ratio", "low", "high"))
    found["surefoot"] = augrc_loss(judged.errors, judged.estimated)
    found["own"] = None if judged.own is None else augrc_loss(judged.errors, judged.own)
    if np.count_nonzero(judged.errors) < 2:  # a resample without an error has no ratio
        return found
    draw, codes = check_random_state(judged.random_state), judged.unit_codes
    n_units = int(codes.max()) + 1
    ratios = [
        _ratio(judged, np.bincount(draw.randint(n_units, size=n_units), minlength=n_units)[codes])
        for _ in range(N_RESAMPLES)
    ]
    tails = (1 - judged.confidence) / 2
    low, high = np.quantile(ratios, [tails, 1 - tails])
    estimate = _ratio(judged, np.ones(len(codes)))
    return found | {"ratio": estimate, "low": float(low), "high": float(high)}


def _ratio(judged: Judged, weight: Any) -> float:
    """Of the area by the report to the other one, with rows that count as often as they were drawn."""
    lost = float(np.average(judged.errors, weights=weight))
    if lost == 0:
        return 1.0
    other = lost / 2
    if judged.own is not None:
        other = augrc_loss(judged.errors, judged.own, sample_weight=weight)
    return augrc_loss(judged.errors, judged.estimated, sample_weight=weight) / other
