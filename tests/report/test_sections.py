"""Each section of the summary against figures that are counted by hand or by another library."""

import copy
import json
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from report_samples import sample_of
from scipy.special import expit, logit
from scipy.stats import binomtest, bootstrap
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from surefoot.abstention import Promise
from surefoot.metrics import augrc_loss, risk_coverage_curve
from surefoot.report import ReliabilityReport
from surefoot.report._answer import area_of_draw
from surefoot.report._quality import describe_predictions
from surefoot.report._rows import json_value
from surefoot.report._verdict import give_verdict


def report_on(model, X, y, **settings):
    return ReliabilityReport(model, X, y, quick=True, max_reference_rows=1000, **settings)


@pytest.fixture(scope="module")
def classified():
    """A table of 600 rows whose labels are a coin on one quarter of it."""
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, size=(600, 4))
    y = np.where(X[:, 1] > 0.5, draw.uniform(size=600) < 0.5, X[:, 0] > 0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    return report_on(RandomForestClassifier(30, random_state=0), frame, np.where(y, "yes", "no"))


@pytest.fixture(scope="module")
def regressed():
    """Noise that is ten times as large on one side."""
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, size=(600, 2))
    y = X[:, 0] + np.where(X[:, 1] > 0, 0.5, 0.05) * draw.normal(size=600)
    return report_on(LinearRegression(), X, y)


