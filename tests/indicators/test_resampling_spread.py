"""Exact where it says so, by refitting elsewhere, and the same in any company."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from surefoot.indicators import ResamplingSpread
from surefoot.resampling import jackknife


def rows(n_rows=60, n_classes=2):
    return make_classification(
        n_rows, 4, n_informative=3, n_redundant=0, n_classes=n_classes, random_state=0
    )


def jackknifed(model, X, y, output):
    """Standard errors of an output, by refitting without each row."""

    def statistic(chosen):
        chosen = chosen.astype(int)
        return output(clone(model).fit(X[chosen], y[chosen]))

    return jackknife(np.arange(len(X)), statistic).standard_error


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        Ridge(2.0),
        Ridge(30.0, fit_intercept=False),
        KNeighborsRegressor(4),
        KNeighborsRegressor(3, weights="distance", p=1),
    ],
)
def test_regressors_are_jackknifed_exactly(model):
    X, _ = rows()
    y = X[:, 0] + np.random.default_rng(0).normal(size=60)
    new = X[:5] + 0.3
    found = ResamplingSpread(model).fit(X, y)
    expected = jackknifed(model, X, y, lambda fitted: fitted.predict(new))
    assert found.method_ == "jackknife"
    assert_allclose(found.transform(new)[:, 0], expected, atol=1e-10)
    assert_allclose(found.score_samples(new), -expected, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [KNeighborsClassifier(5), KNeighborsClassifier(4, weights="distance"), RidgeClassifier()],
)
def test_classifiers_are_jackknifed_exactly(model, n_classes):
    X, y = rows(n_classes=n_classes)
    new = X[:6] + 0.3
    found = ResamplingSpread(model).fit(X, y)

    def leads(fitted):
        if hasattr(fitted, "predict_proba"):
            values = fitted.predict_proba(new)
        else:
            values = fitted.decision_function(new)
            values = values if values.ndim == 2 else np.column_stack([-values / 2, values / 2])
        return values[np.arange(6), first] - values[np.arange(6), second]

    base = clone(model).fit(X, y)
    if hasattr(base, "predict_proba"):
        values = base.predict_proba(new)
    else:
        values = base.decision_function(new)
        values = values if values.ndim == 2 else np.column_stack([-values, values])
    first, second = np.argsort(-values, axis=1, kind="stable")[:, :2].T
    expected = jackknifed(model, X, y, leads)
    assert_allclose(found.transform(new)[:, 0], expected, atol=1e-10)
    lead = leads(base)
    told = expected > 0
    assert_allclose(found.transform(new)[told, 1], norm.sf(lead[told] / expected[told]), atol=1e-10)
    assert_allclose(found.score_samples(new)[told], lead[told] / expected[told], rtol=1e-6)


def test_other_models_are_fitted_to_bootstraps():
    X, y = rows()
    found = ResamplingSpread(GaussianNB(), n_resamples=8, random_state=0).fit(X, y)
    random, leads = np.random.RandomState(0), []
    top = GaussianNB().fit(X, y).predict_proba(X).argmax(axis=1)
    for _ in range(8):
        parts = [np.flatnonzero(y == c) for c in (0, 1)]
        drawn = np.concatenate([part[random.randint(len(part), size=len(part))] for part in parts])
        shares = GaussianNB().fit(X[drawn], y[drawn]).predict_proba(X)
        leads.append(np.where(top == 1, 1, -1) * (shares[:, 1] - shares[:, 0]))
    assert found.method_ == "bootstrap"
    assert_allclose(found.transform(X)[:, 0], np.std(leads, axis=0), atol=1e-12)


def test_a_frozen_model_is_refitted_all_the_same():
    X, y = rows()
    for model in (DecisionTreeClassifier(random_state=0), SVC()):
        frozen = FrozenEstimator(clone(model).fit(X, y))
        found = ResamplingSpread(frozen, random_state=0).fit(X, y).transform(X)
        assert found[:, 0].max() > 0
        plain = ResamplingSpread(model, random_state=0).fit(X, y).transform(X)
        assert_allclose(found, plain)


def test_a_frozen_forest_needs_no_targets_but_others_do():
    X, y = rows()
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    found = ResamplingSpread(FrozenEstimator(forest)).fit(X)
    assert found.method_ == "infinitesimal jackknife"
    assert (found.transform(X)[:, 0] >= 0).all()
    with pytest.raises(ValueError, match="fit needs y"):
        ResamplingSpread(FrozenEstimator(SVC().fit(X, y))).fit(X)


def test_pipelines_frames_and_regressors_in_them():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = ResamplingSpread(model, n_resamples=4, random_state=0).set_output(transform="pandas")
    columns = found.fit(frame, y).transform(frame)
    assert list(columns) == ["spread", "flips"]
    line = make_pipeline(StandardScaler(), LinearRegression())
    exact = ResamplingSpread(line).fit(X, y.astype(float))
    alone = ResamplingSpread(LinearRegression()).fit(X, y.astype(float))
    assert_allclose(exact.transform(X), alone.transform(X))  # scaling changes no line


def test_certain_rows_do_not_flip():
    X, y = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), [0, 0, 0, 1, 1, 1]
    found = ResamplingSpread(KNeighborsClassifier(1)).fit(X, y)
    assert_allclose(found.transform([[0.05], [5.15]]), 0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "jackknife"}, "method='jackknife' is not known"),
        ({"n_resamples": 1}, "must be >= 2"),
    ],
)
def test_wrong_parameters_get_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        ResamplingSpread(GaussianNB(), **options).fit(*rows())
