"""Pages of the report in a browser; the test fails if one logs, errs or asks for anything."""

import pytest

from surefoot.report.page import render


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
