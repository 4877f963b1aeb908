"""The data sets are seen by the tests that are marked for them, and by no others."""

import os

import pytest

HOME = os.environ.get("SUREFOOT_DATA")  # before any test runs


def test_an_unmarked_test_does_not_see_the_data_sets():
    assert "SUREFOOT_DATA" not in os.environ


@pytest.mark.data
def test_a_marked_test_sees_them():
    assert os.environ["SUREFOOT_DATA"] == HOME
