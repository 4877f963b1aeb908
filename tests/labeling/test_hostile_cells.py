"""Cells of every kind are sent as JSON that says what they are, and never break the page or the learning."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import pytest

TEXTS = {
    **{
        text: text
        for text in ("<script>alert(1)</script>", "\"'`\\", "👩‍👩‍👧‍👦", "שלום \u202e drow")
    },
    **{text: text for text in ("x" * 100_000, "", "a\x00b\x1b[31m\r\n", "\u2028", "{{ 7 * 7 }}")},
}

VALUES = {
    "nan": (float("nan"), None),
    "inf": (float("inf"), "inf"),
    "minus inf": (float("-inf"), "-inf"),
    "none": (None, None),
    "missing": (pd.NA, None),
    "no time": (pd.NaT, None),
    "small int": (7, 7),
    "largest exact int": (2**53 - 1, 2**53 - 1),
    "too large int": (2**53 + 1, "9007199254740993"),
    "huge int": (10**40, "1" + "0" * 40),
    "numpy int": (np.int64(-5), -5),
    "numpy unsigned": (np.uint64(2**63), "9223372036854775808"),
    "float": (0.1, 0.1),
    "numpy float": (np.float32(0.5), 0.5),
    "boolean": (True, True),
    "numpy boolean": (np.False_, False),
    "day": (pd.Timestamp("2026-11-16"), "2026-11-16"),
    "moment": (pd.Timestamp("2026-11-16 01:02:03"), "2026-11-16 01:02:03"),
    "date": (dt.date(2026, 11, 16), "2026-11-16"),
    "duration": (pd.Timedelta("1h"), "0 days 01:00:00"),
    "decimal": (decimal.Decimal("0.10"), "0.10"),
    "bytes": (b"\xff\x00", "b'\\xff\\x00'"),
    "list": ([1, "<b>"], "[1, '<b>']"),
    "dict": ({"a": None}, "{'a': None}"),
    "array": (np.arange(3), "[0 1 2]"),
    "half a pair": ("a\ud800b", "a?b"),
}


@pytest.mark.usefixtures("does_not_learn")
def test_every_kind_of_cell_arrives_as_what_it_is(serve_pool):
    values = {**{name: (text, text) for name, text in TEXTS.items()}, **VALUES}
    column = pd.Series([value for value, _ in values.values()], dtype=object)
    served = serve_pool(pd.DataFrame({"x": column}))
    items = served.items("ann", 50)
    expected = [sent for _, sent in values.values()]
    assert len(items) == len(expected)
    for item in items:
        assert item["cells"] == {"x": expected[item["row"]]}
        assert type(item["cells"]["x"]) is type(expected[item["row"]])
    assert served.client.get("/api/task").status_code == 200


@pytest.mark.usefixtures("does_not_learn")
def test_whole_numbers_keep_their_digits_beside_fractions(serve_pool):
    """A row of a frame of numbers would be a row of floats, in which 2**53 + 1 is 2**53."""
    served = serve_pool(pd.DataFrame({"id": [2**53 + 1, 3], "share": [0.5, 0.25]}))
    cells = {item["row"]: item["cells"] for item in served.items("ann", 2)}
    assert cells == {
        0: {"id": "9007199254740993", "share": 0.5},
        1: {"id": 3, "share": 0.25},
    }


@pytest.mark.usefixtures("does_not_learn")
def test_names_of_columns_and_people_may_be_anything_printable(serve_pool):
    shown = ["<b>", "", "__proto__", "x" * 1000, "10", "2"]
    names = ["<b>", "", "__proto__", "x" * 1000, 10, "2"]
    served = serve_pool(pd.DataFrame([[0] * 6, [1] * 6], columns=names))
    (item,) = served.items("<i>עברית</i>, 'Ann'")
    assert list(item["cells"]) == item["order"] == shown
    assert served.answer(item, "a", "<i>עברית</i>, 'Ann'").status_code == 200
    assert served.page.labels()["person"].tolist() == ["<i>עברית</i>, 'Ann'"]


@pytest.mark.usefixtures("does_not_learn")
def test_the_description_of_columns_survives_extreme_numbers(serve_pool):
    pool = pd.DataFrame(
        {
            "huge": [1e308, -1e308, 0.0, 1.0] * 5,
            "endless": [np.inf, -np.inf, np.nan, 1.0] * 5,
            "nothing": [np.nan] * 20,
            "same": [3] * 20,
            "whole": pd.array([1, None, 2, 3] * 5, dtype="Int64"),
            "boolean": [True, False] * 10,
            "times": pd.to_datetime(["2026-01-01", None] * 10),
            "lists": [[1], [2]] * 10,
            "categories": pd.Categorical(["a", None] * 10),
        }
    )
    served = serve_pool(pool)
    columns = served.client.get("/api/task").json()["columns"]
    assert [column["name"] for column in columns] == list(pool.columns)
    kinds = {column["name"]: column["kind"] for column in columns}
    assert (kinds["huge"], kinds["times"], kinds["boolean"]) == ("number", "date", "category")
    for column in columns:
        if column["histogram"] is not None:
            known = pool[column["name"]].astype(float)
            assert sum(column["histogram"]["counts"]) == np.isfinite(known).sum()
    assert "NaN" not in served.client.get("/api/task").text
    assert served.items("ann", 20)


@pytest.mark.usefixtures("does_not_learn")
def test_classes_that_are_odd_strings_come_out_as_they_went_in(serve_pool, tmp_path):
    classes = ["a,b", 'say "c"', "<d>", "עברית", "007", "1.0", "true", "-1"]
    served = serve_pool(10, classes=classes, out=tmp_path / "labels.csv")
    given = {}
    for label in classes:
        (item,) = served.items()
        assert served.answer(item, label).status_code == 200
        given[item["row"]] = label
    frame = served.page.labels()
    assert dict(zip(frame["row"], frame["label"], strict=True)) == given
    served.page.stop()
    written = pd.read_csv(tmp_path / "labels.csv", dtype=str, keep_default_na=False)
    assert {
        int(r): label for r, label in zip(written["row"], written["label"], strict=True)
    } == given
