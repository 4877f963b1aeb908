"""The verdict: no sentence of it contradicts a section, and none is said where it is not the case."""

import re

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from surefoot._words import number, percent
from surefoot.report import ReliabilityReport


def rows(n_rows=400, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, 4))
    return X, X[:, 0] + X[:, 1] ** 2 + draw.normal(size=n_rows)


def priced():
    X, y = rows()
    costs = [[0, 1], [10, 0]]
    return ReliabilityReport(GaussianNB(), X, np.where(y > 2, "yes", "no"), loss=costs)


def limited():
    X, y = rows(800)
    labels = np.where(y > 2, "yes", "no")
    return ReliabilityReport(GaussianNB(), X, labels, max_risk={"yes": 0.5, None: 0.2})


@pytest.fixture(scope="module", params=["classification", "regression", priced, limited])
def summary(request):
    if callable(request.param):
        return request.param().summarize()
    return request.getfixturevalue(f"{request.param}_summary")


def figures_in(text):
    """Numbers of a text as they are written, percentages with their sign; numbers in rules and names are left out."""
    text = re.sub(r"“[^”]*”", "", text)
    return re.findall(r"−?\d[\d,.]*(?: %)?(?=[\s,.;:)]|$)", text)


def test_every_figure_of_the_verdict_is_that_of_its_section(summary):
    answer, verdict = summary["answer"], summary["verdict"]
    show = percent if summary["unit"] == "share" else number
    good = 1 - answer["overall_risk"] if summary["unit"] == "share" else answer["overall_risk"]
    at = answer["coverage"].index(0.9)
    known = {
        show(good),
        percent(0.1),
        *(
            percent(answer["caught"][who][at])
            for who in ("surefoot", "own")
            if answer["caught"][who]
        ),
        number(answer["n_rows"]),
        percent(answer["confidence"]),
        number(sum(row["loss"] > 0 for row in summary["rows"]["items"])),
    }
    promised = answer["promises"][answer["chosen"] or 0]
    known |= {percent(promised["coverage"]), *figures_in(promised["words"])}
    for section in (summary["improvements"], [summary["classes"] or {}]):
        for part in section:
            known |= set(figures_in(str(part.get("sentence", ""))))
    texts = [verdict["headline"], *verdict["sentences"]]
    # The decision and the headline on a rare class are recomputed in test_planted_tables.
    texts = [each for each in texts if "1,000 such cases" not in each and "Finds" not in each]
    written = {figure.rstrip(".,") for text in texts for figure in figures_in(text)}
    assert written
    assert written <= {figure.rstrip(".,") for figure in known}


def test_the_three_figures_are_those_of_the_numbers_for_programs(summary):
    numbers, (good, caught, answered) = summary["numbers"], summary["verdict"]["figures"]
    share = summary["unit"] == "share"
    show = percent if share else number
    assert good["value"] == show(1 - numbers["error"] if share else numbers["error"])
    ends = [numbers["error_low"], numbers["error_high"]]
    ends = [1 - end for end in reversed(ends)] if share else ends
    assert good["about"].startswith(f"{show(ends[0])} to {show(ends[1])}; ")
    at = summary["answer"]["coverage"].index(0.9)
    assert caught["value"] == percent(summary["answer"]["caught"]["surefoot"][at])
    expected = "–" if numbers["coverage"] is None else percent(numbers["coverage"])
    assert answered["value"] == expected


def test_a_gain_in_the_verdict_is_the_largest_of_those_that_help(summary):
    helping = [
        card
        for card in summary["improvements"]
        if card["verdict"] == "helps" and card["at_full_size"]
    ]
    said = [
        card
        for card in summary["improvements"]
        if card["sentence"] in summary["verdict"]["sentences"]
    ]
    assert said == sorted(helping, key=lambda card: -card["gain"])[:1]
    for card in summary["improvements"]:
        if card["gain"] is not None:
            assert card["low"] <= card["gain"] <= card["high"] <= 1
            is_gain = card["low"] > 0 and card["gain"] >= 0.02
            assert (card["verdict"] == "helps") == (
                is_gain and "never predicts" not in card["sentence"]
            )


def sentences(estimator, X, y, **settings):
    report = ReliabilityReport(estimator, X, y, quick=True, **settings)
    return " ".join(report.summarize()["verdict"]["sentences"])


USELESS = "do not show that it is better than always predicting"


def test_a_model_that_is_no_better_than_a_constant_is_said_to_be_so():
    draw = np.random.default_rng(0)
    X, coin = draw.normal(size=(300, 3)), draw.integers(0, 2, 300)
    assert USELESS in sentences(LogisticRegression(), X, coin)
    assert USELESS not in sentences(LogisticRegression(), X, X[:, 0] > draw.normal(size=300) / 2)


def test_own_confidence_that_cannot_be_beaten_is_no_difference_or_not_measurable():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(1500, 1))
    y = draw.random(1500) < 1 / (1 + np.exp(-2 * X[:, 0]))
    text = sentences(LogisticRegression(), X, y)
    assert "no difference" in text or "not rank the rows measurably better" in text
    assert "use it instead" not in text


@pytest.mark.slow
def test_sorted_rows_give_what_shuffled_rows_give():
    for seed in range(3):
        X, y = rows(500, seed)
        labels = np.where(y > 1, "yes", "no")
        shuffled = np.random.default_rng(seed).permutation(500)
        model = HistGradientBoostingClassifier(max_iter=20, random_state=0)
        for order in (np.argsort(labels, kind="stable"), np.argsort(X[:, 2])):
            one, other = (
                ReliabilityReport(model, X[each], labels[each], quick=True).summarize()["numbers"]
                for each in (order, shuffled)
            )
            assert one["error_low"] <= other["error"] <= one["error_high"]
