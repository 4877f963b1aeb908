import gzip

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from sklearn.model_selection import KFold

from reproduction.buza_table_2 import (
    LITERAL,
    RULES,
    Cell,
    StoredNeighbors,
    bad_hub_counts,
    count,
    difference_in_errors,
    evaluate,
    literal_scores,
    run,
    stored_lists,
)
from surefoot.datasets import make_synthetic_control
from surefoot.resampling import HoldoutSplit
from surefoot.time_series import DTWNeighbors, LocalKNeighborsDTWClassifier


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


@pytest.mark.slow
def test_whole_run(data_home):
    text = run(data_home)

    assert "paper: wins against 1-NN-DTW" in text
    assert "98 (80)" in text
    folds = pd.read_csv(data_home / "buza-table-2-folds.csv")
    assert len(folds) == 2 * 4 * 10
    assert set(folds.noise) == {0.0, 0.01, 0.05, 0.1}
    # With a tenth of the best hubs infected, the nearest neighbour alone does much worse.
    infected = folds[folds.noise == 0.1]
    assert (infected["local"] - infected["1-NN"]).mean() > 0.1


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


@pytest.fixture
def series():
    return np.random.default_rng(0).normal(size=(60, 12)).cumsum(axis=1)


def as_rows(numbers):
    return np.asarray(numbers)[:, None]


@pytest.mark.parametrize("length", [59, 12, 6])
def test_finds_what_a_search_among_the_training_series_finds(tmp_path, series, length):
    # With 6 entries a list, most are too short once a third is removed, and searched again.
    train, test = np.arange(0, 40), np.arange(40, 60)
    lists = stored_lists(series, tmp_path / "lists.npz", length)
    stored = StoredNeighbors(lists).fit(as_rows(train))
    direct = DTWNeighbors(5).fit(series[train])

    for actual, expected in (
        (stored.kneighbors(as_rows(test), 5), direct.kneighbors(series[test])),
        (stored.kneighbors(n_neighbors=5), direct.kneighbors()),
    ):
        np.testing.assert_allclose(actual[0], expected[0])
        np.testing.assert_array_equal(actual[1], expected[1])


def test_lists_of_other_series_are_not_believed(tmp_path, series):
    file = tmp_path / "lists.npz"
    stored_lists(series[::-1].copy(), file, 5)

    lists = stored_lists(series, file, 5)

    expected = DTWNeighbors(5).fit(series).kneighbors(return_distance=False)
    np.testing.assert_array_equal(lists.indices, expected)


PAPER = {"shrinkage": 0, "label_trust": np.inf, "weights": "uniform", "tie_break": "smallest"}
BY_RULE = dict(zip(RULES, ({}, {"tie_break": "largest"}, {"shrinkage": 1e-6}), strict=True))


@pytest.mark.parametrize("error_neighbors", [1, 5, 6])
def test_the_literal_method_is_the_librarys_with_each_rule_for_ties(tmp_path, error_neighbors):
    X, y = make_synthetic_control(120, random_state=0)
    X = X[:, ::4] + np.random.default_rng(1).normal(scale=8, size=(120, 15))
    codes = np.unique(y, return_inverse=True)[1]
    lists = stored_lists(X, tmp_path / "lists.npz", 119)
    train, test = np.arange(0, 80), np.arange(80, 120)

    scores = literal_scores(lists.indices, codes, train, test, fold=3)

    for row, settings in zip(scores.accuracies, BY_RULE.values(), strict=True):
        model = LocalKNeighborsDTWClassifier(
            error_neighbors=error_neighbors,
            cv=HoldoutSplit(4 / 9, random_state=3),
            **{**PAPER, **settings},
        )
        expected = model.fit(X[train], codes[train]).score(X[test], codes[test])
        assert row[error_neighbors - 1] == pytest.approx(expected)
    # Ties are so frequent that the rules differ.
    assert len(set(scores.accuracies[:, 4])) > 1


def test_a_cell_holds_the_literal_method_with_five_errors(tmp_path):
    X, y = make_synthetic_control(110, random_state=0)
    lists = stored_lists(X[:, ::4].copy(), tmp_path / "lists.npz", 60)
    codes = np.unique(y, return_inverse=True)[1]

    cell = evaluate("A", lists, codes, 0.0)

    splits = list(KFold(10, shuffle=True, random_state=0).split(X))
    for fold in (0, 9):
        scores = literal_scores(lists.indices, codes, *splits[fold], fold)
        for rule, name in enumerate(LITERAL):
            assert cell.accuracies[name][fold] == scores.accuracies[rule, 4]


def test_shares_are_compared_in_standard_errors_by_hand():
    # 0.9 of 100 against 0.8 of 100: 0.1 / sqrt(0.85 · 0.15 · 2 / 100)
    assert difference_in_errors(90, 100, 80, 100) == pytest.approx(0.1 / np.sqrt(0.00255))
    assert difference_in_errors(35, 35, 31, 31) == 0


def test_errors_that_copy_a_bad_hub_are_counted_by_hand():
    # Row 0, of class 1, is the neighbour of rows 1 to 10 of class 0: a bad hub with ten errors. Row 11 is wrong too.
    nearest = np.array([[11], *[[0]] * 10, [1], [11], [12]])
    y = np.array([1, *[0] * 10, 1, 1, 1])
    assert bad_hub_counts(nearest, y) == (1, 14, 10, 11)
