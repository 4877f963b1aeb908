import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.report._probabilities import brier_scores
from surefoot.report.improvements import Gain, find_improvements, paired_gain
from surefoot.report.improvements._attempts import Attempts
from surefoot.report.improvements._models import other_models, transform_once
from surefoot.report.improvements._trial import Trial

SELECTION, LABELS = "Another model where it is better", "Labels for the most doubtful rows"
RICHER, ROWS = "Another kind of model everywhere", "More rows"
PROBABILITIES, CORRECTION = "Recalibrated probabilities", "Correction by the expected error"
AVERAGING = "Averaging many fits"
KEYS = {"name", "verdict", "gain", "low", "high", "unit", "sentence", "rows"}


def found(estimator, X, y, task="classification", **settings):
    if "X_unlabelled" in settings:
        kind = IndividualErrorRegressor if task == "regression" else IndividualErrorClassifier
        settings["error_estimator"] = kind(estimator, cv=3, random_state=0).fit(X, y)
    improvements = find_improvements(estimator, X, y, task=task, random_state=0, **settings)
    json.dumps(improvements, allow_nan=False)
    assert all(set(improvement) == KEYS for improvement in improvements)
    return {improvement["name"]: improvement for improvement in improvements}


def trial_of(estimator, X, y, task="classification", **settings):
    settings = {"groups": None, "max_rows": 4000, "random_state": 0, "n_jobs": None} | settings
    return Trial(estimator, X, y, task=task, **settings)


def circle(n_rows=600):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n_rows, 2))
    return X, (X**2).sum(axis=1) < 0.9  # seven rows in ten are inside


def test_a_line_through_a_circle_needs_a_richer_model_and_not_more_rows():
    told = found(LogisticRegression(), *circle())
    assert told[RICHER]["verdict"] == told[SELECTION]["verdict"] == "helps"
    assert told[RICHER]["gain"] > 0.15  # of the three rows in ten that are outside
    assert told[ROWS]["verdict"] == told[AVERAGING]["verdict"] == "would not help"
    assert told[SELECTION]["sentence"].startswith("A forest in place of this model would be wrong")


def test_choosing_row_by_row_is_named_where_no_single_model_is_as_good():
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, size=(2000, 2))
    left = (X[:, 1] > 0) ^ (draw.random(2000) < 0.3)  # a line is best, whatever is near is noise
    right = np.floor(4 * X[:, 1]) % 2 == 0  # only what is near tells
    y = np.where(X[:, 0] < 0, left, right)
    told = found(KNeighborsClassifier(1), X, y)[SELECTION]
    assert told["verdict"] == "helps"
    assert told["low"] > 0
    assert "row by row" in told["sentence"]


def test_an_overconfident_model_gains_by_recalibration():
    draw = np.random.default_rng(0)
    cause = draw.normal(size=600)
    X = np.column_stack([cause] * 10)  # ten copies count as ten witnesses
    y = cause + draw.normal(size=600) > 0
    told = found(GaussianNB(), X, y)
    assert told[PROBABILITIES]["verdict"] == "helps"
    assert told[PROBABILITIES]["unit"] == "Brier score"
    assert told[SELECTION]["verdict"] != "helps"  # the decision is right as it is


def test_true_probabilities_gain_nothing_by_recalibration():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(4000, 1))
    y = draw.random(4000) < 1 / (1 + np.exp(-X[:, 0]))
    told = found(LogisticRegression(), X, y)[PROBABILITIES]
    assert told["verdict"] == "would not help"
    assert told["high"] < 0.0025


def test_brier_scores_are_those_of_scikit_learn():
    X, y = circle(200)
    trial = trial_of(LogisticRegression(), X, y)
    chances = trial.model.predict_proba(trial.test_rows)
    expected = brier_score_loss(trial.test_targets, chances[:, 1])
    found = brier_scores(chances, trial.test_targets, trial.model.classes_)
    assert found.mean() == pytest.approx(expected)


