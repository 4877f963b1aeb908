"""The data sets are seen by the tests that are marked for them, and by no others."""

import os
import subprocess
import sys

import pytest

HOME = os.environ.get("SUREFOOT_DATA")  # before any test runs


def test_an_unmarked_test_does_not_see_the_data_sets():
    assert "SUREFOOT_DATA" not in os.environ


@pytest.mark.data
def test_a_marked_test_sees_them():
    assert os.environ["SUREFOOT_DATA"] == HOME


def test_a_marked_test_is_skipped_where_there_are_none():
    marked = f"{__file__}::test_a_marked_test_sees_them"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", marked],
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    assert "$SUREFOOT_DATA is not set" in run.stdout
    assert "1 skipped" in run.stdout
