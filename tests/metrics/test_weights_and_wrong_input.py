"""Rules for all metrics: a weight counts a row several times, and wrong input gets one sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from surefoot.metrics import (
    augrc_loss,
    aurc_loss,
    brier_decomposition,
    error_auroc_score,
    excess_aurc_loss,
    interval_coverage_score,
    interval_width,
    risk_coverage_curve,
    smooth_calibration_error,
    winkler_loss,
)

ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.25, 0.4, 1.0]), st.integers(0, 3)),
    min_size=1,
    max_size=20,
).filter(lambda rows: any(times for *_, times in rows))


def width_of(_truth, ends, *, sample_weight=None):
    return interval_width(ends, sample_weight=sample_weight)


@settings(max_examples=50, deadline=None)
@given(ROWS)
def test_weights_count_rows_several_times_or_not_at_all(rows):
    truth, estimates, times = np.array(rows).T
    times = times.astype(int)
    ends = np.column_stack([estimates - 0.5, estimates + truth])
    cases = [
        (metric, estimates)
        for metric in (
            risk_coverage_curve,
            augrc_loss,
            smooth_calibration_error,
            brier_decomposition,
        )
    ] + [(metric, ends) for metric in (interval_coverage_score, winkler_loss, width_of)]
    for metric, other in cases:
        weighted = metric(truth, other, sample_weight=times)
        repeated = metric(np.repeat(truth, times), np.repeat(other, times, axis=0))
        for one, same in zip(np.atleast_1d(weighted), np.atleast_1d(repeated), strict=True):
            assert_allclose(one, same, atol=1e-9)


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, lambda rows: np.array(rows)[:, None]])
def test_series_and_columns_are_taken(kind):
    wrong, estimates = kind([False, True, False]), kind([0.1, 0.2, 0.3])

    assert aurc_loss(wrong, estimates) == pytest.approx(5 / 18)
    assert error_auroc_score(wrong, estimates) == 0.5


FORECASTS = (
    [smooth_calibration_error, brier_decomposition],
    [
        ([0, 2], [0.5, 0.5], "y_true has other values than 0 and 1"),
        ([0, 1], [0.5, 1.1], "probability has values outside 0 to 1"),
        ([0, 1], [0.5, np.nan], "probability contains NaN"),
        ([0, 1], [[0.5, 0.5]] * 2, r"probability has shape \(2, 2\): it may be one number a row"),
        ([0, 1], [0.5], "inconsistent numbers of samples"),
    ],
)
LOSSES = (
    [risk_coverage_curve, aurc_loss, excess_aurc_loss, augrc_loss],
    [
        ([0, -1], [1, 2], "errors has values below 0"),
        ([0, np.nan], [1, 2], "errors contains NaN"),
        ([0, 1], [1, np.inf], "estimated_error contains infinity"),
        ([0, 1, 1], [1, 2], "inconsistent numbers of samples"),
        ([[0, 1], [1, 0]], [1, 2], r"errors has shape \(2, 2\): it may be one number a row"),
        ([], [], "minimum of 1 is required"),
    ],
)
INTERVALS = (
    [interval_coverage_score, winkler_loss],
    [
        ([1, 2], [[0, 1], [3, 2]], "lower end that is not below its upper end"),
        ([1, 2], [[0, 1], [np.inf, np.inf]], "lower end that is not below its upper end"),
        ([1, 2], [[0, 1, 2]] * 2, r"intervals has shape \(2, 3\): it may have two columns"),
        ([1, 2], [0, 1], r"intervals has shape \(2,\): it may have two columns"),
        ([1, 2], [[0, 1], [np.nan, 2]], "intervals contains NaN"),
        ([1, np.inf], [[0, 1], [1, 2]], "y_true contains infinity"),
        ([1, 2, 3], [[0, 1], [1, 2]], "inconsistent numbers of samples"),
    ],
)


@pytest.mark.parametrize(
    ("metrics", "truth", "estimates", "sentence"),
    [(metrics, *case) for metrics, cases in (FORECASTS, LOSSES, INTERVALS) for case in cases],
)
def test_wrong_input_gets_one_sentence(metrics, truth, estimates, sentence):
    for metric in metrics:
        with pytest.raises(ValueError, match=sentence):
            metric(truth, estimates)


@pytest.mark.parametrize(
    ("metric", "arguments", "options", "sentence"),
    [
        (error_auroc_score, ([0, 0.5], [1, 2]), {}, "errors has other values than 0 and 1"),
        (augrc_loss, ([0, 1], [1, 2]), {"sample_weight": [0, 0]}, "at least one non-zero"),
        (augrc_loss, ([0, 1], [1, 2]), {"sample_weight": [1, -1]}, "Negative values in data"),
        (augrc_loss, ([0, 1], [1, 2]), {"sample_weight": [1] * 3}, r"shape == \(3,\)"),
        (brier_decomposition, ([0, 1], [0.2, 0.8]), {"n_bins": 0}, "n_bins == 0, must be >= 1"),
        (winkler_loss, ([1], [[0, 1]]), {"confidence": 1.0}, "confidence == "),
        (winkler_loss, ([1], [[0, 1]]), {"confidence": 90}, "confidence == "),
    ],
)
def test_wrong_options_get_one_sentence(metric, arguments, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        metric(*arguments, **options)
