"""Checks that many packages share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge

from surefoot import (
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    RecalibratedClassifier,
)
from surefoot._validation import check_option, check_share
from surefoot.indicators import Confidence, NeighborDistance


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


@pytest.mark.parametrize("size", [1000, 1, 1e-3])
def test_weights_that_are_all_equal_change_nothing(size):
    X, y = make_classification(150, 5, class_sep=0.5, random_state=0)
    indicators = [Confidence(), NeighborDistance()]
    models = {
        "predict_error": IndividualErrorClassifier(LogisticRegression(), indicators=indicators),
        "predict": IndividualErrorRegressor(Ridge(), indicators=NeighborDistance()),
        "predict_proba": RecalibratedClassifier(LogisticRegression()),
    }
    for method, model in models.items():
        target = y if method != "predict" else X[:, 0] + y
        seeded = clone(model).set_params(random_state=0)
        without = seeded.fit(X, target)
        weighted = clone(seeded).fit(X, target, sample_weight=np.full(len(y), size))
        assert_allclose(getattr(weighted, method)(X), getattr(without, method)(X), rtol=1e-6)
        if method != "predict_proba":
            assert_allclose(weighted.predict_error(X), without.predict_error(X), rtol=1e-6)
