"""No answer is lost: lost replies, refusals, a server that goes and comes back, a reload, a lease of somebody else."""

import json
import time

import pytest


def labels_of(server):
    return dict(zip(server.labels().row, server.labels().label, strict=True))


def test_an_answer_whose_reply_is_lost_is_sent_again_and_counts_once(work, server):
    keys = []

    def lose_the_first(route):
        keys.append(route.request.post_data_json["key"])
        if len(keys) == 1:
            route.fetch()  # it reaches the server
            route.abort()
        else:
            route.continue_()

    work.page.route("**/api/answers", lose_the_first)
    row = work.row
    work.press("1")  # the next row is shown at once
    work.wait_until_saved()
    assert (len(keys), len(set(keys))) == (2, 1)
    assert server.labels()[["row", "label"]].to_numpy().tolist() == [[row, "a"]]


def test_what_may_pass_is_tried_again_and_said(work):
    statuses = [503, 507, 429]

    def refuse(route):
        if statuses:
            error = {"error": f"The disk is full, says {statuses[0]}."}
            route.fulfill(status=statuses.pop(0), body=json.dumps(error))
        else:
            route.continue_()

    work.page.route("**/api/answers", refuse)
    row = work.row
    work.press("1")
    work.wait_for("trouble", "1 answer is not saved yet. The disk is full, says 5")
    work.page.get_by_test_id("trouble").wait_for(state="hidden")
    work.wait_until_saved()
    assert work.acknowledged == {row: "a"}


@pytest.mark.parametrize("status", [422, 500])
def test_an_answer_that_is_refused_for_good_is_asked_again(work, status):
    refusal = json.dumps({"error": "'a' is not one of the classes."})
    work.page.route("**/api/answers", lambda route: route.fulfill(status=status, body=refusal))
    row = work.row
    work.page.keyboard.press("1")
    sentence = f"Row {row}: the answer (a) was not saved. 'a' is not one of the classes."
    work.wait_for("messages", sentence)
    work.page.unroute("**/api/answers")
    assert work.row == row
    work.press("2")
    work.wait_until_saved()
    assert work.acknowledged == {row: "b"}
    work.page.get_by_role("button", name="Close").click()
    assert work.text("messages") == ""


def test_a_row_that_went_to_somebody_else_is_told_and_the_work_goes_on(crowded_server, work_at):
    slow = work_at(crowded_server.url, "Slow")
    row, store = slow.row, crowded_server._session.store
    store.clock = lambda: time.time() + 301  # leases end after 300 seconds
    quick = work_at(crowded_server.url, "Quick")
    assert quick.row == row
    slow.press("1")
    slow.wait_for("messages", f"Row {row}: the answer (class 000) was not saved. ")
    quick.press("2")
    quick.wait_until_saved()
    assert labels_of(crowded_server) == {row: "class 001"}
    for _ in range(4):  # the rows that waited behind it have gone, too
        slow.press("3")
    slow.wait_until_saved()
    assert slow.acknowledged
    assert labels_of(crowded_server) == {row: "class 001", **slow.acknowledged}


def test_nothing_is_lost_while_the_server_is_gone(start_page, pool, work_at):
    table = pool.head(3)
    first = start_page(table)
    work = work_at(first.url)
    work.press("1")
    work.wait_until_saved()
    first.stop()
    work.press("2")
    work.page.keyboard.press("3")
    work.wait_for("state", "The next rows come when the server answers again.")
    work.wait_for("trouble", "2 answers are not saved yet. The server does not answer.")
    port = int(first.url.split(":")[2].split("/")[0])
    second = start_page(table, port=port)
    work.wait_for("trouble", "Open the address that was printed")  # a new server has a new token
    assert len(labels_of(second)) == 1
    second_tab = work.page.context.new_page()
    second_tab.goto(second.url)  # it lets the first one in again
    work.wait_until_saved()
    work.wait_for("state", "Every row has an answer.")
    work.page.get_by_test_id("trouble").wait_for(state="hidden")
    assert labels_of(second) == work.acknowledged
    assert sorted(work.acknowledged.values()) == ["a", "b", "c"]


def test_leaving_with_unsaved_answers_warns_and_a_reload_sends_them(work):
    work.page.route("**/api/answers", lambda route: route.abort())
    row = work.row
    work.press("3")
    work.wait_for("trouble", "1 answer is not saved yet.")
    warnings = []
    work.page.on("dialog", lambda dialog: (warnings.append(dialog.type), dialog.accept()))
    work.page.unroute("**/api/answers")
    work.page.evaluate("location.reload()")
    work.page.wait_for_selector("dl.cells > div")
    work.wait_until_saved()
    assert warnings == ["beforeunload"]
    assert work.acknowledged == {row: "c"}
    assert work.row != row
    work.wait_for_history()
    work.press("b")
    assert work.row == row
