"""One command learns both priors, as surefoot reads them."""

import pytest

from reproduction.__main__ import run
from surefoot.error_estimation import ErrorPrior, _error_size


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