@pytest.fixture(scope="module")
def fair():
    """True probabilities: a logistic regression of one column that decides the chance of each label."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(480, 1))
    return report_on(LogisticRegression(), X, draw.uniform(size=480) < expit(X[:, 0]))


def again(report):
    """Report on the same fits that computes its summary anew."""
    other = copy.copy(report)
    other.__dict__.pop("_summary", None)
    return other


def test_equal_estimates_are_answered_in_random_order():
    _, risks, _ = risk_coverage_curve([1, 0, 1, 0], np.full(4, 0.5), coverages=[0.25, 0.6, 1])
    assert_allclose(risks, 0.5)


def test_curves_agree_with_sorting_the_rows(classified):
    answer, frame = classified.summarize()["answer"], classified.to_frame()
    doubt = np.where(
        frame["novel"], np.inf, frame["estimated_error"]
    )  # novel rows are answered last
    ranked = frame["loss"].to_numpy()[np.argsort(doubt, kind="stable")]
    for share in (0.1, 0.5, 0.9):
        n_rows, at = round(share * 600), answer["coverage"].index(share)
        assert answer["risk"]["surefoot"][at] == pytest.approx(
            ranked[:n_rows].mean(), abs=1 / n_rows
        )
        assert answer["caught"]["surefoot"][at] == pytest.approx(
            ranked[n_rows:].sum() / ranked.sum(), abs=0.01
        )
        # The bound is Clopper and Pearson's, and higher only between equal estimates.
        bound = binomtest(int(ranked[:n_rows].sum()), n_rows, alternative="less")
        exact = bound.proportion_ci(0.95).high
        assert answer["n_answered"][at] == n_rows
        assert exact * (1 - 1e-9) <= answer["bound"][at] <= 1.3 * exact
    assert answer["risk"]["best"][0] == 0
    assert answer["risk"]["surefoot"][-1] == pytest.approx(answer["overall_risk"])


def test_promises_answer_rows_below_their_limit_and_are_points_of_the_curves(classified):
    answer, frame = classified.summarize()["answer"], classified.to_frame()
    kept = [promise for promise in answer["promises"] if promise["coverage"] > 0]
    assert kept
    for promise in kept:
        accepted = (frame["estimated_error"] <= promise["limit"]) & ~frame["novel"]
        assert accepted.mean() == pytest.approx(promise["coverage"])
        assert frame["loss"][accepted].mean() < promise["max_risk"]
        at = answer["coverage"].index(promise["coverage"])
        assert answer["limit"][at] == pytest.approx(promise["limit"])
        assert answer["bound"][at] <= promise["max_risk"]


def test_a_given_risk_is_the_one_shown():
    X, y = make_classification(300, 4, flip_y=0.3, random_state=0)
    model = FrozenEstimator(LogisticRegression().fit(X, y))
    answer = report_on(model, X, y, max_risk=0.234).summarize()["answer"]
    assert answer["promises"][answer["chosen"]]["max_risk"] == 0.234
    summary = report_on(model, X, y, max_risk=1e-6).summarize()
    assert summary["answer"]["chosen"] is None
    words = " ".join(summary["verdict"]["sentences"])
    assert "A risk of 0.0001 % cannot be promised;" in words
    assert "can, for" in words


def test_areas_count_rows_as_often_as_they_were_drawn():
    draw = np.random.default_rng(0)
    losses, doubt, times = draw.random(50), draw.integers(0, 9, 50), draw.integers(0, 4, 50)
    area = area_of_draw(losses, doubt, times)
    assert area == pytest.approx(augrc_loss(np.repeat(losses, times), np.repeat(doubt, times)))


@pytest.mark.parametrize(
    ("low", "high", "adds", "told"),
    [
        (0.9, 1.02, None, "surefoot does not rank the rows measurably better"),
        (1.01, 1.2, False, "own confidence ranks the rows better than surefoot"),
        (0.8, 0.98, True, None),
    ],
)
def test_the_verdict_says_so_where_surefoot_adds_nothing(classified, low, high, adds, told):
    _, sample, promise, *_ = classified._fitted
    answer = dict(classified.summarize()["answer"])
    assert answer["augrc"]["low"] < answer["augrc"]["ratio"] < answer["augrc"]["high"]
    answer["augrc"] = {**answer["augrc"], "low": low, "high": high}
    sections = {"improvements": [], "classes": None, "checks": {"items": []}}
    verdict = give_verdict(sample, promise, answer, is_asked=False, **sections)
    words = " ".join(verdict["sentences"])
    assert verdict["adds"] is adds
    assert ("surefoot" not in words) if told is None else (told in words)


def test_a_regressor_is_told_whether_estimates_beat_chance(regressed):
    assert regressed.summarize()["answer"]["augrc"]["high"] < 1  # the noise is on one side only
    draw = np.random.default_rng(1)
    aimless = report_on(LinearRegression(), draw.normal(size=(100, 2)), draw.normal(size=100))
    verdict = aimless.summarize()["verdict"]
    assert not verdict["adds"]
    assert any("cannot be predicted" in told for told in verdict["sentences"])


def test_reliability_agrees_with_scikit_learn(fair):
    frame, found = fair.to_frame(), fair.summarize()["probabilities"]
    observed, predicted = calibration_curve(
        frame["truth"], frame["probability_True"], n_bins=10, strategy="quantile"
    )
    assert_allclose(found["before"]["observed"], observed)
    assert_allclose(found["before"]["predicted"], predicted)
    assert "no more than chance explains" in found["sentence"]


def test_forecasts_of_many_classes_are_of_the_most_probable_one():
    X, y = load_iris(return_X_y=True)
    report = report_on(FrozenEstimator(GaussianNB().fit(X[:, :2], y)), X[:, :2], y)
    before, frame = report.summarize()["probabilities"]["before"], report.to_frame()
    weight = np.array(before["n_rows"]) / 150
    assert weight @ before["predicted"] == pytest.approx(1 - frame["own_error"].mean())
    assert weight @ before["observed"] == pytest.approx((frame["prediction"] == y).mean())


def test_overconfident_probabilities_are_mended():
    draw = np.random.default_rng(0)
    X = np.repeat(draw.normal(size=(800, 1)), 12, axis=1)  # a naive model counts it twelve times
    y = draw.uniform(size=800) < 1 / (1 + np.exp(-X[:, 0]))
    found = report_on(GaussianNB(), X, y).summarize()["probabilities"]
    off = found["smooth_calibration_error"]
    assert off["after"] < 0.5 * off["before"]
    assert "after recalibration, by" in found["sentence"]


def test_a_model_without_probabilities_says_so():
    X, y = make_classification(200, 4, random_state=0)
    found = report_on(LinearSVC(), X, y).summarize()["probabilities"]
    assert found == {"sentence": "The model gives no probabilities, only scores of its classes."}


def test_intervals_of_a_regressor(regressed):
    found = regressed.summarize()["intervals"]
    for confidence, low, high in zip(found["confidence"], found["low"], found["high"], strict=True):
        assert low - 0.03 < confidence < high + 0.03
    at = found["confidence"].index(0.9)
    assert found["width"][at] < found["constant_width"][at]  # the noise is on one side only
    assert regressed.summarize()["numbers"]["interval_coverage"] == found["coverage"][at]
    assert regressed.summarize()["numbers"]["accuracy"] is None


def test_the_planted_region_is_found(regressed):
    found = regressed.summarize()["regions"]
    assert "column 1 >" in found["items"][0]["rule"]
    assert found["items"][0]["error"] > 3 * found["items"][0]["other_error"]
    assert len(found["map"]["x"]) == 600
    assert found["map"]["wrong"] is None


def test_rows_are_ordered_and_complete(classified):
    section, summary = classified.summarize()["rows"], classified.summarize()
    items, limit = section["items"], summary["numbers"]["limit"]
    assert len(items) == 600
    errors = [item["estimated_error"] for item in items]
    assert errors == sorted(classified.to_frame()["estimated_error"], reverse=True)
    # Novel rows are answered last; the others by their estimated error.
    usual = [item["rank"] for item in items if not item["novel"]]
    assert usual == list(range(len(usual) - 1, -1, -1))
    accepted = [item["estimated_error"] <= limit and not item["novel"] for item in items]
    assert [item["accepted"] for item in items] == accepted
    assert items[0]["values"] == classified.X.iloc[items[0]["row"]].tolist()
    assert all(near["row"] != item["row"] for item in items for near in item["near"])
    assert all(item["band"] == sorted(item["band"]) for item in items)
    json.dumps(section, allow_nan=False)


def test_a_large_table_with_very_many_classes_is_shown_in_part(classified, monkeypatch):
    monkeypatch.setattr("surefoot.report._rows.MOST_DOUBTFUL", 50)
    monkeypatch.setattr("surefoot.report._rows.MOST_SAMPLED", 100)
    monkeypatch.setattr("surefoot.report._rows.MOST_PROBABILITIES", 1)
    report = again(classified)
    report.command = "surefoot report"
    summary = report.summarize()
    section, items = summary["rows"], summary["rows"]["items"]
    assert len(items) == len({item["row"] for item in items}) == 150
    errors = [item["estimated_error"] for item in items]
    assert min(errors[:50]) >= max(errors[50:])
    assert "The 50 rows with the highest estimated error, then 100 others" in section["sentence"]
    assert "the 50 rows with the highest" in summary["regions"]["map"]["about"]
    assert not any("probability" in name for name in (*section["fields"], *items[0]))
    about = {entry["name"]: entry["about"] for entry in section["glossary"]}
    assert "only in the file that --scores writes" in about["probability_<class>"]


def test_the_band_is_two_deviations_around_the_mean_within_the_cell(regressed, fair):
    frame = regressed.to_frame().set_index("row")
    for item in regressed.summarize()["rows"]["items"]:
        row = frame.loc[item["row"]]
        middle = row["prediction"] + row["shift"]
        ends = [middle - 2 * row["spread"], middle, middle + 2 * row["spread"]]
        assert item["band"] == pytest.approx(ends)
    frame = fair.to_frame().set_index("row")
    for item in fair.summarize()["rows"]["items"]:
        row = frame.loc[item["row"]]
        middle = logit(1 - row["own_error"]) + row["shift"]
        ends = expit([middle - 2 * row["spread"], middle, middle + 2 * row["spread"]])
        assert item["band"] == pytest.approx(ends.tolist(), abs=1e-6)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.float64("nan"), None),
        (pd.NA, None),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (datetime(2024, 2, 29), "2024-02-29"),  # noqa: DTZ001
        (pd.Timestamp("2024-02-29 10:30"), "2024-02-29 10:30:00"),
        ("</script>", "</script>"),
        ("nan", "nan"),
        ("inf", "inf"),
        (np.float64("inf"), None),
    ],
)
def test_cells_become_what_json_knows(value, told):
    assert json_value(value) == told


def test_a_model_that_is_always_right_has_nothing_to_flag():
    X = np.linspace(-1, 1, 100)[:, None]
    model = FrozenEstimator(LogisticRegression().fit(X, X[:, 0] > 0))
    report = report_on(model, X, X[:, 0] > 0)
    answer, verdict = report.summarize()["answer"], report.summarize()["verdict"]
    assert verdict["headline"] == "It made no mistake on 100 held-out rows."
    assert verdict["sentences"][0].startswith("It can answer ")
    promise = answer["promises"][answer["chosen"]]
    n_novel = report.to_frame()["novel"].sum()
    # 3 of 99 rows without an error: 0.97⁹⁹ < 0.05
    assert (promise["max_risk"], promise["coverage"]) == (0.03, 1 - n_novel / 100)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"max_risk": 0}, "max_risk == 0, must be > 0"),
        ({"max_risk": 5.0}, "max_risk == 5.0, must be < 1"),
        ({"confidence": 95}, "confidence == 95, must be < 1"),
        ({"cv": RepeatedStratifiedKFold(n_splits=2, n_repeats=2)}, "more than once"),
    ],
)
def test_settings_that_make_no_sense_are_one_sentence(settings, sentence):
    X, y = make_classification(60, 4, random_state=0)
    with pytest.raises(ValueError, match=sentence):
        report_on(GaussianNB(), X, y, **settings).summarize()


def test_promises_of_grouped_rows_count_groups():
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 10)
    flipped = draw.random(60) < 0.1  # whole groups have the other label
    X = draw.normal(size=(600, 2))
    y = (X[:, 0] > 0) ^ flipped[groups]
    report = report_on(LogisticRegression(), X, y, groups=groups, max_risk=0.2)
    frame = report.to_frame()
    by_groups, by_rows = (
        Promise.from_losses(frame["estimated_error"], frame["loss"], 0.2, groups=units)
        for units in (groups[frame["row"]], None)
    )
    shown = [p for p in report.summarize()["answer"]["promises"] if p["max_risk"] == 0.2]
    assert [p["coverage"] for p in shown] == [by_groups.coverage]
    assert by_groups.coverage < by_rows.coverage


def predictions(truth, prediction, groups=None, reach=1.0):
    """Section on held-out rows of a regressor, with intervals that reach equally far on both sides."""
    held_out = SimpleNamespace(
        classes=None,
        truth=truth,
        rows=np.arange(len(truth)),
        prediction=prediction,
        interval=np.column_stack([prediction - reach, prediction + reach]),
        groups=groups,
    )
    return describe_predictions(sample_of(held_out), np.arange(len(truth)), 0)


def test_r2_rmse_and_mae_are_those_of_scikit_learn(regressed):
    figures, frame = regressed.summarize()["predictions"], regressed.to_frame()
    truth, prediction = frame["truth"].to_numpy(), frame["prediction"].to_numpy()
    metrics = {"r2": r2_score, "rmse": root_mean_squared_error, "mae": mean_absolute_error}
    for name, metric in metrics.items():
        assert figures[name]["value"] == pytest.approx(metric(truth, prediction))
        ends = bootstrap(
            (truth, prediction), metric, paired=True, vectorized=False, n_resamples=200, rng=0
        ).confidence_interval
        width = ends.high - ends.low
        assert_allclose([figures[name]["low"], figures[name]["high"]], ends, atol=0.25 * width)


def test_rows_of_a_group_count_as_one_in_the_intervals():
    """Every row ten times: the intervals are those of the rows taken once."""
    draw = np.random.default_rng(0)
    truth, prediction = draw.normal(size=(2, 200))
    once = predictions(truth, prediction)
    groups = np.repeat(np.arange(200), 10)
    often = predictions(truth[groups], prediction[groups], groups)
    for name in ("r2", "rmse", "mae"):
        assert_allclose(list(often[name].values()), list(once[name].values()), rtol=1e-9)


def test_residuals_by_prediction_are_those_of_tenths_of_the_rows():
    draw = np.random.default_rng(0)
    prediction = draw.normal(size=500)
    truth = prediction + draw.normal(size=500)
    parts = predictions(truth, prediction)["parts"]
    order = np.argsort(prediction).reshape(10, 50)
    for part, rows in zip(parts, order, strict=True):
        assert part["n_rows"] == 50
        assert part["residual"] == pytest.approx((truth - prediction)[rows].mean())
        assert part["residual_low"] < part["residual"] < part["residual_high"]


@pytest.mark.parametrize(
    ("truth", "prediction", "words"),
    [
        (np.full(60, 0.1), np.arange(60.0), "R² is not defined"),
        (np.arange(60.0), np.arange(60.0), "exact on all 60"),
        (np.arange(60.0), -np.arange(60.0), "always predicting their mean"),
        (np.arange(60.0), np.arange(60.0) + 1, "explain 99.6 % of the variance"),
    ],
)
def test_what_is_said_of_extreme_predictions(truth, prediction, words):
    found = predictions(truth, prediction)
    assert words in found["sentence"]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros((60, 2)), "lie on one point"),
        (np.c_[np.arange(60.0), np.zeros(60)], "differ in one direction only"),
        (np.random.default_rng(0).normal(size=(60, 2)), "They show 100 % of the spread"),
    ],
)
def test_the_map_says_how_much_of_the_spread_it_shows(X, words):
    y = np.arange(60) % 2
    model = FrozenEstimator(LinearSVC().fit(X + np.eye(60, 2), y))
    assert words in report_on(model, X, y).summarize()["regions"]["map"]["about"]


def test_the_map_of_equal_variances_in_four_directions_shows_half_of_the_spread():
    X = np.repeat(np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T, 5, axis=0)
    y = np.arange(80) % 2
    model = FrozenEstimator(LogisticRegression().fit(X, y))
    about = report_on(model, X, y).summarize()["regions"]["map"]["about"]
    assert "They show 50 % of the spread" in about
    assert "may differ in what it does not show" in about


@pytest.fixture(scope="module")
def table_with_rare_classes():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(120, 3))
    y = np.where(X[:, 0] + draw.normal(size=120) > 0, "high", "low")
    y[[3, 17]], y[50] = "mid", "top"
    return X, y


def rare_summary(X, y, **settings):
    summary = report_on(LogisticRegression(), X, y, **settings).summarize()
    return summary["data"], summary["probabilities"]


def test_rows_of_rare_classes_are_named_beside_the_classes(table_with_rare_classes):
    data, _ = rare_summary(*table_with_rare_classes)
    assert data["never_held_out"] == {
        "n_rows": 3,
        "classes": [{"label": "mid", "n_rows": 2}, {"label": "top", "n_rows": 1}],
        "sentence": "3 rows are used for training but not for evaluation, so it is unknown how well they are "
        "predicted: too few rows have the classes mid (2 rows), top (1 row).",
    }
    assert [each["label"] for each in data["classes"]] == ["high", "low", "mid", "top"]


def test_a_group_that_alone_has_a_class_is_named(table_with_rare_classes):
    X, y = table_with_rare_classes
    y = np.where(y == "mid", "high", y)
    data, _ = rare_summary(X, y, groups=np.arange(120) // 8)
    assert (data["never_held_out"]["n_rows"], data["never_held_out"]["classes"]) == (
        8,
        [{"label": "top", "n_rows": 1}],
    )
    assert data["never_held_out"]["sentence"].endswith(
        "predicted: too few groups have the class top (1 row), and a group is held out as a whole."
    )


def test_probabilities_are_checked_where_a_class_is_never_held_out(table_with_rare_classes):
    X, y = table_with_rare_classes
    _, section = rare_summary(X, y)
    # With two rows of 120 less, a table of the two common classes has nearly the same scores.
    common = np.isin(y, ["high", "low"])
    data, other = rare_summary(X[common], y[common])
    assert data["never_held_out"] is None
    assert section["brier"]["before"] / 2 == pytest.approx(other["brier"]["before"], abs=0.02)
    assert section["brier"]["after"] / 2 == pytest.approx(other["brier"]["after"], abs=0.02)
