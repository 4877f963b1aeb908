"""Residuals, error sizes and intervals of a regressor, one prediction at a time."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, spearmanr
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

from surefoot.error_estimation import IndividualErrorRegressor, assess, assess_predictions
from surefoot.indicators import NeighborDistance
from surefoot.report import ReliabilityReport
from surefoot.resampling import HoldoutSplit


def wavy(n_rows, seed=0):
    """A line plus a wave that a line misses, with noise that grows with the second column."""
    draw = np.random.default_rng(seed)
    X = draw.uniform(-1, 1, size=(n_rows, 2))
    noise = np.where(X[:, 1] > 0, 0.5, 0.05)
    return X, X[:, 0] + np.sin(4 * X[:, 0]) + noise * draw.normal(size=n_rows), noise


@cache
def line(n_rows, corrected=False, intervals="narrow"):
    """Error estimator around a line through the wave."""
    X, y, _ = wavy(n_rows)
    model = IndividualErrorRegressor(
        Ridge(), corrected=corrected, intervals=intervals, cv=3, random_state=0
    )
    return model.fit(X, y)


def quick(model=None, **settings):
    settings = {
        "indicators": NeighborDistance(),
        "passthrough": True,
        "random_state": 0,
        **settings,
    }
    return IndividualErrorRegressor(Ridge() if model is None else model, **settings)


def coverage(intervals, y):
    return np.mean((intervals[:, 0] <= y) & (y <= intervals[:, 1]))


class Recorder(RegressorMixin, BaseEstimator):
    """The mean of its targets; remembers which rows it saw, by their last column."""

    fits: list = []  # noqa: RUF012 - shared by all clones on purpose

    def fit(self, X, y):
        self.seen_ = frozenset(X[:, -1].astype(int).tolist())
        self.mean_ = float(np.mean(y))
        self.n_features_in_ = X.shape[1]
        Recorder.fits.append(self.seen_)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_predicts_like_its_model_unless_corrected():
    X, y, _ = wavy(400)
    X_new, _, _ = wavy(50, seed=1)
    plain, corrected = line(400), line(400, corrected=True)
    assert_allclose(plain.predict(X_new), Ridge().fit(X, y).predict(X_new))
    added = corrected.predict(X_new) - plain.predict(X_new)
    assert_allclose(added, corrected.predict_residual(X_new))
    assert 0 < corrected.shrinkage_ <= 1


def test_a_residual_is_truth_minus_prediction():
    X, y, _ = wavy(400)
    too_low = FrozenEstimator(LinearRegression().fit(X, y - 3))
    found = IndividualErrorRegressor(too_low, cv=3, random_state=0).fit(X, y)
    residual = y - too_low.predict(X)
    assert found.predict_residual(X).mean() == pytest.approx(3, abs=0.1)
    assert spearmanr(found.predict_residual(X), residual).statistic > 0.8


@pytest.mark.parametrize("kind", [DummyRegressor, Ridge])
def test_hardly_anything_is_corrected_where_nothing_can_be(kind):
    sizes = []
    for seed in range(4):
        draw = np.random.default_rng(seed)
        X, y, X_new = draw.normal(size=(300, 3)), draw.normal(size=300), draw.normal(size=(200, 3))
        model = IndividualErrorRegressor(kind(), corrected=True, random_state=0).fit(X, y)
        sizes.append(np.mean((model.predict(X_new) - model.estimator_.predict(X_new)) ** 2))
    # A correction of a tenth of the noise costs a hundredth of the squared error.
    assert np.mean(sizes) < 0.01


def test_a_gain_that_is_claimed_is_found_on_new_rows():
    X_new, y_new, _ = wavy(2000, seed=1)
    model, corrected, y = line(400), line(400, corrected=True), wavy(400)[1]
    left = y - model.held_out_.prediction
    claim = 1 - np.mean((left - model.held_out_corrections(y)) ** 2) / np.mean(left**2)
    straight, curve = (np.mean((y_new - each.predict(X_new)) ** 2) for each in (model, corrected))
    assert claim == pytest.approx(1 - curve / straight, abs=0.1)
    assert claim > 0.5


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_errors_and_widths_follow_the_noise(loss):
    X, y, _ = wavy(800)
    X_new, y_new, noise = wavy(2000, seed=1)
    found = IndividualErrorRegressor(KNeighborsRegressor(), loss=loss, cv=3, random_state=0).fit(
        X, y
    )
    loud, square = noise > 0.1, loss == "squared"
    # E|N(0, s)| is s√(2/π), and averaging five neighbours adds a fifth to the variance.
    expected = 0.25 * 1.2 if square else 0.5 * np.sqrt(2 / np.pi) * np.sqrt(1.2)
    errors = np.abs(y_new - found.predict(X_new)) ** (2 if square else 1)
    assert errors[loud].mean() == pytest.approx(expected, rel=0.2)
    assert found.predict_error(X_new)[loud].mean() == pytest.approx(expected, rel=0.2)
    held_out = np.abs(y - found.held_out_.prediction)
    assert_allclose(found.held_out_.losses, held_out**2 if square else held_out)
    width = np.diff(found.predict_interval(X_new), axis=1)[:, 0]
    assert np.median(width[loud]) > 2 * np.median(width[~loud])


@pytest.mark.parametrize(("intervals", "n_fits"), [("narrow", 4 + 1), ("proven", 4 + 6 + 1)])
def test_no_model_judges_a_row_that_it_saw(intervals, n_fits):
    draw = np.random.default_rng(0)
    X = np.column_stack([draw.normal(size=60), np.arange(60)])
    y = draw.normal(size=60)
    Recorder.fits.clear()
    found = quick(Recorder(), cv=KFold(4), intervals=intervals).fit(X, y)
    # Four folds, all rows, and for CV+ six pairs of folds: each once.
    assert len(Recorder.fits) == len(set(Recorder.fits)) == n_fits
    for train, test in KFold(4).split(X):
        assert frozenset(train.tolist()) in Recorder.fits
        assert_allclose(found.held_out_.prediction[test], y[train].mean())
        assert_allclose(found.held_out_.losses[test], np.abs(y[test] - y[train].mean()))


def test_an_interval_is_around_the_corrected_prediction_and_contains_the_other():
    X_new, y_new, _ = wavy(2000, seed=1)
    plain, corrected = line(400).judge(X_new), line(400, corrected=True).judge(X_new)
    widths = [np.diff(each.interval, axis=1).mean() for each in (plain, corrected)]
    assert widths[1] < widths[0] < 1.3 * widths[1]
    # The line misses the wave by more than the noise on half of the rows: an interval around it would be far wider.
    assert widths[0] < 0.8 * 2 * np.quantile(np.abs(y_new - plain.prediction), 0.9)
    assert (plain.interval[:, 0] <= plain.prediction).all()
    assert (plain.prediction <= plain.interval[:, 1]).all()


@pytest.mark.parametrize("confidence", [0.8, 0.9])
def test_split_conformal_keeps_its_promise(confidence):
    hits = []
    X_new, y_new, _ = wavy(40, seed=99)
    for seed in range(25):
        X, y, _ = wavy(80, seed=seed)
        model = IndividualErrorRegressor(
            Ridge(),
            DecisionTreeRegressor(max_depth=2),
            indicators=[],
            passthrough=True,
            cv=HoldoutSplit(0.5, random_state=seed),
        ).fit(X, y)
        intervals = model.predict_interval(X_new, confidence)
        assert_allclose(model.judge(X_new, confidence=confidence).interval, intervals)
        hits.append(coverage(intervals, y_new))
    # Draws share test rows, which widens the spread: allow for a tenth of them being independent.
    assert np.mean(hits) > binom.ppf(0.001, 100, confidence) / 100


@pytest.mark.parametrize("corrected", [False, True])
def test_intervals_of_folds_cover_about_as_promised_and_far_above_their_worst_case(corrected):
    X_new, y_new, _ = wavy(2000, seed=1)
    for intervals in ("narrow", "proven"):
        judgement = line(400, corrected, intervals).judge(X_new)
        assert 0.86 < coverage(judgement.interval, y_new) < 0.97
    assert (judgement.interval[:, 0] <= judgement.prediction).all()
    assert (judgement.prediction <= judgement.interval[:, 1]).all()


@pytest.mark.parametrize(
    ("cv", "loss"), [(5, "squared"), (ShuffleSplit(1, test_size=0.4, random_state=0), "absolute")]
)
def test_held_out_intervals_hold_the_truth_as_often_as_promised(cv, loss):
    X, y, _ = wavy(1500)
    tree = DecisionTreeRegressor(max_leaf_nodes=10, random_state=0)
    model = quick(tree, cv=cv, loss=loss).fit(X, y)
    intervals = model.held_out_intervals(0.8)
    # Three standard errors of a share of 450 rows at least.
    assert abs(coverage(intervals, y[model.held_out_.rows]) - 0.8) < 0.06
    assert (intervals[:, 0] < model.held_out_.prediction).all()
    assert np.mean(np.diff(intervals)) < np.mean(np.diff(model.held_out_intervals(0.95)))


def test_more_confidence_is_a_wider_interval_up_to_what_the_rows_support():
    X, y, _ = wavy(100)
    model = quick().fit(X, y)
    narrow, wide = model.predict_interval(X, 0.5), model.predict_interval(X, 0.95)
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (wide[:, 1] >= narrow[:, 1]).all()
    assert np.isfinite(model.predict_interval(X, 0.99)).all()  # 100 of 101 rows
    with pytest.raises(ValueError, match=r"100 held-out rows cannot support .* at most 0\.99"):
        model.predict_interval(X[:1], 0.995)
    # A judgement has more to say than an interval: it is given, with one that holds everything.
    judgement = model.judge(X[:1], confidence=0.995)
    assert_array_equal(judgement.interval, [[-np.inf, np.inf]])
    assert np.isfinite(judgement.error).all()


def test_a_single_split_leaves_the_model_on_its_part():
    X, y, _ = wavy(90)
    cv = HoldoutSplit(4 / 9, random_state=0)
    [(train, test)] = cv.split(X)
    found = IndividualErrorRegressor(
        Ridge(), LinearRegression(), indicators=[], passthrough=True, cv=cv
    ).fit(X, y)
    model = Ridge().fit(X[train], y[train])
    assert_array_equal(found.held_out_.rows, test)
    assert_allclose(found.predict(X), model.predict(X))
    # The paper's meta-model sees the row, and learns the residuals of the part held out.
    meta = LinearRegression().fit(X[test], y[test] - model.predict(X[test]))
    assert_allclose(found.predict_residual(X), meta.predict(X))


def test_weights_reach_the_model():
    X, y, _ = wavy(100)
    weight = np.random.default_rng(0).uniform(size=len(y))
    found = quick().fit(X, y, sample_weight=weight)
    model = Ridge().fit(X, y, sample_weight=weight)
    assert_allclose(found.predict(X), model.predict(X))


ONE_HOT = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["c"]), remainder="passthrough"
)
MODELS = {
    "pipeline": make_pipeline(ONE_HOT, Ridge()),
    "boosting": HistGradientBoostingRegressor(max_iter=5, random_state=0),
}


def rare_category():
    """A category that one fold has not seen."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=100), "c": pd.Categorical(["x", "y"] * 50)})
    X["c"] = X["c"].cat.add_categories("rare")
    X.loc[3:5, "c"] = "rare"  # all in the first fold
    return X, X["a"].to_numpy() + rng.normal(size=100)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_table_with_a_rare_category_is_judged(model):
    X, y = rare_category()
    found = IndividualErrorRegressor(model, cv=3, random_state=0).fit(X, y)
    assert found.held_out_.columns["Row"].shape[1] == 1 + 3 + 1  # prediction, categories, a number
    low, high = found.predict_interval(X).T
    assert (low < high).all()


