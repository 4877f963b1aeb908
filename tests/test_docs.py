"""The documentation has the size, the pictures and the links that a reader needs."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = sorted((DOCS / "guide").glob("*.rst"))
MEASURED_AGAIN = (
    "error-prior",
    "error-size-prior",
    "intervals",
    "never-worse",
    "scale",
    "series-errors",
)
RESULTS = [
    page for page in sorted((DOCS / "results").glob("*.rst")) if page.stem not in MEASURED_AGAIN
]
PAGES = [
    *GUIDE,
    *sorted((DOCS / "reference").glob("*.rst")),
    *RESULTS,
    DOCS / "api.rst",
    DOCS / "architecture.rst",
    DOCS / "sources.rst",
]
LINK = re.compile(r":doc:`(?:[^`<]*<)?([^`>]+)>?`|:link: (guide/\S+)")


def name_of(page):
    return str(page.relative_to(DOCS).with_suffix(""))


def links_of(page):
    """Pages that a page links to, from the root of the documentation."""
    for found in LINK.finditer(page.read_text()):
        target = found[1] or found[2]
        path = DOCS / target[1:] if target.startswith("/") else page.parent / target
        yield str(path.resolve().relative_to(DOCS.resolve()))


def test_the_guide_and_the_results_are_small():
    assert len(GUIDE) <= 17
    assert len(RESULTS) <= 8


@pytest.mark.parametrize("page", RESULTS, ids=name_of)
def test_every_page_of_results_has_an_answer_a_picture_limits_and_its_command(page):
    text = page.read_text()
    answer, picture = text.find("\n**"), text.find(".. image::")
    limits, measured = text.find("\nLimits\n---"), text.find("\nHow it was measured\n---")
    assert 0 < answer < picture < limits < measured
    assert "python" in text[measured:]
    assert not re.search(r"\basked\b|not complete", text)


@pytest.mark.parametrize("page", GUIDE, ids=name_of)
def test_every_page_of_the_guide_has_a_picture(page):
    pictures = re.findall(r"\.\. image:: (\S+)", page.read_text())
    assert pictures
    for picture in pictures:
        assert (page.parent / picture).stat().st_size < 150_000


@pytest.mark.parametrize("page", [DOCS / "index.rst", *PAGES], ids=name_of)
def test_no_page_is_linked_twice_from_one_page(page):
    links = list(links_of(page))
    assert len(links) == len(set(links)), links


def test_the_start_page_leads_to_every_page():
    listed = set(re.findall(r"^   ([a-z/_*]+)$", (DOCS / "index.rst").read_text(), re.MULTILINE))
    assert {name_of(page) for page in GUIDE} <= listed


def test_the_glossary_has_at_most_twenty_terms():
    text = (DOCS / "reference" / "glossary.rst").read_text()
    assert 0 < len(re.findall(r"^   \w", text, re.MULTILINE)) <= 20
