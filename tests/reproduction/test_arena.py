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


@pytest.mark.parametrize("name", sorted(set(arena_methods.METHODS) - {"surefoot"}))
def test_every_method_estimates_one_error_a_row(contest, name):
    error, is_probability = arena_methods.METHODS[name](contest)

    assert error.shape == (2,)
    assert np.isfinite(error).all()
    if is_probability:
        assert ((error >= 0) & (error <= 1)).all()


@pytest.mark.slow
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
