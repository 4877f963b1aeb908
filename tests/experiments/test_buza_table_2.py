import csv
import gzip

import numpy as np
import pytest
from scipy.stats import ttest_rel

from surefoot.datasets import make_synthetic_control
from surefoot.experiments import _buza_table_2
from surefoot.experiments._buza_table_2 import Cell, count, pooled_sets, run


def write_set(home, name, n_series, seed):
    X, y = make_synthetic_control(n_series, random_state=seed)
    codes = np.unique(y, return_inverse=True)[1]
    lines = [
        "\t".join([str(code), *(f"{value:.4f}" for value in row[::4])])
        for code, row in zip(codes, X, strict=True)
    ]
    folder = home / "ucr" / name
    folder.mkdir(parents=True)
    half = n_series // 2
    for part, some in (("TRAIN", lines[:half]), ("TEST", lines[half:])):
        text = "\n".join(some).encode()
        (folder / f"{name}_{part}.tsv.gz").write_bytes(gzip.compress(text))


@pytest.fixture
def data_home(tmp_path, monkeypatch):
    for seed, (name, size) in enumerate({"Large": 130, "Small": 110, "Tiny": 60}.items()):
        write_set(tmp_path, name, size, seed)
    monkeypatch.setenv("SUREFOOT_DATA", str(tmp_path))
    return tmp_path


def test_sets_below_a_hundred_series_are_left_out(data_home):
    pooled = pooled_sets(quick=False)

    assert list(pooled) == ["Small", "Large"]  # smallest first
    assert pooled["Small"][0].shape == (110, 15)


def test_quick_takes_the_smallest(data_home, monkeypatch):
    monkeypatch.setattr(_buza_table_2, "QUICK_SETS", 1)

    assert list(pooled_sets(quick=True)) == ["Small"]


def test_whole_run(data_home, tmp_path):
    seen = []

    def progress(iterable, total, label):
        seen.append((total, label))
        return iter(iterable)

    text = run(tmp_path / "out", progress=progress)

    assert seen == [(2, "UCR sets")]
    assert "paper: wins against 1-NN-DTW" in text
    assert "98 (80)" in text
    with (tmp_path / "out" / "buza-table-2-folds.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 4 * 10
    assert {row["noise"] for row in rows} == {"0.0", "0.01", "0.05", "0.1"}
    # With a tenth of the best hubs infected, the nearest neighbour alone does much worse.
    infected = [row for row in rows if row["noise"] == "0.1"]
    gains = [float(row["local"]) - float(row["1-NN"]) for row in infected]
    assert np.mean(gains) > 0.1


def test_wins_and_losses_are_counted_with_their_significance():
    fold = np.linspace(0.5, 0.9, 10)
    clear, unclear = fold + np.tile([0.05, 0.06], 5), fold + np.tile([0.2, -0.19], 5)
    cells = [
        Cell(name, 0.1, {"local": ours, "1-NN": fold})
        for name, ours in (("A", clear), ("B", unclear), ("C", fold), ("D", fold - 0.1))
    ]

    assert ttest_rel(clear, fold).pvalue < 0.05 < ttest_rel(unclear, fold).pvalue
    assert count(cells, "local", "1-NN", 1) == "2 (1)"
    assert count(cells, "local", "1-NN", -1) == "1 (1)"
