"""A category that one fold has not seen does not change what an error estimator learns from."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from surefoot import IndividualErrorRegressor
from surefoot.error_estimation._indicators import Row


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=100), "c": pd.Categorical(["x", "y"] * 50)})
    X["c"] = X["c"].cat.add_categories("rare")
    X.loc[3:5, "c"] = "rare"  # all in the first fold
    return X, X["a"].to_numpy() + rng.normal(size=100)


ONE_HOT = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["c"]), remainder="passthrough"
)
MODELS = {
    "pipeline": make_pipeline(ONE_HOT, Ridge()),
    "boosting": HistGradientBoostingRegressor(max_iter=5, random_state=0),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_table_with_a_rare_category_is_judged(table, model):
    X, y = table
    sure = IndividualErrorRegressor(model, random_state=0).fit(X, y)
    widths = {block.shape[1] for block in [sure.held_out_.columns[sure.get_indicator_names()[0]]]}
    assert widths == {1 + 3 + 1}  # the prediction, three categories, a number
    low, high = sure.predict_interval(X).T
    assert (low < high).all()


def test_columns_that_a_fold_lacks_are_0_and_the_others_in_place(table):
    X, y = table
    whole = Row(MODELS["pipeline"]).fit(X, y)
    part = whole.laid_out_like(whole).fit(X.iloc[10:], y[10:])
    seen, names = part.transform(X), whole.index_.coordinate_names()
    assert seen.shape == (100, 4)
    assert (seen[:, names.index("onehotencoder__c_rare")] == 0).all()
    assert ((seen[:, names.index("onehotencoder__c_x")] > 0) == (X["c"] == "x")).all()
    assert np.corrcoef(seen[:, names.index("remainder__a")], X["a"])[0, 1] == pytest.approx(1)
