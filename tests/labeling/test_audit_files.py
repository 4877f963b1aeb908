"""A file of `surefoot audit` on the labelling page: every row once, in the order of the file, and nothing learned."""

import json

import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

CODE = "audit 6 0 none 0123456789abcdef"


def audit_table(**columns):
    """Six draws of five rows: row 40 was drawn twice."""
    table = {
        "draw": range(6),
        "row": [40, 7, 12, 40, 3, 99],
        "audit": CODE,
        "answers": [json.dumps(["no", "yes"]), *[None] * 5],
        "label": [None] * 6,
        "age": [50, 20, 33, 50, 61, 18],
    }
    return pd.DataFrame({**table, **columns})


@pytest.fixture
def page(serve_pool, tmp_path):
    """Serve an audit; the process that learns is not left out: it must not be started."""
    return lambda table: serve_pool(table, "label", classes=None, out=tmp_path / "labels.csv")


def test_rows_are_asked_once_each_in_the_order_of_the_file(page):
    served = page(audit_table())
    ages = []
    for _ in range(5):
        (item,) = served.items()
        assert set(item["cells"]) == {"row", "age"}  # neither the code nor the number of the draw
        ages.append(item["cells"]["age"])
        assert served.answer(item, "yes").status_code == 200
    assert ages == [50, 20, 33, 61, 18]
    assert served.items() == []


def test_nothing_is_learned_and_nobody_is_told_to_stop(page):
    served = page(audit_table())
    served.label(4, lambda row: "yes" if row % 2 else "no")
    progress = served.progress()
    assert served.session._next_work() is None
    assert (progress["claim"], progress["training"], progress["round"]) == (None, False, 0)
    assert (progress["audit"], progress["left"], progress["n_rows"]) == (True, 1, 5)


def test_the_export_has_the_rows_of_the_audited_table_and_the_code(page, tmp_path):
    served = page(audit_table())
    served.label(2, lambda row: "yes")
    (item,) = served.items()
    served.answer(item, kind="unsure")
    served.page.stop()
    written = pd.read_csv(tmp_path / "labels.csv")
    assert written["row"].tolist() == [40, 7, 12]
    assert written["kind"].tolist() == ["label", "label", "unsure"]
    assert set(written["audit"]) == {CODE}


def test_rows_that_are_filled_in_already_are_not_asked(page):
    # Row 40 is filled in at its second draw.
    served = page(audit_table(label=[None, "no", None, "yes", None, None]))
    assert [item["cells"]["row"] for item in served.items(count=5)] == [12, 3, 99]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"row": [0.5] * 6}, "The columns 'row' and 'audit' of .* are changed: leave them"),
        ({"audit": [CODE] * 5 + ["audit 7"]}, "the columns 'row' and 'audit' are changed"),
        ({"answers": "yes or no"}, "the column 'answers' is changed"),
        ({"answers": None}, "is an audit of numbers: fill in 'label' in a spreadsheet"),
    ],
    ids=["rows", "two audits", "answers", "numbers"],
)
def test_a_file_that_is_no_whole_audit_is_refused(page, columns, sentence):
    with pytest.raises(ValueError, match=sentence):
        page(audit_table(**columns))


@pytest.mark.parametrize(
    "options", [{"strategy": "random"}, {"allow_new_classes": True}, {"estimator": GaussianNB()}]
)
def test_what_would_change_the_rows_is_refused(serve_pool, options):
    with pytest.raises(ValueError, match="leave out the strategy, the model and new classes"):
        serve_pool(audit_table(), "label", classes=None, **options)


def test_the_question_names_no_column_and_the_row_is_that_of_the_audited_table(page):
    served = page(audit_table())
    (item,) = served.items()
    assert item["title"] == f"Row {item['cells']['row']} of the audited table"
    assert served.session.task()["question"] == "Which class is right for this row?"