def test_noise_copied_by_a_neighbor_is_averaged_away():
    draw = np.random.default_rng(0)
    X, y = draw.uniform(size=(500, 2)), draw.normal(size=500)
    told = found(KNeighborsRegressor(1), X, y, "regression")
    assert told[AVERAGING]["verdict"] == "helps"
    # Of 2σ², the copied σ² becomes σ²/3 with weights 1/2, 1/4, ...: √(4/3) in place of √2.
    before = np.sqrt(2) * np.sqrt(2 / np.pi)
    assert told[AVERAGING]["gain"] == pytest.approx(before * (1 - np.sqrt(2 / 3)), abs=0.1)
    assert told[CORRECTION]["verdict"] == told[RICHER]["verdict"] == "helps"


def test_a_line_through_a_wave_is_corrected():
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, size=(400, 1))
    told = found(LinearRegression(), X, np.sin(6 * X[:, 0]), "regression", X_unlabelled=X[:30])
    assert told[CORRECTION]["verdict"] == told[SELECTION]["verdict"] == "helps"
    assert told[CORRECTION]["unit"] == "unit of the target"
    assert len(set(told[LABELS]["rows"])) == 10
    assert max(told[LABELS]["rows"]) < 30


def test_more_rows_help_where_there_are_few_for_many_columns():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(500, 120))
    y = X @ np.ones(120) + draw.normal(size=500)  # 150 rows for 120 weights, or 300
    told = Attempts(trial_of(LinearRegression(), X, y, "regression")).grow()
    assert told["verdict"] == "helps"
    assert "300 rows" in told["sentence"]
    # The variance of a prediction is σ²p / (n − p − 1): 120/29 against 120/179, beside σ² = 1.
    expected = np.sqrt(2 / np.pi) * (np.sqrt(1 + 120 / 29) - np.sqrt(1 + 120 / 179))
    assert told["gain"] == pytest.approx(expected, rel=0.3)


def test_random_labels_are_helped_by_nothing_but_chance():
    verdicts = []
    for seed in range(4):
        draw = np.random.default_rng(seed)
        told = found(LogisticRegression(), draw.normal(size=(200, 3)), draw.integers(0, 2, 200))
        del told[PROBABILITIES]  # to call nothing certain does help
        verdicts += [improvement["verdict"] for improvement in told.values()]
    assert verdicts.count("helps") <= 2  # of 20, each with one chance in forty


def test_the_interval_of_equal_models_holds_0_as_often_as_it_says():
    draw = np.random.default_rng(0)
    above = 0
    for _ in range(2000):
        before, after = (draw.random((2, 80)) < 0.2).astype(float)
        above += paired_gain(before, after, counts=True).low > 0
    assert binomtest(above, 2000, 0.025, alternative="greater").pvalue > 0.01


def test_the_interval_knows_that_rows_of_a_group_are_not_independent():
    draw = np.random.default_rng(0)
    groups, above = np.repeat(np.arange(20), 10), np.zeros(2)
    for _ in range(1000):
        change = np.repeat(draw.normal(size=20), 10)
        zero = np.zeros(200)
        above += [paired_gain(change, zero, units).low > 0 for units in (groups, None)]
    assert binomtest(int(above[0]), 1000, 0.025).pvalue > 0.01
    assert above[1] > 200  # as if there were ten times as many


def test_the_interval_knows_that_other_draws_teach_otherwise():
    draw = np.random.default_rng(0)
    above = 0
    for _ in range(1000):
        change = draw.normal(size=(3, 1)) + draw.normal(scale=0.1, size=(3, 100))
        above += paired_gain(change, np.zeros(100)).low > 0
    assert binomtest(above, 1000, 0.025).pvalue > 0.01


