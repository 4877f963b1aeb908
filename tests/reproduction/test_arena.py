import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    import arena
    import arena_methods
    import arena_summary
finally:
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture
def contest():
    """Rows on a line, whose class changes at 10, and two test rows: deep in class 0, and between the classes."""
    rows = np.arange(20.0)[:, None]
    labels = (rows[:, 0] >= 10).astype(int)
    likely = 1 / (1 + np.exp(9.5 - rows[:, 0]))
    return arena_methods.Contest(
        rows=rows,
        labels=labels,
        test_rows=np.array([[2.0], [10.1]]),
        probabilities=np.column_stack([1 - likely, likely]),
        wrong=np.r_[np.zeros(9, int), 1, np.zeros(10, int)],
        test_probabilities=np.array([[0.9, 0.1], [0.45, 0.55]]),
        test_prediction=np.array([0, 1]),
        columns=np.random.default_rng(0).normal(size=(20, 3)),
        test_columns=np.zeros((2, 3)),
        n_own=1,
        directions=[-1, 0, 1],
        prior=lambda: None,
        random_state=0,
    )


def test_own_confidence_is_one_minus_the_largest_probability(contest):
    np.testing.assert_allclose(arena_methods.own_confidence(contest).error, [0.1, 0.45])


def test_label_disagreement_counts_labels_around_a_row(contest):
    # The ten rows nearest to 2 are 0 to 9; to 10.1 they are 5.1 to 15.1: 6 to 15, of which four are of class 0.
    np.testing.assert_allclose(arena_methods.label_disagreement(contest).error, [0, 0.4])


def test_trust_score_compares_second_nearest_rows_of_classes(contest):
    # Of 2: its own class 1 away, the other 9; of 10.1: its own class 0.9 away (11), the other 2.1 (8).
    error = arena_methods.trust_score(contest).error
    np.testing.assert_allclose(error, [-9 / 1, -2.1 / 0.9])


def test_a_conformal_set_grows_with_the_other_class(contest):
    # The other class has a score of 0.9, or 0.55: so strange is no training row, or only the two at the boundary.
    scores = 1 - contest.probabilities[np.arange(20), contest.labels]
    expected = [1 + ((scores >= score).sum() + 1) / 21 for score in (0.9, 0.55)]
    np.testing.assert_allclose(arena_methods.conformal_set_size(contest).error, expected)


@pytest.mark.parametrize("name", sorted(set(arena_methods.METHODS) - {"surefoot"}))
def test_every_method_estimates_one_error_a_row(contest, name):
    error, is_probability = arena_methods.METHODS[name](contest)

    assert error.shape == (2,)
    assert np.isfinite(error).all()
    if is_probability:
        assert ((error >= 0) & (error <= 1)).all()


def test_columns_know_in_which_direction_they_doubt():
    assert arena.column_direction("SecondOpinion", "trees_log_odds") == -1
    assert arena.column_direction("NeighborDisagreement", "disagreement_10") == 1
    assert arena.column_direction("LocalSensitivity", "shift") == 0


def figures(ratios, test_errors=10):
    """Figures of two methods on as many tables as there are ratios."""
    shared = {"model": "knn", "random_state": 0, "n_test": 50, "seconds": 1.0, "auroc": 0.5}
    shared |= {"calibration_error": 0.1, "expected_errors": 12.0, "log_loss": 0.5}
    shared |= {"base_log_loss": 0.6, "test_errors": test_errors}
    return pd.DataFrame(
        [
            {"table": f"t{place}", "method": method, "augrc": augrc, "training_errors": errors}
            | shared
            for place, (ratio, errors) in enumerate(zip(ratios, (5, 50, 500), strict=False))
            for method, augrc in (("own confidence", 0.2), ("new", 0.2 * ratio))
        ]
    )


def test_standings_are_geometric_means_best_first():
    table = arena_summary.standings(figures([0.25, 1.0, 2.0]))

    assert list(table.index) == ["new", "own confidence"]
    new = table.loc["new"]
    assert new["mean"] == pytest.approx(0.5 ** (1 / 3))
    assert new[["under 20", "20 to 99", "100 and more"]].to_list() == pytest.approx([0.25, 1, 2])
    assert new["better %"] == pytest.approx(100 / 3)
    assert 0.25 <= new["low"] < new["mean"] < new["high"] <= 2
    assert table.loc["own confidence", ["low", "high"]].to_list() == [1, 1]


def test_cases_with_few_test_errors_do_not_count():
    assert len(arena_summary.with_ratios(figures([0.5], test_errors=4))) == 0
    assert len(arena_summary.with_ratios(figures([0.5], test_errors=5))) == 2


def test_the_summary_has_every_part_and_the_picture_is_drawn(tmp_path):
    table = figures([0.25, 1.0, 2.0])

    text = arena_summary.summarize(table)
    arena_summary.draw(table, tmp_path / "arena.png")

    assert "3 tables, 3 cases" in text
    assert "1.200" in text  # 12 errors are expected where 10 are observed
    assert (tmp_path / "arena.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.data("pmlb")
def test_the_arena_runs_and_computes_only_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(arena, "QUICK_TABLES", ["prnn_crabs"])
    folders = ["--cases", str(tmp_path / "cases"), "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["arena.py", "--quick", *folders])

    arena.main()

    lines = pd.read_csv(tmp_path / "arena.csv")
    assert len(lines) == 2 * len(arena_methods.METHODS)
    assert (lines.augrc > 0).all()
    families = json.loads((tmp_path / "priors/families.json").read_text())
    prior = arena.ErrorPrior.load(tmp_path / "priors" / families["prnn_crabs"])
    assert prior.tables == ("haberman",)  # the only other family
    monkeypatch.setattr(arena, "figures_of", None)  # nothing may be computed again
    arena.main()
    assert "1 tables, 2 cases" in capsys.readouterr().out
