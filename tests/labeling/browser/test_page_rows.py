"""Cells of a row as a person sees them: strings as strings, missing values, distributions, the order of columns."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose


def cell(work, column):
    return work.page.locator(f'[data-column="{column}"] dd')


def test_hostile_cells_show_as_text(work, pool):
    seen = {}
    for _ in range(120):
        text = pool["note"][work.row]
        kind = "missing" if pd.isna(text) else text[:40]
        if kind not in seen:
            check_note(work, text)
            seen[kind] = work.row
        if len(seen) == 9:
            break
        work.press("s")
    assert len(seen) == 9
    assert work.page.title() == "pool.csv · labels"
    assert work.page.locator("dl.cells script, dl.cells img, dl.cells b").count() == 0
    assert work.page.locator("dl.cells dt").all_inner_texts() == list(pool.columns)
    assert work.page.evaluate("document.documentElement.scrollWidth") <= 1280


def check_note(work, text):
    """The cell shows its text and nothing else; a missing value shows a word in a frame instead."""
    note = cell(work, "note")
    if pd.isna(text) or not text.strip():
        words = "empty" if pd.isna(text) else "blank space only"
        assert note.locator(".empty").text_content() == words
        return
    assert note.locator(".empty").count() == 0
    if len(text) > 1000:
        assert note.locator(".value").text_content() == f"{text[:700]}…"
        note.get_by_test_id("unfold").click()
        box = note.locator(".value").bounding_box()
        assert box["height"] < 700
        assert box["x"] + box["width"] < 1280
    assert note.locator(".value").text_content() == text
    direction = note.locator(".value").evaluate("node => getComputedStyle(node).direction")
    assert direction == ("rtl" if text.startswith("ש") else "ltr")


def test_a_value_stands_beside_its_distribution(work, pool):
    sizes = pool["size"].to_numpy()
    low, high = np.quantile(sizes, [0.005, 0.995])
    for _ in range(4):
        size = sizes[work.row]
        assert cell(work, "size").locator(".value").text_content() == f"{size:g}"
        words = cell(work, "size").locator("svg").get_attribute("aria-label")
        lower, higher = (int(share) / 100 for share in re.findall(r"at least (\d+)\s%", words))
        # One bar of twenty holds the rest: the shares are lower bounds, and not idle ones.
        assert lower <= np.mean(sizes < size)
        assert higher <= np.mean(sizes > size)
        width = (high - low) / 20
        assert lower + 0.01 >= np.mean(sizes < size - width)
        assert higher + 0.01 >= np.mean(sizes > size + width)
        mark = cell(work, "size").locator(".mark").get_attribute("d")
        share = np.clip((size - low) / (high - low), 0, 1)
        assert float(re.match(r"M([\d.]+)", mark)[1]) == pytest.approx(160 * share, abs=1e-6)
        work.press("s")
    color = pool["color"][work.row]
    words = f"{color}in {(pool['color'] == color).sum()} rows of {len(pool)}"
    assert cell(work, "color").text_content() == words


def test_the_first_columns_of_a_wide_table_are_shown_and_all_on_request(crowded_server, work_at):
    work = work_at(crowded_server.url, "Wide")
    assert work.page.locator("dl.cells dt").count() == 60
    work.page.get_by_role("button", name="Show 10 more columns").click()
    values = work.page.locator("dl.cells .value").all_inner_texts()
    assert sorted(map(int, values)) == [work.row + i for i in range(70)]
    assert not work.page.get_by_test_id("more").is_visible()


def test_the_nearest_labelled_rows_are_folded_under_the_row(server_that_learned, work_at, pool):
    work = work_at(server_that_learned.url)
    assert not work.page.get_by_test_id("neighbors-table").is_visible()
    work.page.get_by_test_id("neighbors").locator("summary").click()
    heads = work.page.locator("[data-test=neighbors-table] thead th").all_inner_texts()[2:]
    assert heads
    rows = [int(re.search(r"Row (\d+)", head)[1]) for head in heads]
    # Nobody has answered yet: they are rows of the pool that had a label.
    assert heads == [f"Row {row} {('a', 'b')[row % 4]}" for row in rows]
    sizes = work.page.locator("[data-test=neighbors-table] tbody tr").first.locator("td")
    assert sizes.all_inner_texts() == [f"{pool['size'][row]:g}" for row in (work.row, *rows)]
    distances = np.abs(pool["size"][rows] - pool["size"][work.row])
    labelled = pool["size"][pool.index % 4 < 2]
    nearest = np.sort(np.abs(labelled - pool["size"][work.row]))
    assert_allclose(np.sort(distances), nearest[: len(rows)])
