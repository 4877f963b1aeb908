import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from surefoot._splits import learner_folds
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.recalibration import RecalibratedClassifier
from surefoot.report import ReliabilityReport

SELECTION, SWAP = "Another model where it is better", "Another model for every row"
PROBABILITIES, CORRECTION = "Recalibrated probabilities", "Correction by the expected error"
AVERAGING, ROWS, LABELS = (
    "Averaging several fits",
    "More rows",
    "Labels for the most doubtful rows",
)
FLIPPING = "The other class where it is better"
KEYS = {"name", "verdict", "gain", "low", "high", "than", "at_full_size", "sentence", "rows"}


def cards(estimator, X, y, **settings):
    """Cards of a report by name, and its other sections."""
    summary = ReliabilityReport(estimator, X, y, **settings).summarize()
    improvements = summary["improvements"]
    json.dumps(improvements, allow_nan=False)
    assert all(set(card) == KEYS for card in improvements)
    assert all(card["high"] <= 1 for card in improvements if card["gain"] is not None)
    return {card["name"]: card for card in improvements}, summary


def circle(n_rows=400):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n_rows, 2))
    return X, (X**2).sum(axis=1) < 0.9  # seven rows in ten are inside


def test_a_line_through_a_circle_needs_another_model_and_not_more_rows():
    by_name, summary = cards(LogisticRegression(), *circle())
    assert by_name[SWAP]["verdict"] == "helps"
    assert by_name[SWAP]["gain"] > 0.6  # trees separate a circle, but for rows at its border
    assert by_name[SWAP]["sentence"].startswith("A forest in its place would make ")
    assert by_name[ROWS]["verdict"] == "would not help"
    assert by_name[AVERAGING]["than"] == "a forest"
    assert by_name[AVERAGING]["verdict"] != "helps"
    assert by_name[SELECTION]["gain"] < by_name[SWAP]["gain"]  # trees alone do most of it
    assert by_name[SWAP]["sentence"] in summary["verdict"]["sentences"]


def test_the_gain_of_another_model_is_that_of_its_held_out_predictions():
    X, y = circle(200)
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    report = ReliabilityReport(LogisticRegression(), X, y, cv=splitter)
    gain = next(c for c in report.summarize()["improvements"] if c["name"] == SWAP)["gain"]
    own = cross_val_predict(LogisticRegression(), X, y, cv=splitter) != y
    held_out = report._fitted[1].held_out
    others = np.column_stack(
        [held_out.opinions[name].argmax(axis=1) != y for name in ("trees", "boosting")]
        + [held_out.pooled.argmax(axis=1) != y]
    )
    wrong = 0
    for split in range(4):  # the one with fewer mistakes in the other folds
        inside = held_out.splits == split
        wrong += others[inside, others[~inside].sum(axis=0).argmin()].sum()
    assert gain == pytest.approx(1 - wrong / own.sum())


def test_models_that_err_on_different_rows_are_better_together():
    """On one table of 500 rows another model may be as good by chance, so losses are summed over three."""
    log_losses = Counter()
    for seed in range(3):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(500, 6))
        y = X[:, :3].sum(axis=1) + np.sign(X[:, 3] * X[:, 4]) + draw.normal(size=500) > 0
        report = ReliabilityReport(LogisticRegression(), X, y, quick=True)
        log_losses.update({each["name"]: each["log_loss"] for each in report.summarize()["models"]})
    assert min(log_losses, key=log_losses.get) == "a weighted mean of this model and others"


def test_choosing_row_by_row_helps_where_no_single_model_is_as_good():
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, size=(500, 2))
    left = 2 * X[:, 1] + draw.normal(size=500)  # a line is best, whatever is near is noise
    right = 3 * (np.floor(4 * X[:, 1]) % 2)  # only what is near tells
    by_name, _ = cards(KNeighborsRegressor(1), X, np.where(X[:, 0] < 0, left, right))
    assert by_name[SELECTION]["verdict"] == "helps"
    assert "for each row" in by_name[SELECTION]["sentence"]


