"""Local selection against the estimated errors of its models, and against the best single model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import Confidence, NeighborDistance
from surefoot.selection import LocalSelectionClassifier, LocalSelectionRegressor
from surefoot.selection._local_selection import learn_switch


def halves(n_rows, seed):
    """A noisy line on the left, where one neighbour is fooled, and clean stripes on the right."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 2))
    left = (X[:, 1] > 0) ^ (rng.random(n_rows) < 0.3)
    stripes = np.floor(4 * X[:, 1]) % 2 == 0
    return X, np.where(X[:, 0] < 0, left, stripes).astype(int)


def light(model):
    """A judge that costs little: it knows the model's own confidence only."""
    return IndividualErrorClassifier(model, indicators=Confidence(), cv=4, random_state=0)


MODELS = [("smooth", KNeighborsClassifier(60)), ("sharp", KNeighborsClassifier(1))]
SEES_ROW = {"indicators": NeighborDistance(), "passthrough": True, "loss": "squared", "cv": 3}
LIGHT = [("line", light(LogisticRegression())), ("sharp", light(KNeighborsClassifier(1)))]


@pytest.mark.slow
def test_it_beats_both_models_where_each_has_its_place():
    X, y = halves(1500, 0)
    X_new, y_new = halves(2000, 1)
    model = LocalSelectionClassifier(MODELS, random_state=0).fit(X, y)
    smooth, sharp = (fitted.predict(X_new) for fitted in model.estimators_)
    assert model.best_name_ == "sharp"
    assert model.score(X_new, y_new) > (sharp == y_new).mean() + 0.02
    assert model.score(X_new, y_new) > (smooth == y_new).mean()
    chosen, disagree = model.predict_selection(X_new), smooth != sharp
    left, right = (
        (chosen[disagree & side] == "smooth").mean() for side in (X_new[:, 0] < 0, X_new[:, 0] > 0)
    )
    assert left > 2 * right


def test_each_row_has_the_answer_of_its_model():
    X, y = halves(600, 0)
    model = LocalSelectionClassifier(LIGHT).fit(X, y)
    chosen = model.predict_selection(X)
    predicted, probable = model.predict(X), model.predict_proba(X)
    for name in ("line", "sharp"):
        mine = chosen == name
        assert_array_equal(predicted[mine], model.named_estimators_[name].predict(X)[mine])
        assert_allclose(probable[mine], model.named_estimators_[name].predict_proba(X)[mine])
    estimated = np.column_stack([judge.predict_error(X) for judge in model.error_estimators_])
    best = [name for name, _ in LIGHT].index(model.best_name_)
    better = estimated[:, 1 - best] < estimated[:, best] - model.advantage_
    assert_array_equal(chosen == model.best_name_, ~better)
    assert_allclose(
        model.predict_error(X), np.where(better, estimated[:, 1 - best], estimated[:, best])
    )


def test_without_evidence_it_is_the_best_model_everywhere():
    # Two models that are alike, on labels that nothing explains: there is nothing to choose by.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, size=300)
    pair = [(name, light(DummyClassifier(strategy="prior"))) for name in "ab"]
    model = LocalSelectionClassifier(pair).fit(X, y)
    assert model.advantage_ == np.inf
    assert set(model.predict_selection(X)) == {"a"}


def test_regression():
    rng = np.random.default_rng(0)

    def draw(n_rows):
        X = rng.uniform(-1, 1, size=(n_rows, 1))
        noise = rng.normal(scale=0.5, size=n_rows)
        return X, np.where(X[:, 0] < 0, noise, 3 * np.sin(9 * X[:, 0]))

    (X, y), (X_new, y_new) = draw(800), draw(2000)
    models = [
        (
            name,
            IndividualErrorRegressor(model, DecisionTreeRegressor(min_samples_leaf=30), **SEES_ROW),
        )
        for name, model in [("line", LinearRegression()), ("nearest", KNeighborsRegressor(1))]
    ]
    model = LocalSelectionRegressor(models).fit(X, y)
    losses = [
        mean_squared_error(y_new, m.predict(X_new)) for m in (*model.error_estimators_, model)
    ]
    assert losses[2] < 0.9 * min(losses[:2])
    chosen, left = model.predict_selection(X_new), X_new[:, 0] < 0
    assert (chosen[left] == "line").mean() > 0.7
    assert (chosen[~left] == "nearest").mean() > 0.95
    assert (model.predict_error(X_new) >= 0).all()


