"""Scores by a real Spark are those of `score_table`, row by row."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor, assess_predictions
from surefoot.scoring import output_schema, score_batches, score_table

N_ROWS = 100_000


def make_rows(n_rows, seed):
    """Numbers with gaps, whole numbers and texts, and the number of each row."""
    rng = np.random.default_rng(seed)
    spent = rng.normal(size=n_rows)
    return pd.DataFrame(
        {
            "id": np.arange(n_rows),
            "age": rng.normal(40, 10, n_rows),
            "spent": np.where(rng.random(n_rows) < 0.1, np.nan, spent),
            "visits": rng.integers(0, 9, n_rows),
            "plan": rng.choice(["free", "paid", "team"], n_rows),
        }
    )


@pytest.fixture(scope="module")
def sure():
    X = make_rows(500, seed=0).drop(columns="id")
    noise = np.random.default_rng(1).normal(size=len(X))
    y = np.where(X["spent"].fillna(0) + (X["plan"] == "paid") + noise > 0.3, "yes", "no")
    encode = make_column_transformer((OneHotEncoder(), ["plan"]), remainder="passthrough")
    model = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=20, random_state=0))
    return IndividualErrorClassifier(model, cv=2, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    make_rows(N_ROWS, seed=2).to_parquet(path)
    return path


def spark_schema(schema):
    """Schema of Arrow as Spark's."""
    return pytest.importorskip("pyspark.sql.pandas.types").from_arrow_schema(schema)


def test_spark_gives_the_scores_of_score_table(spark, sure, table, tmp_path):
    keep = pa.schema([("id", "int64")])
    judge = partial(score_batches, sure, keep=keep)
    frame = spark.read.parquet(str(table)).repartition(7)
    spread = frame.mapInArrow(judge, spark_schema(output_schema(sure, keep=keep)))
    spread.write.parquet(str(tmp_path / "spark"))
    score_table(sure, table, tmp_path / "alone", keep=["id"])
    scores = pd.read_parquet(tmp_path / "spark").sort_values("id", ignore_index=True)
    expected = pd.read_parquet(tmp_path / "alone").drop(columns="row")
    assert len(scores) == N_ROWS
    pd.testing.assert_frame_equal(scores, expected, check_dtype=False, rtol=1e-10, atol=0)


def test_parts_without_rows_and_a_model_of_arrays(spark):
    X = np.random.default_rng(0).normal(size=(60, 2))
    sure = IndividualErrorRegressor(LinearRegression(), cv=2, random_state=0)
    sure.fit(X, X[:, 0] + np.random.default_rng(1).normal(size=60))
    frame = spark.createDataFrame(X[:3].tolist(), "a double, b double").repartition(7)
    judge = partial(score_batches, sure)
    rows = frame.mapInArrow(judge, spark_schema(output_schema(sure))).collect()
    errors = sorted(row["estimated_error"] for row in rows)
    np.testing.assert_allclose(errors, np.sort(sure.predict_error(X[:3])), rtol=1e-10)


@pytest.mark.parametrize("probabilities", [None, {"yes": "p_yes"}])
def test_spark_judges_given_predictions_beside_lists_of_numbers(
    probabilities, spark, sure, tmp_path
):
    table = make_rows(2_000, seed=3)
    inputs = table.drop(columns="id")
    table["said"], table["p_yes"] = sure.predict(inputs), sure.predict_proba(inputs)[:, 1]
    vectors = np.random.default_rng(4).normal(size=(2_000, 16))
    table["vector"] = list(vectors)
    truth = np.where(vectors[:, 0] + (table["said"] == "yes") > 0.5, "yes", "no")
    known = table[:400].drop(columns="id")
    error_estimator = assess_predictions(known, truth[:400], "said", probabilities, random_state=0)
    table[400:].to_parquet(tmp_path / "rows.parquet", index=False)
    keep = pa.schema([("id", "int64")])
    frame = spark.read.parquet(str(tmp_path / "rows.parquet")).repartition(5)
    judge = partial(score_batches, error_estimator, keep=keep)
    spread = frame.mapInArrow(judge, spark_schema(output_schema(error_estimator, keep=keep)))
    spread.write.parquet(str(tmp_path / "spark"))
    score_table(error_estimator, tmp_path / "rows.parquet", tmp_path / "alone", keep=["id"])
    scores = pd.read_parquet(tmp_path / "spark").sort_values("id", ignore_index=True)
    expected = pd.read_parquet(tmp_path / "alone").drop(columns="row")
    pd.testing.assert_frame_equal(scores, expected, check_dtype=False, rtol=1e-10, atol=0)
    assert scores["prediction"].tolist() == table["said"][400:].tolist()
