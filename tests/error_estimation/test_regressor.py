"""Residuals, error sizes and intervals of a regressor, one prediction at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, spearmanr
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.error_estimation._error_size import level_folds
from surefoot.resampling import HoldoutSplit


def wavy(n_rows, seed=0):
    """A line plus a wave that a line misses, with noise that grows with the second column."""
    draw = np.random.default_rng(seed)
    X = draw.uniform(-1, 1, size=(n_rows, 2))
    noise = np.where(X[:, 1] > 0, 0.5, 0.05)
    return X, X[:, 0] + np.sin(4 * X[:, 0]) + noise * draw.normal(size=n_rows), noise


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
    X, y, _ = wavy(200)
    X_new, _, _ = wavy(50, seed=1)
    plain = IndividualErrorRegressor(Ridge(), random_state=0).fit(X, y)
    corrected = IndividualErrorRegressor(Ridge(), corrected=True, random_state=0).fit(X, y)
    assert_allclose(plain.predict(X_new), Ridge().fit(X, y).predict(X_new))
    added = corrected.predict(X_new) - plain.predict(X_new)
    assert_allclose(added, corrected.shrinkage_ * corrected.predict_residual(X_new))
    assert 0 < corrected.shrinkage_ <= 1


def test_a_residual_is_truth_minus_prediction():
    X, y, _ = wavy(400)
    too_low = FrozenEstimator(LinearRegression().fit(X, y - 3))
    found = IndividualErrorRegressor(too_low, random_state=0).fit(X, y)
    residual = y - too_low.predict(X)
    assert found.predict_residual(X).mean() == pytest.approx(3, abs=0.1)
    assert spearmanr(found.predict_residual(X), residual).statistic > 0.8


def test_correction_learns_the_wave_that_a_line_misses():
    X_new, y_new, noise_new = wavy(2000, seed=9)
    calm, left_by_line, left_by_curve = noise_new < 0.1, [], []
    for seed in range(2):
        X, y, _ = wavy(1500, seed)
        model = IndividualErrorRegressor(Ridge(), corrected=True, random_state=0).fit(X, y)
        left_by_line.append((y_new - model.estimator_.predict(X_new))[calm])
        left_by_curve.append((y_new - model.predict(X_new))[calm])
    assert np.mean(np.square(left_by_line)) > 10 * np.mean(np.square(left_by_curve))


def test_hardly_anything_is_corrected_where_nothing_can_be():
    added = []
    for seed in range(3):
        draw = np.random.default_rng(seed)
        X, y = draw.normal(size=(300, 3)), draw.normal(size=300)
        model = IndividualErrorRegressor(DummyRegressor(), corrected=True, random_state=0).fit(X, y)
        added.append(model.predict(X) - y.mean())
    # A correction of a tenth of the noise costs a hundredth of the squared error.
    assert np.sqrt(np.mean(np.square(added))) < 0.1


def test_a_gain_that_cannot_be_is_not_claimed():
    # A line is fitted to a line: there is nothing to correct, and an estimate of it has seen no row's target.
    claims = []
    for seed in range(4):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(200, 4))
        y = X @ [1, 0.5, 0, -1] + draw.normal(size=200)
        model = IndividualErrorRegressor(Ridge(), random_state=0).fit(X, y)
        left = y - model.held_out_.prediction
        claims.append(1 - np.mean((left - model.held_out_corrections(y)) ** 2) / np.mean(left**2))
    assert max(claims) < 0.03


def test_a_gain_that_is_claimed_is_found_on_new_rows():
    X, y, _ = wavy(400)
    X_new, y_new, _ = wavy(2000, seed=1)
    model = IndividualErrorRegressor(Ridge(), random_state=0).fit(X, y)
    corrected = IndividualErrorRegressor(Ridge(), corrected=True, random_state=0).fit(X, y)
    left = y - model.held_out_.prediction
    claim = 1 - np.mean((left - model.held_out_corrections(y)) ** 2) / np.mean(left**2)
    line, curve = (np.mean((y_new - each.predict(X_new)) ** 2) for each in (model, corrected))
    assert claim == pytest.approx(1 - curve / line, abs=0.1)
    assert claim > 0.5


def test_folds_are_levelled():
    residuals, splits = np.repeat([1.0, 3.0, 5.0, 9.0], 10), np.repeat([0, 0, 1, 1], 10)
    assert_allclose(level_folds(residuals, splits), np.repeat([3.5, 5.5, 2.5, 6.5], 10))
    assert_allclose(level_folds(residuals[::10], splits[::10]), [1, 3, 5, 9])  # too few to tell


def test_sizes_of_errors_are_those_of_the_residuals_as_they_are():
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 30)
    X, y = draw.normal(size=(180, 2)), 5 * groups + draw.normal(size=180)
    told = IndividualErrorRegressor(Ridge(), random_state=0).fit(X, y, groups=groups)
    alone = IndividualErrorRegressor(Ridge(), cv=KFold(8), random_state=0).fit(X[:24], y[:24])
    for found in (told, alone):
        mean = found.held_out_.losses.mean()
        assert found.predict_error(X).mean() == pytest.approx(mean, rel=0.3)


def test_errors_and_widths_follow_the_noise():
    X, y, _ = wavy(800)
    X_new, _, noise = wavy(500, seed=1)
    found = IndividualErrorRegressor(KNeighborsRegressor(), random_state=0).fit(X, y)
    loud = noise > 0.1
    # E|N(0, s)| is s√(2/π), and averaging five neighbours adds a fifth to the variance.
    expected = 0.5 * np.sqrt(2 / np.pi) * np.sqrt(1.2)
    assert found.predict_error(X_new)[loud].mean() == pytest.approx(expected, rel=0.15)
    width = np.diff(found.predict_interval(X_new), axis=1)[:, 0]
    assert np.median(width[loud]) > 2 * np.median(width[~loud])


def test_squared_loss_is_the_square():
    X, y, _ = wavy(800)
    found = IndividualErrorRegressor(KNeighborsRegressor(), loss="squared", random_state=0)
    found.fit(X, y)
    X_new, y_new, noise_new = wavy(2000, seed=1)
    loud = noise_new > 0.1
    errors = ((y_new - found.predict(X_new)) ** 2)[loud].mean()
    assert errors == pytest.approx(0.25 * 1.2, rel=0.2)
    assert found.predict_error(X_new)[loud].mean() == pytest.approx(errors, rel=0.2)
    assert_allclose(found.held_out_.losses, (y - found.held_out_.prediction) ** 2)


def test_no_model_judges_a_row_that_it_saw():
    draw = np.random.default_rng(0)
    X = np.column_stack([draw.normal(size=60), np.arange(60)])
    y = draw.normal(size=60)
    Recorder.fits.clear()
    found = IndividualErrorRegressor(Recorder(), cv=KFold(4), random_state=0).fit(X, y)
    # Four folds, six pairs of folds, all rows: each once.
    assert len(Recorder.fits) == len(set(Recorder.fits)) == 4 + 6 + 1
    for number, (_, test) in enumerate(KFold(4).split(X)):
        seen = found._folds[number][0].indexes[0].predictor.seen_
        assert not seen & set(test.tolist())
        expected = y[sorted(seen)].mean()
        assert_allclose(found.held_out_.prediction[test], expected)


def test_held_out_errors_are_those_of_the_folds():
    X, y, _ = wavy(120)
    found = IndividualErrorRegressor(Ridge(), cv=KFold(3), random_state=0).fit(X, y)
    for train, test in KFold(3).split(X):
        errors = np.abs(y[test] - Ridge().fit(X[train], y[train]).predict(X[test]))
        assert_allclose(found.held_out_.losses[test], errors)


@pytest.mark.parametrize("confidence", [0.8, 0.9])
def test_split_conformal_keeps_its_promise(confidence):
    hits = 0
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
        assert_allclose(model.predict_interval(X_new, confidence, guaranteed=True), intervals)
        low, high = intervals.T
        hits += int(((low <= y_new) & (y_new <= high)).sum())
    # Draws share test rows, which widens the spread: allow for a tenth of them being independent.
    assert hits / 1000 > binom.ppf(0.001, 100, confidence) / 100


def test_intervals_of_folds_cover_about_as_promised_and_far_above_their_worst_case():
    X, y, _ = wavy(300)
    X_new, y_new, _ = wavy(2000, seed=1)
    for corrected in (False, True):
        model = IndividualErrorRegressor(Ridge(), corrected=corrected, random_state=0).fit(X, y)
        for guaranteed in (False, True):
            low, high = model.predict_interval(X_new, 0.9, guaranteed=guaranteed).T
            assert 0.86 < ((low <= y_new) & (y_new <= high)).mean() < 0.97


def test_an_interval_holds_the_prediction_that_it_is_of():
    X, y, _ = wavy(80)
    X_new, _, _ = wavy(200, seed=1)
    for corrected in (False, True):
        model = IndividualErrorRegressor(
            DecisionTreeRegressor(random_state=0), corrected=corrected, random_state=0
        ).fit(X, y)
        judgement = model.judge(X_new)
        assert (judgement.interval[:, 0] <= judgement.prediction).all()
        assert (judgement.prediction <= judgement.interval[:, 1]).all()


def test_more_confidence_is_a_wider_interval_up_to_what_the_rows_support():
    X, y, _ = wavy(100)
    model = IndividualErrorRegressor(Ridge(), random_state=0).fit(X, y)
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


@pytest.mark.parametrize(
    "cv", [ShuffleSplit(4, random_state=0), TimeSeriesSplit(3), list(KFold(3).split(range(120)))]
)
def test_any_splitter_serves(cv):
    X, y, _ = wavy(120)
    found = IndividualErrorRegressor(Ridge(), cv=cv, random_state=0).fit(X, y)
    splits = list(cv) if isinstance(cv, list) else list(cv.split(X))
    held_out = np.sort(np.concatenate([test for _, test in splits]))
    assert_array_equal(found.held_out_.rows, held_out)
    assert np.isfinite(found.predict_interval(X)).all()


def test_groups_stay_together_in_every_fit():
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 5)
    X = np.column_stack([draw.normal(size=60), np.arange(60)])
    Recorder.fits.clear()
    IndividualErrorRegressor(Recorder(), cv=4, random_state=0).fit(
        X, draw.normal(size=60), groups=groups
    )
    for seen in Recorder.fits:
        counts = np.bincount(groups[sorted(seen)], minlength=12)
        assert set(counts.tolist()) <= {0, 5}
    assert len(Recorder.fits) == 1 + GroupKFold(4).get_n_splits() + 6


def test_weights_reach_the_model():
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(size=len(y))
    found = IndividualErrorRegressor(Ridge(), random_state=0).fit(X, y, sample_weight=weight)
    assert_allclose(found.predict(X), Ridge().fit(X, y, sample_weight=weight).predict(X))


def test_a_row_is_judged_alike_alone_and_among_others():
    X, y, _ = wavy(150)
    found = IndividualErrorRegressor(Ridge(), corrected=True, random_state=0).fit(X, y)
    assert_allclose(found.predict_error(X[:1]), found.predict_error(X)[:1])
    assert_allclose(found.predict_interval(X[:1]), found.predict_interval(X)[:1])


def test_rows_unlike_any_seen_are_novel():
    X, y, _ = wavy(500)
    found = IndividualErrorRegressor(Ridge(), random_state=0).fit(X, y)
    assert found.predict_novelty(wavy(2000, seed=1)[0]).mean() < 0.03
    assert found.predict_novelty([[5.0, 0.0], [0.0, -4.0]]).all()


def test_bad_input_gets_one_sentence():
    X, y, _ = wavy(30)
    with pytest.raises(ValueError, match="is no regressor: for a classifier there is"):
        IndividualErrorRegressor(LogisticRegression()).fit(X, y > 0)
    with pytest.raises(TypeError, match="is no regressor: residuals are numbers"):
        IndividualErrorRegressor(Ridge(), LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="loss='huber'"):
        IndividualErrorRegressor(Ridge(), loss="huber").fit(X, y)
    with pytest.raises(ValueError, match="confidence == 1"):
        IndividualErrorRegressor(Ridge()).fit(X, y).predict_interval(X, confidence=1.0)
