"""Coordinates of mixed tables, against scikit-learn's own transformers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from surefoot._models import MixedInput

RNG = np.random.default_rng(0)
NUMERIC, CATEGORICAL = ["age", "size", "same"], ["plan", "many"]


def table(n, many):
    frame = pd.DataFrame({"age": RNG.normal(size=n), "size": RNG.gamma(2, size=n), "same": 7.0})
    frame.loc[RNG.random(n) < 0.2, "age"] = np.nan
    plan = RNG.choice(np.array(["free", "paid", None], dtype=object), n)
    return frame.assign(plan=plan, many=RNG.choice([f"c{i:03}" for i in range(many)], n))


def reference(frame):
    """Coordinates by scikit-learn, with missing categories as a category of their own."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    codes = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=100, sparse_output=False
    )
    made = ColumnTransformer([("n", numbers, NUMERIC), ("c", codes, CATEGORICAL)]).fit(frame)
    return lambda rows: (
        made.transform(rows)
        * np.where(np.arange(made.transform(rows).shape[1]) < 3, 1, np.sqrt(0.5))
    )


@pytest.mark.parametrize("many", [5, 300])
def test_coordinates_are_those_of_scikit_learn(many):
    frame, new = table(2000, many), table(50, many + 20)
    vectorizer = MixedInput(None, frame).vectorizer().fit(frame)
    expected = reference(frame)
    for rows in (frame, new):
        ours, theirs = vectorizer.transform(rows), expected(rows)
        np.testing.assert_allclose(ours[:, :3], theirs[:, :3], atol=1e-12)
        if many == 5:
            np.testing.assert_array_equal(ours[:, 3:], theirs[:, 3:])
        else:  # which of equally frequent categories are kept is a matter of taste, how many is not
            assert ours.shape == theirs.shape
            np.testing.assert_allclose((ours**2).sum(axis=1), (theirs**2).sum(axis=1))
    assert len(vectorizer.get_feature_names_out()) == ours.shape[1]


def test_one_row_and_other_frames_have_the_same_coordinates():
    frame = table(200, 5)
    vectorizer = MixedInput(None, frame).vectorizer().fit(frame)
    whole = vectorizer.transform(frame)
    np.testing.assert_array_equal(vectorizer.transform(frame[7:8]), whole[7:8])
    np.testing.assert_array_equal(vectorizer.transform(pl.from_pandas(frame)), whole)


def test_which_of_many_equally_frequent_categories_are_kept_does_not_depend_on_the_order_of_rows():
    frame = pd.DataFrame({"code": [f"v{place:03}" for place in range(150)] * 2})
    names = [
        MixedInput(None, table).vectorizer().fit(table).get_feature_names_out().tolist()
        for table in (frame, frame[::-1])
    ]
    assert names[0] == names[1]
    assert len(names[0]) == 100
