"""The slider and the promises move the figures, the charts, the advice and the CSV."""

import csv
from math import ceil

import pytest

from surefoot.report.page import render

REGRESSION = pytest.param("regression", marks=pytest.mark.slow)


def read(page, name):
    """The figure on the page, as a number: a percentage as a share."""
    text = page.get_by_test_id(name).inner_text().replace("\xa0", " ").replace("−", "-")
    number = float(text.removesuffix(" %").replace(",", ""))
    return number / 100 if text.endswith("%") else number


def near(value):
    """As written: three digits, or whole percents, are left of the value."""
    return pytest.approx(
        value, abs=max(0.0051 if abs(value) >= 0.1 else 0.00051, 0.006 * abs(value))
    )


def rule_position(page, chart, before=None):
    """Where the line in a chart is, as soon as it is no longer where it was before."""
    rule = page.locator(f"#chart-{chart} g.mark-rule.role-mark line").first
    position = "line => line.getBoundingClientRect().x"
    page.wait_for_function(
        f"([line, before]) => ({position})(line) !== before", arg=[rule.element_handle(), before]
    )
    return rule.evaluate(position)


def coverage_at(summary, share):
    return next(i for i, c in enumerate(summary["answer"]["coverage"]) if c >= share - 1e-9)


def expect_figures(page, answer, i):
    page.get_by_test_id("coverage").fill(str(i))
    assert read(page, "coverage-output") == near(answer["coverage"][i])
    assert read(page, "limit") == near(answer["limit"][i])
    for name in ("risk", "caught"):
        assert read(page, name) == near(answer[name]["surefoot"][i])
        if answer[name]["own"]:
            assert read(page, f"own-{name}") == near(answer[name]["own"][i])
    text, bound = page.get_by_test_id("bound").inner_text().replace("\xa0", " "), answer["bound"][i]
    if bound is None:
        assert text == "no upper bound is known"
    else:  # it is not rounded down
        written = text.removeprefix("at most ").removesuffix(", with 95 % confidence")
        value = float(written.removesuffix(" %")) / (100 if written.endswith("%") else 1)
        assert bound * (1 - 1e-9) <= value <= 1.11 * bound
    n_answered = ceil(answer["coverage"][i] * answer["n_rows"] - 1e-9)
    sentence = page.get_by_test_id("answer-sentence").inner_text()
    assert f"({n_answered:,})" in sentence
    assert f"({answer['n_rows'] - n_answered:,})" in sentence


def rows_to_check(page):
    page.get_by_test_id("kind").select_option("doubted")
    while page.get_by_test_id("more").is_visible():
        page.get_by_test_id("more").click()
    rows = page.locator("tr[data-row]")
    return rows.evaluate_all("rows => rows.map(row => Number(row.dataset.row))")


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_the_slider_moves_the_advice_the_filter_and_the_csv(open_page, request, task):
    summary = request.getfixturevalue(f"{task}_summary")
    items = summary["rows"]["items"]  # highest estimated error first
    rows = [item["row"] for item in items]
    page = open_page(task)
    for share in (0.5, 1.0):
        page.get_by_test_id("kind").select_option("all")
        page.get_by_test_id("coverage").fill(str(coverage_at(summary, share)))
        checked = [
            item["rank"] >= ceil(share * len(rows)) for item in items
        ]  # novel rows come last
        advice = page.locator("tr[data-row] .advice").all_inner_texts()
        expected = ["check it" if checked[i] else "answer" for i in range(len(advice))]
        assert [text.removesuffix("novel").strip() for text in map(str.strip, advice)] == expected
        with page.expect_download() as saved:
            page.get_by_test_id("download").click()
        with saved.value.path().open(encoding="utf-8-sig", newline="") as file:
            lines = {int(line["row"]): line["accepted"] for line in csv.DictReader(file)}
        assert [lines[row] for row in rows] == [str(not each) for each in checked]
        assert rows_to_check(page) == [row for row, each in zip(rows, checked, strict=True) if each]
        advised = page.get_by_test_id("advised").inner_text().replace("\xa0", " ")
        assert advised == f"{share:.0%}".replace("%", " %")


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_the_slider_moves_every_figure(open_page, request, task):
    answer = request.getfixturevalue(f"{task}_summary")["answer"]
    page = open_page(task)
    for i in (1, 49, 199):
        expect_figures(page, answer, i)


def test_the_slider_is_worked_by_keyboard_and_says_where_it_stands(
    open_page, classification_summary
):
    page = open_page("classification")
    slider = page.get_by_test_id("coverage")
    slider.focus()
    page.keyboard.press("Home")
    assert read(page, "coverage-output") == near(classification_summary["answer"]["coverage"][0])
    page.keyboard.press("ArrowRight")
    assert slider.input_value() == "1"
    page.keyboard.press("End")
    assert read(page, "coverage-output") == 1
    assert read(page, "risk") == near(classification_summary["answer"]["overall_risk"])
    assert "100 % of the rows (400)" in slider.get_attribute("aria-valuetext").replace("\xa0", " ")


def test_the_rules_in_the_charts_follow_the_slider(open_page, classification_summary):
    page = open_page("classification")
    slider = page.get_by_test_id("coverage")
    place = {name: rule_position(page, name) for name in ("risk", "caught")}
    places = {}
    for share in (0.25, 0.5, 1.0):
        slider.fill(str(coverage_at(classification_summary, share)))
        place = {name: rule_position(page, name, before) for name, before in place.items()}
        places[share] = place
    # A quarter of the axis lies between 0.25 and 0.5, half of it between 0.5 and 1.
    step = places[0.5]["risk"] - places[0.25]["risk"]
    assert step > 40
    assert places[1.0]["risk"] - places[0.5]["risk"] == pytest.approx(2 * step, rel=0.02)
    assert places[0.25]["caught"] > places[0.5]["caught"] > places[1.0]["caught"]


def test_a_promise_sets_the_slider_and_the_slider_leaves_the_promise(
    open_page, classification_summary
):
    answer = classification_summary["answer"]
    kept = [i for i, promise in enumerate(answer["promises"]) if promise["coverage"]]
    assert len(kept) >= 2
    page = open_page("classification")
    radios = page.locator("input[name=promise]")
    assert [i for i in range(radios.count()) if radios.nth(i).is_enabled()] == kept
    assert radios.nth(answer["chosen"]).is_checked()
    other = next(i for i in kept if i != answer["chosen"])
    radios.nth(other).check(force=True)
    shown = answer["coverage"][int(page.get_by_test_id("coverage").input_value())]
    assert 0 <= answer["promises"][other]["coverage"] - shown < 0.005 + 1e-9
    page.get_by_test_id("coverage").fill("0")
    assert page.locator("input[name=promise]:checked").count() == 0


def test_a_page_without_a_choice_lists_its_rows(open_html, regression_summary):
    nothing = {"is_useful": False, "promises": [], "chosen": None}
    page = open_html(
        render({**regression_summary, "answer": {**regression_summary["answer"], **nothing}})
    )
    assert page.get_by_test_id("no-choice").is_visible()
    assert not page.get_by_test_id("coverage").is_visible()
    assert page.locator("tr[data-row]").count() == 15
    assert page.locator("td.advice").count() == 0
    with page.expect_download() as download:
        page.get_by_test_id("download").click()
    assert "accepted" not in download.value.path().read_text("utf-8-sig").splitlines()[0]
