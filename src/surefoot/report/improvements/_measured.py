"""Improvement as a dict of the report: its gain, its verdict and its sentence."""

from collections.abc import Callable
from typing import Any

from surefoot.report._assessment import Assessment
from surefoot.report.improvements._gain import WORTH_A_CHANGE, Gain, NotMeasurableError

Improvement = dict[str, Any]


def amount(gain: Gain, assessment: Assessment) -> str:
    """Words for a gain, such as "12 % fewer mistakes (3 % to 20 %)"."""
    return gain.words(assessment.unit.less, assessment.unit.more)


def measured(
    gain: Gain, sentence: str, *, at_full_size: bool, of: str = "its error"
) -> Improvement:
    """Improvement with its gain, a share of `of`; the sentence also says why there is none, or none that is certain."""
    if gain.verdict == "cannot tell":
        sentence += " The rows are too few to tell."
    elif gain.verdict == "would not help" and gain.high <= 0:
        sentence += " It would be worse."
    elif gain.verdict == "would not help":
        sentence += f" Even at best, the gain is below {WORTH_A_CHANGE * 100:g} % of {of}."
    return {
        "verdict": gain.verdict,
        "gain": gain.value,
        "low": gain.low,
        "high": gain.high,
        "of": of,
        "at_full_size": at_full_size,
        "sentence": sentence,
    }


def measured_or_not(option: Callable[[], Improvement]) -> Improvement:
    """Improvement that an option measures, or one whose sentence says why it cannot be measured."""
    try:
        return option()
    except NotMeasurableError as reason:
        figures = dict.fromkeys(("gain", "low", "high", "of"))
        return {"verdict": "cannot tell", **figures, "at_full_size": False, "sentence": str(reason)}
