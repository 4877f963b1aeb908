"""Ways of sampling on texts: which decisions count as wrong, and what is written."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

from surefoot.experiments import run_experiment
from surefoot.experiments._bennett_sampling import MODELS, WITHOUT, report, trust_by_sampling

HOME = Path(os.environ.get("SUREFOOT_DATA", "")) / "reuters21578"
needs_data = pytest.mark.skipif(
    not HOME.is_dir() or not os.environ.get("SUREFOOT_DATA"),
    reason="no Reuters-21578 in $SUREFOOT_DATA",
)


def test_every_way_judges_the_same_decisions():
    rng = np.random.default_rng(0)
    X = csr_array(rng.random((120, 30)) * (rng.random((120, 30)) < 0.3))
    y = (X[:, :3].sum(axis=1) > X[:, 3:6].sum(axis=1)).astype(int)
    expected = LinearSVC(random_state=0).fit(X[:80], y[:80]).predict(X[80:]) != y[80:]
    samplings = list(trust_by_sampling(LinearSVC(random_state=0), X[:80], y[:80], X[80:], y[80:]))
    assert [name for name, _, _ in samplings] == ["voronoi", "midpoint", "uniform", "axis", WITHOUT]
    for _, wrong, trust in samplings:
        np.testing.assert_array_equal(wrong, expected)
        assert trust.shape == (40,)


def test_the_figure_is_high_where_errors_are_trusted_least(tmp_path):
    wrong, trust = np.array([True, False, False]), np.array([0.1, 0.5, 0.9])
    ways = ["voronoi", "midpoint", "uniform", "axis", WITHOUT]
    table = [
        (model, topic, way, wrong, trust if way != "axis" else -trust)
        for model in MODELS
        for topic in (0, 1)
        for way in ways
    ]
    text = report(table, ["oil", "tin"], 3, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["error_auroc"] for row in rows if row["sampling"] == "axis"} == {"0.0"}
    assert {row["error_auroc"] for row in rows if row["sampling"] != "axis"} == {"1.0"}
    assert "axis              0.000   -1.000 ± 0.000" in text


@pytest.mark.data
@needs_data
def test_ways_of_sampling_on_texts_in_small(tmp_path):
    text = run_experiment("bennett-sampling", tmp_path, quick=True)
    with (tmp_path / "bennett-sampling.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 2 * 5
    assert {row["topic"] for row in rows} == {"acq", "corn"}
    assert "33 test texts each" in text
