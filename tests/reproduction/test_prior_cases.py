import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproduction.data import TABLES, fetch_table, list_tables
from reproduction.prior_cases import (
    Case,
    case_tables,
    collect_all,
    planned,
    read_case,
    split,
)
from surefoot.error_estimation import ErrorPrior


def test_nothing_is_learned_from_development_tables_or_their_kin():
    learned = case_tables("classification") + case_tables("regression")

    kin = set(list_tables(collection="pmlb")) - set(learned)
    assert kin == {"dna", "waveform_21", "574_house_16H"}
    development = list_tables(collection="tabular")
    assert not set(TABLES.family[development]) & set(TABLES.family[learned])
    assert set(ErrorPrior.shipped().tables) <= set(learned)


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


def collect(out):
    """What is said of the cases of both tasks, of which there are few."""
    tasks = ("classification", "regression")
    return "\n".join(collect_all(planned(task, quick=True), out) for task in tasks)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    out = tmp_path_factory.mktemp("cases")
    return out, collect(out)


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.data("pmlb")
def test_cases_on_disk_are_kept_and_the_missing_one_comes_back_the_same(quick):
    out, _ = quick
    paths = sorted(out.rglob("*.npz"))
    removed = Case("haberman", "tree", 100, 0).path(out)
    before = read_case(removed)
    times = {path: path.stat().st_mtime_ns for path in paths if path != removed}
    removed.unlink()

    text = collect(out)

    assert "4 cases of 2 tables, 1 of them new" in text
    assert {path: path.stat().st_mtime_ns for path in times} == times
    after = read_case(removed)
    for name in set(before) - {"fit_seconds", "judge_seconds"}:
        np.testing.assert_array_equal(after[name], before[name])