def test_columns_that_a_fold_lacks_are_0_and_the_others_in_place():
    X, y = rare_category()
    first = np.arange(34)
    found = IndividualErrorRegressor(MODELS["pipeline"], cv=KFold(3), random_state=0).fit(X, y)
    _, rare, x, y, a = found.held_out_.columns["Row"][first].T
    assert (rare == 0).all()
    assert ((x > 0) == (X["c"][first] == "x")).all()
    assert ((y > 0) == (X["c"][first] == "y")).all()
    assert np.corrcoef(a, X["a"][first])[0, 1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("model", "error", "sentence"),
    [
        (quick(LogisticRegression()), ValueError, "is no regressor: for a classifier there is"),
        (quick(learner=LogisticRegression()), TypeError, "is no regressor: residuals are"),
        (quick(loss="huber"), ValueError, "loss='huber'"),
        (
            quick(corrected="much"),
            ValueError,
            "corrected='much' is not known: it may be 'unshrunk' or",
        ),
    ],
)
def test_bad_input_gets_one_sentence(model, error, sentence):
    X, y, _ = wavy(30)
    with pytest.raises(error, match=sentence):
        model.fit(X, y)


@pytest.mark.parametrize("scale", [1e-36, 1e36])
def test_the_unit_of_the_targets_is_that_of_the_estimates(scale):
    X, y, _ = wavy(120)
    plain, scaled = (quick().fit(X, targets).judge(X) for targets in (y, y * scale))
    assert_allclose(scaled.error, plain.error * scale, rtol=1e-6)
    assert_allclose(scaled.interval, plain.interval * scale, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-100, 1e-39])
