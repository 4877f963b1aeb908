"""The page as a whole: readable by everyone, on every screen and on paper, and harmless."""

import copy
import html
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from surefoot.report.page import render

REGRESSION = pytest.param("regression", marks=pytest.mark.slow)


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_axe_finds_nothing_in_light_and_dark(open_page, task):
    page = open_page(task)
    page.locator("button.open").first.click()
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    line = page.locator("#chart-risk g.mark-line path").first
    for scheme, color, options in (
        ("light", "rgb(29, 95, 168)", None),
        ("dark", "rgb(121, 176, 238)", {"runOnly": ["color-contrast"]}),
    ):
        page.emulate_media(color_scheme=scheme)
        assert line.evaluate("path => getComputedStyle(path).stroke") == color
        results = Axe().run(page, options=options)
        assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_nothing_runs_off_the_screen(open_page, task):
    page = open_page(task)
    page.locator("button.open").first.click()
    page.locator("details.fold, .glossary").evaluate_all(
        "all => all.forEach(one => { one.open = true; })"
    )
    for width in (360, 768, 1440, 1600):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(  # the charts are as wide as there is room for them
            "() => [...document.querySelectorAll('.drawing svg')].every((chart) =>"
            " Math.abs(chart.getBoundingClientRect().width - chart.parentElement.clientWidth) < 1)"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for chart in page.locator(".drawing svg").all():
            box = chart.bounding_box()
            assert 0 <= box["x"] < box["x"] + box["width"] <= width
            assert box["width"] > 200


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_paper_has_every_figure_and_no_controls(open_page, task):
    page = open_page(task, color_scheme="dark")
    page.emulate_media(media="print")
    for name in ("search", "download", "more", "coverage", "glossary"):
        assert not page.get_by_test_id(name).is_visible()
    assert not page.get_by_role("navigation").is_visible()
    for name in ("verdict", "risk", "caught", "limit", "bound"):
        assert page.get_by_test_id(name).is_visible()
    for chart in page.locator(".chart").all():
        assert chart.locator("svg").last.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(253, 252, 250)"


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_paper_has_at_most_8_pages_and_splits_no_panel(open_page, task):
    page = open_page(task)
    assert 3 < len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) <= 8
    # A panel that fits on a page is not split: A4 without its margins, 182 mm × 269 mm at 96 pixels an inch.
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 1017})
    panels = page.locator(".panel, .figures")
    assert panels.count() > 8
    for panel in panels.all():
        assert panel.evaluate("one => getComputedStyle(one).breakInside") == "avoid"
        assert 0 < panel.bounding_box()["height"] < 1017


def test_details_are_folded_until_a_link_points_into_them(open_html, pages):
    page = open_html(
        pages["classification"].replace("<footer>", '<footer><a href="#map">the map</a>')
    )
    folds = page.locator("details.fold")
    assert folds.count() == 5
    assert not folds.evaluate_all("all => all.some(one => one.open)")
    assert not page.locator("#chart-map svg").is_visible()
    page.get_by_role("link", name="the map").click()
    assert folds.evaluate_all("all => all.filter(one => one.open).map(one => one.id)") == ["map"]
    assert page.locator("#chart-map svg").bounding_box()["width"] > 600
    page.goto(f"{page.url}#truth")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert folds.evaluate_all("all => all.filter(one => one.open).map(one => one.id)") == ["truth"]


def test_the_figures_are_there_without_scripts(open_page, classification_summary):
    page = open_page("classification", ready=None, java_script_enabled=False)
    text = page.locator("main").inner_text().replace("\xa0", " ")
    assert classification_summary["verdict"]["headline"] in text
    assert classification_summary["regions"]["sentence"] in text
    for figure in classification_summary["verdict"]["figures"]:
        assert figure["value"] in text
    assert page.locator("tbody[data-test=rows] tr").count() == 15
    assert (
        str(classification_summary["rows"]["items"][0]["row"])
        in page.locator("tbody[data-test=rows] tr").first.inner_text()
    )


def test_it_works_in_the_frame_of_a_notebook(open_html, pages):
    report = html.escape(pages["classification"])
    cell = f'<p>A cell</p><iframe srcdoc="{report}" width="900" height="600"></iframe>'
    page = open_html(f"<!doctype html><title>notebook</title>{cell}", ready=None)
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    before = page.url
    frame.get_by_role("link", name="Where it fails").click()
    frame.locator("#fails:focus").wait_for()
    assert page.url == before
    assert frame.locator("#chart-risk svg").count() == 1
    frame.get_by_test_id("coverage").fill("0")
    assert frame.get_by_test_id("coverage-output").inner_text() == "0.5\xa0%"


NASTY = '</script><img src=x onerror="alert(1)"><b>&amp;'


def nasty(summary):
    """Markup wherever a table, a user or a model may put text."""
    found = copy.deepcopy(summary)
    found["target"] = found["model"] = found["data"]["name"] = NASTY
    found["data"]["classes"] = [{"label": NASTY, "share": 1.0}]
    found["how"]["command"] = f"surefoot report {NASTY}"
    found["rows"]["columns"][0] = "<script>alert(2)</script>"
    found["rows"]["everywhere"] = NASTY
    found["regions"]["items"] = [
        {"rule": f"{NASTY} < 3", "error": 0.3, "other_error": 0.1, "n_rows": 40, "p_value": 0.01}
    ]
    found["answer"]["risk_name"] = NASTY
    for item in found["rows"]["items"]:
        item["values"][0] = item["prediction"] = item["truth"] = NASTY
        item["against"] = [{"name": NASTY, "effect": 0.1}]
        for near in item["near"]:
            near["truth"] = near["values"][0] = NASTY
    return found


def test_markup_in_a_table_is_text(open_html, classification_summary):
    page = open_html(render(nasty(classification_summary)))
    page.locator("button.open").first.click()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    row = page.locator("tr[data-row]").first
    assert row.locator("td").first.inner_text() == NASTY
    assert page.get_by_role("columnheader", name="<script>alert(2)</script>").count() >= 1
    assert page.locator(".against span").inner_text() == NASTY
    assert NASTY in page.locator(".regions code").inner_text()


def bare(summary):
    """As little as a summary may hold."""
    found = copy.deepcopy(summary)
    found["regions"] |= {"items": []}
    found["answer"] |= {"promises": [], "chosen": None}
    found["answer"]["risk"]["own"] = found["answer"]["caught"]["own"] = None
    found["answer"]["augrc"] |= dict.fromkeys(("own", "ratio", "low", "high"))
    found["verdict"]["adds"] = None
    if found["probabilities"]:
        found["probabilities"] = {"sentence": "The model gives no probabilities."}
    for item in found["rows"]["items"]:
        item |= {"own_error": None, "accepted": None, "against": [], "near": [], "truth": None}
        item["wrong"] = None
        item["values"] = [None for _ in item["values"]]
    for one in found["improvements"]:
        one |= {"verdict": "cannot tell", "gain": None, "low": None, "high": None, "unit": None}
    return found


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_a_summary_with_little_in_it(open_html, request, task):
    summary = bare(request.getfixturevalue(f"{task}_summary"))
    page = open_html(render(summary))
    page.locator("button.open").first.click()
    assert "Nothing in particular." in page.locator(".detail").inner_text()
    assert page.locator("input[name=promise]").count() == 0
    assert page.get_by_test_id("regions").count() == 0
    assert page.get_by_role("columnheader", name="Own confidence says").count() == 0
