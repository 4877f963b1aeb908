import json
import sys
from pathlib import Path

import pandas as pd
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    import arena
    import arena_methods
finally:
    sys.path.remove(str(BENCHMARKS))


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