@pytest.mark.parametrize(
    "judge",
    [
        lambda X, y: quick().fit(X, y),
        lambda X, y: assess(Ridge().fit(X, y), X, y),
        lambda X, y: assess_predictions(X, y, y[::-1]),
        lambda X, y: ReliabilityReport(Ridge(), X, y).summarize(),
    ],
    ids=["fit", "assess", "assess_predictions", "report"],
)
def test_targets_that_hardly_differ_get_one_sentence(judge, scale):
    X, y, _ = wavy(60)
    y = y / np.ptp(y) * scale
    with pytest.raises(ValueError, match=rf"^y varies by {scale:.0e} only, .* below 1e-38: mult"):
        judge(X, y)


def test_equal_targets_are_learned():
    X, _, _ = wavy(60)
    assert_allclose(quick().fit(X, np.full(60, 1e-200)).predict(X), 1e-200, rtol=1e-12)


def solved(rows, targets):
    """Least squares with an intercept, in plain numpy: a function of new rows."""
    weights = np.linalg.lstsq(np.c_[np.ones(len(rows)), rows], targets, rcond=None)[0]
    return lambda new: weights[0] + new @ weights[1:]


def mean_of_nearest(rows, targets, new):
    """Mean target of the five nearest rows, in plain numpy."""
    distances = ((new[:, None] - rows) ** 2).sum(axis=2)
    return targets[distances.argsort(axis=1)[:, :5]].mean(axis=1)


