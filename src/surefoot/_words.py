"""Words and numbers of messages and pages: names, counted nouns, percentages, and losses in their unit."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isnan, log10
from typing import Any

NONE = "–"

# Most lines, and letters of each, in which an object is shown.
MOST_LINES, LONGEST_LINE = 10, 300

# A change to this many times of what it was, or more, is given as a factor, not in percent.
LARGE_FACTOR = 3


class InWords:
    """Mixin of objects that users hold: shown in a few lines, the answer first; as HTML in a notebook."""

    def _lines(self) -> list[str]:
        """Answer in one sentence, and what belongs to it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(shortened(" ".join(line.split())) for line in self._lines()[:MOST_LINES])

    def _repr_html_(self) -> str:
        answer, *others = (escape(line) for line in repr(self).splitlines())
        return "<br>".join([f"<strong>{answer}</strong>", *others])


def shortened(text: str) -> str:
    """Text of at most `LONGEST_LINE` letters."""
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"


def listed(names: Iterable[object], most: int = 8) -> str:
    """List of names for a sentence: "'a', 'b' and 3 more"."""
    return enumerated([repr(name) for name in names], most)


def enumerated(texts: list[str], most: int = 8) -> str:
    """Texts with commas and "and"; of more than `most`, the first ones and the number of the others.

    Examples
    --------
    >>> enumerated(["a", "b", "c"]), enumerated(["a", "b", "c"], most=1)
    ('a, b and c', 'a and 2 more')
    """
    shown = [*texts[:most], *([f"{len(texts) - most} more"] if len(texts) > most else [])]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def quoted(names: Iterable[object]) -> str:
    """List of names in typographic quotes: "“a” and “b”"."""
    return enumerated([f"“{name}”" for name in names], most=20)


def plural(number: int, thing: str) -> str:
    """Number with its noun: "1 row", "2,000 rows", "3 classes"."""
    many = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else many}"


