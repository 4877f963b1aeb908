"""The page as text: self-contained, harmless, never too large."""

import copy
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest

from surefoot._words import percent
from surefoot.report.page import render
from surefoot.report.page._render import listed_rows

NASTY = "</script><img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.found, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.cdata_elem:
            self.texts.append((self.found[-1], data))


@pytest.fixture(scope="module")
def page(classification_summary):
    return render(classification_summary)


@pytest.fixture(scope="module")
def elements(page):
    return Elements(page)


def test_only_what_stands_in_the_page_may_run(elements):
    policy = next(a["content"] for tag, a in elements.found if "http-equiv" in a)
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    code = {
        kind: [
            text
            for (tag, attributes), text in elements.texts
            if tag == kind and attributes.get("type") != "application/json"
        ]
        for kind in ("script", "style")
    }
    hashes = {
        kind: [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts]
        for kind, texts in code.items()
    }
    assert allowed["default-src"] == "'none'"
    assert allowed["script-src"].split() == hashes["script"]
    assert allowed["style-src"].split() == hashes["style"]
    assert set(allowed) - {"default-src", "script-src", "style-src"} == {
        "img-src",
        "base-uri",
        "form-action",
    }


def test_nothing_is_fetched_and_nothing_runs_from_an_attribute(elements):
    for tag, attributes in elements.found:
        assert "src" not in attributes
        assert attributes.get("href", "#")[:1] == "#" or attributes["href"].startswith("data:")
        assert not any(name.startswith("on") or name == "style" for name in attributes), tag
    style = next(text for (tag, _), text in elements.texts if tag == "style")
    assert not re.search(r"@import|url\(", style)


def test_contents_are_escaped(classification_summary):
    summary = copy.deepcopy(classification_summary)
    summary["target"] = summary["rows"]["columns"][0] = NASTY
    summary["rows"]["items"][0]["values"][0] = summary["regions"]["sentence"] = NASTY
    page = render(summary)
    assert NASTY not in page
    assert page.count("<script") == 3
    elements = Elements(page)
    embedded = next(text for (_, a), text in elements.texts if a.get("id") == "report-data")
    data = json.loads(embedded)
    row = summary["rows"]["items"][0]["row"]
    assert data["rows"]["cells"][str(row)][1] == NASTY
    assert not any(tag == "img" for tag, _ in elements.found)


def large(summary, value):
    """As many rows, columns and points as a summary of a large table has, no two of them alike."""
    found, rng = copy.deepcopy(summary), np.random.default_rng(0)
    model, n_rows = found["rows"]["items"][0], 1500
    found["rows"]["columns"] = [f"column {i}" for i in range(30)]
    found["rows"]["items"] = [
        {
            **model,
            "row": 7 * i,
            "values": [value(rng) for _ in range(30)],
            "near": [
                {"row": 7 * i + j, "truth": "yes", "values": [value(rng) for _ in range(30)]}
                for j in (1, 2, 3)
            ],
        }
        for i in range(n_rows)
    ]
    points = {name: rng.normal(size=n_rows).tolist() for name in ("x", "y")}
    points |= {"error": rng.random(n_rows).tolist(), "row": [7 * i for i in range(n_rows)]}
    found["regions"]["map"] |= {**points, "wrong": (rng.random(n_rows) < 0.2).tolist()}
    return found


def test_a_large_table_stays_below_3_megabytes_with_all_its_rows(classification_summary):
    page = render(large(classification_summary, lambda rng: float(rng.normal())))
    texts = Elements(page).texts
    data = json.loads(next(text for (_, a), text in texts if a.get("id") == "report-data"))
    assert len(data["rows"]["items"]) == 1500
    assert len(page.encode()) < 3_000_000


@pytest.mark.slow
def test_long_texts_are_cut_and_then_rows_left_out(classification_summary):
    summary = large(classification_summary, lambda rng: "é" * 400)
    page = render(summary)
    assert len(page.encode()) < 3_000_000
    listed = listed_rows(summary["rows"], "classification", percent)
    assert 100 < len(listed["items"]) < 1500
    assert [item["row"] for item in listed["items"]] == [7 * i for i in range(len(listed["items"]))]
    assert listed["cells"][0][1] == "é" * 19 + "…"


def test_cells_are_as_exact_as_fits(classification_summary):
    rows = copy.deepcopy(classification_summary["rows"])
    for item in rows["items"]:
        item["values"] = [1 / 3, 123456789, "x" * 250]
    row = rows["items"][0]["row"]
    budget, cells = 400_000, []
    while len(cells) < 2:  # the first of less room, and the first of still less
        found = listed_rows(rows, "classification", percent, budget=budget)["cells"][row][1:]
        cells += [found] if found not in cells else []
        budget -= 10_000
    assert cells == [[0.333333, 123456789, "x" * n + "…"] for n in (199, 59)]
    one = listed_rows(rows, "classification", percent, budget=10)
    assert len(one["items"]) == 1


def test_a_promise_is_shown_where_it_is_kept(elements, classification_summary):
    answer = classification_summary["answer"]
    radios = [a for tag, a in elements.found if a.get("name") == "promise" and "disabled" not in a]
    kept = [promise for promise in answer["promises"] if promise["coverage"]]
    places = [int(radio["data-at"]) for radio in radios]
    assert [answer["coverage"][place] for place in places] == [each["coverage"] for each in kept]


def test_regions_are_bars_on_one_scale_with_a_mark_for_all_rows(classification_summary):
    summary = copy.deepcopy(classification_summary)
    region = {"rule": "a > 3", "other_error": 0.1, "n_rows": 40, "p_value": 0.01}
    summary["regions"]["items"] = [{**region, "error": error} for error in (0.5, 0.31)]
    summary["regions"]["overall_error"] = 0.2
    page = render(summary)
    elements = Elements(page).found
    # The longest bar is 50 %: 0.31 is 62 % of it, 0.2 is 40 %.
    bars = [a["width"] for tag, a in elements if tag == "rect" and a.get("class") == "extent"]
    marks = [a["x1"] for tag, a in elements if tag == "line" and a.get("class") == "mark"]
    assert (bars, marks) == (["100.0%", "62.0%"], ["40.0%", "40.0%"])


def test_a_page_made_in_python_does_not_speak_of_options(page):
    assert "--scores" not in page
    assert "report.to_frame()" in page


def page_with(summary, folder, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return render(summary)


def test_a_kept_script_is_used_and_a_damaged_one_made_again(
    classification_summary, tmp_path, monkeypatch
):
    first = page_with(classification_summary, tmp_path, monkeypatch)
    [kept] = (tmp_path / "surefoot").iterdir()
    content = kept.read_text("utf-8")
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "no script was to be made")
    assert page_with(classification_summary, tmp_path, monkeypatch) == first
    kept.write_text(content[:-1000], "utf-8")
    assert "no script was to be made" in page_with(classification_summary, tmp_path, monkeypatch)


def test_a_home_that_cannot_be_written_has_a_page_too(
    classification_summary, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "made anew")
    assert "made anew" in page_with(classification_summary, tmp_path / "file", monkeypatch)
