"""The table: sort, search, open, select on the map, download."""

import copy
import csv

import numpy as np
import pytest

from surefoot.report.page import render

REGRESSION = pytest.param("regression", marks=pytest.mark.slow)


def shown_rows(page):
    """Row numbers in the order of the table, after asking for all."""
    more = page.get_by_test_id("more")
    while more.is_visible():
        more.click()
    return first_rows(page)


def first_rows(page):
    rows = page.locator("tr[data-row]")
    return [int(row) for row in rows.evaluate_all("rows => rows.map(row => row.dataset.row)")]


def press_head(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def aria_sort(page, name):
    table = page.get_by_role("region", name="Table of rows")
    return table.get_by_role("columnheader", name=name, exact=True).get_attribute("aria-sort")


def search(page, text, expected):
    page.get_by_test_id("search").fill(text)
    page.get_by_text(f" of {expected} rows.").wait_for()


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_all_rows_are_there_least_trustworthy_first(open_page, request, task):
    items = request.getfixturevalue(f"{task}_summary")["rows"]["items"]
    errors = {item["row"]: item["estimated_error"] for item in items}
    page = open_page(task)
    assert page.locator("tr[data-row]").count() == 15
    shown = shown_rows(page)
    assert sorted(shown) == sorted(errors)
    found = [errors[row] for row in shown]
    assert found == sorted(found, reverse=True)
    assert aria_sort(page, "Estimated error") == "descending"


def test_any_column_sorts_both_ways_and_rows_of_one_kind_are_listed(
    open_page, classification_summary
):
    items = {item["row"]: item for item in classification_summary["rows"]["items"]}
    page = open_page("classification")
    incomes = sorted(item["values"][1] for item in items.values())
    press_head(page, "income")
    assert [items[row]["values"][1] for row in first_rows(page)] == incomes[:-16:-1]
    assert aria_sort(page, "income") == "descending"
    assert aria_sort(page, "Estimated error") is None
    press_head(page, "income")
    assert [items[row]["values"][1] for row in first_rows(page)] == incomes[:15]
    press_head(page, "city")
    assert {items[row]["values"][2] for row in first_rows(page)} == {"Graz"}
    press_head(page, "city")
    assert {items[row]["values"][2] for row in first_rows(page)} == {"Oslo"}
    kinds = (("wrong", "wrong", True), ("doubted", "accepted", False), ("novel", "novel", True))
    for kind, key, value in kinds:
        page.get_by_test_id("kind").select_option(kind)
        assert set(shown_rows(page)) == {row for row in items if items[row][key] is value}


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_a_row_opens_and_closes_by_keyboard(open_page, request, task):
    item = request.getfixturevalue(f"{task}_summary")["rows"]["items"][2]
    page = open_page(task)
    button = page.get_by_role("button", name=f"Row {item['row']}, details")
    assert button.get_attribute("aria-expanded") == "false"
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert button.evaluate("button => button === document.activeElement")
    detail = page.locator(f"#{button.get_attribute('aria-controls')}")
    told = detail.inner_text()
    for reason in item["against"]:
        assert reason["name"] in told
    near = detail.locator("tbody tr").all_inner_texts()
    assert [line.split("\t")[:2] for line in near[1:]] == [
        [f"row {other['row']}", f"{other['truth']:g}" if task == "regression" else other["truth"]]
        for other in item["near"]
    ]
    page.keyboard.press("Space")
    assert detail.count() == 0


def drag_over_left_half(page):
    """Draw a rectangle on the map; returns the rows whose points it holds."""
    chart = page.get_by_test_id("chart-map")
    chart.scroll_into_view_if_needed()
    box = chart.locator("svg").bounding_box()
    left, top = box["x"] + 40, box["y"] + 12
    right, bottom = box["x"] + box["width"] / 2, box["y"] + box["height"] - 45
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move((left + right) / 2, (top + bottom) / 2)
    page.mouse.move(right, bottom)
    page.mouse.up()
    centers = chart.locator("g.mark-symbol path").evaluate_all(
        "paths => paths.map(path => { const box = path.getBoundingClientRect();"
        " return [path.__data__.datum.row, box.x + box.width / 2, box.y + box.height / 2]; })"
    )
    return {row for row, x, y in centers if left <= x <= right and top <= y <= bottom}


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_a_rectangle_on_the_map_filters_the_table(open_page, request, task):
    items = request.getfixturevalue(f"{task}_summary")["rows"]["items"]
    page = open_page(task)
    page.locator("#map > summary").click()
    point = page.locator("#chart-map g.mark-symbol path").last
    point.scroll_into_view_if_needed()
    point.hover(force=True)
    page.locator(".tip", has_text=f"Row {items[0]['row']}: estimated error").wait_for()
    inside = drag_over_left_half(page)
    assert 0 < len(inside) < len(items)
    page.get_by_text(f"Of the {len(inside)} selected").wait_for()
    assert set(shown_rows(page)) == inside
    page.get_by_test_id("clear").click()
    assert len(shown_rows(page)) == len(items)
    assert not page.get_by_test_id("clear").is_visible()
    page.wait_for_function(  # the rectangle has gone
        "() => document.querySelector('#chart-map .brush_brush path').getBoundingClientRect().width < 3"
    )


def test_the_rows_around_one_are_listed_by_keyboard(open_page, classification_summary):
    row = classification_summary["rows"]["items"][0]["row"]
    points = classification_summary["regions"]["map"]
    place = points["row"].index(row)
    page = open_page("classification")
    page.get_by_role("button", name=f"Row {row}, details").press("Enter")
    page.get_by_test_id("around").press("Enter")
    page.get_by_test_id("clear").wait_for()
    shown = shown_rows(page)
    assert row in shown
    far = {
        other: abs(points["x"][i] - points["x"][place]) / np.ptp(points["x"])
        for i, other in enumerate(points["row"])
    }
    assert all(far[other] < 0.2 for other in shown)
    assert len(shown) < len(points["row"])


def test_the_download_has_the_rows_that_match(open_page, classification_summary):
    items = classification_summary["rows"]["items"]
    expected = [item for item in items if "Graz" in item["values"]]
    page = open_page("classification")
    search(page, "no such thing", 0)
    assert shown_rows(page) == []
    search(page, "gRAZ ", len(expected))
    lines = download(page)
    assert [int(line["row"]) for line in lines] == [item["row"] for item in expected]
    for line, item in zip(lines, expected, strict=True):
        assert [line["age"], line["city"]] == [str(item["values"][0]), "Graz"]
        assert [line["truth"], line["prediction"]] == [item["truth"], item["prediction"]]
        assert float(line["estimated_error"]) == pytest.approx(item["estimated_error"], rel=1e-5)
        assert float(line["loss"]) == item["wrong"]
        assert float(line["probability_no"]) == pytest.approx(item["probability_no"], rel=1e-3)


@pytest.mark.parametrize("task", ["classification", REGRESSION])
def test_the_download_has_the_columns_of_the_frame_each_explained(open_page, request, task):
    frame = request.getfixturevalue(f"{task}_report").to_frame().set_index("row", drop=False)
    values = request.getfixturevalue(f"{task}_summary")["rows"]["columns"]
    page = open_page(task)
    lines = download(page)
    # The slider decides what is accepted; a frame says so only if there is a promise.
    decided = [] if "accepted" in frame else ["accepted"]
    assert sorted(lines[0]) == sorted([*frame, *decided, *values])
    for line in lines[:: len(lines) // 5]:
        row = frame.loc[int(line["row"])]
        for name in frame:
            is_number = isinstance(row[name], float)
            expected = pytest.approx(row[name], rel=1e-3) if is_number else str(row[name])
            assert (float(line[name]) if is_number else line[name]) == expected, name
    page.locator("[data-test=glossary] summary").press("Enter")
    names = page.locator("[data-test=glossary] dt").all_inner_texts()
    kinds = ["probability_<class>" if "probability_" in name else name for name in frame]
    assert sorted(names) == sorted({*kinds, *decided})
    assert all(page.locator("[data-test=glossary] dd").all_inner_texts())


def download(page):
    with page.expect_download() as found:
        page.get_by_test_id("download").click()
    with found.value.path().open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_spreadsheet_runs_nothing_from_the_download(open_html, classification_summary):
    summary = copy.deepcopy(classification_summary)
    texts = ['=HYPERLINK("x")', "+49 1", "-2+3", "@SUM(A1)", "-5", 'a,b\n"c"', "-", "plain"]
    summary["rows"]["columns"][2] = "=1+1"
    summary["rows"]["items"] = summary["rows"]["items"][: len(texts)]
    for item, text in zip(summary["rows"]["items"], texts, strict=True):
        item["values"][2] = text
        item["near"] = []
    found = [line["'=1+1"] for line in download(open_html(render(summary)))]
    assert found == ["'" + text if text[0] in "=+-@" and text != "-5" else text for text in texts]
