"""Section "What only labels show": the interval of an audit, beside the estimate."""

from typing import Any

from surefoot._words import UNITS, number, plural
from surefoot.monitoring import AuditResult
from surefoot.report.monitored._period_rows import plain


def describe_audit(result: AuditResult | None, n_rows: int) -> dict[str, Any] | None:
    """Figures of an audit of the same rows; None without one.

    `comparable` says whether they are of the same kind as the estimate: a regressor's audit counts large errors.
    """
    if result is None:
        return None
    drawn, loss = result.audit, result.audit.loss
    if drawn.n_rows != n_rows:
        raise ValueError(
            f"The audit is about {plural(drawn.n_rows, 'row')}, and {plural(n_rows, 'row')} are watched."
        )
    low, high = result.interval
    unit = UNITS["cost" if loss.costs is not None else "share"]
    show, what = unit.show, f"{'an' if unit.is_share else 'a'} {unit.mean}"
    if loss.tolerance is not None:
        what = f"are off by more than {number(loss.tolerance)}"
    return {
        "name": "the audit",
        "estimate": plain(result.estimate),
        "low": float(low),
        "high": float(high),
        "confidence": float(result.confidence),
        "n_answered": result.n_answered,
        "n_labels": len(drawn.rows),
        "when_fitted": float(loss.when_fitted),
        "what": what,
        "comparable": loss.tolerance is None,
        "texts": {
            "estimate": show(plain(result.estimate)),
            "interval": f"{show(low)} to {show(high)}",
            "when_fitted": show(float(loss.when_fitted)),
        },
    }
