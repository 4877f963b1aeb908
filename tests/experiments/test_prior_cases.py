import csv
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot.datasets import fetch_pmlb, list_pmlb, list_tabular
from surefoot.experiments import run_experiment
from surefoot.experiments._case_models import models
from surefoot.experiments._case_store import Case, read_case
from surefoot.experiments._case_tables import case_tables, split, table_family, training_sizes
from surefoot.experiments._prior_cases import main, plan
from surefoot.metrics import augrc_loss

HOME = Path(os.environ.get("SUREFOOT_DATA", "nowhere")) / "pmlb"


def data(test):
    """Mark a test that needs the tables, and skip it where they are absent."""
    absent = pytest.mark.skipif(not HOME.exists(), reason="no PMLB tables in $SUREFOOT_DATA")
    return pytest.mark.data(absent(test))


def test_nothing_is_learned_from_development_tables_or_their_kin():
    learned = case_tables("classification") + case_tables("regression")

    assert set(list_pmlb()) - set(learned) == {"dna", "waveform_21", "574_house_16H"}
    families = {table_family(name) for name in list_tabular()}
    assert not families & {table_family(name) for name in learned}
    everything = case_tables("classification", development=True)
    assert len(everything) == 78
    assert set(list_tabular("classification")) < set(everything)


@pytest.mark.parametrize(
    ("table", "sizes"),
    [("glass", [102]), ("mfeat_zernike", [300, 1000]), ("collins", [242]), ("monk2", [300])],
)
def test_sizes_are_what_half_of_a_table_allows(table, sizes):
    assert training_sizes(table, [300, 1000]) == sizes


def test_eight_models_classify_and_six_regress():
    assert len(models("classification", 0)) == 8
    cases = plan(["shuttle", "344_mv"], random_states=[0, 1])
    assert len(cases) == len(set(cases)) == 8 * 2 * 2 + 6 * 3 * 2
    assert plan(["shuttle"], kinds=["knn"], sizes=[300]) == [Case("shuttle", "knn", 300, 0)]


@data
def test_a_split_has_no_class_that_is_too_rare_to_learn():
    rows = split("shuttle", 300, 0)

    whole = fetch_pmlb("shuttle").target
    counts = dict(zip(*np.unique(rows.y, return_counts=True), strict=True))
    assert min(counts.values()) >= 7
    assert set(rows.y_test) <= set(counts)
    assert len(rows.y) < 300  # rows of the rare classes are left out
    share = (whole == 1).mean()
    assert abs((rows.y == 1).mean() - share) < 0.02
    again = split("shuttle", 300, 0)
    np.testing.assert_array_equal(rows.X_test, again.X_test)
    assert not np.array_equal(rows.X, split("shuttle", 300, 1).X)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    out = tmp_path_factory.mktemp("cases")
    return out, run_experiment("prior-cases", out, quick=True)


@data
def test_a_case_has_the_model_s_predictions_and_mistakes(quick):
    out, _ = quick
    case = read_case(Case("prnn_crabs", "logistic", 100, 0).path(out))

    rows = split("prnn_crabs", 100, 0)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(rows.X, rows.y)
    probabilities = model.predict_proba(rows.X_test)
    np.testing.assert_allclose(case["test_confidence"], probabilities.max(axis=1))
    np.testing.assert_array_equal(case["test_wrong"], model.predict(rows.X_test) != rows.y_test)
    assert case["columns"].shape == (len(case["wrong"]), len(case["column_names"]))
    assert case["test_columns"].shape == (100, len(case["column_names"]))
    assert (case["family"], case["n_classes"], case["n_inputs"]) == ("prnn_crabs", 2, 7)


@data
def test_a_regression_case_has_residuals(quick):
    out, _ = quick
    case = read_case(Case("712_chscase_geyser1", "ridge", 100, 0).path(out))

    rows = split("712_chscase_geyser1", 100, 0)
    np.testing.assert_allclose(case["test_prediction"] + case["test_residuals"], rows.y_test)
    assert (case["test_error"] > 0).all()
    assert case["test_interval"].shape == (122, 2)


@data
def test_figures_of_the_cases_are_written(quick):
    out, text = quick

    with (out / "prior_cases_classification.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 4
    assert "classification: 4 cases of 2 tables, 4 of them new" in text
    case = read_case(Case("haberman", "tree", 100, 0).path(out))
    [line] = [line for line in lines if (line["table"], line["model"]) == ("haberman", "tree")]
    assert int(line["test_errors"]) == case["test_wrong"].sum()
    assert float(line["augrc"]) == pytest.approx(
        augrc_loss(case["test_wrong"], case["test_error"]), rel=1e-4
    )


@data
def test_cases_on_disk_are_kept_and_the_missing_one_comes_back_the_same(quick):
    out, _ = quick
    paths = sorted(out.rglob("*.npz"))
    removed = Case("haberman", "tree", 100, 0).path(out)
    before = read_case(removed)
    times = {path: path.stat().st_mtime_ns for path in paths if path != removed}
    removed.unlink()

    text = run_experiment("prior-cases", out, quick=True)

    assert "4 cases of 2 tables, 1 of them new" in text
    assert {path: path.stat().st_mtime_ns for path in times} == times
    after = read_case(removed)
    for name in set(before) - {"fit_seconds", "judge_seconds"}:
        np.testing.assert_array_equal(after[name], before[name])


@data
def test_the_command_collects_the_cases_it_is_asked_for(tmp_path, capsys):
    main([str(tmp_path), "--tables", "haberman", "--models", "bayes", "--sizes", "60"])

    assert "1 of 1 cases of classification, about 0 minutes left" in capsys.readouterr().out
    assert Case("haberman", "bayes", 60, 0).path(tmp_path).exists()