def test_paired_gain_by_hand():
    gain = paired_gain(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    # Differences 2, 0, 1: mean 1, standard error 1/√3, and t with two degrees of freedom is 4.3027.
    assert gain == pytest.approx((1.0, 1 - 4.3027 / np.sqrt(3), 1 + 4.3027 / np.sqrt(3)), abs=1e-3)


@pytest.mark.parametrize(
    ("gain", "relevant", "verdict"),
    [
        (Gain(0.02, 0.01, 0.03), 0.05, "helps"),
        (Gain(0.0, -0.01, 0.01), 0.05, "would not help"),
        (Gain(0.04, -0.01, 0.09), 0.05, "cannot tell"),
        (Gain(-0.1, -0.2, -0.01), 0.05, "would not help"),
        (Gain(0.0, -0.01, 0.01), 0.0, "would not help"),  # a model without error
    ],
)
def test_verdicts(gain, relevant, verdict):
    assert gain.verdict(relevant) == verdict


def test_a_loss_is_told_as_more_with_its_interval_turned():
    X, y = circle(100)
    trial = trial_of(LogisticRegression(), X, y)
    worse, better = Gain(-0.012, -0.03, 0.004), Gain(0.012, 0.004, 0.03)
    assert trial.change(worse) == "be wrong more often, by 1.2 percentage points (−0.4 to 3.0)"
    assert trial.change(better) == "be wrong less often, by 1.2 percentage points (0.4 to 3.0)"


def test_learning_and_test_rows_share_no_row_and_no_group():
    X, y = circle(300)
    groups = np.arange(300) // 5
    trial = trial_of(LogisticRegression(), X, y, groups=groups, max_rows=200)
    assert len(trial.drawn) == 200
    assert not set(trial.learn) & set(trial.test)
    assert not set(groups[trial.drawn[trial.learn]]) & set(groups[trial.drawn[trial.test]])
    for train, held_out in trial.folds:
        own = trial.table.groups[trial.learn]
        assert not set(own[train]) & set(own[held_out])


def test_whether_more_rows_help_is_measured_on_the_whole_table():
    X, y = circle(1000)
    told = found(DecisionTreeClassifier(random_state=0), X, y, max_rows=100)
    assert "Fitting on all 960 rows" in told[ROWS]["sentence"]
    assert "from all 1,000 the gain is probably smaller" in told[LABELS]["sentence"]
    for name in (SELECTION, PROBABILITIES, AVERAGING, RICHER):
        assert "This was measured with 60 training rows; with all 1,000" in told[name]["sentence"]


class TestFrames:
    def frame(self):
        draw = np.random.default_rng(0)
        X = pd.DataFrame(
            {
                "size": draw.normal(size=200),
                "kind": draw.choice(["a", "b", None], 200),
                "gap": np.where(draw.random(200) < 0.3, np.nan, 1.5),
                "same": 1,
            }
        )
        return X, np.where(X["size"] + (X["kind"] == "a") > 0, "yes", "no")

    def test_a_pipeline_for_tables_with_gaps_categories_and_dates(self):
        skrub = pytest.importorskip("skrub")
        X, y = self.frame()
        X["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(200) % 90, "D")
        model = skrub.tabular_pipeline(LogisticRegression())
        told = found(model, X[:150], y[:150], X_unlabelled=X[150:])
        assert all(improvement["gain"] is not None for improvement in told.values())
        assert len(set(told[LABELS]["rows"])) == 10

    def test_other_models_take_what_the_model_takes(self):
        X, y = self.frame()
        others = other_models(LogisticRegression(), "classification", 0)
        assert list(others) == ["a forest", "nearest neighbours"]
        for model in others.values():
            assert model.fit(X[:150], y[:150]).score(X[150:], y[150:]) > 0.7

    def test_transformers_that_look_at_the_targets_stay_with_the_model(self):
        X, y = self.frame()
        y = (y == "yes").astype(int)
        draw, learn = np.random.RandomState(0), np.arange(100)
        scaled = make_pipeline(StandardScaler(), LogisticRegression())
        numbers = X[["size", "same"]]
        told = transform_once(scaled, numbers, y, learn, draw)
        assert isinstance(told["estimator"], LogisticRegression)
        expected = StandardScaler().fit(numbers[:100]).transform(numbers)
        np.testing.assert_array_equal(told["X"], expected)
        encoded = make_pipeline(TargetEncoder(), LogisticRegression())
        kinds = X[["kind"]].fillna("none")
        assert transform_once(encoded, kinds, y, learn, draw)["estimator"] is encoded


def test_a_frozen_model_is_not_fitted_again():
    X, y = circle(300)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:100], y[:100])
    weights = model[-1].coef_.copy()
    told = found(FrozenEstimator(model), X[100:], y[100:], X_unlabelled=X[:50])
    np.testing.assert_array_equal(model[-1].coef_, weights)
    assert told[SELECTION]["verdict"] == "helps"
    assert told[PROBABILITIES]["gain"] is not None
    for name in (LABELS, ROWS, AVERAGING):
        assert told[name]["verdict"] == "cannot tell"
        assert told[name]["sentence"].startswith("The model is not fitted again")
    assert len(told[LABELS]["rows"]) == 10


