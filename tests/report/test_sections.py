"""Each section of the summary against figures that are counted by hand or by another library."""

import json
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.stats import binomtest, bootstrap
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    brier_score_loss,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from surefoot._words import UNITS
from surefoot.abstention import Promise
from surefoot.metrics import augrc_loss
from surefoot.report import ReliabilityReport
from surefoot.report._answer import Selection, describe_answering, own_doubt
from surefoot.report._quality import as_forecast, describe_predictions, reliability
from surefoot.report._regions import describe_regions
from surefoot.report._rows import choose_rows, plain, stability_band
from surefoot.report._verdict import give_verdict


def report_on(model, X, y, **settings):
    return ReliabilityReport(model, X, y, quick=True, max_reference_rows=1000, **settings)


def held_out_of(report):
    return report._fitted[3].held_out_


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


def test_what_is_caught_by_hand():
    # Four rows; the most doubtful one is wrong, and so is the least doubtful one.
    chosen = Selection(np.array([1.0, 0, 0, 1]), np.array([0.1, 0.2, 0.3, 0.9]))
    assert_allclose(chosen.risk([0.25, 0.5, 0.75, 1]), [1, 1 / 2, 1 / 3, 1 / 2])
    assert_allclose(chosen.caught([0.25, 0.75, 1]), [0.5, 0.5, 0])
    assert_allclose(chosen.limit([0.25, 0.5, 1]), [0.1, 0.2, 0.9])


def test_equal_estimates_are_answered_in_random_order():
    chosen = Selection(np.array([1.0, 0, 1, 0]), np.full(4, 0.5))
    assert_allclose(chosen.risk([0.25, 0.6, 1]), 0.5)


def test_curves_agree_with_sorting_the_rows(classified):
    answer, held_out = classified.summarize()["answer"], held_out_of(classified)
    order = np.argsort(held_out.error, kind="stable")
    for share in (0.1, 0.5, 0.9):
        n_rows = round(share * 600)
        at = answer["coverage"].index(share)
        assert answer["risk"]["surefoot"][at] == pytest.approx(
            held_out.losses[order[:n_rows]].mean(), abs=1 / n_rows
        )
        assert answer["caught"]["surefoot"][at] == pytest.approx(
            held_out.losses[order[n_rows:]].sum() / held_out.losses.sum(), abs=0.01
        )
    assert answer["risk"]["best"][0] == 0
    assert answer["risk"]["surefoot"][-1] == pytest.approx(answer["overall_risk"])


def test_own_confidence_is_that_of_cross_validation(classified):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    told = cross_val_predict(
        RandomForestClassifier(30, random_state=0),
        classified.X,
        classified.y,
        method="predict_proba",
        cv=folds,
    )
    assert_allclose(own_doubt(held_out_of(classified)), 1 - told.max(axis=1))


def test_promises_answer_rows_below_their_limit_and_are_points_of_the_curves(classified):
    answer, held_out = classified.summarize()["answer"], held_out_of(classified)
    kept = [promise for promise in answer["promises"] if promise["coverage"] > 0]
    assert kept
    for promise in kept:
        accepted = held_out.error <= promise["limit"]
        assert accepted.mean() == pytest.approx(promise["coverage"])
        assert held_out.losses[accepted].mean() < promise["max_risk"]
        at = answer["coverage"].index(promise["coverage"])
        assert answer["limit"][at] == pytest.approx(promise["limit"])
        assert answer["bound"][at] <= promise["max_risk"]


def verdict_of(held_out, max_risk=None, **changed):
    """Answer and verdict for another risk, or with another comparison of areas."""
    promise, is_asked = Promise.from_held_out(held_out, max_risk), max_risk is not None
    answer = describe_answering(held_out, promise, is_asked=is_asked, random_state=0)
    answer["augrc"] |= changed
    sections = {"improvements": [], "classes": None, "checks": {"items": []}}
    return answer, give_verdict(held_out, promise, answer, is_asked=is_asked, **sections)


