"""One line for a trained model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surefoot
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor


@pytest.fixture(scope="module")
def trained():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:150], y[:150])
    return model, X[150:400], y[150:400], X[400:]


def test_is_the_frozen_model_fitted_on_the_given_rows(trained):
    model, X, y, X_new = trained
    assessed = surefoot.assess(model, X, y, random_state=0)
    by_hand = IndividualErrorClassifier(FrozenEstimator(model), random_state=0).fit(X, y)
    assert_allclose(assessed.predict_error(X_new), by_hand.predict_error(X_new))
    assert_array_equal(assessed.predict(X_new), model.predict(X_new))
    assert_array_equal(assessed.held_out_.losses, model.predict(X) != y)


def test_a_callable_is_judged_like_its_model(trained):
    model, X, y, X_new = trained
    names = np.array(["benign", "malignant"])[y]
    both = surefoot.assess(model.predict_proba, X, names, random_state=0)
    second = surefoot.assess(lambda rows: model.predict_proba(rows)[:, 1], X, names, random_state=0)
    assert_allclose(both.predict_error(X_new), second.predict_error(X_new))
    assert_array_equal(both.predict(X_new), np.array(["benign", "malignant"])[model.predict(X_new)])


def test_regressors_and_functions_that_predict_numbers():
    X, y = load_diabetes(return_X_y=True)
    model = Ridge().fit(X[:150], y[:150])
    assessed = surefoot.assess(model, X[150:], y[150:], cv=3, random_state=0)
    told = surefoot.assess(model.predict, X[150:], y[150:] + 0.25, cv=3, random_state=0)
    assert isinstance(assessed, IndividualErrorRegressor)
    assert_allclose(told.predict(X[:5]), model.predict(X[:5]))
    assert_allclose(assessed.held_out_.losses, np.abs(y[150:] - model.predict(X[150:])))


def test_wrong_models_get_one_sentence(trained):
    _, X, y, _ = trained
    with pytest.raises(TypeError, match="is no trained model"):
        surefoot.assess("logistic", X, y)
    with pytest.raises(TypeError, match="is no trained model"):
        surefoot.assess(LogisticRegression, X, y)
    with pytest.raises(ValueError, match="has 3 classes and no names for them, and y has 2"):
        surefoot.assess(lambda rows: np.full((len(rows), 3), 1 / 3), X, np.where(y, "a", "b"))
    with pytest.raises(ValueError, match="do not sum to 1"):
        surefoot.assess(lambda rows: np.full((len(rows), 2), 0.7), X, y)
    with pytest.raises(ValueError, match="gives several numbers for each row"):
        surefoot.assess(lambda rows: np.full((len(rows), 3), 1 / 3), X, y + X[:, 0])


def flipped(model):
    """Function whose first column is the probability of the second class."""
    return lambda rows: model.predict_proba(rows)[:, ::-1]


def test_another_order_of_the_classes_that_fits_better_is_an_error(trained):
    model, X, y, _ = trained
    names = np.array(["benign", "malignant"])[y]
    right = (model.predict(X) == y).mean()
    with pytest.raises(ValueError, match=r"right on .* 'benign' and 'malignant'") as caught:
        surefoot.assess(flipped(model), X, names, random_state=0)
    shares = [f"{100 * share:.2g} %" for share in (1 - right, right)]
    assert all(share in str(caught.value) for share in shares)
    assert str(caught.value).count("'malignant' and 'benign'") == 1


def test_classes_in_the_order_that_the_user_says(trained):
    model, X, y, X_new = trained
    names = np.array(["benign", "malignant"])[y]
    straight = surefoot.assess(model.predict_proba, X, names, random_state=0)
    turned = surefoot.assess(
        flipped(model), X, names, classes=["malignant", "benign"], random_state=0
    )
    assert_array_equal(turned.classes_, ["benign", "malignant"])
    assert_allclose(turned.predict_proba(X_new), straight.predict_proba(X_new))
    assert_allclose(turned.predict_error(X_new), straight.predict_error(X_new))
    with pytest.raises(ValueError, match="the names 'a' and 'b' do not fit"):
        surefoot.assess(flipped(model), X, names, classes=["a", "b"])
    with pytest.raises(ValueError, match="leave out classes"):
        surefoot.assess(model, X, y, classes=[0, 1])


def test_whole_numbers_from_0_are_the_classes_even_if_another_order_fits_better(trained):
    """The model is wrong on nearly every row, and it is judged as such; class 2 is in no row."""
    model, X, y, _ = trained

    def three(rows):
        return np.column_stack([flipped(model)(rows) * 0.9, np.full(len(rows), 0.1)])

    error_estimator = surefoot.assess(three, X, y, random_state=0)
    assert_array_equal(error_estimator.classes_, [0, 1, 2])
    assert_array_equal(error_estimator.held_out_.losses, model.predict(X) == y)


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_a_callable_always_gets_the_kind_of_table_that_was_given(kind):
    rng = np.random.default_rng(0)
    values = {"age": rng.normal(size=80), "size": rng.normal(size=80)}
    library = pytest.importorskip(kind)
    table = np.column_stack([*values.values()]) if kind == "numpy" else library.DataFrame(values)
    seen = set()

    def model(rows):
        seen.add(type(rows))
        columns = np.asarray(rows).T if kind == "numpy" else [rows["age"], rows["size"]]
        return 1 / (1 + np.exp(-np.asarray(columns[0]) - np.asarray(columns[1])))

    y = (values["age"] + values["size"] + rng.normal(size=80) > 0).astype(int)
    error_estimator = surefoot.assess(model, table, y, cv=2, random_state=0)
    error_estimator.judge(table)
    assert seen == {type(table)}
