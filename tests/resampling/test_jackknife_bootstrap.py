"""Values worked out by hand or by scipy, and one sentence for what cannot be done."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import config_context

from surefoot.resampling import bootstrap, jackknife


def mode(values):
    """The most frequent value; ties are averaged."""
    counts = Counter(values.tolist())
    most = max(counts.values())
    return np.mean([value for value, count in counts.items() if count == most])


def correlation(a, b):
    return np.corrcoef(a, b)[0, 1]


@pytest.mark.parametrize(
    ("data", "mean", "bias", "variance", "standard_error"),
    [
        ([0, 0, 0, 10, 10], 3.0, 12.0, 24.0, 4.90),
        ([0, 10, 10, 10, 20, 20], 12.5, 12.5, 31.25, 5.59),
    ],
)
def test_the_mode_on_the_slides_and_in_the_book(data, mean, bias, variance, standard_error):
    found = jackknife(data, mode)
    assert found.replicates.mean() == mean
    assert found.bias == bias
    assert found.corrected == found.estimate - bias
    assert_allclose(found.variance, variance)
    assert_allclose(found.standard_error, standard_error, atol=0.005)


def test_of_the_plug_in_variance_the_jackknife_takes_away_all_bias():
    values = np.random.default_rng(0).exponential(size=15)
    assert_allclose(jackknife(values, np.var).corrected, values.var(ddof=1))


@pytest.mark.parametrize("resample", [jackknife, bootstrap])
def test_a_statistic_with_an_axis_is_called_once_and_gives_the_same(resample):
    values = np.random.default_rng(1).normal(size=(40, 3))
    calls = []

    def medians(rows, axis):
        calls.append(rows.shape)
        return np.median(rows, axis=axis)

    options = {} if resample is jackknife else {"random_state": 0}
    found = resample(values, medians, **options)
    slow = resample(values, lambda rows: np.median(rows, axis=0), **options)
    assert_allclose(found.replicates, slow.replicates)
    assert len(calls) == 2  # all replicates, and the estimate
    assert_allclose(found.standard_error, slow.standard_error)


@pytest.mark.parametrize("resample", [jackknife, bootstrap])
def test_memory_is_bounded(resample):
    values = np.random.default_rng(1).normal(size=2000)
    largest = []

    def mean(rows, axis):
        largest.append(rows.nbytes)
        return rows.mean(axis=axis)

    options = {} if resample is jackknife else {"random_state": 0}
    expected = resample(values, np.mean, **options).replicates
    with config_context(working_memory=8):
        found = resample(values, mean, **options)
        if resample is bootstrap:
            found.confidence_interval()  # with a jackknife of its own
    assert max(largest) <= 2**20
    assert_allclose(found.replicates, expected)


def test_parallel_bootstrap_draws_the_same_rows():
    values = np.random.default_rng(1).normal(size=(30, 2))
    options = {"n_resamples": 150, "random_state": 0}
    with parallel_config("threading"):
        found = bootstrap((values[:, 0], values[:, 1]), correlation, n_jobs=2, **options)
    draws = np.random.RandomState(0).randint(30, size=(150, 30))
    assert_allclose(found.replicates, [correlation(*values[rows].T) for rows in draws])


def test_the_bootstrap_knows_the_bias_of_the_plug_in_variance():
    values = np.random.default_rng(3).normal(size=10)
    found = bootstrap(values, np.var, n_resamples=20_000, random_state=0)
    assert_allclose(found.variance, found.replicates.var(ddof=0))
    assert_allclose(found.corrected, 2 * found.estimate - found.replicates.mean())
    # Exactly −σ̂²/n: the bias remains, however many resamples there are.
    assert_allclose(found.bias, -values.var() / 10, rtol=0.1)


@pytest.mark.parametrize("method", ["bca", "percentile", "basic"])
def test_intervals_are_scipys(method):
    values = np.random.default_rng(0).exponential(size=40)
    found = bootstrap(values, np.var, n_resamples=500, random_state=0)
    theirs = stats.bootstrap(
        (values,),
        np.var,
        n_resamples=0,
        confidence_level=0.9,
        method="BCa" if method == "bca" else method,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=found.replicates),
    ).confidence_interval
    assert_allclose(found.confidence_interval(0.9, method), (theirs.low, theirs.high))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1000))
def test_the_jackknife_interval_is_students(seed):
    values = np.random.default_rng(seed).normal(size=12)
    expected = stats.t.interval(0.8, 11, values.mean(), stats.sem(values))
    assert_allclose(jackknife(values, np.mean).confidence_interval(0.8), expected)


@pytest.mark.parametrize("method", ["bca", "percentile", "basic"])
def test_constant_data_one_row_and_a_constant_component_have_an_interval_of_no_width(method):
    constant = bootstrap(np.full(8, 3.0), np.mean, n_resamples=50, random_state=0)
    assert constant.standard_error == 0
    assert constant.confidence_interval(method=method) == (3.0, 3.0)
    one_row = bootstrap([3.0], np.mean, n_resamples=50, random_state=0)
    assert one_row.confidence_interval(method=method) == (3.0, 3.0)
    values = np.random.default_rng(0).exponential(size=40)
    both = bootstrap(np.column_stack([values, np.ones(40)]), np.mean, random_state=0)
    low, high = both.confidence_interval(method=method)
    alone = bootstrap(values, np.mean, random_state=0).confidence_interval(method=method)
    assert_allclose([low, high], [[alone[0], 1.0], [alone[1], 1.0]])


def nan_without_the_first(values):
    return np.nan if 1.0 not in values else values.mean()


def sum_of_values(values):
    return np.unique(values).sum()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: bootstrap([1, 2], "mean"), "statistic='mean' cannot be called"),
        (lambda: jackknife([], np.mean), "data has no rows"),
        (lambda: bootstrap([], np.mean), "data has no rows"),
        (lambda: bootstrap((), np.mean), "data has no rows"),
        (lambda: jackknife([1.0], np.mean), "data has one row only"),
        (lambda: jackknife(3.0, np.mean), "data is a single value"),
        (lambda: jackknife(([1, 2], [1, 2, 3]), correlation), r"arrays of \[2, 3\] rows"),
        (
            lambda: jackknife([1.0, 2.0, 3.0], nan_without_the_first),
            "NaN or infinity for 1 of 3 replicates, the first replicate 0",
        ),
        (
            lambda: bootstrap([1.0, 2.0], nan_without_the_first, n_resamples=40, random_state=0),
            r"NaN or infinity for \d+ of 40 resamples",
        ),
        (lambda: bootstrap([1, 2], np.mean, n_resamples=0), "n_resamples == 0, must be >= 1"),
        (lambda: bootstrap([1, 2], lambda x, axis: x.mean()), "it must give one value"),
        (
            lambda: bootstrap([1, 2, 5], np.mean, random_state=0).confidence_interval(95),
            "confidence == 95, must be < 1",
        ),
        (
            lambda: bootstrap([1, 2, 5], np.mean, random_state=0).confidence_interval(0.9, "t"),
            "method='t' is not known",
        ),
        (
            lambda: bootstrap(np.arange(9) // 3, np.median, random_state=0).confidence_interval(),
            "method may be 'percentile' or 'basic'",
        ),
        (  # thirty draws hardly ever have thirty values: every replicate is below the estimate
            lambda: bootstrap(range(1, 31), sum_of_values, random_state=0).confidence_interval(),
            "replicates on both sides of the estimate: method may be 'percentile' or 'basic'",
        ),
    ],
)
def test_what_cannot_be_done_gets_one_sentence(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()
