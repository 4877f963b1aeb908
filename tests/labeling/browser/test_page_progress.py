"""What the page says of the progress, with figures of the server that a test replaces by others."""

import re

import pytest

CURVE = [
    {"n_labels": 10, "accuracy": 0.6, "low": 0.4, "high": 0.78},
    {"n_labels": 20, "accuracy": 0.8, "low": 0.7, "high": 0.9},
]


@pytest.fixture
def progress_with(work):
    """Let the server's own account of the progress have other figures."""

    def change(**figures):
        work.page.route(
            "**/api/progress",
            lambda route: route.fulfill(json={**route.fetch().json(), **figures}),
        )
        work.page.reload()  # at once, not at the next look
        work.page.wait_for_selector("dl.cells > div")

    return change


def numbers(path):
    return [float(number) for number in re.findall(r"[\d.]+", path.get_attribute("d"))]


def test_the_curve_has_its_band_and_its_figures(work, progress_with):
    progress_with(curve=CURVE)
    figure = work.page.get_by_test_id("curve")
    figure.wait_for()
    # 270 units for 20 labels from 40 on, and 120 for the shares from 0.4 to 1, from 130 upwards.
    assert numbers(figure.locator(".line")) == pytest.approx([175, 90, 310, 50])
    corners = [175, 54, 310, 30, 310, 70, 175, 130]
    assert numbers(figure.locator(".band")) == pytest.approx(corners)
    words = figure.locator("svg").get_attribute("aria-label").replace("\xa0", " ")
    assert words.endswith("With 20 labels: 80 % (between 70 % and 90 %).")
    figure.locator("summary").click()
    cells = [text.replace("\xa0", " ") for text in figure.locator("tbody *").all_inner_texts()]
    assert [text for text in cells if "%" in text and "\t" not in text] == [
        *("60 %", "40 % to 78 %"),
        *("80 %", "70 % to 90 %"),
    ]


def test_one_may_stop_and_one_may_go_on(work, progress_with):
    claim = {"sentence": "After 40 labels the model was right on 84 to 96 %."}
    progress_with(claim=claim, changed={"n_labels": 1200, "share": 0.0004})
    work.wait_for("stop", claim["sentence"])
    words = "The last 1,200 labels changed less than 0.1 % of the predictions."
    assert work.text("changed") == f"{claim['sentence']} {words}"
    work.page.get_by_test_id("go-on").click()
    assert not work.page.get_by_test_id("stop").is_visible()
    assert claim["sentence"] in work.text("changed")
    work.press("1")  # labelling goes on


def test_a_model_that_fails_is_told_in_one_sentence_and_labels_go_on(work, progress_with):
    accuracy = {"estimate": 0.805, "low": 0.7, "high": 0.893, "n_random": 1}
    progress_with(failure="All rows are alike.", accuracy=accuracy, left=1, n_rows=4, n_labels=1)
    sentence = "The model could not learn from the labels. All rows are alike."
    work.wait_for("failure", f"{sentence} You can go on labelling.")
    words = "About 81 % of the model’s predictions are right (between 70 % and 89 %), measured on 1"
    assert work.text("accuracy") == f"{words} row drawn at random."
    assert work.text("count").startswith("1 label")
    assert work.text("count").endswith("1 row of 4 left.")
    bar = work.page.get_by_test_id("bar")
    assert (bar.get_attribute("aria-valuenow"), bar.get_attribute("aria-valuemax")) == ("3", "4")
    track, done = bar.bounding_box(), bar.locator("div").bounding_box()
    assert done["width"] == pytest.approx(0.75 * track["width"], abs=1)
    work.press("2")


def test_the_text_and_the_bar_count_the_same_labels(work, server):
    """Sixty rows of the table have labels already: they are in neither of the two, nor in the claim."""
    work.press("1", "2", "c", "1")
    work.wait_until_saved()
    work.wait_for("count", "3 labels, 1 × cannot tell. 56 rows of 60 left.")
    bar = work.page.get_by_test_id("bar")
    assert (bar.get_attribute("aria-valuenow"), bar.get_attribute("aria-valuemax")) == ("4", "60")
    assert server._session.progress()["n_labels"] == 3
