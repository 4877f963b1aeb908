"""Corrected predictions are those of section 2 of Buza et al. (2010), and their rounds are counted."""

import numpy as np
import pytest
from sklearn.base import clone

from reproduction import buza_correction
from reproduction.buza_correction import one_round, summary
from reproduction.buza_figure_4 import Task, parts
from reproduction.regressors import SVM, todays_models


def test_the_full_correction_is_the_model_plus_its_estimated_residual(monkeypatch):
    monkeypatch.setattr(buza_correction, "MODELS", ("linear regression",))
    monkeypatch.setattr(buza_correction, "META_MODELS", (SVM,))
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 3))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * random.normal(size=500)
    task = Task("wave", X, y)

    [row] = one_round(task, 2)

    first, second, test = parts(task.splits(), 2)
    models = todays_models(3)
    predict = clone(models["linear regression"]).fit(X[first], y[first]).predict
    meta = clone(models[SVM]).fit(X[second], y[second] - predict(X[second]))
    plain, full = predict(X[test]), predict(X[test]) + meta.predict(X[test])
    assert row["model"] == pytest.approx(np.sqrt(np.mean((y[test] - plain) ** 2)))
    assert row["unshrunk"] == pytest.approx(np.sqrt(np.mean((y[test] - full) ** 2)))
    shrunk = plain + row["shrinkage"] * meta.predict(X[test])
    assert row["shrunk"] == pytest.approx(np.sqrt(np.mean((y[test] - shrunk) ** 2)))
    assert 0 < row["shrinkage"] < 1


def test_rounds_and_errors_are_summed_up_by_hand():
    what = {"task": "T", "meta_model": "M", "model": 2.0}
    table = [
        {**what, "model_name": "a", "shrinkage": 0.0, "unshrunk": 4.0, "shrunk": 2.0},
        {**what, "model_name": "a", "shrinkage": 1.0, "unshrunk": 1.0, "shrunk": 1.0},
        {**what, "model_name": "b", "shrinkage": 0.5, "unshrunk": 1.0, "shrunk": 3.0},
    ]
    # Unshrunk, model a has a geometric mean of 1 and b 0.5; shrunk, √0.5 and 1.5.
    row = ["T; M", "2 (1) of 3", "0.750", "1.000", "1 (1) of 3", "1.104", "1.500", "0.50"]
    assert summary(table)[1] == row