def test_an_overconfident_model_gains_by_recalibration_and_both_sections_say_the_same():
    draw = np.random.default_rng(0)
    cause = draw.normal(size=600)
    X = np.column_stack([cause] * 10)  # ten copies count as ten witnesses
    y = cause + draw.normal(size=600) > 0
    by_name, summary = cards(GaussianNB(), X, y)
    assert by_name[PROBABILITIES]["verdict"] == "helps"
    assert by_name[SELECTION]["verdict"] != "helps"  # the decision is right as it is
    brier = summary["probabilities"]["brier"]
    assert by_name[PROBABILITIES]["gain"] == pytest.approx(1 - brier["after"] / brier["before"])
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)  # that of the error estimator
    splitter = StratifiedKFold(5, shuffle=True, random_state=seed)
    chances = cross_val_predict(GaussianNB(), X, y, cv=splitter, method="predict_proba")
    assert brier["before"] == pytest.approx(brier_score_loss(y, chances[:, 1]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_recalibration_is_that_of_the_classifier_that_is_recommended(n_classes):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(900, 2))
    y = np.digitize(X[:, 0] + draw.normal(size=900), [0, 1][: n_classes - 1])
    model = FrozenEstimator(GaussianNB().fit(np.hstack([X[:300]] * 2), y[:300]))
    X, y = np.hstack([X[300:]] * 2), y[300:]
    found = ReliabilityReport(model, X, y, quick=True).summarize()["probabilities"]["brier"]
    scores = np.empty(600)
    for train, test in learner_folds(600, None, 0):
        better = RecalibratedClassifier(model, random_state=0).fit(X[train], y[train])
        truth = y[test][:, None] == better.classes_
        scores[test] = ((better.predict_proba(X[test]) - truth) ** 2).sum(axis=1)
    assert found["after"] == pytest.approx(scores.mean() / (2 if n_classes == 2 else 1), rel=1e-3)
    assert found["before"] > 1.01 * found["after"]


def test_true_probabilities_gain_nothing_by_recalibration():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(1000, 1))
    y = draw.random(1000) < 1 / (1 + np.exp(-X[:, 0]))
    by_name, _ = cards(LogisticRegression(), X, y)
    assert by_name[PROBABILITIES]["verdict"] == "would not help"


def test_what_is_worse_than_a_constant_does_not_help():
    draw = np.random.default_rng(0)
    X, y = draw.uniform(size=(500, 2)), draw.normal(size=500)
    by_name, summary = cards(KNeighborsRegressor(1), X, y)
    # Of 2σ², the copied σ² remains for 1/2 + 1/18: the model of all rows and one half agree, the other half does not.
    # That is less than the model's error, and more than that of the median.
    expected = 1 - np.sqrt(2 * 14 / 18)
    assert by_name[AVERAGING]["gain"] == pytest.approx(expected, abs=0.08)
    assert by_name[SWAP]["than"] == "always predicting the median"
    assert by_name[AVERAGING]["than"] != "this model"
    assert "helps" not in {card["verdict"] for card in by_name.values()}
    assert any("worse than always predicting" in each for each in summary["verdict"]["sentences"])


def test_a_correction_is_compared_with_what_could_replace_a_line_through_a_wave():
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, size=(200, 1))
    y = np.sin(6 * X[:, 0])
    by_name, _ = cards(LinearRegression(), X, y, X_unlabelled=X[:30])
    assert by_name[SWAP]["verdict"] == "helps"
    assert by_name[CORRECTION]["than"] == "boosted trees"
    corrected = IndividualErrorRegressor(LinearRegression(), corrected=True, random_state=0)
    X_new = draw.uniform(-1, 1, size=(2000, 1))
    error = np.abs(corrected.fit(X, y).predict(X_new) - np.sin(6 * X_new[:, 0])).mean()
    # Both gains, one after the other, lead to the error of the corrected line on new rows.
    whole = (1 - by_name[SWAP]["gain"]) * (1 - by_name[CORRECTION]["gain"])
    plain = np.abs(LinearRegression().fit(X, y).predict(X_new) - np.sin(6 * X_new[:, 0])).mean()
    assert whole == pytest.approx(error / plain, abs=0.04)
    assert len(set(by_name[LABELS]["rows"])) == 10
    assert max(by_name[LABELS]["rows"]) < 30


def test_more_rows_help_where_there_are_few_for_many_columns():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(250, 60))
    y = X @ np.ones(60) + draw.normal(size=250)  # 100 rows for 60 weights, or 200
    by_name, summary = cards(LinearRegression(), X, y)
    assert by_name[ROWS]["verdict"] == "helps"
    assert "200 rows" in by_name[ROWS]["sentence"]
    # The variance of a prediction is σ²p / (n − p − 1): 60/39 against 60/139, beside σ² = 1.
    expected = 1 - np.sqrt(1 + 60 / 139) / np.sqrt(1 + 60 / 39)
    assert by_name[ROWS]["gain"] == pytest.approx(expected, rel=0.3)
    assert by_name[ROWS]["sentence"] not in summary["verdict"]["sentences"]  # not of all rows
    assert not any(card["at_full_size"] for card in by_name.values())
    assert by_name[SWAP]["sentence"].endswith("with all of them the gain may be another.")


