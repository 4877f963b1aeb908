"""Options that name classes: limits of the risk by class, and costs of mistakes."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from surefoot._typing import Floats
from surefoot._words import listed
from surefoot.cli._mistakes import Mistake
from surefoot.cli._roles import check_risk

Risk = float | dict[Any, float] | None


def read_risks(texts: Sequence[str] | None) -> dict[str | None, float]:
    """Limits by the name of their class, None for all rows, from texts such as "0.05" and "yes=0.2"."""
    risks: dict[str | None, float] = {}
    for text in texts or ():
        name, is_of_class, figure = text.rpartition("=")
        label = name.strip() if is_of_class else None
        if label in risks:
            what = "all rows" if label is None else f"{label!r}"
            raise Mistake(f"--max-risk limits the risk of {what} twice: {text!r} is one too many.")
        risks[label] = read_number(figure, "--max-risk", text, "0.05, or yes=0.2 for a class")
    return risks


def limits_for(
    texts: Sequence[str] | None, task: str, classes: Any, *, costs: bool = False
) -> Risk:
    """Largest permitted risk, or risks by class; a `Mistake` for one out of its range or of an unknown class."""
    risks = read_risks(texts)
    for label, risk in risks.items():
        if label is not None and task != "classification":
            raise Mistake(f"--max-risk {label}={risk:g} names a class, and a number is predicted.")
        check_risk(risk, "cost" if costs else task)
    if not risks:
        return None
    if set(risks) == {None}:
        return risks[None]
    return {
        None if label is None else class_named(label, classes, "--max-risk"): risk
        for label, risk in risks.items()
    }


def cost_matrix(texts: Sequence[str] | None, task: str, classes: Any) -> Floats | None:
    """Cost matrix, truth by prediction, from texts such as "yes->no=10"; other mistakes cost 1. None without costs."""
    if not texts:
        return None
    if task != "classification":
        raise Mistake(f"--cost {texts[0]} names classes, and a number is predicted.")
    matrix, given = 1.0 - np.eye(len(classes)), set()
    for text in texts:
        pair, _, figure = text.rpartition("=")
        cost = read_number(figure, "--cost", text, "yes->no=10: true class, predicted class, cost")
        i, j = mistake_named(pair, text, classes)
        if (i, j) in given:
            raise Mistake(f"--cost {text} is given twice for the same mistake.")
        if i == j:
            raise Mistake(f"--cost {text} is about a right answer, which costs nothing.")
        if cost < 0:
            raise Mistake(f"--cost {text} is below 0: a mistake costs 0 or more.")
        given.add((i, j))
        matrix[i, j] = cost
    if not matrix.any():
        raise Mistake("With these --cost no mistake costs anything: there is nothing to estimate.")
    return matrix


def mistake_named(pair: str, text: str, classes: Any) -> tuple[int, int]:
    """Places of the true and of the predicted class in "yes->no"; an arrow may also be part of a name."""
    names = [str(label) for label in classes]
    halves = list(splits_at_arrow(pair))
    if not halves:
        raise Mistake(
            f"--cost {text} has no arrow: write it as yes->no=10: true class, predicted class, cost."
        )
    fitting = [half for half in halves if set(half) <= set(names)]
    truth, prediction = (
        names.index(str(class_named(name, classes, "--cost"))) for name in (fitting or halves)[0]
    )
    return truth, prediction


def splits_at_arrow(pair: str) -> Iterator[tuple[str, str]]:
    """Texts before and after each arrow."""
    parts = pair.split("->")
    for i in range(1, len(parts)):
        yield "->".join(parts[:i]).strip(), "->".join(parts[i:]).strip()


def class_named(name: str, classes: Any, option: str) -> Any:
    """Class whose label reads like the name; a `Mistake` with all classes if there is none."""
    labels = np.asarray(classes).tolist()
    by_name: Mapping[str, Any] = {str(label): label for label in labels}
    if name not in by_name:
        raise Mistake(f"{option} names the class {name!r}: there are {listed(by_name)}.")
    return by_name[name]


def read_number(figure: str, option: str, text: str, example: str) -> float:
    """Number that an option holds; a `Mistake` with an example for anything else."""
    try:
        value = float(figure)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise Mistake(f"{option} {text} has no number: write it as {example}.")
    return value
