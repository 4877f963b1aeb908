"""Tests marked `data` are skipped where the data are not, and one browser serves all tests of pages."""

import os
import shutil
from pathlib import Path

import pytest

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


def pytest_runtest_setup(item):
    """Skip a test whose mark `data` names a folder that is not in $SUREFOOT_DATA."""
    for mark in item.iter_markers("data"):
        for folder in mark.args:
            if not (Path(os.environ.get("SUREFOOT_DATA", "nowhere")) / folder).is_dir():
                pytest.skip(f"there is no folder {folder} in $SUREFOOT_DATA")


@pytest.fixture(scope="session")
def browser():
    """Browser that opens our own files; two cannot be started in one process."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no chromium on PATH, and $CHROMIUM is not set")
    with api.sync_playwright() as playwright:
        playwright.selectors.set_test_id_attribute("data-test")
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()