def reason(error: OSError) -> str:
    """Reason that the operating system gives for an error, in the form of a clause: "no space left on device"."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:].rstrip(".")


def percent(share: float | None) -> str:
    """Write a share as a percentage, with decimals only if it is close to 0 or to 1.

    Examples
    --------
    >>> [percent(share) for share in (0.4124, 0.0415, 0.0996, 0.9951, 0.99999, 1, 0.0002, -0.04)]
    ['41 %', '4.2 %', '10 %', '99.5 %', '99.9 %', '100 %', '0.02 %', '−4 %']
    >>> percent(1e-9), percent(None)
    ('below 0.01 %', '–')
    """
    if share is None or isnan(share):
        return NONE
    value = 100 * share
    size = abs(value)
    if 0 < size < 0.01:
        return "below 0.01 %" if value > 0 else "above −0.01 %"
    if 99 < size < 100:
        size = floor(size * 10 + 1e-9) / 10  # never rounded up to 100 %
    decimals = _decimals(size, 2) if size < 1 else 1 if size < 10 or size > 99 else 0
    return f"{_rounded(value, size, decimals)} %"


def number(value: float | None) -> str:
    """Write a number with three significant digits, or with all digits if it is whole.

    Examples
    --------
    >>> [number(value) for value in (3333, 1234.56, 47.249, 0.012345, 2.0, -0.5, 1e-7, 0)]
    ['3,333', '1,235', '47.2', '0.0123', '2', '−0.5', '1e-07', '0']
    """
    if value is None or isnan(value):
        return NONE
    size = abs(value)
    if 0 < size < 1e-4 or size >= 1e12:
        return f"{'−' if value < 0 else ''}{size:.3g}"
    return _rounded(value, size, 0 if size == round(size) else _decimals(size, 3))


def change_words(
    change: tuple[float, float, float], than: str, less: str, more: str, times: str
) -> str:
    """Size of a change and its interval; a positive change takes something away, from three times on it is a factor.

    Examples
    --------
    >>> words = "fewer mistakes", "more mistakes", "times as many mistakes {} as"
    >>> change_words((0.12, 0.03, 0.2), "a forest", *words)
    '12 % fewer mistakes (3 % to 20 %) than a forest'
    >>> change_words((-4, -5.5, -2.5), "a forest", *words)
    '5 times as many mistakes (3.5 to 6.5 times) as a forest'
    """
    sign, word = (1, less) if change[0] >= 0 else (-1, more)
    value, *ends = (sign * each for each in change)
    low, high = sorted(ends)
    if 1 - change[0] >= LARGE_FACTOR:
        interval = f"({number(max(1 + low, 0.0))} to {number(1 + high)} times)"
        return f"{number(1 + value)} {times.format(interval)} {than}"
    return f"{percent(value)} {word} ({percent(low)} to {percent(high)}) than {than}"


def p_value_words(p_value: float) -> str:
    """P-value for a sentence: "p = 0.0012"."""
    return "p < 0.001" if p_value < 0.001 else f"p = {number(p_value)}"


def _decimals(size: float, digits: int) -> int:
    """Decimals of a number with so many significant digits."""
    return max(0, digits - 1 - floor(log10(size))) if size else 0


def _rounded(value: float, size: float, decimals: int) -> str:
    """Text of a size, without zeros at the end of its decimals, and the sign of the value."""
    text = f"{size:,.{decimals}f}"
    return f"{'−' if value < 0 else ''}{text.rstrip('0').rstrip('.') if decimals else text}"


def round_up(value: float, digits: int = 2) -> float:
    """Next number with so many digits that is not below a positive value, for a bound that must not be rounded down.

    Examples
    --------
    >>> [round_up(value) for value in (0.151, 0.15, 0.0411, 46.1, 0.2)]
    [0.16, 0.15, 0.042, 47.0, 0.2]
    """
    if value <= 0:
        return value
    step = 10.0 ** (floor(log10(value)) - digits + 1)
    return float(f"{ceil(value / step - 1e-9) * step:.{digits}g}")


@dataclass(frozen=True)
class LossUnit:
    """Unit of losses, and the words for them in sentences; `{}` stands for a number.

    The unit of a model's losses is `held_out_.unit` of its error estimator.

    Attributes
    ----------
    name : {"share", "cost", "size"}
        Share of mistakes, cost of answers, or size of a regressor's errors in the unit of the target.
    show : callable
        Writes a loss that was measured or estimated; `show_risk` writes one that was asked for.
    metric : str
        Name in :func:`surefoot.monitoring.estimate_performance` of the mean of these losses.
    is_share : bool
        Whether losses are 0 or 1: a right or a wrong class.
    """

    name: str
    show: Callable[[float | None], str]
    headline: str
    mean: str
    of_answers: str
    total: str
    all_rows: str
    estimated: str
    nothing: str
    less: str
    more: str
    times: str
    average: str
    answered: str
    checked: str
    added_up: str
    doubtful: str
    flipped: str
    metric: str
    limit: str
    class_limit: str
    short_limit: str
    short_class_limit: str
    is_share: bool = False

    def show_total(self, mean: float, n_rows: int) -> str:
        """Text of a mean loss of some rows: of a share, the number of mistakes."""
        return number(round(n_rows * mean)) if self.is_share else self.show(mean)

    def show_risk(self, risk: float) -> str:
        """Text of a risk that was asked for, which is not rounded."""
        return f"{100 * risk:g} %" if self.is_share else f"{risk:,.6g}"

    def describe_limits(
        self,
        max_risk: float | None,
        class_risks: Mapping[Any, float],
        *,
        cap: float | None = None,
        about: bool = False,
    ) -> dict[str, str]:
        """Texts of the limits of a promise: `words` for a sentence, `short`, and `label` for a button.

        With `about`, the promise holds approximately; errors above `cap` count as `cap`.

        Examples
        --------
        >>> UNITS["share"].describe_limits(0.05, {"yes": 0.2})["short"]
        'at most 5 % wrong and at most 20 % of “yes” wrong'
        >>> UNITS["size"].describe_limits(12, {}, cap=300, about=True)["words"]
        'its answers are off by at most about 12 on average (errors above 300 count as 300)'
        """
        nearly = "about " if about else ""
        overall = [] if max_risk is None else [self.show_risk(max_risk)]
        by_class = [(self.show_risk(risk), label) for label, risk in class_risks.items()]
        words = [self.limit.format(nearly + risk) for risk in overall]
        words += [self.class_limit.format(nearly + risk, label) for risk, label in by_class]
        short = [self.short_limit.format(nearly + risk) for risk in overall]
        short += [self.short_class_limit.format(nearly + risk, label) for risk, label in by_class]
        capped = ""
        if cap is not None:
            capped = f" (errors above {self.show_risk(cap)} count as {self.show_risk(cap)})"
        return {
            "words": ", and ".join(words) + capped,
            "short": " and ".join(short) + capped,
            "label": ", ".join(overall + [f"“{label}” {risk}" for risk, label in by_class]),
        }


UNITS = {
    "share": LossUnit(
        name="share",
        show=percent,
        headline="Right {} of the time.",
        mean="error rate",
        of_answers="share of wrong answers",
        total="all mistakes",
        all_rows="wrong on {} of rows",
        estimated="Estimated {} wrong",
        nothing="It made no mistake on {} held-out rows",
        less="fewer mistakes",
        more="more mistakes",
        times="times as many mistakes {} as",
        average="{} of all rows are wrong",
        answered="{} of them wrong",
        checked="who can find {} mistakes of the model",
        added_up="The estimated errors add up to {} mistakes; the model made {}. If the estimates are right, {} to {} "
        "mistakes were to be expected",
        doubtful="least sure",
        flipped="is more likely",
        metric="error",
        limit="at most {} of its answers are wrong",
        class_limit="at most {} of the answered rows that are “{}” are wrong",
        short_limit="at most {} wrong",
        short_class_limit="at most {} of “{}” wrong",
        is_share=True,
    ),
    "cost": LossUnit(
        name="cost",
        show=number,
        headline="An answer costs {} on average.",
        mean="mean cost",
        of_answers="mean cost of an answer",
        total="the total cost",
        all_rows="a mean cost of {}",
        estimated="Estimated mean cost {}",
        nothing="Its answers cost nothing on {} held-out rows",
        less="less cost",
        more="more cost",
        times="times the cost {} of",
        average="an answer costs {} on average",
        answered="at a cost of about {}",
        checked="who avoids a cost of about {}",
        added_up="The estimated errors are {} on average; the mean cost is {}. If the estimates are right, {} to {} "
        "were to be expected",
        doubtful="least sure",
        flipped="is expected to cost less",
        metric="cost",
        limit="its answers cost at most {} on average",
        class_limit="the answered rows that are “{1}” cost at most {0} on average",
        short_limit="mean cost at most {}",
        short_class_limit="mean cost of “{1}” at most {0}",
    ),
    "size": LossUnit(
        name="size",
        show=number,
        headline="Off by {} on average.",
        mean="mean error",
        of_answers="mean error",
        total="the total error",
        all_rows="off by {} on average",
        estimated="Estimated mean error {}",
        nothing="It made no mistake on {} held-out rows",
        less="less error",
        more="more error",
        times="times the error {} of",
        average="off by {} on average",
        answered="off by {} on average",
        checked="where the model is off by {} on average",
        added_up="The estimated errors are {} on average; the mean error is {}. If the estimates are right, {} to {} "
        "were to be expected",
        doubtful="expected to be furthest off",
        flipped="",
        metric="mean_absolute_error",
        limit="its answers are off by at most {} on average",
        class_limit="",
        short_limit="mean error at most {}",
        short_class_limit="",
    ),
}