def test_a_given_risk_is_the_one_shown(classified):
    answer, _ = verdict_of(held_out_of(classified), 0.123)
    assert answer["promises"][answer["chosen"]]["max_risk"] == 0.123
    answer, verdict = verdict_of(held_out_of(classified), 1e-6)
    assert answer["chosen"] is None
    told = " ".join(verdict["sentences"])
    assert "A risk of 0.0001 % cannot be promised;" in told
    assert "can, for" in told


def test_orders_are_compared_with_the_uncertainty_of_the_rows(classified):
    areas, held_out = classified.summarize()["answer"]["augrc"], held_out_of(classified)
    assert areas["low"] < areas["ratio"] < areas["high"]
    assert areas["ratio"] == pytest.approx(areas["surefoot"] / areas["own"])
    assert areas["surefoot"] == pytest.approx(augrc_loss(held_out.losses, held_out.error))


def test_areas_count_rows_as_often_as_they_were_drawn():
    draw = np.random.default_rng(0)
    losses, doubt, times = draw.random(50), draw.integers(0, 9, 50), draw.integers(0, 4, 50)
    area = Selection(losses, doubt).area(times)
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
    _, verdict = verdict_of(held_out_of(classified), low=low, high=high)
    words = " ".join(verdict["sentences"])
    assert verdict["adds"] is adds
    assert ("surefoot" not in words) if told is None else (told in words)


def test_a_regressor_is_told_whether_estimates_beat_chance(regressed):
    assert regressed.summarize()["answer"]["augrc"]["high"] < 1  # the noise is on one side only
    draw = np.random.default_rng(1)
    aimless = report_on(LinearRegression(), draw.normal(size=(200, 2)), draw.normal(size=200))
    verdict = aimless.summarize()["verdict"]
    assert not verdict["adds"]
    assert any("than chance" in told for told in verdict["sentences"])


def test_a_model_that_hardly_errs_may_answer_every_row():
    X = np.linspace(-1, 1, 400)[:, None]
    y = X[:, 0] > 0
    y[300] = False
    report = report_on(FrozenEstimator(LogisticRegression().fit(X, X[:, 0] > 0)), X, y)
    answer, sentences = report.summarize()["answer"], report.summarize()["verdict"]["sentences"]
    promise = answer["promises"][answer["chosen"]]
    # One wrong of 400: Clopper and Pearson's bound is 1.2 %.
    assert (promise["max_risk"], promise["coverage"]) == (0.02, 1)
    assert "It can answer every row: at most 2 % of its answers are wrong" in " ".join(sentences)


def test_a_constant_guess_is_named_beside_the_model(classified):
    [first, _, _] = classified.summarize()["verdict"]["figures"]
    share = max((classified.y == label).mean() for label in ("yes", "no"))
    assert f"{100 * share:.0f} %" in first["about"]


def test_reliability_agrees_with_scikit_learn():
    draw = np.random.default_rng(0)
    chance = draw.uniform(size=480)
    came = (draw.uniform(size=480) < chance**2).astype(float)
    found = reliability(chance, came)
    observed, predicted = calibration_curve(came, chance, n_bins=12, strategy="quantile")
    assert_allclose(found["observed"], observed)
    assert_allclose(found["predicted"], predicted)


def test_forecasts_of_many_classes_speak_of_the_most_probable_one():
    probabilities = np.array([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]])
    chance, came = as_forecast(probabilities, np.array(["b", "c"]), np.array(["a", "b", "c"]))
    assert_allclose(chance, [0.5, 0.6])
    assert_allclose(came, [1, 0])


def test_brier_scores_are_those_of_cross_validation(classified):
    told, truth = held_out_of(classified).probabilities[:, 1], held_out_of(classified).truth
    found = classified.summarize()["probabilities"]
    assert found["brier"]["before"] == pytest.approx(brier_score_loss(truth == "yes", told))