def test_random_labels_are_helped_by_nothing_but_chance():
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(150, 3)), draw.integers(0, 2, 150)
    by_name, _ = cards(LogisticRegression(), X, y)
    del by_name[PROBABILITIES]  # to call nothing certain does help
    assert "helps" not in {card["verdict"] for card in by_name.values()}


def test_a_table_with_gaps_categories_and_dates():
    skrub = pytest.importorskip("skrub")
    draw = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": draw.normal(size=200),
            "kind": draw.choice(["a", "b", None], 200),
            "gap": np.where(draw.random(200) < 0.3, np.nan, 1.5),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(200) % 90, "D"),
        }
    )
    y = np.where(X["size"] + (X["kind"] == "a") > 0, "yes", "no")
    model = skrub.tabular_pipeline(LogisticRegression())
    by_name, _ = cards(model, X[:150], y[:150], X_unlabelled=X[150:])
    assert all(card["gain"] is not None for card in by_name.values())
    assert len(set(by_name[LABELS]["rows"])) == 10


def test_a_frozen_model_is_not_fitted_again():
    X, y = circle(300)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:100], y[:100])
    weights = model[-1].coef_.copy()
    by_name, _ = cards(FrozenEstimator(model), X[100:], y[100:], X_unlabelled=X[:50])
    np.testing.assert_array_equal(model[-1].coef_, weights)
    assert by_name[SWAP]["verdict"] == "helps"
    assert by_name[PROBABILITIES]["gain"] is not None
    for name in (LABELS, ROWS, AVERAGING):
        assert by_name[name]["verdict"] == "cannot tell"
        assert by_name[name]["sentence"].startswith("The model is not fitted again")
    assert len(by_name[LABELS]["rows"]) == 10


def test_the_next_rows_are_those_near_the_border():
    X = np.linspace(-1, 1, 200)[:, None]
    pool = np.linspace(-1, 1, 1001)[:, None]
    by_name, _ = cards(LogisticRegression(), X, X[:, 0] > 0, X_unlabelled=pool)
    assert np.abs(pool[by_name[LABELS]["rows"], 0]).max() < 0.1  # 50 rows are candidates
    assert by_name[SELECTION]["rows"] == []


def test_a_forest_is_not_compared_with_a_forest():
    X, y = circle(200)
    _, summary = cards(RandomForestClassifier(10, random_state=0), X, y)
    names = [each["name"] for each in summary["models"]]
    assert "boosted trees" in names
    assert "a forest" not in names


def test_a_model_without_probabilities_votes():
    X, y = circle(150)
    by_name, _ = cards(SVC(), X, y)
    assert by_name[AVERAGING]["gain"] is not None
    assert by_name[PROBABILITIES]["sentence"] == (
        "The model gives no probabilities that could be checked and recalibrated."
    )


def test_halves_keep_groups_together_and_later_rows_stay_later():
    X, y = circle(240)
    by_name, _ = cards(DecisionTreeClassifier(random_state=0), X, y, groups=np.arange(240) // 6)
    assert by_name[ROWS]["gain"] is not None
    by_name, _ = cards(DecisionTreeClassifier(random_state=0), X, y, cv=TimeSeriesSplit(4))
    assert "Fitting on 192 rows" in by_name[ROWS]["sentence"]  # of the last fold


def test_a_model_that_makes_no_mistake_cannot_gain():
    X = np.repeat([[0.0], [10.0]], 50, axis=0) + np.random.default_rng(0).normal(size=(100, 1))
    by_name, summary = cards(LogisticRegression(), X, np.repeat(["a", "b"], 50))
    assert {card["verdict"] for card in by_name.values()} <= {"cannot tell", "would not help"}
    assert {card["sentence"] for card in by_name.values()} == {
        "It made no mistake on 100 held-out rows: there is nothing to gain."
    }
    assert not any("would make" in sentence for sentence in summary["verdict"]["sentences"])


def test_what_cannot_be_measured_says_why():
    X, y = circle(40)
    by_name, _ = cards(LogisticRegression(), X, y)
    assert by_name[ROWS]["sentence"] == "40 rows are too few to fit on parts of them."
    X, y = circle(100)
    by_name, _ = cards(KNeighborsClassifier(41), X, y)
    assert by_name[ROWS]["sentence"].startswith("The model cannot be fitted on half of the rows")
