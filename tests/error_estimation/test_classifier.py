"""The error of a classifier's predictions: what is promised, by hand and by simulation, on every kind of input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import (
    Confidence,
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
    NeighborError,
    SecondOpinion,
    TrustScore,
)
from surefoot.metrics import smooth_calibration_error
from surefoot.resampling import HoldoutSplit

QUICK = [Confidence(), NeighborDisagreement(n_neighbors=5, space="scaled")]


def rows(n_rows=200, seed=0, **settings):
    settings = {"n_redundant": 0, "flip_y": 0.2, **settings}
    return make_classification(n_rows, 4, random_state=seed, **settings)


def quick(model=None, **settings):
    settings = {"indicators": QUICK, "random_state": 0, **settings}
    return IndividualErrorClassifier(LogisticRegression() if model is None else model, **settings)


# What it predicts, and what it learns from


def test_it_predicts_like_its_model():
    X, y = rows()
    model, ours = LogisticRegression().fit(X, y), quick().fit(X, y)
    assert_array_equal(ours.predict(X), model.predict(X))
    assert_allclose(ours.predict_proba(X), model.predict_proba(X))
    assert_allclose(ours.decision_function(X), model.decision_function(X))
    assert ours.score(X, y) == model.score(X, y)
    assert not hasattr(quick(LinearSVC()).fit(X, y), "predict_proba")
    assert not hasattr(quick(GaussianNB()), "decision_function")


def test_indicators_may_come_in_any_order():
    X, y = rows()
    one, other = (quick(indicators=order).fit(X, y) for order in (QUICK, QUICK[::-1]))
    assert_allclose(one.predict_error(X), other.predict_error(X))
    assert one.learner_.n_own == other.learner_.n_own == 4
    assert quick(indicators=TrustScore()).fit(X, y).learner_.n_own == 0


def test_passthrough_finds_the_part_where_the_model_errs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    y = (X[:, 0] > 0).astype(int)
    noisy = X[:, 2] > 0.5
    y[noisy] = rng.integers(0, 2, noisy.sum())
    half = slice(0, 600), slice(600, None)
    plain, seen = (
        quick(indicators=Confidence(), passthrough=p).fit(X[half[0]], y[half[0]]) for p in (0, 1)
    )
    wrong = plain.predict(X[half[1]]) != y[half[1]]
    scores = [roc_auc_score(wrong, model.predict_error(X[half[1]])) for model in (plain, seen)]
    assert scores[1] > scores[0] + 0.1
    assert_array_equal(seen.get_column_names()[4:], [f"Row__column_{i}" for i in range(3)])
    assert quick(indicators=[], passthrough=True).fit(X, y).predict_error(X).shape == (1200,)


@pytest.mark.parametrize(
    "learner",
    [
        GaussianNB(),
        LinearSVC(random_state=0),
        RandomForestRegressor(20, min_samples_leaf=10, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["classifier", "no probabilities", "regressor", "pipeline"],
)
def test_any_error_estimator_is_calibrated(learner):
    X, y = rows(1500)
    model = quick(learner=learner).fit(X[:500], y[:500])
    error, wrong = model.predict_error(X[500:]), model.predict(X[500:]) != y[500:]
    assert ((error >= 0) & (error <= 1)).all()
    assert roc_auc_score(wrong, error) > 0.6
    # A thousand rows, a fifth of them wrong: 0.013; and as much again for the 500 it learned from.
    assert_allclose(error.mean(), wrong.mean(), atol=4 * np.hypot(0.013, 0.018))
    held_out = model.held_out_
    assert_allclose(held_out.error.mean(), held_out.losses.mean(), atol=0.01)


# Calibration where the truth is known


def noise_problem(n_rows, seed):
    """Labels that are the sign of a column, turned over with a chance that another column sets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    chance = expit(1.2 * X[:, 1] - 1.5)
    return X, (X[:, 0] > 0) ^ (rng.random(n_rows) < chance), chance


def true_error(model, X, chance):
    """The generator's probability that a prediction is wrong."""
    return np.where(model.predict(X) == (X[:, 0] > 0), chance, 1 - chance)