def test_overconfident_probabilities_are_mended():
    draw = np.random.default_rng(0)
    X = np.repeat(draw.normal(size=(800, 1)), 12, axis=1)  # a naive model counts it twelve times
    y = draw.uniform(size=800) < 1 / (1 + np.exp(-X[:, 0]))
    found = report_on(GaussianNB(), X, y).summarize()["probabilities"]
    off = found["smooth_calibration_error"]
    assert off["after"] < 0.5 * off["before"]
    assert "after recalibration, by" in found["sentence"]


def test_true_probabilities_are_not_blamed_for_chance():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(300, 1))
    y = draw.uniform(size=300) < 1 / (1 + np.exp(-X[:, 0]))
    found = report_on(LogisticRegression(), X, y).summarize()["probabilities"]
    assert "no more than chance explains" in found["sentence"]


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
    assert found["by_width"][-1]["width"] > 4 * found["by_width"][0]["width"]


def test_the_planted_region_is_found(regressed):
    found = regressed.summarize()["regions"]
    assert "column 1 >" in found["items"][0]["rule"]
    assert found["items"][0]["error"] > 3 * found["items"][0]["other_error"]
    assert len(found["map"]["x"]) == 600
    assert found["map"]["wrong"] is None


def test_few_rows_have_no_regions():
    X, y = load_iris(return_X_y=True)
    report = report_on(LogisticRegression(max_iter=500), X[::5], np.roll(y[::5], 1))
    assert "too few" in report.summarize()["regions"]["sentence"]


def test_rows_are_ordered_and_complete(classified):
    section, summary = classified.summarize()["rows"], classified.summarize()
    items, limit = section["items"], summary["numbers"]["limit"]
    assert len(items) == 600
    errors = [item["estimated_error"] for item in items]
    assert errors == sorted(held_out_of(classified).error, reverse=True)
    assert [item["rank"] for item in items] == list(range(599, -1, -1))
    assert all(item["accepted"] == (item["estimated_error"] <= limit) for item in items)
    assert items[0]["values"] == classified.X.iloc[items[0]["row"]].tolist()
    assert all(near["row"] != item["row"] for item in items for near in item["near"])
    assert all(item["band"] == sorted(item["band"]) for item in items)
    json.dumps(section, allow_nan=False)


def test_a_large_table_is_shown_in_part(classified, monkeypatch):
    monkeypatch.setattr("surefoot.report._rows.MOST_DOUBTFUL", 50)
    monkeypatch.setattr("surefoot.report._rows.MOST_SAMPLED", 100)
    errors = held_out_of(classified).error
    shown, n_sampled = choose_rows(held_out_of(classified), 0)
    assert (len(shown), n_sampled, len(set(shown))) == (150, 100, 150)
    assert errors[shown[:50]].min() >= errors[shown[50:]].max()


def test_the_band_of_a_regression_by_hand():
    """A prediction of 10 that is 1 more on average in its cell, with a standard deviation of 2."""
    rows = SimpleNamespace(
        classes=None,
        shift=np.array([1.0, 0.0]),
        spread=np.array([2.0, 0.0]),
        scores=np.array([[10.0], [-3.0]]),
    )
    assert_allclose(stability_band(rows), [[7, 11, 15], [-3, -3, -3]])


def test_the_band_of_a_classification_is_of_probabilities():
    """Odds of 3 to 1 that are 3 times as high in the cell, and between 1 and 81."""
    rows = SimpleNamespace(
        classes=np.array([0, 1]),
        shift=np.log([3.0]),
        spread=np.log([3.0]),
        scores=np.log([[3.0]]),
    )
    assert_allclose(stability_band(rows), [[1 / 2, 9 / 10, 81 / 82]])


def test_the_band_lies_around_what_the_model_says(regressed, classified):
    low, _, high = stability_band(held_out_of(regressed)).T
    folds = KFold(5, shuffle=True, random_state=0)
    line = cross_val_predict(LinearRegression(), regressed.X, regressed.y, cv=folds)
    assert ((low <= line) & (line <= high)).mean() > 0.95
    assert np.median(high - low) < 0.5 * np.ptp(line)  # a cell is a small part of the table
    held_out = held_out_of(classified)
    middle, doubt = stability_band(held_out)[:, 1], own_doubt(held_out)
    assert middle[doubt < 0.05].mean() > middle[doubt > 0.4].mean() > 0.3


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
    assert plain(value) == told


