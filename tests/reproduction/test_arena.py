import itertools
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gmean
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from reproduction.data import TABLES
from surefoot.error_estimation import IndividualErrorClassifier

RESEARCH = Path(__file__).parents[2] / "research"
if not RESEARCH.is_dir():
    pytest.skip("research is not in the sdist", allow_module_level=True)
sys.path.insert(0, str(RESEARCH))
try:
    import arena
    import arena_methods
    import arena_rivals
    import arena_summary
    from cached_fits import CachedFit
finally:
    sys.path.remove(str(RESEARCH))


@pytest.mark.slow
@pytest.mark.data("pmlb")
def test_the_arena_runs_and_computes_only_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(arena, "QUICK_TABLES", ["prnn_crabs"])
    folders = ["--cases", str(tmp_path / "prior"), "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["arena.py", "--quick", *folders])
    (draw,) = arena_rivals.draws_of(["prnn_crabs"])
    arena_rivals.compute("four models", draw, tmp_path)

    arena.main()

    lines = pd.read_csv(tmp_path / "arena_chosen.csv")
    without_rival = [name for name in arena_methods.METHODS if name not in arena_methods.OF_RIVAL]
    assert set(lines.method) == {*without_rival, "four models", "four models and own"}
    assert len(lines) == 2 * lines.method.nunique()
    assert (lines.augrc > 0).all()
    families = json.loads((tmp_path / "priors/families.json").read_text())
    prior = arena.ErrorPrior.load(tmp_path / "priors" / families["prnn_crabs"])
    assert prior.tables == ("haberman",)  # the only other family
    monkeypatch.setattr(arena, "figures_of", None)  # nothing may be computed again
    arena.main()
    assert "1 tables, 2 cases" in capsys.readouterr().out


def test_halves_share_no_family_and_have_every_table():
    chosen, reported = map(arena_rivals.arena_tables, arena_rivals.HALVES)

    assert sorted(chosen + reported) == sorted(TABLES.index[TABLES.task == "classification"])
    families = [set(TABLES.family[names]) for names in (chosen, reported)]
    assert families[0].isdisjoint(families[1])
    assert abs(len(families[0]) - len(families[1])) <= 1
    assert arena_rivals.half_of_table("krkopt") == "chosen"  # the halves never change
    assert arena_rivals.half_of_table("clean2") == "reported"


def test_a_draw_has_at_most_half_of_a_table_and_no_number_of_rows_twice():
    draws = arena_rivals.draws_of(arena_rivals.arena_tables())

    rows = TABLES.n_rows[[draw.table for draw in draws]].to_numpy()
    n_train = np.array([draw.n_train for draw in draws])
    assert (n_train <= rows // 2).all()
    assert (n_train <= [draw.size for draw in draws]).all()
    assert len({(draw.table, draw.n_train) for draw in draws}) == len(draws)
    large = {draw.table for draw in draws if draw.size == 8000}
    assert large == {"connect_4", "fars", "krkopt", "magic_gamma", "shuttle", "sleep"}


def problem_of_blobs(labels=("white", "black", "green")):
    X, codes = make_blobs(240, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    y = np.array(labels)[codes]
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    return arena_rivals.Problem(X, y, X_test, y_test, np.unique(y))


@pytest.mark.parametrize("rival", ["four models", pytest.param("stack", marks=pytest.mark.slow)])
def test_columns_of_a_rival_are_the_sorted_classes(tmp_path, rival):
    problem = problem_of_blobs()
    draw = arena_rivals.Draw("blobs", 300, len(problem.rows))

    values = arena_rivals.RIVALS[rival](problem, draw, tmp_path)

    probabilities = values["probabilities"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (problem.classes[probabilities.argmax(axis=1)] == problem.test_labels).mean() > 0.95
    if rival == "four models":
        names = list(arena_rivals.quick_models())
        parts = [np.maximum(values[name], arena_rivals.LEAST_PROBABILITY) for name in names]
        mean = gmean(parts, axis=0)
        np.testing.assert_allclose(probabilities, mean / mean.sum(axis=1)[:, None])


def test_a_kept_fit_is_the_fresh_one(tmp_path):
    problem = problem_of_blobs()
    forest = RandomForestClassifier(10, random_state=3)
    fresh = forest.fit(problem.rows, problem.labels)
    weights = np.linspace(1, 2, len(problem.rows))
    before = CachedFit.saved_seconds

    first, second = (
        CachedFit(forest, tmp_path).fit(problem.rows, problem.labels) for _ in range(2)
    )

    assert len(list(tmp_path.iterdir())) == 1
    assert CachedFit.saved_seconds - before == second.seconds_ == first.seconds_
    for cached in (first, second):
        expect = fresh.predict_proba(problem.test_rows)
        np.testing.assert_array_equal(cached.predict_proba(problem.test_rows), expect)
        np.testing.assert_array_equal(
            cached.predict(problem.test_rows), fresh.predict(problem.test_rows)
        )
    others = [
        (CachedFit(RandomForestClassifier(11, random_state=3), tmp_path), problem.rows, None),
        (CachedFit(forest, tmp_path), problem.rows + 1e-9, None),
        (CachedFit(forest, tmp_path), problem.rows, weights),
    ]
    for number, (model, rows, weight) in enumerate(others, start=2):
        model.fit(rows, problem.labels, sample_weight=weight)
        assert len(list(tmp_path.iterdir())) == number


@pytest.mark.slow
def test_surefoot_knows_a_kept_model_as_the_model_itself(tmp_path):
    X, y = make_classification(160, 5, flip_y=0.2, random_state=0)
    model = LogisticRegression()

    plain, cached = (
        IndividualErrorClassifier(one, prior=None, random_state=0).fit(X, y).judge(X[:20])
        for one in (model, CachedFit(model, tmp_path))
    )

    assert plain.columns.keys() == cached.columns.keys()
    for name, values in plain.columns.items():
        np.testing.assert_allclose(values, cached.columns[name], atol=1e-12)
    np.testing.assert_allclose(plain.error, cached.error)


def test_rows_left_wrong_are_those_of_all_orders_of_ties():
    error = np.array([0.9, 0.5, 0.5, 0.5, 0.5, 0.1, 0.1, 0.1, 0.1, 0.0])
    wrong = np.array([1, 1, 0, 0, 1, 0, 1, 0, 0, 0])

    for n_checked in (1, 2, 4, 7, 10):
        orders = [
            [0, *tied, *rest, 9]
            for tied in itertools.permutations(range(1, 5))
            for rest in itertools.permutations(range(5, 9))
        ]
        brute = np.mean([wrong[order[n_checked:]].sum() / 10 for order in orders])
        assert arena.left_wrong(wrong, error, n_checked / 10) == pytest.approx(brute)


def contest(**fields):
    names = arena_methods.Contest.__dataclass_fields__
    return arena_methods.Contest(**dict.fromkeys(names) | fields)


def test_a_rival_and_its_mean_with_own_confidence_by_hand():
    of_rival = np.array([[0.2, 0.8], [0.4, 0.6]])
    own = np.array([[0.7, 0.3], [0.1, 0.9]])
    of_both = contest(
        rivals={"stack": (of_rival, 1.0)},
        test_probabilities=own,
        test_prediction=np.array([0, 1]),
    )

    alone = arena_methods.METHODS["stack"](of_both).error
    both = arena_methods.METHODS["stack and own"](of_both).error

    np.testing.assert_allclose(alone, [0.8, 0.4])
    odds = np.sqrt(np.array([0.8 / 0.2, 0.4 / 0.6]) * np.array([0.3 / 0.7, 0.1 / 0.9]))
    np.testing.assert_allclose(both, odds / (1 + odds))


def test_isotonic_confidence_is_the_pooled_share_of_errors():
    # Errors rise with doubt but for the second and third row, which are pooled.
    doubt = np.array([0.1, 0.2, 0.3, 0.4])
    beside = contest(
        probabilities=np.column_stack([1 - doubt, doubt]),
        wrong=np.array([0, 1, 0, 1]),
        test_probabilities=np.array([[0.95, 0.05], [0.75, 0.25], [0.55, 0.45]]),
    )

    error = arena_methods.isotonic_confidence(beside).error

    np.testing.assert_allclose(error, [0, 0.5, 1])


def figures_of(augrc, *, half="chosen", test_errors=30, **fields):
    """Lines of one case: AUGRC by method."""
    values = {
        "table": "a",
        "model": "logistic",
        "n_train": 300,
        "random_state": 0,
        "size": 300,
        "half": half,
        "n_rows": 3000,
        "n_test": 300,
        "training_errors": 10,
        "test_errors": test_errors,
        "auroc": 0.8,
        "expected_errors": 33.0,
        "calibration_error": 0.02,
        "log_loss": 0.3,
        "base_log_loss": 0.4,
        "left_wrong": 0.05,
        "model_seconds": 1.0,
        "seconds": 0.5,
    } | fields
    return [values | {"method": method, "augrc": value} for method, value in augrc.items()]


def test_the_rival_is_chosen_on_the_first_half_only():
    lines = figures_of({"own confidence": 0.02, "surefoot": 0.01, "stack": 0.012, "forest": 0.014})
    lines += figures_of(
        {"own confidence": 0.02, "surefoot": 0.01, "stack": 0.02, "forest": 0.001},
        half="reported",
        table="b",
    )

    assert arena_summary.strongest_rival(pd.DataFrame(lines)) == "stack"


def test_shares_and_extremes_by_hand():
    ratios = {30: [0.5, 0.8, 1.16, 1.3], 10: [0.4, 2.5]}
    lines = [
        line
        for test_errors, values in ratios.items()
        for number, ratio in enumerate(values)
        for line in figures_of(
            {"own confidence": 0.02, "surefoot": 0.02 * ratio},
            test_errors=test_errors,
            table=f"{test_errors}-{number}",
        )
    ]

    line = arena_summary.criteria(pd.DataFrame(lines)).loc["the five, all rows"]

    assert line["mean"] == pytest.approx(gmean([0.5, 0.8, 1.16, 1.3, 0.4, 2.5]))
    assert line["many better %"] == 50
    assert line["> 1.15 %"] == 50
    assert line["> 1.2 %"] == 25
    assert line["few > 2 %"] == 50
    assert line["many worst"] == pytest.approx(1.3)
    assert line["few worst"] == pytest.approx(2.5)
    assert line["expected / observed"] == pytest.approx(6 * 33 / (4 * 30 + 2 * 10))


def test_the_reported_half_is_shown_and_counted_only_when_asked(tmp_path, capsys):
    augrc = {"own confidence": 0.02, "surefoot": 0.01, "surefoot, no prior": 0.011, "stack": 0.012}
    lines = figures_of(augrc | {"isotonic confidence": 0.02}, table="seen")
    lines += figures_of(augrc | {"isotonic confidence": 0.02}, half="reported", table="hidden")
    options = SimpleNamespace(out=tmp_path, quick=False, report=False)

    arena.show(pd.DataFrame(lines), options)

    assert "hidden" not in capsys.readouterr().out
    assert set(pd.read_csv(tmp_path / "arena_chosen.csv").table) == {"seen"}
    assert not (tmp_path / "looks.txt").exists()
    options.report = True
    for n_looks in (1, 2):
        arena.show(pd.DataFrame(lines), options)
        assert f"printed {n_looks} times" in capsys.readouterr().out
    assert set(pd.read_csv(tmp_path / "arena_reported.csv").table) == {"hidden"}