def test_the_error_is_close_to_the_truth():
    X, y, _ = noise_problem(1000, 0)
    fresh, came, chance = noise_problem(3000, 1)
    model = IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(X, y)
    truth = true_error(model, fresh, chance)
    error = model.predict_error(fresh)
    away = np.abs(error - truth).mean()
    own = np.abs(1 - model.predict_proba(fresh).max(axis=1) - truth).mean()
    # The share of errors among ten neighbours is 0.109 off: sqrt(0.25 · 0.75 / 10) · sqrt(2 / π).
    assert away < 0.109
    assert away < 0.6 * own
    # Nearly as calibrated as a perfect predictor; a rate of 0.25 learned from 1000 rows is itself 0.011 off.
    drawn = np.random.default_rng(0).random(3000) < error
    perfect = smooth_calibration_error(drawn, error)
    assert smooth_calibration_error(model.predict(fresh) != came, error) < perfect + 0.02


def test_the_pool_of_opinions_leaves_the_columns_that_it_was_learned_from():
    class Watched(IndividualErrorClassifier):
        def _with_pools(self, cross):
            before = {name: block.copy() for name, block in cross.held_out.columns.items()}
            after = super()._with_pools(cross).held_out.columns
            for name, block in before.items():
                assert_array_equal(cross.held_out.columns[name], block)
                assert np.array_equal(after[name], block) == (name != "SecondOpinion")
            return super()._with_pools(cross)

    X, y = rows(120)
    fitted = Watched(GaussianNB(), cv=2, random_state=0).fit(X, y)
    opinion = fitted._panel.indicators["SecondOpinion"]
    assert len(opinion.weights_) == len(opinion.opinions_) + 1
    assert np.ptp(opinion.weights_[1:]) > 0


# How rows are held out


def test_a_row_held_out_often_is_not_estimated_by_its_own_copies():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    by_heart = KNeighborsClassifier(1)
    model = quick(
        GaussianNB(),
        learner=by_heart,
        cv=ShuffleSplit(20, random_state=0),
        passthrough=True,
    ).fit(X, y)
    held_out = model.held_out_
    assert roc_auc_score(held_out.losses, held_out.error) < 0.65


def test_a_number_of_folds_keeps_groups_together():
    X, y = rows()
    groups = np.arange(200) // 8
    held_out = quick(cv=5).fit(X, y, groups=groups).held_out_
    assert set(held_out.splits) == set(range(5))
    for split in range(5):
        test = held_out.splits == split
        assert not set(groups[test]) & set(groups[~test])
        expected = LogisticRegression().fit(X[~test], y[~test]).predict(X[test])
        assert_array_equal(held_out.prediction[test], expected)
        assert y[test].mean() == pytest.approx(y.mean(), abs=0.1)  # classes are spread
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quick().fit(X, y, groups=groups[:-1])


def test_folds_that_cannot_be_get_one_sentence():
    X, y = rows()
    one_row = np.r_[np.zeros(199, dtype=int), 1]
    with pytest.raises(ValueError, match="y has one class only with two rows or more, 0"):
        quick().fit(X, one_row)
    three_rows = np.r_[np.zeros(197, dtype=int), 1, 1, 1]
    assert quick(cv=10).fit(X, three_rows).n_splits_ == 3  # as many as the rarest class has
    with pytest.raises(ValueError, match="y has one class only, 'no'"):
        quick().fit(X, ["no"] * 200)
    with pytest.raises(ValueError, match="cv leaves a training fold without class 0"):
        quick(cv=KFold(2)).fit(X, np.sort(y))
    with pytest.raises(ValueError, match="groups has one group only"):
        quick().fit(X, y, groups=np.zeros(200))


# A frozen model


def test_a_frozen_model_is_used_as_it_is():
    X, y = rows(600)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:300], y[:300])
    indicators = [Confidence(), NeighborError(), SecondOpinion(random_state=0)]
    model = quick(FrozenEstimator(tree), indicators=indicators).fit(X[300:], y[300:])
    assert model.estimator_.estimator is tree
    assert_array_equal(model.held_out_.losses, tree.predict(X[300:]) != y[300:])
    share = model.held_out_.losses.mean()
    assert_allclose(model.predict_error(X[300:]).mean(), share, atol=0.05)


def test_a_frozen_model_keeps_its_classes():
    X, y = load_iris(return_X_y=True)
    frozen = FrozenEstimator(LogisticRegression(max_iter=1000).fit(X, y))
    for few in (slice(0, 101), slice(0, 100), slice(0, 50)):  # one row of a class, or none
        model = IndividualErrorClassifier(frozen, loss=1 - np.eye(3), sets=True, random_state=0)
        model.fit(X[few], y[few])
        assert_array_equal(model.classes_, [0, 1, 2])
        assert model.predict_set(X).shape == (150, 3)
        assert np.isfinite(model.predict_error(X)).all()
    with pytest.raises(ValueError, match="y has class 7, which the frozen estimator does not know"):
        quick(frozen).fit(X, np.where(y == 2, 7, y))
    with pytest.raises(NotFittedError):
        quick(FrozenEstimator(LogisticRegression())).fit(X, y)