def test_a_model_that_is_always_right_has_nothing_to_flag():
    X = np.linspace(-1, 1, 100)[:, None]
    model = FrozenEstimator(LogisticRegression().fit(X, X[:, 0] > 0))
    report = report_on(model, X, X[:, 0] > 0)
    answer, verdict = report.summarize()["answer"], report.summarize()["verdict"]
    assert verdict["headline"] == "Right 100 % of the time."
    assert verdict["sentences"][0] == (
        "It made no mistake on 100 held-out rows: there is nothing to flag."
    )
    promise = answer["promises"][answer["chosen"]]
    # 3 of 100 rows without an error: 0.97¹⁰⁰ < 0.05
    assert (promise["max_risk"], promise["coverage"]) == (0.03, 1)
    assert promise["limit"] == held_out_of(report).error.max()


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
    held_out = held_out_of(report)
    by_groups = Promise.from_losses(
        held_out.error, held_out.losses, 0.2, groups=groups[held_out.rows]
    )
    by_rows = Promise.from_losses(held_out.error, held_out.losses, 0.2)
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
    return describe_predictions(held_out, np.arange(len(truth)), 0.95, 0)


def test_r2_rmse_and_mae_are_those_of_scikit_learn(regressed):
    figures, held_out = regressed.summarize()["predictions"], held_out_of(regressed)
    truth, prediction = held_out.truth, held_out.prediction
    metrics = {"r2": r2_score, "rmse": root_mean_squared_error, "mae": mean_absolute_error}
    for name, metric in metrics.items():
        assert figures[name]["value"] == pytest.approx(metric(truth, prediction))
        ends = bootstrap(
            (truth, prediction), metric, paired=True, vectorized=False, n_resamples=200, rng=0
        ).confidence_interval
        width = ends.high - ends.low
        assert_allclose([figures[name]["low"], figures[name]["high"]], ends, atol=0.25 * width)


def test_the_interval_of_r2_has_the_width_of_theory():
    """For normal values and the best prediction, log(1 − R²) has the standard deviation 2R / √n."""
    draw = np.random.default_rng(0)
    prediction = draw.normal(size=5000)
    r2 = predictions(prediction + draw.normal(size=5000), prediction)["r2"]
    logs = np.log(1 - np.array([r2["low"], r2["high"]]))
    assert -np.diff(logs)[0] == pytest.approx(2 * 1.96 * 2 * np.sqrt(0.5 / 5000), rel=0.1)


def test_rows_of_a_group_count_as_one_in_the_intervals():
    """Every row ten times: the intervals are those of the rows taken once."""
    draw = np.random.default_rng(0)
    truth, prediction = draw.normal(size=(2, 200))
    once = predictions(truth, prediction)
    groups = np.repeat(np.arange(200), 10)
    often = predictions(truth[groups], prediction[groups], groups)
    for name in ("r2", "rmse", "mae"):
        assert_allclose(list(often[name].values()), list(once[name].values()), rtol=1e-9)
    ends = [
        [part["coverage_low"], part["coverage_high"]]
        for part in (once["parts"][3], often["parts"][3])
    ]
    assert_allclose(ends[1], ends[0], atol=0.02)


def test_coverage_by_prediction_is_counted_with_wilsons_interval():
    draw = np.random.default_rng(0)
    prediction = draw.normal(size=500)
    truth = prediction + draw.normal(size=500)
    parts = predictions(truth, prediction)["parts"]
    order = np.argsort(prediction).reshape(10, 50)
    for part, rows in zip(parts, order, strict=True):
        inside = int((np.abs(truth - prediction)[rows] <= 1).sum())
        assert (part["coverage"], part["n_rows"]) == (inside / 50, 50)
        ends = binomtest(inside, 50).proportion_ci(0.95, method="wilson")
        assert_allclose([part["coverage_low"], part["coverage_high"]], ends)
        assert part["residual"] == pytest.approx((truth - prediction)[rows].mean())
        assert part["residual_low"] < part["residual"] < part["residual_high"]


