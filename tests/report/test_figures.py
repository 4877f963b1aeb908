"""Figures as people write them: short, and never misleading."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot._words import number, percent


def value(text):
    return float(text.replace("−", "-").replace(",", "").removesuffix(" %"))


@given(st.floats(0.0001, 1))
def test_a_percentage_is_close_and_short(share):
    text = percent(share)
    assert value(text) == pytest.approx(100 * share, rel=0.06, abs=0.1)
    assert len(text) <= len("0.012 %")


@given(st.floats(1e-12, 1 - 1e-9))
def test_something_is_never_nothing_and_most_is_never_all(share):
    assert percent(share) not in {"0 %", "100 %"}


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (1, "100 %"), (1.5, "150 %"), (-1e-9, "above −0.01 %")]
)
def test_percentages_at_the_ends(share, text):
    assert percent(share) == text


@given(st.floats(-1e15, 1e15).filter(lambda x: abs(x) > 1e-300))
def test_a_number_keeps_three_digits(x):
    assert value(number(x)) == pytest.approx(x, rel=0.006)


@given(st.integers(-(10**11), 10**11))
def test_whole_numbers_keep_all_digits(n):
    assert value(number(n)) == n
