"""The page is readable by everyone, on every screen, and looks like the report."""

from axe_playwright_python.sync_playwright import Axe


def check_axe(page):
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()


def test_axe_finds_nothing_in_light_and_dark(server_that_learned, work_at):
    work = work_at(server_that_learned.url)
    work.press("1", "2", "b")
    work.page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    work.page.get_by_test_id("open-add").click()
    check_axe(work.page)
    work.page.get_by_test_id("cancel-class").click()
    work.page.keyboard.press("?")
    work.page.get_by_test_id("help-dialog").wait_for()
    check_axe(work.page)


def test_nothing_runs_off_the_screen_and_the_answers_stay_in_sight(work):
    for width, height in ((360, 640), (768, 900), (1440, 900), (2000, 1100)):
        work.page.set_viewport_size({"width": width, "height": height})
        assert work.page.evaluate("document.documentElement.scrollWidth") <= width
        for button in (*work.page.locator(".class").all(), work.page.get_by_test_id("skip")):
            box = button.bounding_box()
            assert 0 <= box["x"] < box["x"] + box["width"] <= width
            assert 0 <= box["y"] < box["y"] + box["height"] <= height
            assert box["height"] >= 24


def test_what_happens_is_announced(work):
    for name, politeness in (("saved", "polite"), ("messages", "assertive"), ("guess", "polite")):
        assert work.page.get_by_test_id(name).get_attribute("aria-live") == politeness
    assert work.page.get_by_test_id("trouble").get_attribute("role") == "alert"
    row = work.row
    work.press("2")
    work.wait_for("saved", f"Saved: row {row}, b.")
