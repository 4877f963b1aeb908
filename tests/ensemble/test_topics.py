"""Many models around one search, against a cross-fit of each alone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot._crossfit import cross_fit
from surefoot.ensemble import StriveClassifier
from surefoot.indicators import Confidence, LocalSensitivity, NeighborDisagreement, NeighborError
from surefoot.neighborhoods import KernelKNeighborsClassifier, NeighborhoodIndex

NEAREST = KernelKNeighborsClassifier(7, kernel="cosine")
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
SHARING = [
    NEAREST,
    KernelKNeighborsClassifier(5, kernel="cosine", sample_neighbors="exact"),
    LinearSVC(random_state=0),
    TREE,
    BernoulliNB(),
    MultinomialNB(),
]
SCALED = make_pipeline(MaxAbsScaler(), LogisticRegression())
INSIDE = make_pipeline(ColumnTransformer([("scale", MaxAbsScaler(), [0])]), LogisticRegression())
SCALED_INSIDE = VotingClassifier([("one", INSIDE)], voting="soft")
INDICATORS = [
    LocalSensitivity(per_class=True),
    LocalSensitivity(n_neighbors=5),
    *(
        LocalSensitivity(sampling=sampling, random_state=0)
        for sampling in ("midpoint", "uniform", "axis")
    ),
    NeighborDisagreement(n_neighbors=4),
    Confidence(),
    NeighborError(n_neighbors=4),
]
OWN = LocalSensitivity(metric="euclidean", response="predict_proba")


def documents(n_rows=90, n_topics=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 20)) * (rng.random((n_rows, 20)) < 0.25)
    X[[5, n_rows - 1]] = 0.0  # empty documents
    leaning = X @ rng.normal(size=(20, n_topics)) + 0.2 * rng.normal(size=(n_rows, n_topics))
    return csr_array(X), (leaning > 0.3).astype(int)


def strive(kinds, indicators, cv):
    return StriveClassifier(
        [(f"m{i}", m) for i, m in enumerate(kinds)], indicators, cv=cv, random_state=0
    )


def with_missing_values(X):
    return np.where(X.toarray() > 0.9, np.nan, X.toarray())


@pytest.mark.parametrize(
    ("kinds", "indicators", "as_table"),
    [
        ([*SHARING, SCALED], INDICATORS, csr_array),
        ([*SHARING, SCALED, SCALED_INSIDE], INDICATORS, csr_array.toarray),
        ([TREE, TREE], INDICATORS[:1], with_missing_values),
        ([TREE, SCALED], INDICATORS[:1], lambda X: pd.DataFrame(X.toarray()).add_prefix("x")),
        ([BernoulliNB()], [OWN, Confidence()], csr_array),
    ],
    ids=["sparse", "dense", "missing values", "frame", "own settings"],
)
def test_every_model_of_every_topic_gets_the_columns_it_would_get_alone(
    kinds, indicators, as_table
):
    X, y = documents()
    X = as_table(X)
    folds = [(np.flatnonzero(np.arange(90) % 3 != f), np.arange(f, 90, 3)) for f in range(3)]
    columns = strive(kinds, indicators, folds).fit(X, y).held_out_.columns
    indicators = [indicator.prepared(0) for indicator in indicators]
    for topic in range(2):
        alone = [cross_fit(kind, indicators, X, y[:, topic], cv=folds).held_out for kind in kinds]
        blocks = [block for each in alone for block in each.columns.values()]
        expected = np.hstack([*(each.scores for each in alone), *blocks])
        assert_allclose(columns[:, topic], expected, atol=1e-9)


def test_all_models_in_the_rows_own_space_share_one_search(monkeypatch):
    built = []
    original = NeighborhoodIndex._index_rows

    def count(self, *args):
        built.append(type(self.model.predictor).__name__)
        return original(self, *args)

    monkeypatch.setattr(NeighborhoodIndex, "_index_rows", count)
    X, y = documents()
    strive(SHARING, INDICATORS[:2], 2).fit(X, y)
    # For 12 models: one of the deployed models, and one of each fold.
    assert built == ["KernelKNeighborsClassifier"] * 3


def test_a_topic_that_nobody_has_gets_no_model_and_no_number():
    X, y = documents(n_topics=3)
    y[:, 1] = 0
    model = strive(SHARING[:2], INDICATORS[:1], 2).fit(X, y)
    assert_array_equal(np.isnan(model.meta_columns(X)).all(axis=(0, 2)), [False, True, False])
    assert_array_equal(np.isnan(model.meta_columns(X)).any(axis=(0, 2)), [False, True, False])
    assert [model.named_estimators_[name][1] for name in ("m0", "m1")] == [None, None]


def test_a_fold_without_a_class_gets_one_sentence():
    X, _ = documents()
    y = np.tile(np.arange(90) < 3, (2, 1)).T.astype(int)
    with pytest.raises(ValueError, match="training fold with one class only"):
        strive([BernoulliNB()], None, [(np.arange(3, 90), np.arange(3))]).fit(X, y)
