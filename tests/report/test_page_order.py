"""The order of the page: five sections, links that lead somewhere, and nothing that is said twice."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.naive_bayes import GaussianNB

from surefoot.report import ReliabilityReport
from surefoot.report.page import render

SECTIONS = {
    "verdict": "Verdict",
    "check": "What to check",
    "estimates": "Can these estimates be trusted?",
    "fails": "Where it fails",
    "details": "Details",
}

# Elements whose text goes on in the text around them.
INLINE = {"b", "code", "small", "span", "a", "q", "output", "sup"}
NOT_READ = {"script", "style", "title", "svg", "nav", "td", "th", "summary"}


class Reader(HTMLParser):
    """Links of the menu and of the page, ids, sections, titles, and the texts of blocks."""

    def __init__(self, page):
        super().__init__()
        self.menu, self.links, self.ids, self.sections = [], [], [], []
        self.blocks, self.path = [""], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag == "section" and "section" not in self.path:
            self.sections.append(attributes["id"])
        if tag == "a" and attributes.get("href", "").startswith("#"):
            (self.menu if "nav" in self.path else self.links).append(attributes["href"][1:])
        if tag not in {"meta", "link", "input", "br"}:
            # Cards on what would help are alike on purpose, and not read here.
            self.path.append("nav" if "improvements" in attributes.get("class", "") else tag)
        if tag not in INLINE:
            self.blocks.append("")

    def handle_endtag(self, tag):
        self.path.pop()
        if tag not in INLINE:
            self.blocks.append("")

    def handle_data(self, data):
        if not NOT_READ & set(self.path):
            self.blocks[-1] += data

    @property
    def sentences(self):
        """Sentences of at least five words, outside of the menu and of tables."""
        texts = (" ".join(block.split()) for block in self.blocks)
        found = (one for text in texts for one in re.split(r"(?<=[.:?!])\s+(?=[A-Z“])", text))
        return [one for one in found if len(one.split()) >= 5 and one[-1] in ".?!:"]


@pytest.fixture(scope="module")
def costs_summary():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    costs = [[0, 5], [1, 0]]
    return ReliabilityReport(
        GaussianNB(), X.iloc[:200, :5], y[:200], loss=costs, quick=True
    ).summarize()


@pytest.fixture(scope="module")
def many_classes_summary():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return ReliabilityReport(GaussianNB(), X.iloc[:, :4], y, quick=True, cv=3).summarize()


@pytest.fixture(
    params=["classification_summary", "regression_summary", "costs_summary", "many_classes_summary"]
)
def reader(request):
    return Reader(render(request.getfixturevalue(request.param)))


def test_the_menu_has_the_five_sections_in_their_order(reader):
    assert reader.menu == reader.sections == list(SECTIONS)  # so their numbers are equal, too


def test_every_link_leads_somewhere(reader):
    assert set(reader.menu + reader.links) <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))


def test_titles_are_those_of_the_menu(classification_summary):
    page = render(classification_summary)
    for name, title in SECTIONS.items():
        assert f'<a href="#{name}">{title}</a>' in page
        assert f'<h2 id="{name}-title">{title}</h2>' in page


def test_no_sentence_is_there_twice(reader):
    repeated = [sentence for sentence, n in Counter(reader.sentences).items() if n > 1]
    assert repeated == []
    assert len(reader.sentences) > 20
