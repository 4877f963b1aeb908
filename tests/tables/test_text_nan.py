"""In a column of texts the text "nan" is a text, wherever the library reads a table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from surefoot import IndividualErrorClassifier
from surefoot._models import MixedInput
from surefoot.indicators import Confidence

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


def breads(n_rows=240):
    draw = np.random.default_rng(0)
    bread = draw.choice(["nan", "rye", "oat"], n_rows)
    return {"bread": bread.tolist(), "size": draw.normal(size=n_rows)}, bread == "nan"


@pytest.mark.parametrize("kind", FRAMES)
def test_in_the_neighbour_space_it_is_a_category_and_a_gap_is_another(kind):
    columns, is_nan = breads()
    columns["bread"][0], is_nan[0] = None, False
    columns["size"] = np.zeros(240)
    table = FRAMES[kind](columns)
    rows = MixedInput(None, table).vectorizer().fit_transform(table)
    first = np.flatnonzero(is_nan)[0]
    np.testing.assert_array_equal((rows == rows[first]).all(axis=1), is_nan)


def test_a_prediction_of_the_class_nan_is_kept():
    columns, is_nan = breads()
    labels = np.where(is_nan, "nan", "bread")
    X = np.column_stack([columns["size"], is_nan])
    sure = IndividualErrorClassifier(
        LogisticRegression(), indicators=Confidence(), cv=2, random_state=0
    ).fit(X, labels)
    frame = sure.judge(X).to_frame()
    assert frame["prediction"].tolist() == labels.tolist()
    assert "probability_nan" in frame