# Tables and models of every kind


def test_frames_with_names_gaps_and_strings_as_labels():
    X, y = rows()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    names = np.array(["no", "yes"])[y]
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    tables = [X, pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))]
    found = []
    for table in tables:
        model = IndividualErrorClassifier(pipeline, passthrough=True, random_state=0)
        found.append(model.fit(table, names).predict_error(table))
        assert set(model.predict(table)) == {"no", "yes"}
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert_allclose(found[1], found[0])
    assert_allclose(found[2], found[0])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_categories_and_gaps_that_the_model_takes(kind):
    X, y = rows()
    X[::9, 1] = np.nan
    codes = np.array(["u", "v", "w"])[np.random.default_rng(0).integers(0, 3, 200)]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=pd.Categorical(codes))
    if kind == "polars":
        frame = pl.DataFrame(X, schema=list("abcd")).with_columns(
            pl.Series("kind", codes, dtype=pl.Enum(["u", "v", "w"]))
        )
    boosting = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    model = IndividualErrorClassifier(boosting, passthrough=True, cv=3, random_state=0)
    error = model.fit(frame, y).predict_error(frame[:20])
    assert ((error > 0) & (error < 1)).all()


def test_texts_and_sparse_rows():
    words = np.random.default_rng(0).choice(["good", "bad", "fine", "day", "awful"], (60, 4))
    texts = [" ".join(row) for row in words]
    labels = np.where((words == "good").sum(axis=1) > (words == "bad").sum(axis=1), "+", "-")
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    model = IndividualErrorClassifier(pipeline, cv=3, random_state=0).fit(texts, labels)
    error = model.predict_error(["good", "unheard of", "good bad"])
    assert ((error > 0) & (error < 1)).all()
    table = TfidfVectorizer().fit_transform(texts)
    sparse = IndividualErrorClassifier(LogisticRegression(), cv=3, random_state=0)
    assert np.isfinite(sparse.fit(table, labels).predict_error(table.tocsc())).all()
    with pytest.raises(ValueError, match="passthrough=True needs dense rows"):
        sparse.set_params(passthrough=True).fit(table, labels)


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(random_state=0),
        SVC(),
        SVC(break_ties=True),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2),
    ],
    ids=["decision values", "votes", "ties", "pipeline", "search"],
)
def test_three_classes_by_models_of_every_kind(model):
    X, y = make_blobs(240, centers=3, cluster_std=4.0, random_state=0)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    ours = quick(model, cv=folds, sets=True).fit(X[:120], y[:120])
    expected = cross_val_predict(model, X[:120], y[:120], cv=folds)
    assert_array_equal(ours.held_out_.prediction, expected)
    assert_array_equal(ours.predict(X), clone(model).fit(X[:120], y[:120]).predict(X))
    error = ours.predict_error(X[120:])
    assert_allclose(error.mean(), (ours.predict(X[120:]) != y[120:]).mean(), atol=0.15)
    assert ours.predict_set(X).any(axis=1).mean() > 0.9


# Few errors, and none


def test_without_an_error_and_a_prior_own_confidence_ranks():
    X, y = make_blobs(300, centers=[[-5, 0], [5, 0]], cluster_std=1.2, random_state=0)
    model = IndividualErrorClassifier(LogisticRegression(), prior=None, random_state=0).fit(X, y)
    assert model.held_out_.losses.sum() == 0
    way = np.column_stack([np.linspace(-3, 3, 50), np.zeros(50)])
    error, own = model.predict_error(way), -np.abs(model.decision_function(way))
    assert spearmanr(error, own).statistic > 0.99
    assert (
        0 < model.predict_error(X + 1e-9).max() < 0.05
    )  # a training row has its held-out estimate
    assert_allclose(model.held_out_.error.mean(), 1 / 302, rtol=0.05)


def test_without_an_error_any_error_estimator_gives_the_rule_of_succession():
    X, y = make_blobs(300, centers=[[-5, 0], [5, 0]], cluster_std=1.2, random_state=0)
    for learner in (GaussianNB(), LinearRegression()):
        model = quick(learner=learner).fit(X, y)
        assert_allclose(model.predict_error(X), 1 / 302)
        assert model.learner_ is None


