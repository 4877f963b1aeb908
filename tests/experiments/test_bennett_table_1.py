"""The times of table 1 stand beside the printed ones, and every method finds what it is timed for."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from surefoot.experiments import run_experiment
from surefoot.experiments._bennett_table_1 import PAPER, best_seconds, make_methods, reuters

HOME = Path(os.environ.get("SUREFOOT_DATA", "")) / "reuters21578"
needs_data = pytest.mark.skipif(
    not HOME.is_dir() or not os.environ.get("SUREFOOT_DATA"),
    reason="no Reuters-21578 in $SUREFOOT_DATA",
)


def test_the_printed_ratios_are_those_of_the_printed_seconds():
    base = PAPER["Sparse (k)"][0]
    for seconds, ratio in PAPER.values():
        assert round(seconds / base, 2) == ratio


@pytest.mark.data
@needs_data
def test_table_1_in_small(tmp_path):
    text = run_experiment("bennett-table-1", tmp_path, quick=True)
    with (tmp_path / "bennett-table-1.csv").open(newline="") as file:
        table = {row["method"]: row for row in csv.DictReader(file)}
    assert list(table)[:3] == list(PAPER)
    assert [row["paper_ratio"] for row in table.values()] == ["1.0", "1.16", "2.84", "", ""]
    assert float(table["Sparse (k)"]["ratio"]) == 1.0
    assert all(float(row["seconds"]) > 0 for row in table.values())
    assert "961 training and 330 test texts, 900 features, k = 29" in text
    assert "the paper  196.37 s  2.84" in text


@pytest.mark.data
@needs_data
def test_what_is_timed_are_the_same_neighbours_and_columns_for_all_texts():
    X_train, y_train, X_test = reuters(quick=True)
    outputs = [method() for method in make_methods(X_train, y_train, X_test).values()]
    plain, wider, columns, cosine, euclidean = outputs
    assert plain.shape == wider.shape == (X_test.shape[0],)
    assert columns.shape == (X_test.shape[0], 4)
    # Between unit rows the squared Euclidean distance is twice the cosine's.
    np.testing.assert_allclose(euclidean[0] ** 2 / 2, cosine[0], atol=1e-7)
    signs = np.where(y_train[cosine[1]] == 1, 1.0, -1.0)
    votes = ((1 - cosine[0]) * signs).sum(axis=1)
    assert (np.abs(votes - plain) < 1e-9).mean() > 0.95  # but for neighbours that are equally near


def test_the_shortest_of_the_turns_is_kept_and_compiling_is_not_timed(monkeypatch):
    clock, calls = [0.0], []
    seconds = {"a": iter([0.25, 3.0, 1.0]), "b": iter([0.25, 2.0, 5.0])}  # the first one compiles

    def method(name):
        calls.append(name)
        clock[0] += next(seconds[name])

    monkeypatch.setattr("time.process_time", lambda: clock[0])
    best = best_seconds({"a": lambda: method("a"), "b": lambda: method("b")}, range(2))
    assert calls == ["a", "b"] * 3
    assert best == {"a": 1.0, "b": 2.0}
