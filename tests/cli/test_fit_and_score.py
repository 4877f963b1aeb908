"""`surefoot fit` and `surefoot score`: a model, and what it says of every row of a table."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from surefoot import IndividualErrorRegressor
from surefoot._tables import table_bytes
from surefoot.abstention import Promise, threshold_for_risk
from surefoot.model_files import load, save


@pytest.fixture(scope="module")
def folder(tmp_path_factory, customers):
    """A table without texts, in which to fit is quick, and models for its two targets."""
    folder = tmp_path_factory.mktemp("fitted")
    table = customers.drop(columns=["note", "since"])
    (folder / "table.csv").write_bytes(table_bytes(table, ".csv"))
    (folder / "table.parquet").write_bytes(table_bytes(table, ".parquet"))
    return folder


@pytest.fixture(scope="module")
def classifier(folder, command):
    path = folder / "leaves.skops"
    options = ["--target", "leaves", "--estimator", "logistic", "--out", path]
    command("fit", folder / "table.csv", *options)
    return path


@pytest.fixture(scope="module")
def regressor(folder, customers):
    X = customers[["age"]].fillna(40)
    model = IndividualErrorRegressor(LinearRegression(), cv=2, random_state=0)
    save(model.fit(X, customers["spent"]), folder / "spent.skops")
    return folder / "spent.skops"


def test_every_row_is_scored_as_the_model_says(run, folder, classifier, tmp_path, customers):
    out = tmp_path / "s.parquet"
    result = run("score", classifier, folder / "table.parquet", "--out", out, "--max-risk", "0.5")
    assert result.code == 0
    assert result.err == ""
    scores, model = pd.read_parquet(tmp_path / "s.parquet"), load(classifier)
    X = customers[list(model.feature_names_in_)]
    assert scores["row"].tolist() == list(range(120))
    assert scores["prediction"].tolist() == model.estimator_.predict(X).tolist()
    chances = model.estimator_.predict_proba(X)
    np.testing.assert_allclose(scores[["probability_no", "probability_yes"]], chances)
    np.testing.assert_allclose(scores["estimated_error"], model.predict_error(X))
    judgement = model.judge(X)
    np.testing.assert_allclose(scores["shift"], judgement.shift)
    np.testing.assert_allclose(scores["spread"], judgement.spread)
    assert scores["novel"].tolist() == model.predict_novelty(X).tolist()
    n_accepted = int(scores["accepted"].sum())
    assert result.out.startswith(f"{n_accepted} of 120 rows can be trusted: at most")


def test_rows_are_trusted_up_to_the_limit_that_keeps_the_risk(run, folder, classifier, tmp_path):
    out = tmp_path / "s.csv"
    options = ["--max-risk", "0.22", "--confidence", "0.8", "--json"]
    new = tmp_path / "new.csv"  # the rows of the table are known, and never accepted
    pd.read_csv(folder / "table.csv").assign(age=lambda table: table["age"] + 0.01).to_csv(new)
    result = run("score", classifier, new, "--out", out, *options)
    found, scores = json.loads(result.out), pd.read_csv(out)
    told = load(classifier).held_out_
    usual = ~told.novel
    limit = -threshold_for_risk(-told.error[usual], told.losses[usual], 0.22, 0.8).score
    assert found["limit"] == pytest.approx(limit)
    passed = (scores["estimated_error"] <= limit) & ~scores["novel"] & ~scores["known"]
    assert scores["accepted"].tolist() == passed.tolist()
    assert found["n_accepted"] == scores["accepted"].sum() > 0


def test_numbers_have_intervals_and_no_probabilities(run, folder, regressor, tmp_path, customers):
    out = tmp_path / "s.csv"
    data = folder / "complete.csv"
    customers.fillna({"age": 40}).to_csv(data, index=False)
    run("score", regressor, data, "--out", out)
    scores = pd.read_csv(out)
    names = (
        "row prediction estimated_error low high residual shift spread worst novel known accepted"
    )
    assert list(scores.columns) == names.split()
    inside = (scores["low"] <= customers["spent"]) & (customers["spent"] <= scores["high"])
    assert inside.mean() > 0.85


def test_the_error_that_fit_tells_is_that_of_rows_held_out(run, folder, tmp_path):
    out = tmp_path / "m.skops"
    options = ["--target", "leaves", "--estimator", "knn", "--json", "--task", "classification"]
    result = run("fit", folder / "table.csv", "--out", out, *options)
    found, told = json.loads(result.out), load(out).held_out_
    truth = pd.read_csv(folder / "table.csv")["leaves"].to_numpy()[told.rows]
    assert found["error"] == pytest.approx((told.prediction != truth).mean())
    assert (found["n_rows"], result.err) == (120, "")


def test_rows_of_one_group_are_promised_as_groups(run, write, tmp_path):
    draw = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 10)
    wrong = draw.random(40) < 0.1  # whole groups have the other answer
    x = draw.normal(size=400)
    y = np.where((x > 0) ^ wrong[group], "yes", "no")
    table = pd.DataFrame({"x": x, "noise": draw.normal(size=400), "clinic": group, "y": y})
    data = write(table.to_csv(index=False), "grouped.csv")
    model, out = tmp_path / "m.skops", tmp_path / "s.csv"
    grouped = ["--target", "y", "--groups", "clinic", "--estimator", "logistic"]
    run("fit", data, *grouped, "--out", model)
    result = run("score", model, data, "--out", out, "--max-risk", "0.25", "--json")
    held_out = load(model).held_out_
    assert len(np.unique(held_out.groups)) == 40
    by_groups = Promise.from_held_out(held_out, 0.25)
    by_rows = Promise.from_losses(held_out.error, held_out.losses, 0.25)
    assert json.loads(result.out)["limit"] == (by_groups.threshold if by_groups.kept else None)
    assert (
        by_rows.coverage > by_groups.coverage
    )  # 400 rows that were independent would promise more


def test_a_column_is_kept_once_and_not_beside_one_of_its_name(run, folder, classifier, tmp_path):
    command = ["score", classifier, folder / "table.csv", "--out", tmp_path / "s.csv"]
    assert run(*command, "--keep", "plan", "--keep", "plan").code == 0
    assert list(pd.read_csv(tmp_path / "s.csv").columns[:3]) == ["row", "plan", "prediction"]
    result = run(*command, "--keep", "prediction")
    assert result.sentence == (
        "--keep prediction has the name of a column that is written: rename it."
    )
