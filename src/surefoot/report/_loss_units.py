"""Words and figures of a loss: a share of mistakes, a cost, or the size of an error in the unit of the target."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.report._figures import number, percent


@dataclass(frozen=True)
class LossUnit:
    """How figures of a loss are written, and the words for them in sentences; `{}` stands for a figure."""

    name: str
    show: Callable[[float | None], str]
    risk_name: str
    region_name: str
    total: str
    its_total: str
    region: str
    none: str
    limit: str
    class_limit: str
    short: str
    short_class: str

    def show_risk(self, risk: float) -> str:
        """Text of a promised risk, which is not rounded."""
        return f"{100 * risk:g} %" if self.name == "share" else f"{risk:,.6g}"

    def describe_limits(
        self, max_risk: float | None, class_risks: Mapping[Any, float]
    ) -> dict[str, str]:
        """Texts of a promise: `words` for a sentence, `short` for a figure, and `label` for a button."""
        by_class = {str(label): self.show_risk(risk) for label, risk in class_risks.items()}
        overall = [] if max_risk is None else [self.show_risk(max_risk)]
        words = [*map(self.limit.format, overall)]
        words += [self.class_limit.format(risk, label) for label, risk in by_class.items()]
        short = [*map(self.short.format, overall)]
        short += [self.short_class.format(risk, label) for label, risk in by_class.items()]
        labels = overall + [f"“{label}” {risk}" for label, risk in by_class.items()]
        return {
            "words": ", and ".join(words),
            "short": " and ".join(short),
            "label": ", ".join(labels),
        }


UNITS = {
    unit.name: unit
    for unit in (
        LossUnit(
            name="share",
            show=percent,
            risk_name="share of wrong answers",
            region_name="error rate",
            total="all mistakes",
            its_total="its mistakes",
            region="wrong on {} of rows",
            none="It made no mistake on {} held-out rows",
            limit="at most {} of its answers are wrong",
            class_limit="at most {} of the answered rows that are “{}” are wrong",
            short="at most {} wrong",
            short_class="at most {} of “{}” wrong",
        ),
        LossUnit(
            name="cost",
            show=number,
            risk_name="mean cost of an answer",
            region_name="mean cost",
            total="the total cost",
            its_total="its total cost",
            region="a mean cost of {}",
            none="Its answers cost nothing on {} held-out rows",
            limit="its answers cost at most {} on average",
            class_limit="the answered rows that are “{1}” cost at most {0} on average",
            short="mean cost at most {}",
            short_class="mean cost of “{1}” at most {0}",
        ),
        LossUnit(
            name="size",
            show=number,
            risk_name="mean error",
            region_name="mean error",
            total="the total error",
            its_total="its total error",
            region="off by {} on average",
            none="It made no mistake on {} held-out rows",
            limit="its answers are off by at most {} on average",
            class_limit="",
            short="mean error at most {}",
            short_class="",
        ),
    )
}
