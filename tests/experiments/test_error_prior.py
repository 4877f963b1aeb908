"""A small run of the pretraining: the same twice, and its figures by a prior that never saw the family."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from surefoot.error_estimation import ErrorPrior, PriorCase, learn_prior
from surefoot.experiments import run_experiment
from surefoot.experiments._case_store import read_case
from surefoot.metrics import augrc_loss

HOME = Path(os.environ.get("SUREFOOT_DATA", "nowhere")) / "pmlb"


def given(stored):
    """Stored case, as a prior is learned from it."""
    return PriorCase(
        stored["table"],
        stored["columns"],
        stored["wrong"],
        stored["test_columns"],
        stored["test_wrong"],
    )


@pytest.mark.data
@pytest.mark.skipif(not HOME.exists(), reason="no PMLB tables in $SUREFOOT_DATA")
def test_two_tables_judge_each_other(tmp_path):
    run_experiment("error-prior", tmp_path, quick=True)
    prior = ErrorPrior.load(tmp_path / "error_prior.json")
    assert prior.columns == ErrorPrior.shipped().columns
    stored = [read_case(path) for path in sorted((tmp_path / "classification").glob("*.npz"))]
    names = [str(name) for name in stored[0]["column_names"]]
    lines = list(csv.DictReader((tmp_path / "error_prior.csv").read_text().splitlines()))
    assert len(lines) == len(stored) == 4
    for case in stored:
        others = [given(other) for other in stored if other["family"] != case["family"]]
        estimated = given(case).estimate(learn_prior(others, names))
        line = next(
            line
            for line in lines
            if (line["table"], line["model"]) == (case["table"], case["model"])
        )
        assert float(line["augrc"]) == pytest.approx(
            augrc_loss(case["test_wrong"], estimated), rel=1e-3
        )
    again = learn_prior([given(case) for case in stored], names)
    np.testing.assert_allclose(again.mean, prior.mean, atol=1e-5)
