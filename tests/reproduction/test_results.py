import sys

import numpy as np
import pytest
from scipy.stats import ttest_rel

from reproduction import results
from reproduction.__main__ import EXPERIMENTS, main


def test_the_paired_test_is_scipys_and_knows_equal_differences():
    a, b = np.random.default_rng(0).normal(size=(2, 10))

    assert results.paired_p_value(a, b) == pytest.approx(ttest_rel(a, b).pvalue)
    assert results.paired_p_value(a, a) == 1.0
    assert results.paired_p_value(a, a + 1.0) == 0.0


def test_few_runs_have_no_p_value_and_one_has_no_spread():
    two = np.array([2.0, 3.0])

    assert np.isnan(results.paired_p_value(two, two + 1.0))
    assert results.p_value_text(results.paired_p_value(two, two + 1.0)) == "–"
    assert [results.p_value_text(p) for p in (0.0, 0.0004, 0.0006, 0.25)] == [
        "< 0.001",
        "< 0.001",
        "0.001",
        "0.250",
    ]
    assert results.with_spread(two.mean(), results.spread_of(two)) == "2.50 ± 0.71"
    assert results.with_spread(-0.25, 0.125, "+.3f") == "-0.250 ± 0.125"
    assert results.with_spread(2.0, results.spread_of(two[:1])) == "2.00"


def test_results_come_in_order_and_progress_tells_how_long_the_rest_takes(monkeypatch, capsys):
    clock = iter([0.0, 6.0, 12.0, 18.0])
    monkeypatch.setattr(results.time, "monotonic", lambda: next(clock))

    assert list(results.in_parallel(divmod, [(7, 2), (8, 3), (9, 4)], "divisions")) == [
        (3, 1),
        (2, 2),
        (2, 1),
    ]

    # After twelve seconds for two of three, six seconds are left.
    assert capsys.readouterr().err == "2 of 3 divisions, about 0 minutes left\n"


def test_the_command_runs_an_experiment_or_all(tmp_path, monkeypatch, capsys):
    class Module:
        @staticmethod
        def run(out, *, quick):
            return f"results, quick: {quick}"

    for name in EXPERIMENTS:
        monkeypatch.setitem(sys.modules, f"reproduction.{name.replace('-', '_')}", Module)

    main(["churn", "--out", str(tmp_path / "new")])
    assert capsys.readouterr().out.splitlines()[:3] == ["churn", "=====", "results, quick: False"]
    main(["--all", "--quick", "--out", str(tmp_path)])
    assert capsys.readouterr().out.count("results, quick: True") == len(EXPERIMENTS)

    class Missing:
        @staticmethod
        def run(out, *, quick):
            raise FileNotFoundError("put a file somewhere")

    monkeypatch.setitem(sys.modules, "reproduction.churn", Missing)
    with pytest.raises(OSError, match=r"1 of \d+ experiments were not run.*: churn\."):
        main(["--all", "--quick", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "Not run: put a file somewhere" in printed
    assert printed.count("results, quick: True") == len(EXPERIMENTS) - 1
    with pytest.raises(SystemExit):
        main(["table-9"])
    assert "invalid choice: 'table-9'" in capsys.readouterr().err
