"""Figure 2 counts by hand, and in small on Reuters."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics import f1_score

from reproduction.bennett_figure_2 import (
    OUR_STACK,
    OUR_STRIVE,
    STACK,
    STRIVE,
    SVM,
    BernoulliLogOdds,
    MultinomialLogOdds,
    measured,
    render,
    run,
    selection_table,
    significance,
)

TRUTH = np.array([[1, 0], [1, 1], [0, 1], [0, 0]], dtype=bool)
OF_SVM = np.array([[1, 1], [0, 0], [1, 1], [0, 0]], dtype=bool)  # 2 false, 2 missed, 2 right
OF_STACK = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)  # 1 false, 1 missed, 3 right
ASSIGNED = {
    (objective, system): flags
    for objective in ("f1", "error")
    for system, flags in {
        SVM: OF_SVM,
        STACK: OF_STACK,
        STRIVE: TRUTH,
        OUR_STACK: OF_STACK,
        OUR_STRIVE: OF_SVM,
    }.items()
}


def test_counts_by_hand():
    rows = pd.DataFrame(measured("small", TRUTH, ASSIGNED)).set_index(["objective", "system"])
    counts = rows[["false_positives", "false_negatives", "correct_positives"]]
    assert_array_equal(counts.loc["f1"], [[2, 2, 2], [1, 1, 3], [0, 0, 4], [1, 1, 3], [2, 2, 2]])
    assert_array_equal(counts.loc["f1"], counts.loc["error"])
    changes = rows[["false_positives_change", "false_negatives_change", "correct_positives_change"]]
    assert_allclose(changes.loc["f1", STACK], [-0.5, -0.5, 0.5])
    assert rows.error_reduction["error", STACK] == 0.5
    assert_allclose(rows.f1["f1", SVM], f1_score(TRUTH, OF_SVM, average="micro"))
    # The four documents save 1, 1, 0 and 0 of the SVM's four errors: their standard deviation ½ times √4, over 4.
    assert rows.reduction_error["error", STACK] == pytest.approx(0.25)
    # One of two found and one too many, in the first topic as in the second: 2/4 each.
    assert rows.macro_f1["f1", SVM] == 0.5


def test_each_pair_is_tested_three_times():
    tests = significance("small", TRUTH, ASSIGNED)
    assert {(test["first"], test["second"]) for test in tests} == {
        (STRIVE, SVM),
        (STRIVE, STACK),
        (STACK, SVM),
        (OUR_STRIVE, SVM),
        (OUR_STRIVE, OUR_STACK),
        (OUR_STRIVE, STRIVE),
    }
    assert len(tests) == 2 * 6 * 3
    # STRIVE-S is right on all four decisions that the SVM has wrong: two of 2⁴ ways.
    assert (tests[0]["first"], tests[0]["second"], tests[0]["test"]) == (STRIVE, SVM, "micro sign")
    assert tests[0]["p_value"] == pytest.approx(2 / 16)


def test_draws_are_averaged():
    better = ASSIGNED | {("error", STRIVE): OF_STACK}
    rows, tests = [], []
    for draw, assigned in enumerate((ASSIGNED, better)):
        rows += [{"draw": draw} | row for row in measured("small", TRUTH, assigned)]
        tests += [{"draw": draw} | row for row in significance("small", TRUTH, assigned)]
    text = render("small", rows, tests).split("thresholds learned for error")[1]
    line = next(line for line in text.splitlines() if line.startswith("  STRIVE-S "))
    # No error in the first draw and two in the second, of four by the SVM: three quarters are saved on average.
    cells = line.split("  ")
    assert "1.0 ± 1.4" in cells
    assert "75.0%" in line
    # The documents save 1, 2, 1, 0 in the first draw: standard error √½ · √4 / 4; in the second it is ¼, as above.
    away = (0.75 - 0.16) / ((np.sqrt(0.5) / 2 + 0.25) / 2)
    assert f"3% to 16%, {away:.1f} s.e. away" in line


def test_the_order_of_dropped_kinds_is_one_line_a_draw():
    steps = [("", 9), ("terms", 8), ("distance", 8), ("confidence", 10), ("sensitivity", 12)]
    rows = [
        {
            "corpus": "C",
            "system": STRIVE,
            "draw": draw,
            "step": n,
            "dropped": kind,
            "held_out_errors": e,
        }
        for draw in (0, 1)
        for n, (kind, e) in enumerate(steps)
    ]
    lines = selection_table(rows).splitlines()
    expected = "C, STRIVE-S, draw 0 9 terms 8 distance 8 confidence 10 sensitivity 12"
    assert " ".join(lines[2].split()) == expected
    assert len(lines) == 4


@pytest.mark.parametrize("model", [BernoulliLogOdds(), MultinomialLogOdds()])
def test_log_odds_of_naive_bayes_are_those_of_its_probabilities(model):
    rng = np.random.default_rng(0)
    X, y = csr_array(rng.poisson(0.5, (60, 8))), rng.integers(0, 2, 60)
    chance = model.fit(X, y).predict_proba(X)
    assert_allclose(model.decision_function(X), np.log(chance[:, 1] / chance[:, 0]))


@pytest.mark.slow
@pytest.mark.data("reuters21578")
def test_figure_2_in_small(tmp_path):
    text = run(tmp_path, quick=True)
    rows = pd.read_csv(tmp_path / "bennett-figure-2.csv")
    assert len(rows) == 2 * 10  # two draws, two objectives, five systems
    wrong, right = rows.false_positives + rows.false_negatives, rows.correct_positives
    assert_allclose(rows.f1, 2 * right / (2 * right + wrong), atol=1e-4)
    f1 = rows.groupby(["objective", "system"]).f1.mean()
    assert f1["f1", STACK] > f1["f1", SVM]
    assert f1["f1", STRIVE] > f1["f1", SVM]
    assert len(pd.read_csv(tmp_path / "bennett-figure-2-tests.csv")) == 2 * 36
    assert len(pd.read_csv(tmp_path / "bennett-figure-2-selection.csv")) == 2 * 2 * 5
    assert "4% to 18%" in text
    assert (tmp_path / "bennett-figure-2.png").stat().st_size > 10_000
