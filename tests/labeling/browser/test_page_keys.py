"""Keys and buttons: answers, undo, back and forward, the guess, help, and what no key may do."""

import re


def saved_rows(server):
    """Answers as the server has them: (kind, label) of each row."""
    answers = server.labels()[["row", "kind", "label"]].to_numpy().tolist()
    return {row: (kind, label or None) for row, kind, label in answers}


def test_each_key_gives_its_answer_and_shows_the_next_row(work, server):
    first = work.row
    work.press("2")
    second = work.row
    work.press("c")
    third = work.row
    work.press("s")
    assert len({first, second, third, work.row}) == 4
    work.wait_until_saved()
    expected = {first: ("label", "b"), second: ("unsure", None)}  # a skip is no answer in force
    assert saved_rows(server) == expected


def test_undo_asks_the_same_rows_again_and_a_new_answer_holds(work, server):
    first = work.row
    work.press("1")
    second = work.row
    work.press("1", "u")
    assert work.row == second
    work.press("u")
    assert work.row == first
    work.press("3")
    assert work.row == second
    work.wait_until_saved()
    assert saved_rows(server) == {first: ("label", "c")}


def test_a_row_waits_for_its_undo_that_the_server_has_not_seen(work, server):
    held = []

    def hold(route):
        held.append(route)

    work.page.route("**/api/answers", hold)
    work.page.route("**/api/undo", lambda route: None)
    first = work.row
    work.press("1")
    second = work.row
    work.press("1", "u", "u")
    for _ in range(2):  # the server saves both answers, and then says which rows are to be asked
        for _ in range(300):
            if not held:
                work.page.wait_for_timeout(100)
        with work.page.expect_response(lambda response: "/api/next" in response.url):
            held.pop().continue_()
    work.page.wait_for_function("() => true")  # the page has read it
    work.press("3")
    assert work.row == second
    work.page.unroute("**/api/answers")
    work.page.unroute("**/api/undo")  # what is held goes on
    work.wait_until_saved()
    assert saved_rows(server) == {first: ("label", "c")}


def test_back_shows_the_answer_and_a_new_one_replaces_it(work, server):
    rows = [work.row]
    for key in "12":
        work.press(key)
        rows.append(work.row)
    work.press("b", "b")
    assert work.row == rows[0]
    assert "“a”" in work.text("looking-back")
    pressed = work.page.locator("[data-test=classes] [aria-pressed=true]")
    assert pressed.inner_text().split() == ["a", "1"]
    work.press("3")  # it goes forward by one
    assert work.row == rows[1]
    work.press("n")
    assert work.row == rows[2]
    assert not work.page.get_by_test_id("looking-back").is_visible()
    work.wait_until_saved()
    assert saved_rows(server)[rows[0]] == ("label", "c")
    work.press("b", "b")
    work.page.keyboard.press("u")  # the change is undone: the answer before it holds again
    work.wait_for("looking-back", "“a”")
    work.wait_until_saved()
    expected = {rows[0]: ("label", "a"), rows[1]: ("label", "b")}
    assert saved_rows(server) == expected


def test_back_and_undo_know_the_answers_from_before_a_reload(work):
    first = work.row
    work.press("2")
    work.wait_until_saved()
    work.page.reload()
    work.page.wait_for_selector("dl.cells > div")
    second = work.row
    assert second != first
    work.wait_for_history()
    work.press("b")
    assert work.row == first
    assert "“b”" in work.text("looking-back")
    work.page.keyboard.press("u")
    work.page.get_by_test_id("looking-back").wait_for(state="hidden")
    work.wait_until_saved()
    assert (work.row, work.acknowledged) == (first, {})


def test_nothing_to_undo_or_to_show_is_said_and_buttons_do_what_keys_do(work):
    row = work.row
    work.page.keyboard.press("u")
    work.wait_for("saved", "There is no answer to undo.")
    work.page.keyboard.press("b")
    work.wait_for("saved", "There is no earlier answer to show.")
    work.page.keyboard.press("g")
    work.wait_for("guess", "The model has no guess for this row yet.")
    assert work.row == row
    work.page.get_by_role("button", name="a 1", exact=True).click()  # buttons do what keys do
    work.page.get_by_test_id("unsure").click()
    work.wait_until_saved()
    assert work.acknowledged == {row: "a"}
    work.page.get_by_test_id("undo").click()
    work.page.get_by_test_id("undo").click()
    work.wait_until_saved()
    assert work.acknowledged == {}


