"""Pretraining of the prior for sizes of errors, on cases that are made here."""

import numpy as np
import pytest

from surefoot._priors import SizePrior, TreeArrays
from surefoot.experiments import _error_size_prior as pretraining


def made_case(family, seed):
    """A case whose errors are as large as its trees' spread is, in tenfold steps; nothing else matters."""
    rng = np.random.default_rng(seed)
    names = list(SizePrior.column_names()[:-1])
    columns = rng.normal(size=(400, len(names)))
    sizes = 10.0 ** rng.integers(-1, 2, 400)
    columns[:, names.index("SecondOpinion__trees_spread")] = sizes
    residuals = sizes * rng.choice([-1.0, 1.0], 400)
    arrays = {
        "family": family,
        "table": family,
        "column_names": np.array(names),
        "columns": columns[:200],
        "residuals": residuals[:200],
        "test_columns": columns[200:],
        "test_residuals": residuals[200:],
    }
    return pretraining.size_case(arrays)


@pytest.fixture
def cases():
    return [made_case(family, seed) for seed, family in enumerate("aabbc")]


def test_what_goes_with_large_errors_is_learned_from_other_families(cases):
    lines = pretraining.held_out_losses(cases, n_trees=60)
    assert [(line["table"], line["n_cases"]) for line in lines] == [("a", 2), ("b", 2), ("c", 1)]
    for line in lines:
        # Known sizes s over their mean m have the loss E log(s / m) + 1, and m is (0.1 + 1 + 10) / 3.
        best = 1 - np.log(11.1 / 3)  # log(s) is 0 on the mean
        assert float(line["prior"]) == pytest.approx(best, abs=0.25)
        assert float(line["constant"]) == pytest.approx(1, abs=0.15)


def test_pretraining_is_deterministic_and_its_arrays_are_small(cases):
    rows = cases[0].columns[:50]
    stored = []
    for _ in range(2):
        learned = pretraining.pretrain(cases, n_trees=10)
        stored.append(pretraining.tree_arrays(learned, rows, np.log(learned.predict(rows))))
    for name, array in stored[0].items():
        assert (array == stored[1][name]).all()
    assert TreeArrays.from_arrays(stored[0]).predict(rows).shape == (50,)
    assert sum(array.nbytes for array in stored[0].values()) < 10_000


@pytest.mark.data
def test_a_small_run_writes_trees(tmp_path):
    said = pretraining.run(tmp_path, quick=True)
    with np.load(tmp_path / "size_prior.npz", allow_pickle=False) as arrays:
        trees = TreeArrays.from_arrays(arrays)
    assert len(trees.roots) == 5
    assert np.isfinite(trees.predict(np.zeros((2, 10)))).all()
    assert "regression: 4 cases of 1 tables" in said
