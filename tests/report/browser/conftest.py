"""A browser that opens pages, and fails the test if one logs, errs or asks for anything."""

import os
import shutil

import pytest

from surefoot.report.page import render

FLAGS = (
    "--no-sandbox",  # the browser may run as root in a container; it opens only our own files
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no chromium on PATH, and $CHROMIUM is not set")
    with api.sync_playwright() as playwright:
        playwright.selectors.set_test_id_attribute("data-test")
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def pages(classification_summary, regression_summary):
    return {
        "classification": render(classification_summary),
        "regression": render(regression_summary),
    }


@pytest.fixture
def open_html(browser, tmp_path):
    """Open a page from a file in a window of its own; whatever it complains of fails the test."""
    contexts, complaints = [], []

    def open_(html, ready="html[data-ready]", **options):
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(html, "utf-8")
        contexts.append(
            browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        )
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: note_request(request.url, path))
        page.goto(path.as_uri())
        if ready:
            page.wait_for_selector(ready, state="attached")
        return page

    def note_request(url, path):
        if url != path.as_uri() and not url.startswith(("blob:", "data:")):
            complaints.append(f"asked for {url}")

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def open_page(open_html, pages):
    return lambda task, **options: open_html(pages[task], **options)