def test_a_corrected_regressor_predicts_as_it_was_judged():
    X, y = halves(200, 0)
    corrected = IndividualErrorRegressor(
        DummyRegressor(), DecisionTreeRegressor(max_depth=3), corrected=True, **SEES_ROW
    )
    model = LocalSelectionRegressor([("corrected", corrected)]).fit(X, y.astype(float))
    assert_allclose(model.predict(X), model.error_estimators_[0].predict(X))
    assert model.predict(X).std() > 0.1  # the mean alone would be the same everywhere


def test_names_parameters_and_drop():
    X, y = halves(300, 0)
    model = clone(LocalSelectionClassifier(LIGHT))
    model.set_params(sharp__estimator__n_neighbors=7, line="drop")
    model.fit(X, y)
    assert list(model.named_estimators_) == ["sharp"]
    assert model.named_estimators_["sharp"].n_neighbors == 7
    assert set(model.predict_selection(X)) == {"sharp"}


def test_frozen_models_and_judges_with_settings_of_their_own():
    X, y = halves(900, 0)
    frozen = FrozenEstimator(KNeighborsClassifier(1).fit(X[:400], y[:400]))
    model = LocalSelectionClassifier([("frozen", frozen), ("own", light(LogisticRegression()))])
    model.fit(X[400:], y[400:])
    assert [judge.n_splits_ for judge in model.error_estimators_] == [5, 4]
    assert model.named_estimators_["frozen"].estimator is frozen.estimator
    assert isinstance(model.named_estimators_["own"], LogisticRegression)


def test_a_frozen_model_learns_no_class_so_one_row_of_it_is_enough():
    X, y = halves(400, 0)
    frozen = FrozenEstimator(KNeighborsClassifier(1).fit(X[:200], y[:200]))
    rows = np.r_[200 + np.flatnonzero(y[200:] == 0), 200 + np.flatnonzero(y[200:] == 1)[:1]]
    for model in (frozen, light(frozen)):
        fitted = LocalSelectionClassifier([("frozen", model)], random_state=0).fit(X[rows], y[rows])
        assert_array_equal(fitted.held_out_.rows, np.arange(len(rows)))
        assert_array_equal(fitted.held_out_.prediction[:, 0], frozen.predict(X[rows]))


def test_weights_count_in_the_choice():
    X, y = halves(600, 0)
    weight = np.where(X[:, 0] < 0, 50.0, 1.0)  # the line is better where the weight is
    model = LocalSelectionClassifier(
        [LIGHT[0], ("deep", light(RandomForestClassifier(5, random_state=0)))]
    )
    assert model.fit(X, y, sample_weight=weight).best_name_ == "line"
    assert model.fit(X, y, sample_weight=51 - weight).best_name_ == "deep"


def test_groups_stay_together():
    # Pairs of equal rows: one neighbour is perfect unless a pair is held out together, as copies always are.
    X = np.tile(np.random.default_rng(0).normal(size=(60, 2)), (2, 1))
    y, pairs = np.arange(120) % 60 % 2, np.arange(120) % 60
    apart = LocalSelectionClassifier([("sharp", clone(LIGHT[1][1]).set_params(cv=KFold(4)))])
    assert apart.fit(X, y).held_out_.losses.mean() > 0.3
    together = LocalSelectionClassifier([LIGHT[1]])
    assert together.fit(X, y, groups=pairs).held_out_.losses.mean() > 0.3


