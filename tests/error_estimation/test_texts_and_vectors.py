"""Predictions about texts and embeddings: neighbours are near by the cosine, however the table holds the vectors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import cosine_distances

import surefoot
from surefoot import assess_predictions
from surefoot.indicators import Confidence, NeighborDisagreement

# Without second opinions there is nothing to compare the error of the given predictions with.
pytestmark = pytest.mark.filterwarnings("ignore:The model's error on these rows is far below")

N, WIDTH = 240, 70
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 3, N)
VECTORS = RNG.normal(size=(3, WIDTH))[TRUTH] + RNG.normal(size=(N, WIDTH))
PREDICTED = np.where(RNG.random(N) < 0.25, RNG.integers(0, 3, N), TRUTH)
INDICATORS = [Confidence(), NeighborDisagreement()]
FORMS = {
    "array": VECTORS,
    "numbered columns": pd.DataFrame(VECTORS, columns=[f"e_{i}" for i in range(WIDTH)]),
    "column of lists": pd.DataFrame({"embedding": list(VECTORS)}),
    "polars": pl.DataFrame({"embedding": VECTORS.tolist()}),
}


def assessed(X):
    return assess_predictions(X, TRUTH, PREDICTED, indicators=INDICATORS, cv=2, random_state=0)


@pytest.mark.parametrize("form", FORMS)
def test_neighbours_are_those_of_the_cosine(form):
    X = FORMS[form]
    error_estimator = assessed(X)
    table = error_estimator.held_out_  # every row is a reference row
    assert len(table) == N
    distances = cosine_distances(VECTORS)
    np.fill_diagonal(distances, -1)  # a row is its own nearest
    laid_out = X if form == "array" else None
    rows = np.column_stack([laid_out, PREDICTED]) if form == "array" else with_predictions(X)
    near = error_estimator.kneighbors(rows, 5)[1]
    assert_array_equal(near, np.argsort(distances, axis=1, kind="stable")[:, :5])


def with_predictions(X):
    if isinstance(X, pl.DataFrame):
        return X.with_columns(pl.Series("prediction", PREDICTED))
    return X.assign(prediction=PREDICTED)


def test_the_length_of_a_vector_does_not_matter():
    error_estimator = assessed(VECTORS)
    assert_allclose(
        error_estimator.predict_error(7 * VECTORS[:20] + 1e-9, PREDICTED[:20]),
        error_estimator.predict_error(VECTORS[:20] + 1e-9, PREDICTED[:20]),
    )


def test_saved_and_loaded(tmp_path):
    X = FORMS["column of lists"]
    error_estimator = assessed(X)
    surefoot.save(error_estimator, tmp_path / "trust.skops")
    again = surefoot.load(tmp_path / "trust.skops")
    assert_array_equal(
        again.judge(X[:30], PREDICTED[:30]).error,
        error_estimator.judge(X[:30], PREDICTED[:30]).error,
    )


def test_texts(tmp_path):
    """The words tell the truth: a mistake is a label that the words of its text do not have elsewhere."""
    words = {
        "weather": ["rain", "sun", "wind", "cloud", "storm", "snow", "frost", "heat"],
        "trade": ["price", "ship", "tax", "grain", "market", "bond", "share", "rate"],
    }
    topics = RNG.choice(list(words), N)
    texts = [" ".join(RNG.choice(words[topic], 12)) for topic in topics]
    predicted = np.where(RNG.random(N) < 0.2, RNG.choice(list(words), N), topics)
    X = pd.DataFrame({"text": texts, "length": RNG.normal(size=N)})
    error_estimator = assess_predictions(X, topics, predicted, cv=2, random_state=0)
    assert roc_auc_score(predicted != topics, error_estimator.held_out_.error) > 0.95
    surefoot.save(error_estimator, tmp_path / "trust.skops")
    again = surefoot.load(tmp_path / "trust.skops")
    assert_array_equal(again.judge(X, predicted).error, error_estimator.judge(X, predicted).error)


def test_lists_of_two_lengths_get_a_sentence():
    X = pd.DataFrame({"embedding": [*VECTORS[:-1], VECTORS[-1][:50]]})
    with pytest.raises(ValueError, match=r"'embedding' holds lists of 70 and of 50 numbers"):
        assessed(X)
