"""Rows as a service gets them: a dict, or a frame without dtypes, is judged like the row of the fitted table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from surefoot import IndividualErrorClassifier
from surefoot.indicators import Confidence, NeighborDisagreement

RNG = np.random.default_rng(0)
N = 120
TABLE = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(40, 9, N)),
        "visits": RNG.integers(0, 9, N),
        "member": RNG.random(N) < 0.5,
        "plan": pd.Categorical(RNG.choice(["free", "paid"], N)),
    }
)
Y = (TABLE["visits"] + RNG.normal(0, 2, N) > 4).to_numpy().astype(int)
INDICATORS = [Confidence(), NeighborDisagreement()]


@pytest.fixture(scope="module")
def error_estimator():
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
    return IndividualErrorClassifier(model, indicators=INDICATORS, cv=2, random_state=0).fit(
        TABLE, Y
    )


def as_json(i):
    """Row as JSON has it: no types but texts, numbers, booleans and null."""
    row = TABLE.iloc[i].to_dict()
    return {**row, "age": None if np.isnan(row["age"]) else row["age"], "id": i}


@pytest.mark.parametrize("i", [0, int(np.flatnonzero(TABLE["age"].isna())[0])])
def test_a_dict_and_a_frame_of_objects(error_estimator, i):
    whole = error_estimator.judge(TABLE[i : i + 1])
    objects = pd.DataFrame([as_json(i)]).drop(columns="id").astype(object)
    for rows in (as_json(i), [as_json(i)], objects):
        judgement = error_estimator.judge(rows)
        assert_array_equal(judgement.error, whole.error)
        assert_array_equal(judgement.prediction, whole.prediction)
        assert_array_equal(error_estimator.predict_error(rows), whole.error)


def test_many_dicts(error_estimator):
    rows = [as_json(i) for i in range(N)]
    assert_array_equal(error_estimator.judge(rows).error, error_estimator.judge(TABLE).error)


def test_a_dict_for_a_model_of_polars():
    frame = pl.DataFrame({"a": RNG.normal(size=60), "b": RNG.normal(size=60)})
    y = (frame["a"] > 0).to_numpy().astype(int)
    sure = IndividualErrorClassifier(LogisticRegression(), indicators=INDICATORS, cv=2).fit(
        frame, y
    )
    assert_array_equal(sure.judge(frame.row(0, named=True)).error, sure.judge(frame[:1]).error)


def test_what_cannot_be_judged_gets_a_sentence(error_estimator):
    good = as_json(0)
    with pytest.raises(
        ValueError, match=r"^X lacks 'age' and 'plan', which the model was fitted on\.$"
    ):
        error_estimator.judge({"visits": 1, "member": True})
    with pytest.raises(
        ValueError, match=r"^Column 'visits' holds strings where the model expects numbers\.$"
    ):
        error_estimator.judge({**good, "visits": "many"})
    X = TABLE[["visits", "member"]].to_numpy(dtype=float)
    sure = IndividualErrorClassifier(LogisticRegression(), indicators=INDICATORS, cv=2).fit(X, Y)
    with pytest.raises(ValueError, match="X is a dict, and the model was fitted on an array"):
        sure.judge(good)
