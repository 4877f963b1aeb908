"""The HTTP interface, field by field: what it returns, what it refuses, and what the history keeps."""

import csv
import io
import json
import re
import socket
import time

import pandas as pd
import pytest

AT_RANDOM = "Drawn at random: only such rows measure how accurate the predictions are."


def error_of(reply, status):
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/json"
    (sentence,) = reply.json().values()
    assert list(reply.json()) == ["error"]
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def history(served):
    """Row, label and whether it was undone, of every answer ever saved."""
    return served.session.store.rows(
        "SELECT row, label, undone IS NOT NULL FROM answers ORDER BY id"
    )


def test_the_next_rows_have_their_cells_a_lease_and_a_reason(served):
    reply = served.next("ann", 3)
    assert set(reply) == {"items", "left"}
    assert reply["left"] == 30
    rows = [item["row"] for item in reply["items"]]
    assert len(set(rows)) == 3
    for item in reply["items"]:
        assert item["cells"] == {"x": item["row"]}  # x is the number of the row
        assert item["why"] == AT_RANDOM
        assert "guess" not in item
    assert len({item["lease"] for item in reply["items"]}) == 3


def test_an_answer_is_saved_and_counted_and_the_same_key_counts_once(served):
    one, two = served.items("ann", 2)
    for _ in range(3):
        assert served.answer(one, "a", key="once").json() == {"saved": True, "n_labels": 1}
    assert served.answer(two, "b").json() == {"saved": True, "n_labels": 2}
    assert served.labels() == {one["row"]: "a", two["row"]: "b"}
    assert served.next("ann")["left"] == 28
    changes = ({"label": "b"}, {"person": "bob"}, {"kind": "unsure", "label": None})
    for change in changes:  # a key belongs to one answer
        reply = served.answer(one, **{"label": "a", "key": "once", **change})
        assert "each answer needs a key of its own" in error_of(reply, 422)
    assert history(served) == [(one["row"], "a", 0), (two["row"], "b", 0)]


def test_undo_gives_the_row_back_and_twice_the_same_key_undoes_once(served):
    one, two = served.items("ann", 2)
    served.answer(one, "a")
    served.answer(two, "a")
    reply = served.undo(two["row"], key="back").json()
    assert set(reply) == {"saved", "n_labels", "item"}
    assert (reply["saved"], reply["n_labels"]) == (True, 1)
    assert reply["item"]["row"] == two["row"]
    assert served.undo(two["row"], key="back").json() == reply
    assert served.labels() == {one["row"]: "a"}
    assert served.answer(reply["item"], "b").json() == {"saved": True, "n_labels": 2}


def test_skipped_rows_come_back_last_and_only_to_who_skipped_them(serve_pool, does_not_learn):
    served = serve_pool(6)
    (first,) = served.items()
    assert served.answer(first, kind="skip").json() == {"saved": True, "n_labels": 0}
    assert served.next()["left"] == 6
    bob = {item["row"] for item in served.items("bob", 50)}
    assert first["row"] in bob  # bob has not skipped it
    served.session.store.clock = lambda: 9e9  # all leases have ended
    for _ in range(5):
        (item,) = served.items()
        assert item["row"] != first["row"]
        served.answer(item, "a")
    (item,) = served.items()
    assert item["row"] == first["row"]
    served.answer(item, kind="skip")
    (item,) = served.items()
    assert item["row"] == first["row"]
    served.answer(item, "a")
    assert served.next("bob", 5) == {"items": [], "left": 0}


def test_new_classes_only_where_they_are_allowed(serve_pool, does_not_learn, tmp_path):
    served = serve_pool()
    assert error_of(served.client.post("/api/classes", json={"label": "d"}), 403)
    (item,) = served.items()
    assert "'d' is not one of the classes" in error_of(served.answer(item, "d"), 422)
    open_ = serve_pool(allow_new_classes=True, db=tmp_path / "open.db")
    add = {"label": " d "}
    assert open_.client.post("/api/classes", json=add).json() == {"classes": ["a", "b", "d"]}
    assert open_.client.post("/api/classes", json=add).json() == {"classes": ["a", "b", "d"]}
    (item,) = open_.items()
    assert open_.answer(item, "d").json() == {"saved": True, "n_labels": 1}
    assert open_.progress()["classes"] == {"a": 0, "b": 0, "d": 1}
    for label in ("", "  ", "a\nb", "=1+1", "x" * 201, "\x00"):
        assert error_of(open_.client.post("/api/classes", json={"label": label}), 422)
    assert open_.client.get("/api/task").json()["classes"] == ["a", "b", "d"]


def test_progress_has_every_field(served):
    assert served.progress() == {
        "n_labels": 0,
        "n_unsure": 0,
        "classes": {"a": 0, "b": 0},
        "people": {},
        "n_rows": 30,
        "left": 30,
        "accuracy": None,
        "curve": [],
        "changed": None,
        "claim": None,
        "training": False,
        "failure": None,
        "round": 0,
        "n_learned": 0,
        "audit": False,
    }
    served.label(2, lambda row: "a", "ann")
    served.label(1, lambda row: "b", "bob")
    progress = served.progress()
    assert progress["people"] == {"ann": 2, "bob": 1}
    assert progress["classes"] == {"a": 2, "b": 1}


