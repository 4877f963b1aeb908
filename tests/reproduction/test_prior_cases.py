import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproduction.data import TABLES, fetch_table, list_tables
from reproduction.prior_cases import (
    Case,
    case_tables,
    main,
    models,
    plan,
    read_case,
    run,
    split,
    training_sizes,
)
from surefoot.error_estimation import ErrorPrior
from surefoot.metrics import augrc_loss


def test_nothing_is_learned_from_development_tables_or_their_kin():
    learned = case_tables("classification") + case_tables("regression")

    kin = set(list_tables(collection="pmlb")) - set(learned)
    assert kin == {"dna", "waveform_21", "574_house_16H"}
    development = list_tables(collection="tabular")
    assert not set(TABLES.family[development]) & set(TABLES.family[learned])
    assert set(ErrorPrior.shipped().tables) <= set(learned)


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


@pytest.mark.data("pmlb")
def test_a_split_has_no_class_that_is_too_rare_to_learn():
    rows = split(Case("shuttle", "knn", 300, 0))

    whole = fetch_table("shuttle")[1]
    counts = dict(zip(*np.unique(rows.y, return_counts=True), strict=True))
    assert min(counts.values()) >= 7
    assert set(rows.y_test) <= set(counts)
    assert len(rows.y) < 300  # rows of the rare classes are left out
    share = (whole == 1).mean()
    assert abs((rows.y == 1).mean() - share) < 0.02
    again = split(Case("shuttle", "knn", 300, 0))
    np.testing.assert_array_equal(rows.X_test, again.X_test)
    assert not np.array_equal(rows.X, split(Case("shuttle", "knn", 300, 1)).X)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    out = tmp_path_factory.mktemp("cases")
    return out, run(out, quick=True)


@pytest.mark.data("pmlb")
def test_a_case_has_the_model_s_predictions_and_mistakes(quick):
    out, _ = quick
    crabs = Case("prnn_crabs", "logistic", 100, 0)
    case = read_case(crabs.path(out))

    rows = split(crabs)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(rows.X, rows.y)
    probabilities = model.predict_proba(rows.X_test)
    np.testing.assert_allclose(case["test_confidence"], probabilities.max(axis=1))
    np.testing.assert_array_equal(case["test_wrong"], model.predict(rows.X_test) != rows.y_test)
    assert case["columns"].shape == (len(case["wrong"]), len(case["column_names"]))
    assert case["test_columns"].shape == (100, len(case["column_names"]))
    assert (case["family"], case["n_classes"], case["n_inputs"]) == ("prnn_crabs", 2, 7)


@pytest.mark.data("pmlb")
def test_a_regression_case_has_residuals(quick):
    out, _ = quick
    geyser = Case("712_chscase_geyser1", "ridge", 100, 0)
    case = read_case(geyser.path(out))

    rows = split(geyser)
    np.testing.assert_allclose(case["test_prediction"] + case["test_residuals"], rows.y_test)
    assert (case["test_error"] > 0).all()
    assert case["test_interval"].shape == (122, 2)


@pytest.mark.data("pmlb")
def test_figures_of_the_cases_are_written(quick):
    out, text = quick

    lines = pd.read_csv(out / "prior_cases_classification.csv").set_index(["table", "model"])
    assert len(lines) == 4
    assert "classification: 4 cases of 2 tables, 4 of them new" in text
    case = read_case(Case("haberman", "tree", 100, 0).path(out))
    line = lines.loc["haberman", "tree"]
    assert line.test_errors == case["test_wrong"].sum()
    assert line.augrc == pytest.approx(augrc_loss(case["test_wrong"], case["test_error"]), rel=1e-4)


@pytest.mark.data("pmlb")
def test_cases_on_disk_are_kept_and_the_missing_one_comes_back_the_same(quick):
    out, _ = quick
    paths = sorted(out.rglob("*.npz"))
    removed = Case("haberman", "tree", 100, 0).path(out)
    before = read_case(removed)
    times = {path: path.stat().st_mtime_ns for path in paths if path != removed}
    removed.unlink()

    text = run(out, quick=True)

    assert "4 cases of 2 tables, 1 of them new" in text
    assert {path: path.stat().st_mtime_ns for path in times} == times
    after = read_case(removed)
    for name in set(before) - {"fit_seconds", "judge_seconds"}:
        np.testing.assert_array_equal(after[name], before[name])


@pytest.mark.data("pmlb")
def test_the_command_collects_the_cases_it_is_asked_for(tmp_path, capsys):
    main([str(tmp_path), "--tables", "haberman", "--models", "bayes", "--sizes", "60"])

    assert "classification: 1 cases of 1 tables, 1 of them new" in capsys.readouterr().out
    assert Case("haberman", "bayes", 60, 0).path(tmp_path).exists()
