"""Rules for where errors are, against generators that know where they are."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from surefoot.error_estimation import find_error_regions


def planted(n_rows, seed=0):
    """Errors of 60 % where x > 1 and kind is b, else of 10 %."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": draw.normal(size=n_rows),
            "kind": draw.choice(["a", "b", "c"], size=n_rows),
            "noise": draw.normal(size=n_rows),
        }
    )
    bad = ((frame["x"] > 0.5) & (frame["kind"] == "b")).to_numpy()
    return frame, (draw.uniform(size=n_rows) < np.where(bad, 0.6, 0.1)).astype(float), bad


def test_finds_the_planted_region_and_its_error():
    frame, errors, bad = planted(4000)
    worst = find_error_regions(frame, errors, random_state=0)[0]
    assert {condition.name for condition in worst.conditions} == {"x", "kind"}
    found = worst.contains(frame)
    assert (found & bad).sum() > 0.85 * (found | bad).sum()
    assert worst.error == pytest.approx(0.6, abs=0.1)
    assert worst.other_error == pytest.approx(0.1, abs=0.03)


def test_figures_are_those_of_rows_that_the_rule_was_not_found_on():
    frame, errors, _ = planted(1000)
    worst = find_error_regions(frame, errors, groups=np.arange(1000), random_state=1)[0]
    checked = np.random.RandomState(1).permutation(1000) >= 500
    inside = worst.contains(frame) & checked
    assert worst.n_rows == inside.sum()
    assert worst.error == pytest.approx(errors[inside].mean())


def test_errors_without_a_pattern_have_no_region():
    draw = np.random.default_rng(0)
    false_alarms = 0
    for seed in range(40):
        X, errors = draw.normal(size=(300, 5)), draw.uniform(size=300) < 0.3
        false_alarms += bool(find_error_regions(X, errors, random_state=seed))
    # 5 % are allowed; 7 of 40 has a chance below 1 % at that rate.
    assert false_alarms < 7


def test_gaps_are_a_condition_of_their_own():
    frame, _, _ = planted(600)
    gap = np.random.default_rng(1).uniform(size=600) < 0.2
    frame.loc[gap, "x"] = np.nan
    [region] = find_error_regions(frame, gap.astype(float), random_state=0)
    assert region.rule == "x is missing"
    assert (region.error, region.other_error) == (1.0, 0.0)


def test_pandas_and_polars_agree():
    frame, errors, _ = planted(800)
    rules = [
        [region.rule for region in find_error_regions(table, errors, random_state=0)]
        for table in (frame, pl.DataFrame(frame.to_dict(orient="list")))
    ]
    assert rules[0] == rules[1]
    assert rules[0]


def test_sizes_of_errors_serve_as_well():
    X = np.random.default_rng(0).uniform(size=(500, 2))
    [region, *_] = find_error_regions(X, np.where(X[:, 0] > 0.5, 3.0, 1.0), random_state=0)
    assert_array_equal(region.contains([[0.9, 0.1], [0.1, 0.9]]), [True, False])
    assert region.error == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_regions": 0}, "max_regions == 0"),
        ({"groups": np.zeros(20)}, "groups has one group only"),
        ({"errors": np.ones(19)}, "inconsistent numbers of samples"),
        ({"X": np.ones((4, 1)), "errors": np.ones(4)}, "4 rows are too few"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, message):
    given = {"X": np.arange(20.0)[:, None], "errors": np.ones(20), **arguments}
    with pytest.raises(ValueError, match=message):
        find_error_regions(given.pop("X"), given.pop("errors"), **given)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_rule_may_speak_of_a_date(frame):
    draw = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + draw.integers(1000, size=2000).astype("timedelta64[D]")
    late = days > np.datetime64("2026-03-01")  # the last fifth
    errors = draw.uniform(size=2000) < np.where(late, 0.6, 0.1)
    table = frame({"seen": days, "other": draw.uniform(size=2000)})
    [region] = find_error_regions(table, errors, max_conditions=1, random_state=0)
    [condition] = region.conditions
    assert region.rule == f"seen > {condition.value}"
    assert abs(condition.value - np.datetime64("2026-03-01")) < np.timedelta64(30, "D")
    assert_array_equal(region.contains(table), days > condition.value)