@pytest.mark.parametrize("n_copies", [0, 30])
def test_version_3_of_the_paper_in_plain_numpy(n_copies):
    """Buza et al. (2010), section 2: M learns D_A, M* the residuals of D_B; the final label is M + M*.

    Two details are ours: M* sees columns divided by their standard deviations in D_A, one with two values by √2 times
    their difference; and M learns no copy of a row of D_B.
    """
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4)) * [1, 10, 0.1, 1]
    X[:, 3] = 3 * (X[:, 3] > 0)
    X[:n_copies] = X[100 : 100 + n_copies]
    y = np.sin(X[:, 0]) + 0.2 * X[:, 1] + random.normal(size=200)
    new = random.normal(size=(50, 4)) * [1, 10, 0.1, 1]
    new[:, 3] = 3 * (new[:, 3] > 0)
    halves = [(np.arange(100), np.arange(100, 200))]
    settings = {"indicators": [], "passthrough": True, "cv": halves, "corrected": "unshrunk"}
    model = IndividualErrorRegressor(LinearRegression(), KNeighborsRegressor(5), **settings)
    model.fit(X, y)

    predict = solved(X[n_copies:100], y[n_copies:100])
    width = np.append(X[n_copies:100, :3].std(axis=0), 3 * np.sqrt(2))
    residuals = y[100:] - predict(X[100:])
    residual = mean_of_nearest(X[100:] / width, residuals, new / width)

    assert_allclose(model.predict_residual(new), residual, atol=1e-9)
    assert_allclose(model.predict(new), predict(new) + residual, atol=1e-9)
    assert model.shrinkage_ == 1.0
    # A meta-model that does not depend on the scale of its columns needs no divisor to agree.
    least_squares = IndividualErrorRegressor(LinearRegression(), LinearRegression(), **settings)
    unscaled = solved(X[100:], residuals)(new)
    assert_allclose(least_squares.fit(X, y).predict_residual(new), unscaled, atol=1e-9)