def test_every_row_wrong():
    X, y = rows(100)
    contrary = FrozenEstimator(LogisticRegression().fit(X, y))
    wrong = 1 - contrary.predict(X)
    for learner in (None, GaussianNB()):
        model = quick(contrary, learner=learner).fit(X, wrong)
        assert model.held_out_.losses.all()
        assert (model.predict_error(X) > 0.7).all()


# Weights


def test_weights_that_nobody_takes_get_one_sentence():
    X, y = rows()
    with pytest.raises(ValueError, match=r"sample_weight was given, but .* takes none"):
        quick(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(200))
    with pytest.raises(ValueError, match=r"sample_weight was given, but .* takes none"):
        quick(learner=KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(200))


# Costs


def test_the_expected_cost_by_hand():
    X, y = rows()
    costs = np.array([[0.0, 7.0], [2.0, 0.0]])
    plain, costly = quick().fit(X, y), quick(loss=costs).fit(X, y)
    new = X + 1e-9  # a training row has at least its held-out estimate
    if_wrong = np.where(plain.predict(new) == 1, 7.0, 2.0)
    factor = costly.predict_error(new) / (plain.predict_error(new) * if_wrong)
    told, truth = plain.held_out_.prediction, y
    paid = costs[truth, told].mean()
    expected = (plain.held_out_.error * np.where(told == 1, 7.0, 2.0)).mean()
    assert_allclose(factor, paid / expected)
    assert_array_equal(costly.held_out_.losses, costs[truth, told])


# Sets


def test_sets_are_only_known_if_they_were_asked_for():
    X, y = linear_problem(80, 0)
    model = quick().fit(X, y)
    with pytest.raises(ValueError, match="sets=True"):
        model.predict_set(X)


