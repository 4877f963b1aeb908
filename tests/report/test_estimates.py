"""Estimated errors are compared with observed ones, and the page does not offer a choice that changes nothing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report_samples import sample_of
from sklearn.linear_model import LinearRegression

from surefoot.abstention import Promise
from surefoot.metrics import winkler_loss
from surefoot.report import ReliabilityReport
from surefoot.report.page import render


def wilson(n_hits, n_rows, z=1.959964):
    """Both roots of the quadratic equation (p − share)² = z² p (1 − p) / n."""
    share = n_hits / n_rows
    a, b, c = 1 + z**2 / n_rows, -(2 * share + z**2 / n_rows), share**2
    root = np.sqrt(max(0, b**2 - 4 * a * c))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def test_tenths_are_those_of_the_rows(classification_report):
    frame, found = classification_report.to_frame(), classification_report.summarize()["estimates"]
    parts = frame.groupby(pd.qcut(frame["estimated_error"], 10), observed=True)
    assert found["tenths"]["predicted"] == pytest.approx(parts["estimated_error"].mean().tolist())
    assert found["tenths"]["observed"] == pytest.approx(parts["loss"].mean().tolist())
    assert found["tenths"]["n_rows"] == parts.size().tolist()
    for i, (_, part) in enumerate(parts):
        ends = wilson(part["loss"].sum(), len(part))
        assert (found["tenths"]["low"][i], found["tenths"]["high"][i]) == pytest.approx(
            ends, abs=1e-6
        )


def test_the_total_and_the_top_are_those_of_the_rows(classification_report):
    frame, found = classification_report.to_frame(), classification_report.summarize()["estimates"]
    n_expected, n_wrong = frame["estimated_error"].sum(), int(frame["loss"].sum())
    assert f"add up to {n_expected:.0f} mistakes; the model made {n_wrong}." in found["about"][0]
    # If the estimates are right, the number of mistakes has the variance Σ p (1 − p).
    reach = 1.96 * np.sqrt((frame["estimated_error"] * (1 - frame["estimated_error"])).sum())
    width = (found["total"]["high"] - found["total"]["low"]) * len(frame)
    assert width == pytest.approx(2 * reach, rel=0.15)
    top = frame.nlargest(15, "estimated_error")
    assert f"and {top['loss'].sum():.0f} are wrong" in found["about"][1]
    assert found["top"]["estimated"] == pytest.approx(top["estimated_error"].mean())


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_histogram_counts_rows(request, task):
    report = request.getfixturevalue(f"{task}_report")
    errors, found = report.to_frame()["estimated_error"], report.summarize()["estimates"]
    edges, counts = found["histogram"]["edges"], found["histogram"]["n_rows"]
    assert sum(counts) == len(errors)
    for low, high, n in zip(edges[:-2], edges[1:], counts, strict=False):
        assert n == ((errors >= low) & (errors < high)).sum()


def with_estimates(report, change):
    """Section of the same rows with other estimated errors."""
    other = ReliabilityReport(report.estimator, report.X, report.y, quick=True)
    error_estimator, sample, _, intervals, is_useful = report._fitted
    held_out = replace(sample.held_out, error=change(sample.held_out.error))
    promise, changed = Promise.from_held_out(held_out, None, 0.95), sample_of(held_out)
    other.__dict__["_fitted"] = (error_estimator, changed, promise, intervals, is_useful)
    return other.summarize()["estimates"]


def test_estimates_that_are_wrong_are_called_so(classification_report):
    right = classification_report.summarize()["estimates"]
    assert right["sentence"].startswith("Yes: in ")
    low = with_estimates(classification_report, lambda error: error / 3)
    assert low["sentence"].startswith("Only roughly: in ")
    assert low["total"]["observed"] > low["total"]["high"]
    extreme = with_estimates(
        classification_report,
        lambda error: np.where(error > np.quantile(error, 0.9), 0.99, 0.2),
    )
    assert extreme["about"][1].endswith("these estimates are too high.")


def test_few_rows_are_not_compared():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    report = ReliabilityReport(LinearRegression(), X, rng.normal(size=30), quick=True)
    assert "too few rows" in report.summarize()["estimates"]["sentence"]


@pytest.fixture(scope="module")
def unpredictable():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    return ReliabilityReport(LinearRegression(), X, X["a"] + rng.normal(size=300), quick=True)


def test_where_sizes_cannot_be_predicted_no_choice_is_offered(unpredictable):
    summary = unpredictable.summarize()
    assert not summary["intervals"]["predictable"]
    assert summary["answer"]["promises"] == []
    assert "accepted" not in unpredictable.to_frame()
    [sentence] = [one for one in summary["verdict"]["sentences"] if "cannot be predicted" in one]
    width = summary["intervals"]["width"][summary["intervals"]["confidence"].index(0.9)]
    assert f"{width:.3g} wide" in sentence
    assert not any("to a person" in one for one in summary["verdict"]["sentences"])
    page = render(summary)
    assert 'type="range"' not in page
    assert 'data-key="accepted"' not in page
    assert "nothing to choose" in page


def test_a_limit_that_is_asked_for_is_answered_all_the_same(unpredictable):
    X, y = unpredictable.X, unpredictable.y
    summary = ReliabilityReport(LinearRegression(), X, y, quick=True, max_risk=1.5).summarize()
    assert summary["answer"]["promises"]
    assert 'type="range"' in render(summary)


def test_the_gain_of_intervals_is_that_of_their_mean_score(regression_report):
    found = regression_report.summarize()["intervals"]
    frame = regression_report.to_frame()
    assert found["predictable"]
    half = found["constant_width"][found["confidence"].index(0.9)] / 2
    flat = np.column_stack([frame["prediction"] - half, frame["prediction"] + half])
    own = winkler_loss(frame["truth"], frame[["low", "high"]], confidence=0.9)
    expected = 1 - own / winkler_loss(frame["truth"], flat, confidence=0.9)
    assert found["gain"]["value"] == pytest.approx(expected)


def test_shares_of_mistakes_caught_have_intervals(classification_report):
    answer, frame = classification_report.summarize()["answer"], classification_report.to_frame()
    at = answer["coverage"].index(0.8)
    n_wrong = int(frame["loss"].sum())
    caught = answer["caught"]["surefoot"][at]
    ends = wilson(caught * n_wrong, n_wrong)
    found = [answer["caught_interval"][end][at] for end in ("low", "high")]
    assert found == pytest.approx(ends, abs=1e-3)
    for low, value, high in zip(
        answer["caught_interval"]["low"],
        answer["caught"]["surefoot"],
        answer["caught_interval"]["high"],
        strict=True,
    ):
        assert 0 <= low <= value <= high <= 1
