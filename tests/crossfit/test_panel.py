"""One model and one search for all indicators, and no leaks in what the folds say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from surefoot import Confidence, KernelKNeighborsClassifier, LocalSensitivity
from surefoot._crossfit import CrossFitter, ModelRows, build_panels
from surefoot._splits import resolve_cv


def cross_fit(indicators, model, X, y, *, cv, groups=None):
    return CrossFitter(indicators, model, cv=cv).fit(X, y, groups=groups).held_out


def panel_around(indicators, model, X, y):
    [panel] = build_panels(indicators, [ModelRows(model, X, y)])
    return panel


def rows(n_rows=150):
    return make_classification(n_rows, 4, n_redundant=0, random_state=0)


def test_indicators_that_agree_share_one_search(monkeypatch):
    X, y = rows()
    panel = panel_around(
        [LocalSensitivity(n_neighbors=3), Confidence(), LocalSensitivity()], SVC().fit(X, y), X, y
    )
    searched = []
    search = NearestNeighbors.kneighbors
    monkeypatch.setattr(
        NearestNeighbors,
        "kneighbors",
        lambda self, X, *a, **k: searched.append(len(X)) or search(self, X, *a, **k),
    )
    scores, columns, answers, opinions = panel(X)
    assert searched == [150]
    assert answers == opinions == {}
    assert_allclose(scores[:, 0], SVC().fit(X, y).decision_function(X))
    alone = [LocalSensitivity(SVC(), n_neighbors=3), Confidence(SVC()), LocalSensitivity(SVC())]
    for found, indicator in zip(columns.values(), alone, strict=True):
        assert_allclose(found, indicator.fit(X, y).transform(X))


def test_indicators_that_differ_get_a_search_each():
    X, y = rows()
    chosen = [
        LocalSensitivity(metric="manhattan"),
        Confidence(response="decision_function"),
        LocalSensitivity(),
    ]
    panel = panel_around(chosen, SVC().fit(X, y), X, y)
    assert len(panel.indexes) == 3
    for found, indicator in zip(panel(X).columns.values(), chosen, strict=True):
        assert_allclose(found, indicator.set_params(estimator=SVC()).fit(X, y).transform(X))


def test_a_space_given_twice_is_fitted_once():
    X, y = rows()
    space = StandardScaler()
    panel = panel_around(
        [LocalSensitivity(space=space), LocalSensitivity(space=space)], SVC().fit(X, y), X, y
    )
    assert len(panel.indexes) == 1


def test_an_indicator_says_the_same_in_company():
    X, y = rows()
    knn = KernelKNeighborsClassifier().fit(X, y)
    alone = panel_around([LocalSensitivity()], knn, X, y)(X + 0.1).columns["LocalSensitivity"]
    company = panel_around([LocalSensitivity(), LocalSensitivity(n_neighbors=100)], knn, X, y)(
        X + 0.1
    ).columns["LocalSensitivity"]
    assert_allclose(alone, company)


def test_every_row_is_judged_by_models_and_neighbours_of_other_folds():
    X, y = rows()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = cross_fit([LocalSensitivity()], SVC(), X, y, cv=folds)
    assert_array_equal(np.sort(found.rows), np.arange(150))
    for train, test in folds.split(X, y):
        here = np.isin(found.rows, test)
        alone = LocalSensitivity(SVC(), n_neighbors=17)  # 2⌈log2 150⌉ + 1, for all 150 rows
        expected = alone.fit(X[train], y[train]).transform(X[found.rows[here]])
        assert_allclose(found.columns["LocalSensitivity"][here], expected)


def test_on_random_labels_every_column_is_worthless():
    rng = np.random.default_rng(0)
    aucs = []
    for _ in range(12):
        X, y = rng.normal(size=(600, 3)), rng.integers(0, 2, 600)
        found = cross_fit([LocalSensitivity(), Confidence()], KNeighborsClassifier(5), X, y, cv=5)
        wrong = (found.scores[:, 0] > 0) != y[found.rows]
        aucs.append(
            [roc_auc_score(wrong, column) for column in np.hstack(list(found.columns.values())).T]
        )
    assert_allclose(np.mean(aucs, axis=0), 0.5, atol=0.03)


def test_groups_stay_together():
    X, y = rows()
    groups = np.arange(150) // 10
    found = cross_fit([], LogisticRegression(), X, y, cv=GroupKFold(5), groups=groups)
    splits = list(GroupKFold(5).split(X, y, groups))
    for a, b in splits:
        expected = LogisticRegression().fit(X[a], y[a]).decision_function(X[b])
        assert_allclose(found.scores[b, 0], expected)


def test_splits_that_are_no_partition_give_a_row_each_time():
    X, y = rows()
    found = cross_fit(
        [], LogisticRegression(), X, y, cv=ShuffleSplit(3, test_size=20, random_state=0)
    )
    assert len(found.rows) == 60


def test_no_more_folds_than_rows_of_the_rarest_class():
    y = np.array([0] * 40 + [1] * 3)
    assert resolve_cv(10, y, stratified=True, random_state=0).get_n_splits() == 3


@pytest.mark.parametrize(
    ("labels", "cv", "sentence"),
    [
        (np.zeros(20), 5, "y has one class only"),
        (np.array([0] * 19 + [1]), 5, "y has one class only with two rows or more, 0"),
        (
            np.array([0] * 10 + [1] * 10),
            [(np.arange(10), np.arange(10, 20))],
            "cv leaves a training fold without class 1",
        ),
    ],
)
def test_folds_without_a_class_get_one_sentence(labels, cv, sentence):
    with pytest.raises(ValueError, match=sentence):
        cross_fit([], DummyClassifier(), np.zeros((20, 1)), labels, cv=cv)