def test_equal_predictions_are_one_part():
    truth = np.arange(200.0)
    found = predictions(truth, np.full(200, 99.5), reach=np.inf)
    [part] = found["parts"]
    assert (part["n_rows"], part["coverage"]) == (200, None)  # intervals without ends cover nothing
    assert found["r2"]["value"] == pytest.approx(0)
    assert "always predicting their mean" in found["sentence"]


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


def test_one_group_gives_no_interval():
    found = predictions(np.arange(60.0), np.ones(60), np.zeros(60, dtype=int))
    for name in ("r2", "rmse", "mae"):
        assert (found[name]["low"], found[name]["high"]) == (None, None)


def test_the_bound_of_the_risk_at_each_position_is_exact(classified):
    answer, held_out = classified.summarize()["answer"], held_out_of(classified)
    ranked = held_out.losses[np.argsort(held_out.error, kind="stable")]
    for i in (3, 99, 199):
        n_rows = answer["n_answered"][answer["coverage"].index((i + 1) / 200)]
        assert n_rows == 3 * (i + 1)
        test = binomtest(int(ranked[:n_rows].sum()), n_rows, alternative="less")
        bound = answer["bound"][answer["coverage"].index((i + 1) / 200)]
        assert bound >= test.proportion_ci(0.95).high * (1 - 1e-9)
        assert bound <= test.proportion_ci(0.95).high * 1.3  # more only between equal estimates


def about_map(X):
    """Text about the map of rows whose coordinates are their values, by a model without a mistake."""
    n_rows = X.shape[0]

    class HeldOut(SimpleNamespace):
        def __len__(self):
            return n_rows

    rows, zeros = np.arange(n_rows), np.zeros(n_rows)
    held_out = HeldOut(classes=None, unit=UNITS["size"], rows=rows, losses=zeros, error=zeros)
    error_estimator = SimpleNamespace(
        held_out_=held_out, coordinates=lambda rows: rows, random_state=0
    )
    return describe_regions(error_estimator, X, rows, rows, 0)["map"]["about"]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros((60, 2)), "lie on one point"),
        (np.c_[np.arange(60.0), np.zeros(60)], "differ in one direction only"),
        (np.arange(60.0)[:, None], "differ in one direction only"),
        (np.random.default_rng(0).normal(size=(60, 2)), "They show 100 % of the spread"),
        (csr_array(np.eye(60)), "truncated singular value decomposition"),
    ],
)
def test_the_map_says_how_much_of_the_spread_it_shows(X, words):
    assert words in about_map(X)


def test_the_map_of_equal_variances_in_four_directions_shows_half_of_the_spread():
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T
    about = about_map(np.repeat(corners, 5, axis=0))
    assert "They show 50 % of the spread" in about
    assert "may differ in what it does not show" in about


def test_probabilities_of_very_many_classes_are_only_in_the_frame(classified, monkeypatch):
    monkeypatch.setattr("surefoot.report._rows.MOST_PROBABILITIES", 1)
    report = report_on(GaussianNB(), classified.X, classified.y, command="surefoot report")
    section = report.summarize()["rows"]
    assert not any("probability" in name for name in (*section["fields"], *section["items"][0]))
    about = {entry["name"]: entry["about"] for entry in section["glossary"]}
    assert "only in the file that --scores writes" in about["probability_<class>"]


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
        "sentence": "3 rows are learned from but never held out, so that nothing here tells how well they are "
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
    # With two rows of 120 less, a table of the two common classes tells nearly the same.
    common = np.isin(y, ["high", "low"])
    data, plain = rare_summary(X[common], y[common])
    assert data["never_held_out"] is None
    assert section["brier"]["before"] / 2 == pytest.approx(plain["brier"]["before"], abs=0.02)
    assert section["brier"]["after"] / 2 == pytest.approx(plain["brier"]["after"], abs=0.02)