def test_the_next_rows_are_those_near_the_border():
    X = np.linspace(-1, 1, 200)[:, None]
    pool = np.linspace(-1, 1, 1001)[:, None]
    told = found(LogisticRegression(), X, X[:, 0] > 0, X_unlabelled=pool)
    assert np.abs(pool[told[LABELS]["rows"], 0]).max() < 0.1  # 50 rows are candidates
    assert told[SELECTION]["rows"] == []


def test_a_table_of_thirty_rows_is_measured_and_left_open():
    X, y = circle(30)
    told = found(LogisticRegression(), X, y)
    assert told[SELECTION]["verdict"] == "cannot tell"
    assert "12 test rows are too few to tell" in told[SELECTION]["sentence"]
    assert told[LABELS]["gain"] is None


def test_a_class_with_two_rows_is_left_out_of_learning_only():
    X, y = circle(150)
    y = y.astype(int)
    y[:2] = 2
    trial = trial_of(LogisticRegression(), X, y)
    assert set(trial.table.y[trial.learn]) == {0, 1}
    assert 2 in trial.test_targets
    told = found(LogisticRegression(), X, y)
    assert all(improvement["gain"] is not None for improvement in told.values())


def test_a_model_that_makes_no_mistake_cannot_gain():
    X = np.repeat([[0.0], [10.0]], 50, axis=0) + np.random.default_rng(0).normal(size=(100, 1))
    told = found(LogisticRegression(), X, np.repeat(["a", "b"], 50))
    assert told[SELECTION]["verdict"] == told[ROWS]["verdict"] == "would not help"
    assert "It made no mistake on the 40 test rows." in told[SELECTION]["sentence"]


def reasons(estimator, X, y, **settings):
    return {told["sentence"] for told in found(estimator, X, y, **settings).values()}


def test_what_cannot_be_measured_says_why():
    X, y = circle(100)
    rare = np.zeros(100, dtype=int)
    rare[:2] = 1
    [sentence] = reasons(LogisticRegression(), X[:20], y[:20])
    assert sentence == "20 rows are too few to fit a model and to measure it."
    [sentence] = reasons(LogisticRegression(), X, rare)
    assert sentence == "Fewer than two classes have the 5 rows that fitting needs here."
    [sentence] = reasons(LogisticRegression(), X, y, groups=np.arange(100) % 3)
    assert sentence == "Fewer than 4 groups are too few to fit a model and to measure it."
    [sentence] = reasons(KNeighborsClassifier(40), X, y)
    assert sentence.startswith(
        "The model cannot be fitted on 20 rows, which the measurement needs: "
    )
    told = found(SVC(), X, y)[PROBABILITIES]
    assert told["sentence"] == "The model gives no probabilities to recalibrate."


def test_progress_sees_every_attempt():
    X, y = circle(100)
    seen = []

    def watch(items, *, total, label):
        for item in items:
            seen.append((total, label))
            yield item

    told = found(LogisticRegression(), X, y, progress=watch)
    assert seen == [(len(told), "What would help")] * len(told)
