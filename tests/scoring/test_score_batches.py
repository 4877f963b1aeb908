"""Batches in, scores out: the numbers of `judge`, whatever the batches, with types that the rows do not change."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from surefoot import IndividualErrorClassifier
from surefoot._tables import is_score_column
from surefoot.abstention import Promise
from surefoot.scoring import output_schema, score_batches


def scored(sure, batches, **options):
    return pa.Table.from_batches(list(score_batches(sure, batches, **options)))


def in_batches(frame, *sizes):
    """Batches of Arrow of the given sizes, the last one with all rows that are left."""
    table, start = pa.Table.from_pandas(frame, preserve_index=False), 0
    for size in [*sizes, len(frame) - sum(sizes)]:
        yield from table.slice(start, size).combine_chunks().to_batches(size or None) or [
            pa.RecordBatch.from_pylist([], schema=table.schema)
        ]
        start += size


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_the_scores_are_those_of_judge(kind, rows, request):
    sure = request.getfixturevalue(kind)
    judged = Promise.from_held_out(sure.held_out_).apply(sure.judge(rows)).to_frame()
    table = scored(sure, [pa.RecordBatch.from_pandas(rows)])
    assert table.schema.names == list(judged.columns)
    pd.testing.assert_frame_equal(table.to_pandas(), judged, check_dtype=False)


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_a_row_is_judged_alike_whatever_stands_beside_it(kind, rows, request):
    sure = request.getfixturevalue(kind)
    whole = scored(sure, in_batches(rows))
    for sizes in [(1, 2, 3), (299,), (150, 0, 149)]:
        parts = scored(sure, in_batches(rows, *sizes))
        assert parts.schema == whole.schema
        pd.testing.assert_frame_equal(parts.to_pandas(), whole.to_pandas(), rtol=1e-10)
    backwards = scored(sure, [pa.RecordBatch.from_pandas(rows[::-1])]).to_pandas()[::-1]
    pd.testing.assert_frame_equal(
        backwards.reset_index(drop=True), whole.to_pandas(), check_dtype=False, rtol=1e-10
    )


def test_frames_of_pandas_and_polars_are_batches_too(classifier, rows):
    of_arrow = scored(classifier, in_batches(rows)).to_pandas()
    pd.testing.assert_frame_equal(scored(classifier, [rows]).to_pandas(), of_arrow)


def test_a_model_of_arrays_takes_columns_by_their_place(rows):
    X = rows[["age", "spent"]].to_numpy()
    sure = IndividualErrorClassifier(LogisticRegression(), cv=2, random_state=0)
    sure.fit(X, X[:, 1] > 0)
    table = scored(sure, in_batches(rows[["age", "spent"]], 20))
    np.testing.assert_allclose(table["estimated_error"], sure.predict_error(X))
    assert table.schema.field("prediction").type == pa.bool_()
    with pytest.raises(ValueError, match=r"fitted on 2 columns, but the table has 4\."):
        scored(sure, in_batches(rows))


def test_a_model_of_polars_gets_frames_of_polars(rows):
    X = pl.from_pandas(rows[["age", "spent"]])
    sure = IndividualErrorClassifier(LogisticRegression(), cv=2, random_state=0)
    sure.fit(X, rows["spent"] > 0)
    table = scored(sure, in_batches(rows))
    np.testing.assert_allclose(table["estimated_error"], sure.predict_error(X))
    of_frames = scored(sure, [pl.from_pandas(rows)])
    assert of_frames["prediction"].to_pylist() == table["prediction"].to_pylist()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["no", "yes"], pa.string()),
        ([3, 7], pa.int64()),
        ([False, True], pa.bool_()),
        ([0.0, 1.0], pa.float64()),
    ],
    ids=["texts", "whole", "truth", "floats"],
)
def test_the_type_of_the_prediction_is_that_of_the_classes(labels, kind):
    X = np.random.default_rng(0).normal(size=(60, 1))
    y = np.array(labels)[(X[:, 0] > 0).astype(int)]
    sure = IndividualErrorClassifier(LogisticRegression(), cv=2, random_state=0).fit(X, y)
    schema = output_schema(sure)
    assert all(map(is_score_column, schema.names))
    assert schema.field("prediction").type == kind
    empty = scored(sure, [pa.record_batch({"a": pa.array([], pa.float64())})])
    assert (empty.schema, empty.num_rows) == (schema, 0)
    one = scored(sure, [pa.record_batch({"a": [5.0]})])
    assert (one.schema, one["prediction"].to_pylist()) == (schema, [labels[1]])


def test_a_model_without_probabilities_has_no_columns_of_them(rows):
    X = rows[["age", "spent"]]
    sure = IndividualErrorClassifier(LinearSVC(), cv=2, random_state=0).fit(X, X["spent"] > 0)
    table = scored(sure, [rows])
    assert table.schema == output_schema(sure)
    assert not any(name.startswith("probability") for name in table.schema.names)


def test_kept_columns_stand_in_front_with_their_types(classifier, rows):
    keep = pa.schema([("visits", pa.int32()), ("plan", pa.string())])
    for batches in (in_batches(rows, 7), [rows], [pl.from_pandas(rows)]):
        table = scored(classifier, batches, keep=keep)
        assert table.schema == output_schema(classifier, keep=keep)
        assert table["visits"].to_pylist() == rows["visits"].tolist()
        assert table.schema.names[:3] == ["visits", "plan", "prediction"]
    with pytest.raises(ValueError, match="'novel', the name of a column that is written"):
        output_schema(classifier, keep=pa.schema([("novel", pa.bool_())]))
    with pytest.raises(ValueError, match="lacks 'id', which is to be kept"):
        scored(classifier, [rows], keep=pa.schema([("id", pa.int64())]))


def test_categories_keep_their_codes_and_new_ones_are_no_gaps(rows):
    seen = []

    def look(X):
        seen.append(X["plan"])
        return X[["age"]]

    model = make_pipeline(FunctionTransformer(look), LogisticRegression())
    X = rows.assign(plan=pd.Categorical(rows["plan"], ["team", "paid", "free"], ordered=True))
    sure = IndividualErrorClassifier(model, cv=2, random_state=0).fit(X, X["spent"] > 0)
    seen.clear()
    scored(sure, [pa.record_batch(rows[:1].assign(plan="gold"))])
    column = seen[0]
    assert column.tolist() == ["gold"]
    assert column.cat.categories.tolist() == ["team", "paid", "free", "gold"]
    assert column.cat.ordered


def test_what_is_wrong_is_told_in_one_sentence(classifier, rows):
    with pytest.raises(
        ValueError, match=r"^The table lacks 'age', which the model was fitted on\.$"
    ):
        scored(classifier, [rows.drop(columns="age")])
    with pytest.raises(
        TypeError, match=r"^A batch is a list: it may be a batch of Arrow or a frame\.$"
    ):
        scored(classifier, [[1, 2]])
    with pytest.raises(
        TypeError, match=r"^error_estimator is a LogisticRegression: wrap the model"
    ):
        score_batches(LogisticRegression(), [])
    texts = rows.assign(age=["31", " 4 ", "", "old", *["5"] * 296])
    with pytest.raises(
        ValueError, match=r"^Row 3 has 'old' in the column 'age', where the model knows numbers\.$"
    ):
        scored(classifier, [pa.RecordBatch.from_pandas(texts)])


def test_batches_are_taken_one_at_a_time(classifier, rows):
    taken = []

    def watched():
        for start in range(0, 300, 100):
            taken.append(start)
            yield rows[start : start + 100]

    scores = score_batches(classifier, watched())
    assert taken == []
    next(scores)
    assert taken == [0]
