"""Checks that many packages share."""

import numpy as np
import pytest

from surefoot._validation import check_option, check_share


@pytest.mark.parametrize("value", [0, 1, 1.5, -0.1, np.nan, float("nan"), np.float64("nan"), True])
def test_what_is_no_share_is_one_sentence(value):
    with pytest.raises(ValueError, match=r"^confidence == .*, must be"):
        check_share(value, "confidence")


@pytest.mark.parametrize("value", ["0.5", None, [0.5]])
def test_what_is_no_number_is_one_sentence(value):
    with pytest.raises(TypeError, match="confidence must be an instance of float"):
        check_share(value, "confidence")


def test_an_unknown_option_names_those_there_are():
    with pytest.raises(
        ValueError, match=r"^loss='cubed' is not known: it may be 'a', 'b' or a number\.$"
    ):
        check_option("cubed", "loss", ("a", "b"), other="a number")
