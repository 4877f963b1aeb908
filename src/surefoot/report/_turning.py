"""Gain of the other answer, in a task with two classes, where the estimate says that the answer is probably wrong."""

from typing import Any

import numpy as np

from surefoot._typing import Floats
from surefoot._words import number
from surefoot.report._assessment import Assessment
from surefoot.report.improvements import Gain, amount, relative_gain


def measure_turning(assessment: Assessment) -> dict[str, Any] | None:
    """Gain of the other class in rows where it is expected to cost less; None if there is no such row.

    The estimates are out of fold, so the same rows can measure the gain. Tasks with more than two classes have no one
    other class.
    """
    held_out, wrong = assessment.held_out, assessment.held_out.wrong
    if held_out.classes is None or len(held_out.classes) != 2 or wrong is None:
        return None
    costs = 1.0 - np.eye(2) if held_out.costs is None else held_out.costs
    truth, answer = (
        np.searchsorted(held_out.classes, labels)
        for labels in (assessment.truth, held_out.prediction)
    )
    turned = expected_costs(costs, 1 - answer, wrong) < expected_costs(costs, answer, 1 - wrong)
    if not turned.any():
        return None
    if assessment.losses.sum() == 0:
        return None
    gain = relative_gain(
        assessment.losses,
        costs[truth, np.where(turned, 1 - answer, answer)],
        units=assessment.unit_codes,
        fits=held_out.splits,
        counts=assessment.counts_mistakes,
    )
    return {
        "n_rows": int(turned.sum()),
        "n_wrong_before": int(assessment.wrong[turned].sum()),
        "n_wrong_after": int((~assessment.wrong[turned]).sum()),
        "gain": gain.value,
        "low": gain.low,
        "high": gain.high,
        "sentence": _sentence(assessment, gain, int(turned.sum())),
    }


def expected_costs(costs: Floats, answer: Any, right: Floats) -> Floats:
    """Expected cost of an answer that is right with the probability `right`, in a task with two classes."""
    return np.asarray(right * costs[answer, answer] + (1 - right) * costs[1 - answer, answer])


def _sentence(assessment: Assessment, gain: Gain, n_turned: int) -> str:
    is_share = assessment.unit.name == "share"
    what = (
        "have an estimated error above 50 %, so the other class is more probable than the answer"
        if is_share
        else "have an answer that is expected to cost more than the other class would"
    )
    one = "row" if n_turned == 1 else "rows"
    return (
        f"{number(n_turned)} {one} {what if n_turned > 1 else what.replace('have', 'has', 1)}. The page shows the "
        f"model's own answers all the same; if these were turned round, it would make "
        f"{amount(gain, assessment)}: {_conclusion(gain)}"
    )


def _conclusion(gain: Gain) -> str:
    if gain.low > 0:
        return "that helps."
    return "that would harm." if gain.high < 0 else "these rows do not show that it helps."