def test_other_keys_answer_nothing_and_a_key_held_down_answers_one_row(work):
    row = work.row
    for keys in ("Control+1", "Alt+1", "Meta+1", "Shift+Digit1", "9", "Enter"):
        work.page.keyboard.press(keys)
    assert work.row == row
    for _ in range(5):  # the second and later ones are repeats
        work.page.keyboard.down("1")
    work.page.keyboard.up("1")
    work.wait_until_saved()
    assert work.acknowledged == {row: "a"}


def test_a_text_field_keeps_its_keys(work):
    row = work.row
    work.page.get_by_test_id("open-add").click()
    work.page.keyboard.type("1 su?bgcn")
    assert work.page.get_by_test_id("new-class").input_value() == "1 su?bgcn"
    work.page.keyboard.press("Escape")
    assert not work.page.get_by_test_id("add").is_visible()
    work.page.keyboard.press("?")
    work.page.get_by_test_id("help-dialog").wait_for()
    work.page.keyboard.press("1")
    assert work.row == row
    work.page.keyboard.press("Escape")
    work.press("1")  # and now it answers


def test_the_guess_comes_on_request_only_and_goes_with_the_row(server_that_learned, work_at):
    work, asked = work_at(server_that_learned.url), []
    work.page.on("request", lambda request: asked.append(request.url))
    work.press("1")
    assert not any("guess=1" in url for url in asked)
    work.page.keyboard.press("g")
    work.wait_for("guess", re.compile("The model’s guess: “[ab]”, with a probability of [1-9]"))
    work.press("2")
    assert not work.page.get_by_test_id("guess").is_visible()


def test_a_name_is_asked_once_and_can_be_changed(open_label_page, server):
    page = open_label_page(server.url, person=None)
    page.get_by_test_id("name-dialog").wait_for()
    page.keyboard.press("Escape")
    assert page.get_by_test_id("name-dialog").is_visible()
    page.get_by_test_id("name").fill("  =Eve")
    page.keyboard.press("Enter")
    assert page.get_by_test_id("name-dialog").is_visible()
    page.get_by_test_id("name").fill("  Zoë <b> ")
    page.keyboard.press("Enter")
    page.wait_for_selector("dl.cells > div")
    first = page.get_by_test_id("row-title").inner_text()
    page.reload()
    page.wait_for_selector("dl.cells > div")
    assert page.get_by_test_id("person").inner_text() == "Zoë <b> (change)"
    assert page.get_by_test_id("row-title").inner_text() == first
    page.get_by_test_id("person").click()
    page.get_by_test_id("name").fill("Noor")
    with page.expect_response("**/api/next?person=Noor*"):
        page.keyboard.press("Enter")
    page.wait_for_function(
        "row => document.getElementById('row-title').textContent !== row", arg=first
    )


def test_one_class_among_many_is_found_by_typing(crowded_server, work_at):
    work = work_at(crowded_server.url, "Searching")
    row = work.row
    assert work.page.locator(".class kbd").count() == 9 + 20  # digits, and letters left over
    work.page.keyboard.press("/")
    work.page.keyboard.type("class 1")
    work.page.keyboard.press("Enter")  # a hundred are left: nothing is chosen
    assert (work.row, work.text("matches")) == (row, "100 classes with this text.")
    work.page.keyboard.type("37")
    work.page.keyboard.press("Enter")
    work.wait_until_saved()
    assert work.acknowledged == {row: "class 137"}
    work.page.keyboard.press("Escape")
    second = work.row
    work.press("z")  # the twenty-ninth key
    work.wait_until_saved()
    assert work.acknowledged[second] == "class 028"


def test_a_new_class_has_a_key_and_a_bad_name_is_refused_in_one_sentence(work):
    work.page.get_by_test_id("open-add").click()
    work.page.get_by_test_id("new-class").fill("@sum")
    work.page.keyboard.press("Enter")
    work.wait_for("add-trouble", "must not begin with @")
    work.page.get_by_test_id("new-class").fill("ד <i>")
    work.page.keyboard.press("Enter")
    work.wait_for("saved", "“ד <i>” was added: key 4.")
    row = work.row
    work.press("4")
    work.wait_until_saved()
    assert work.acknowledged == {row: "ד <i>"}