def test_the_export_has_one_line_a_labelled_row(serve_pool, does_not_learn, tmp_path):
    out = tmp_path / "labels.csv"
    served = serve_pool(out=out)
    one, two, three = served.items("ann, the 1st", 3)
    served.answer(one, "a", "ann, the 1st")
    served.answer(two, person="ann, the 1st", kind="unsure")
    served.answer(three, "b", "ann, the 1st")
    reply = served.client.get("/api/export.csv")
    assert reply.headers["content-type"].startswith("text/csv")
    lines = list(csv.DictReader(io.StringIO(reply.text)))
    columns = ["row", "label", "kind", "person", "time", "seconds", "strategy", "error"]
    assert list(lines[0]) == columns
    expected = sorted([(one["row"], "a"), (three["row"], "b")])
    assert [(int(line["row"]), line["label"]) for line in lines] == expected
    assert {line["person"] for line in lines} == {"ann, the 1st"}
    assert {line["strategy"] for line in lines} == {"random"}
    for line in lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["time"])
        assert float(line["seconds"]) >= 0
    written = pd.read_csv(out)
    assert written["row"].tolist() == sorted([one["row"], two["row"], three["row"]])
    assert set(written["kind"]) == {"label", "unsure"}


BAD_VALUES = {
    "key": [
        None,
        "",
        "x" * 201,
        5,
        "\ud83d",
    ],  # the last is half of a pair, which SQLite cannot hold
    "row": ["1", 1.0, -1, 2**53, True],
    "lease": [None],
    "person": [" ", "a\nb", "=1", "x" * 101],
    "kind": ["delete", "skip"],  # a skip has no label
    "label": [None, 1],
    "path": ["/etc/passwd"],
}


@pytest.mark.parametrize("field", BAD_VALUES)
def test_a_bad_answer_gets_one_sentence_and_is_not_saved(served, field):
    (item,) = served.items()
    good = {"key": "k", "row": item["row"], "lease": item["lease"], "person": "ann"}
    good |= {"kind": "label", "label": "a"}
    for value in BAD_VALUES[field]:
        content = json.dumps({**good, field: value}).encode()
        headers = {"Content-Type": "application/json"}
        assert error_of(served.client.post("/api/answers", content=content, headers=headers), 422)
    assert history(served) == []


def test_a_body_that_is_no_answer_and_a_bad_question_get_one_sentence(served):
    pair = b'{"key": "\\ud800"}'
    for content in (b"", b"{", b"[]", b"null", b"\xff", b"[" * 60_000, pair, b'{"row": NaN}'):
        headers = {"Content-Type": "application/json"}
        reply = served.client.post("/api/answers", content=content, headers=headers)
        assert error_of(reply, 400 if content.startswith((b"[[", b"\xff")) else 422)
    people = ["", "person=", "person=%0a", "person=" + "x" * 101]
    for query in (*people, *(f"person=ann&{more}" for more in ("count=0", "count=x", "guess=2"))):
        assert error_of(served.client.get(f"/api/next?{query}"), 422)
    assert len(served.items(count=1000)) == 30  # more than there are is all of them


def test_a_row_that_was_never_dealt_cannot_be_answered(served):
    (item,) = served.items()
    others = ({"row": item["row"] + 1, "lease": item["lease"]}, {**item, "lease": "made up"})
    for other in others:
        assert "was not given to ann" in error_of(served.answer(other, "a"), 409)
    assert "was not given to bob" in error_of(served.answer(item, "a", "bob"), 409)
    assert error_of(served.answer({**item, "row": 10**9}, "a"), 409)
    assert served.labels() == {}


@pytest.mark.parametrize("ending", ["", "-wal"])
def test_nothing_counts_as_saved_once_the_database_is_gone(
    serve_pool, does_not_learn, tmp_path, ending
):
    served = serve_pool(out=tmp_path / "labels.csv")
    first, second = served.items(count=2)
    assert served.answer(first, "a").json()["saved"]
    (tmp_path / f"answers.db{ending}").unlink()
    assert "was deleted or replaced" in error_of(served.answer(second, "a"), 500)
    assert "was deleted or replaced" in error_of(served.undo(first["row"]), 500)
    served.page.stop()
    assert pd.read_csv(tmp_path / "labels.csv")["row"].tolist() == [first["row"]]


def test_connections_without_a_whole_request_are_closed_in_time(served, monkeypatch):
    monkeypatch.setattr("surefoot.labeling._server.REQUEST_SECONDS", 0.3)
    host, _, port = served.base.removeprefix("http://").partition(":")
    head = f"POST /api/undo HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {served.token}\r\n"
    starts = (
        "",
        "GET / HT",
        head,
        f"{head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{{",
    )
    half_open = [socket.create_connection((host, int(port)), timeout=5) for _ in range(150)]
    for number, each in enumerate(half_open):
        each.sendall(starts[number % len(starts)].encode())
    assert served.progress()["n_labels"] == 0  # meanwhile the page works
    began = time.monotonic()
    for each in half_open:
        while each.recv(4096):  # until the end
            pass
        each.close()
    assert time.monotonic() - began < 5
    time.sleep(0.4)
    assert served.progress()["n_labels"] == 0


def test_a_class_that_looks_like_a_formula_is_escaped_in_the_file_and_nowhere_else(
    serve_pool, does_not_learn, tmp_path
):
    names = ["=1+1", "@x", "'-y", "-1"]
    served = serve_pool(out=tmp_path / "labels.csv", classes=names)
    for name, item in zip(names, served.items(count=4), strict=True):
        assert served.answer(item, name).json()["saved"]
    assert sorted(served.page.labels()["label"]) == sorted(names)
    served.page.stop()
    with (tmp_path / "labels.csv").open(newline="") as file:
        written = sorted(line["label"] for line in csv.DictReader(file))
    assert written == sorted(["'=1+1", "'@x", "''-y", "-1"])
