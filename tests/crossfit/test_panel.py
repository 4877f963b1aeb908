"""One model and one search for all indicators, and no leaks in what the folds say."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from surefoot import Confidence, KernelKNeighborsClassifier, LocalSensitivity
from surefoot._crossfit import build_panel, cross_fit, named
from surefoot.indicators import NeighborDistance, SecondOpinion


def panel_around(indicators, model, X, y):
    return build_panel(named(indicators), model=model, X=X, y=y)


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
    scores, columns, answers, opinions, *_ = panel(X)
    assert sum(searched) == 150
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
    assert len({id(indicator.index_) for indicator in panel.indicators.values()}) == 3
    for found, indicator in zip(panel(X).columns.values(), chosen, strict=True):
        assert_allclose(found, indicator.set_params(estimator=SVC()).fit(X, y).transform(X))


def test_a_space_given_twice_is_fitted_once():
    X, y = rows()
    space = StandardScaler()
    panel = panel_around(
        [LocalSensitivity(space=space), LocalSensitivity(space=space)], SVC().fit(X, y), X, y
    )
    first, second = panel.indicators.values()
    assert first.index_ is second.index_


def test_folds_that_are_fitted_in_other_processes_share_their_indexes():
    X, y = rows()
    indicators = [LocalSensitivity(), NeighborDistance(), SecondOpinion(n_trees=5, random_state=0)]
    one, two = (cross_fit(SVC(), indicators, X, y, cv=3, n_jobs=n) for n in (1, 2))
    for fold in (two.deployed, *two.folds):
        assert {id(each.index_) for each in fold.panel.indicators.values()} == {
            id(fold.panel.index)
        }
    assert all(fold.panel.index.like is two.deployed.panel.index for fold in two.folds)
    for name, columns in one.held_out.columns.items():
        assert_allclose(two.held_out.columns[name], columns)


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
    found = cross_fit(SVC(), [LocalSensitivity()], X, y, cv=folds).held_out
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
        indicators = [LocalSensitivity(), Confidence()]
        found = cross_fit(KNeighborsClassifier(5), indicators, X, y, cv=5).held_out
        wrong = (found.scores[:, 0] > 0) != y[found.rows]
        aucs.append(
            [roc_auc_score(wrong, column) for column in np.hstack(list(found.columns.values())).T]
        )
    assert_allclose(np.mean(aucs, axis=0), 0.5, atol=0.03)
