"""A frame in a saved model is that frame after loading."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import surefoot

TABLES = {
    "numbers": pd.DataFrame({"a": np.array([1.5, np.nan], dtype=np.float32), "b": [1, 2]}),
    "categories": pd.DataFrame({"c": pd.Categorical(["x", None], categories=["y", "x"])}),
    "ordered": pd.DataFrame({"c": pd.Categorical([3, 1], categories=[3, 1], ordered=True)}),
    "texts": pd.DataFrame({"t": ["one", None], "u": pd.Series(["a", 1], dtype=object)}),
    "dates": pd.DataFrame({"d": pd.to_datetime(["2024-02-29", None])}),
    "nullable": pd.DataFrame({"n": pd.array([1, None], dtype="Int64")}),
    "names": pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "rows": pd.DataFrame({"a": [1.0], "t": ["x"]}).iloc[:0],
    "columns": pd.DataFrame(index=range(3)),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_frame_survives(table, tmp_path):
    model = GaussianNB()
    model.table_ = table
    surefoot.save(model, tmp_path / "model.skops")
    loaded = surefoot.load(tmp_path / "model.skops").table_
    pd.testing.assert_frame_equal(loaded, table, check_index_type=False, check_column_type=False)
