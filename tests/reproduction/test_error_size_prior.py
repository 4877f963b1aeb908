"""Pretraining of the prior for sizes of errors, on cases that are made here; and of both priors by one command."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from reproduction import error_size_prior
from reproduction.__main__ import run
from reproduction.error_size_prior import DISTANCE, LENGTHS, PREDICTION, VERSION
from surefoot.error_estimation import ErrorPrior, IndividualErrorRegressor, _error_size


def made_case(family, seed):
    """A case whose errors are as large as its trees' spread is, in tenfold steps; nothing else matters."""
    rng = np.random.default_rng(seed)
    names = [*LENGTHS, DISTANCE, PREDICTION]
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
    return error_size_prior.size_case(arrays)


@pytest.fixture
def cases():
    return [made_case(family, seed) for seed, family in enumerate("aabbc")]


@pytest.mark.slow
def test_what_goes_with_large_errors_is_learned_from_other_families(cases):
    lines = error_size_prior.held_out_losses(cases, n_trees=60)
    assert [(line["table"], line["n_cases"]) for line in lines] == [("a", 2), ("b", 2), ("c", 1)]
    for line in lines:
        # Known sizes s over their mean m have the loss E log(s / m) + 1, and m is (0.1 + 1 + 10) / 3.
        best = 1 - np.log(11.1 / 3)  # log(s) is 0 on the mean
        assert line["prior"] == pytest.approx(best, abs=0.25)
        assert line["constant"] == pytest.approx(1, abs=0.15)


@pytest.mark.slow
@pytest.mark.data("pmlb")
def test_a_small_run_writes_trees(tmp_path):
    text = error_size_prior.run(tmp_path, quick=True)
    with np.load(tmp_path / "size_prior.npz", allow_pickle=False) as arrays:
        trees = dict(arrays)
    assert len(trees["roots"]) == 5
    assert np.isfinite(_error_size.sum_over_trees(trees, np.zeros((2, 11)))).all()
    assert "regression: 4 cases of 1 tables" in text


@pytest.mark.slow
def test_the_columns_are_those_that_the_library_asks_the_prior_with():
    X, y = make_friedman1(120, noise=1, random_state=0)
    model = IndividualErrorRegressor(Ridge(), random_state=0).fit(X[:80], y[:80])
    held_out, new = model.held_out_, model.judge(X[80:])
    arrays = {
        "column_names": model.get_column_names(),
        "columns": np.hstack(list(held_out.columns.values())),
        "test_columns": np.hstack(list(new.columns.values())),
    }
    mean_size = held_out.losses.mean()

    columns = error_size_prior.prior_columns(arrays, mean_size)

    prior = _error_size.SizePrior().fit(arrays["columns"], list(arrays["column_names"]), mean_size)
    together = np.vstack([arrays["columns"], arrays["test_columns"]])
    np.testing.assert_allclose(columns, prior.columns(together), rtol=1e-12)
    assert prior.version_ == VERSION


def test_arrays_predict_as_the_boosting_that_they_are_made_of():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 4))
    table[rng.random(table.shape) < 0.1] = np.nan
    sizes = np.exp(np.nan_to_num(table[:, 0]) + 0.3 * rng.normal(size=300))
    model = HistGradientBoostingRegressor(loss="gamma", max_iter=7, max_leaf_nodes=5)
    raw = np.log(model.fit(table, sizes).predict(table))

    arrays = error_size_prior.tree_arrays(model, table[:40], raw[:40])

    np.testing.assert_allclose(_error_size.sum_over_trees(arrays, table), raw, atol=1e-12)
    with pytest.raises(ValueError, match="do not predict as the boosting does"):
        error_size_prior.tree_arrays(model, table[:40], raw[:40] + 1)


@pytest.mark.slow
@pytest.mark.data("pmlb")
def test_both_priors_are_written_as_they_ship(tmp_path, monkeypatch):
    text = run("priors", tmp_path, quick=True)
    assert "error_prior.json and size_prior.npz" in text
    prior = ErrorPrior.load(tmp_path / "error_prior.json")
    assert prior.columns == ErrorPrior.shipped().columns
    shipped = _error_size.size_prior()
    monkeypatch.setattr(_error_size, "__file__", str(tmp_path / "_error_size.py"))
    learned = _error_size.size_prior.__wrapped__()
    assert set(learned) == set(shipped)
    assert learned["columns"].tolist() == shipped["columns"].tolist()
    assert int(learned["version"]) == int(shipped["version"])
