"""The section of checks is readable by everyone, on every screen and on paper."""

import copy

import pytest
from axe_playwright_python.sync_playwright import Axe

from surefoot.report.page import render


@pytest.fixture(scope="module")
def page_with_checks(regression_summary):
    summary = copy.deepcopy(regression_summary)
    rows = [{"row": i, "copy": i + 100, "kind": "equal"} for i in range(20)]
    item = {"figure": "9 %", "columns": [], "advice": "Remove the copies.", "facts": {}}
    summary["checks"]["items"] = [
        {**item, "code": "duplicate", "sentence": "40 rows have a copy.", "rows": rows},
        {**item, "code": "order", "sentence": "The order of the rows matters.", "rows": []},
    ]
    return render(summary)


def test_axe_widths_and_paper(open_html, page_with_checks):
    page = open_html(page_with_checks)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        results = Axe().run(page, context="#checks")
        assert results.violations_count == 0, results.generate_report()
    for width in (360, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.emulate_media(media="print")
    last = page.locator("#checks tbody tr").last.bounding_box()
    advice = page.locator("#checks .advice").first.bounding_box()
    assert (
        last["y"] + last["height"] <= advice["y"] + 1
    )  # the whole table is printed, above what follows it