def test_one_sentence_for_bad_input():
    X, y = make_classification(60, random_state=0)
    shuffled = ShuffleSplit(3, test_size=0.5)
    with pytest.raises(ValueError, match="Other rows were held out for one model than for another"):
        LocalSelectionClassifier([(n, clone(m).set_params(cv=shuffled)) for n, m in LIGHT]).fit(
            X, y
        )
    other = light(FrozenEstimator(GaussianNB().fit(X, np.arange(60) % 3)))
    with pytest.raises(
        ValueError, match=r"estimators know different classes, \[0, 1\] and \[0, 1, 2\]"
    ):
        LocalSelectionClassifier([*LIGHT, ("other", other)]).fit(X, y)
    with pytest.raises(ValueError, match="should be a classifier"):
        LocalSelectionClassifier([("line", LinearRegression())]).fit(X, y)
    with pytest.raises(ValueError, match="non-empty list"):
        LocalSelectionClassifier([]).fit(X, y)
    assert not hasattr(LocalSelectionClassifier([("svm", LinearSVC())]), "predict_proba")


def test_a_splitter_that_draws_holds_out_the_same_rows_for_all():
    X, y = make_classification(120, random_state=0)
    models = [("bayes", GaussianNB()), ("line", LogisticRegression())]
    found = LocalSelectionClassifier(models, cv=ShuffleSplit(2, test_size=0.3)).fit(X, y)
    by_hand = y[found.held_out_.rows]
    assert_array_equal(found.held_out_.losses, found.held_out_.prediction != by_hand[:, None])


def test_errors_are_compared_in_one_unit():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = 10 * X[:, 0] ** 2
    near = {"indicators": NeighborDistance(), "cv": 2, "random_state": 0}
    line, other = (
        IndividualErrorRegressor(LinearRegression(), loss=loss, **near)
        for loss in ("absolute", "squared")
    )
    found = LocalSelectionRegressor([("a", line), ("b", other)], cv=2, random_state=0).fit(X, y)
    assert_allclose(found.held_out_.losses[:, 0], found.held_out_.losses[:, 1])


def test_the_switch_by_hand():
    # Model 0 errs on rows 0 to 3; model 1 on rows 4 to 9. Advantages of model 1, and what they save:
    # 0.5: 1, 0.4: 1, 0.3: 1, 0.2: 1, 0.1: -1 (row 4); model 0 is estimated to be better elsewhere.
    errors = np.zeros((10, 2))
    errors[:4, 0] = errors[4:, 1] = 1
    estimated = np.full((10, 2), 0.5)
    estimated[:5, 1] = [0.0, 0.1, 0.2, 0.3, 0.4]
    estimated[5:, 1] = 0.9
    found = learn_switch(errors, estimated, np.ones(10))
    # Saved less its standard error: 0, 2 - 2^.5, 3 - 3^.5, 4 - 4^.5 = 2 at most, 3 - 5^.5: so after the fourth.
    assert found.best == 0
    assert found.advantage == 0.5 - 0.4
    assert_array_equal(found.choose(estimated), [1] * 4 + [0] * 6)


def test_one_lucky_row_is_no_evidence_and_rows_of_equal_advantage_switch_together():
    errors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    estimated = np.array([[0.5, 0.1], [0.1, 0.5], [0.1, 0.5]])
    assert learn_switch(errors, estimated, np.ones(3)) == (0, np.inf)
    errors = np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 4)
    estimated = np.tile([0.5, 0.1], (8, 1))
    assert learn_switch(errors, estimated, np.ones(8)).advantage == np.inf
    weight = np.array([3.0] * 4 + [1.0] * 4)  # now model 1 is the best on average, and stays so
    assert learn_switch(errors, estimated, weight) == (1, np.inf)


@given(arrays(float, (20, 3), elements=st.floats(0, 1)), st.integers(0, 2**32 - 1))
def test_on_the_rows_it_learned_from_it_is_no_worse_than_the_best(estimated, seed):
    errors = np.random.default_rng(seed).integers(0, 2, size=(20, 3)).astype(float)
    choice = learn_switch(errors, estimated, np.ones(20)).choose(estimated)
    assert errors[np.arange(20), choice].mean() <= errors.mean(axis=0).min() + 1e-12
