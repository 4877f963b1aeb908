"""LightGBM, XGBoost and CatBoost: predictions are their own, and everything surefoot adds is there."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from surefoot import (
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    assess,
)


def test_a_classifier_says_what_it_says_alone(booster, table, classes):
    X, model = booster.rows(table), booster.make("Classifier")
    sure = IndividualErrorClassifier(model, cv=3, random_state=0).fit(X[:180], classes[:180])
    judgement = sure.judge(X[180:])
    alone = clone(model).fit(X[:180], classes[:180])
    np.testing.assert_array_equal(judgement.prediction, alone.predict(X[180:]))
    np.testing.assert_array_equal(judgement.probabilities, alone.predict_proba(X[180:]))
    wrong = judgement.prediction != classes[180:]
    assert 0.05 < wrong.mean() < 0.5
    # The sum of 60 probabilities of a mistake, against the mistakes: within three standard deviations.
    spread = np.sqrt((judgement.error * (1 - judgement.error)).sum())
    assert judgement.error.sum() == pytest.approx(wrong.sum(), abs=3 * spread)


def test_a_regressor_says_what_it_says_alone(booster, table, numbers):
    X, model = booster.rows(table), booster.make("Regressor")
    sure = IndividualErrorRegressor(model, cv=3, random_state=0).fit(X[:180], numbers[:180])
    judgement = sure.judge(X[180:], confidence=0.9)
    alone = clone(model).fit(X[:180], numbers[:180])
    np.testing.assert_array_equal(judgement.prediction, alone.predict(X[180:]))
    np.testing.assert_array_equal(sure.predict_interval(X[180:]), judgement.interval)
    low, high = judgement.interval.T
    inside = (low <= numbers[180:]) & (numbers[180:] <= high)
    assert inside.mean() > 0.9 - 3 * np.sqrt(0.09 / 60)
    assert np.median(high - low) < np.ptp(numbers)


def test_three_classes_named_by_texts(booster, table, numbers):
    levels = np.digitize(numbers, np.quantile(numbers, [1 / 3, 2 / 3]))
    y = levels if booster.library == "xgboost" else np.array(["low", "mid", "top"])[levels]
    X, model = booster.rows(table), booster.make("Classifier")
    sure = IndividualErrorClassifier(model, cv=3, random_state=0).fit(X[:180], y[:180])
    alone = clone(model).fit(X[:180], y[:180])
    own = np.ravel(alone.predict(X[180:]))  # CatBoost's are a column
    np.testing.assert_array_equal(sure.judge(X[180:]).prediction, own)
    np.testing.assert_array_equal(sure.predict(X[180:]), own)


def test_a_fitted_model_is_assessed_as_it_is(booster, table, classes):
    X = booster.rows(table)
    fitted = booster.make("Classifier").fit(X[:120], classes[:120])
    sure = assess(fitted, X[120:], classes[120:])
    np.testing.assert_array_equal(sure.predict(X[120:]), fitted.predict(X[120:]))
    np.testing.assert_array_equal(sure.predict_proba(X[120:]), fitted.predict_proba(X[120:]))


def test_a_list_of_categories_of_catboost_cannot_be_cloned(catboost, table, classes):
    model = catboost.CatBoostClassifier(cat_features=["plan"], verbose=False)
    with pytest.raises(RuntimeError, match="Cannot clone object"):  # scikit-learn's own
        clone(model)
    with pytest.raises(ValueError, match="cannot clone") as caught:
        IndividualErrorClassifier(model).fit(table, classes)
    assert str(caught.value) == (
        "scikit-learn cannot clone CatBoostClassifier, which does not keep cat_features as it was given: "
        "pass cat_features as a tuple if it is a list, or pass a fitted model in FrozenEstimator."
    )


def test_a_fitted_catboost_with_a_list_of_categories_is_frozen(catboost, table, classes):
    X = table.assign(plan=table["plan"].cat.add_categories("missing").fillna("missing"))
    model = catboost.CatBoostClassifier(
        n_estimators=15, cat_features=["plan"], verbose=False, allow_writing_files=False
    ).fit(X[:120], classes[:120])
    sure = IndividualErrorClassifier(FrozenEstimator(model), cv=3).fit(X[120:], classes[120:])
    np.testing.assert_array_equal(sure.predict(X), model.predict(X))
