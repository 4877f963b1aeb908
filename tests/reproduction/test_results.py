import sys

import numpy as np
import pytest
from scipy.stats import ttest_rel

from reproduction import results
from reproduction.__main__ import EXPERIMENTS, main


def test_a_table_as_text_aligns_the_first_column_left_and_the_others_right():
    text = results.text_table([["", "a", "long name"], ["row", "1.5", "2"], ["other row", "", ""]])

    assert text == "             a  long name\nrow        1.5          2\nother row"


def test_a_table_as_csv_has_floats_in_one_form(tmp_path):
    path = tmp_path / "table.csv"

    results.write_table(
        path, [{"a": 1 / 3, "b": 2, "c": "x"}, {"a": np.float64(2), "b": 3, "c": ""}], ".2f"
    )

    assert path.read_text().splitlines() == ["a,b,c", "0.33,2,x", "2.00,3,"]


def test_a_file_is_written_whole_into_a_new_folder(tmp_path):
    path = tmp_path / "new" / "file"
    for content in (b"first", b"second"):
        results.write_whole(path, content)

        assert path.read_bytes() == content
        assert list(path.parent.iterdir()) == [path]


def test_the_paired_test_is_scipys_and_knows_equal_differences():
    a, b = np.random.default_rng(0).normal(size=(2, 10))

    assert results.paired_p_value(a, b) == pytest.approx(ttest_rel(a, b).pvalue)
    assert results.paired_p_value(a, a) == 1.0
    assert results.paired_p_value(a, a + 1.0) == 0.0


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


def test_the_command_lists_the_experiments(capsys):
    main([])

    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == list(EXPERIMENTS)
    assert len({line.index(EXPERIMENTS[line.split("  ")[0]]) for line in lines}) == 1


def test_the_command_runs_an_experiment_or_all(tmp_path, monkeypatch, capsys):
    class Module:
        @staticmethod
        def run(out, *, quick):
            return f"results, quick: {quick}"

    for name in EXPERIMENTS:
        monkeypatch.setitem(sys.modules, f"reproduction.{name.replace('-', '_')}", Module)

    main(["churn", "--out", str(tmp_path / "new")])
    assert capsys.readouterr().out.splitlines()[0] == "results, quick: False"
    main(["--all", "--quick", "--out", str(tmp_path)])
    assert capsys.readouterr().out.count("results, quick: True") == len(EXPERIMENTS)
    with pytest.raises(SystemExit):
        main(["table-9"])
    assert "invalid choice: 'table-9'" in capsys.readouterr().err