def linear_problem(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (rng.random(n_rows) < expit(1.5 * X[:, 0])).astype(int)


def coverage(model, seed, confidence=0.9, n_rows=80):
    X, y = linear_problem(n_rows + 400, seed)
    model.set_params(sets=True).fit(X[:n_rows], y[:n_rows])
    sets = model.predict_set(X[n_rows:], confidence)
    return sets[np.arange(400), y[n_rows:]].mean()


def test_sets_hold_the_truth_as_often_as_promised():
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(*linear_problem(200, 999))
    frozen = FrozenEstimator(tree)
    split, frozen, folds = (
        [
            coverage(quick(model, indicators=Confidence(), **settings), seed)
            for seed in range(n_seeds)
        ]
        for model, settings, n_seeds in (
            (None, {"cv": HoldoutSplit(0.5, random_state=0)}, 40),
            (frozen, {"cv": 2, "max_reference_rows": 10}, 30),
            (None, {"cv": 3}, 25),
        )
    )
    error = np.std(split) / np.sqrt(40)
    assert 0.9 - 3 * error < np.mean(split) < 0.9 + 1 / 41 + 3 * error
    assert np.mean(frozen) > 0.9 - 3 * np.std(frozen) / np.sqrt(30)
    # Of folds 2 · 0.9 − 1 is proven; this is what is seen.
    assert np.mean(folds) > 0.9 - 3 * np.std(folds) / np.sqrt(25) - 0.01


def test_sets_by_brute_force():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    line, folds = LogisticRegression(max_iter=1000), StratifiedKFold(3)
    model = quick(line, indicators=Confidence(), cv=folds, sets=True).fit(X, y)

    def behind(values):  # how far each class is behind the best other
        return np.column_stack(
            [np.delete(values, c, axis=1).max(axis=1) - values[:, c] for c in range(3)]
        )

    as_strange = np.ones((150, 3))
    for train, test in folds.split(X, y):
        values = clone(line).fit(X[train], y[train]).decision_function
        known = behind(values(X[test]))[np.arange(len(test)), y[test]]
        as_strange += (known[:, None, None] >= behind(values(X + 0.1))).sum(axis=0)
    assert_array_equal(model.predict_set(X + 0.1, 0.9), as_strange > 0.1 * 151)


# Novelty


@pytest.mark.parametrize("cv", [5, HoldoutSplit(0.5, random_state=0)])
def test_one_row_in_a_hundred_of_the_same_kind_and_every_far_row_is_novel(cv):
    X, y = rows(3000)
    model = quick(cv=cv).fit(X[:1000], y[:1000])
    # A quantile from 500 rows or more: between 0.1 and 2.5 % of the fresh ones.
    assert 0.001 < model.predict_novelty(X[1000:]).mean() < 0.025
    assert model.predict_novelty(X[:50] + 40).all()
    assert model.predict_novelty(X[:50] * [1, 1, 1, 1e3] + [0, 0, 0, 1e4]).all()


# Good manners


def test_the_seed_decides_and_parameters_stay_as_they_are():
    X, y = rows()
    settings = {"cv": KFold(3), "max_reference_rows": 60}
    one, same = (
        IndividualErrorClassifier(GaussianNB(), random_state=3, **settings)
        .fit(X, y)
        .predict_error(X)
        for _ in range(2)
    )
    assert_array_equal(one, same)
    generator = np.random.RandomState(3)
    model = IndividualErrorClassifier(GaussianNB(), random_state=generator, **settings).fit(X, y)
    assert model.random_state is generator
    assert not hasattr(model.estimator, "classes_")


def test_a_row_alone_gets_what_it_gets_in_company():
    X, y = rows()
    indicators = [
        *QUICK,
        LocalSensitivity(),
        NeighborError(),
        SecondOpinion(random_state=0),
        TrustScore(),
    ]
    model = quick(indicators=indicators, passthrough=True, sets=True).fit(X, y)
    fresh = X + 0.1
    together = model.predict_error(fresh)
    for i in (0, 7, 150):
        assert_allclose(model.predict_error(fresh[[i]]), together[i], rtol=1e-6)
        assert_array_equal(model.predict_set(fresh[[i]])[0], model.predict_set(fresh)[i])
    assert_allclose(model.predict_error(fresh[::-1]), together[::-1], rtol=1e-6)


def test_pandas_output_everywhere_changes_nothing():
    X, y = rows()
    model = quick(GaussianNB(), cv=3)
    plain = clone(model).fit(X, y).predict_error(X)
    with sklearn.config_context(transform_output="pandas"):
        assert_allclose(model.fit(X, y).predict_error(X), plain)


def test_metadata_routing():
    X, y = rows()
    groups, weight = np.arange(200) // 5, np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = quick(inner, cv=GroupKFold(4)).set_fit_request(groups=True, sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        outer = make_pipeline(scaler, model).fit(X, y, groups=groups, sample_weight=weight)
        routed = outer[-1].predict_error(outer[0].transform(X))
    scaled = StandardScaler().fit_transform(X)
    direct = quick(cv=GroupKFold(4)).fit(scaled, y, weight, groups)
    assert_allclose(routed, direct.predict_error(scaled))


@pytest.mark.parametrize(
    ("model", "error", "sentence"),
    [
        (quick(LinearRegression()), ValueError, "is no classifier: for a regressor there is"),
        (quick(FrozenEstimator(LinearRegression())), ValueError, "is no classifier"),
        (quick("svm"), TypeError, "estimator='svm' is no model"),
        (
            quick(indicators=[]),
            ValueError,
            "nothing to learn from: indicators=.. needs passthrough",
        ),
        (quick(indicators="all"), ValueError, "indicators='all' is not known: it may be 'auto'"),
        (quick(indicators=[SVC()]), TypeError, "is no indicator: it may be 'auto'"),
        (quick(indicators=NeighborDistance(n_neighbors=0)), ValueError, "n_neighbors"),
        (quick(learner=StandardScaler()), TypeError, "learner=.* is no model"),
        (quick(loss=np.eye(3)), ValueError, r"loss must be 2 × 2 costs .* shape \(3, 3\)"),
        (quick(loss=[[0, -1], [1, 0]]), ValueError, "loss must be 2 × 2 .* least entry of -1"),
        (quick(loss=[[0, np.nan], [1, 0]]), ValueError, "loss contains NaN"),
        (quick(loss=[0, 1]), ValueError, "2D array"),
        (quick(max_reference_rows=0), ValueError, "max_reference_rows"),
        (quick(DummyClassifier(), cv=1), ValueError, "n_splits"),
    ],
)
def test_wrong_parameters_get_one_sentence(model, error, sentence):
    with pytest.raises(error, match=sentence):
        model.fit(*rows())


def test_rows_that_do_not_fit_get_one_sentence():
    X, y = rows()
    model = quick()
    for method in ("predict", "predict_error", "predict_set", "predict_novelty"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)
    model.fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict_error(X[:, :3])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, X[:, 0])
