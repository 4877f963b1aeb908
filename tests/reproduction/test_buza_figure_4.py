import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproduction import buza_figure_4
from reproduction.buza_figure_4 import Task, one_round, parts, run
from surefoot.error_estimation import IndividualErrorRegressor


def write_data(home, n_rows=60):
    """Communities and voices of made-up numbers, in the files' own layout."""
    random = np.random.RandomState(0)
    folder = home / "uci"
    folder.mkdir(parents=True)
    cells = random.uniform(size=(n_rows, 123)).round(2)
    lines = [",".join(["8", "?", "?", "Town", "1", *map(str, row)]) for row in cells]
    lines[0] = lines[0].replace("Town,1,", "Town,1,?,", 1).rsplit(",", 1)[0]
    (folder / "communities.data").write_text("\n".join(lines))
    header = "subject#,age,sex,test_time,motor_UPDRS,total_UPDRS,HNR,PPE"
    rows = np.column_stack([np.arange(n_rows) % 20 + 1, random.uniform(size=(n_rows, 7)).round(2)])
    lines = [header, *(",".join(f"{cell:g}" for cell in row) for row in rows)]
    (folder / "parkinsons_updrs.data").write_text("\n".join(lines))


def test_every_split_tests_once_and_five_train_the_model():
    splits = np.repeat(np.arange(10), 3)

    rounds = [parts(splits, number) for number in range(10)]

    for number, (first, second, test) in enumerate(rounds):
        assert set(splits[test]) == {number}
        assert (len(set(splits[first])), len(set(splits[second]))) == (5, 4)
        assert sorted([*first, *second, *test]) == list(range(30))
    # Over the ten rounds each split trains the model five times and its meta-model four times.
    assert np.bincount(np.concatenate([second for _, second, _ in rounds])).tolist() == [4] * 30


def test_patients_stay_together():
    groups = np.repeat(np.arange(20), 7)
    splits = Task("voices", np.zeros((140, 1)), np.zeros(140), groups).splits()

    assert all(len(set(splits[groups == group])) == 1 for group in range(20))
    assert set(splits) == set(range(10))


def test_a_round_is_what_the_public_estimator_does():
    random = np.random.RandomState(0)
    X = random.normal(size=(200, 3))
    y = X[:, 0] ** 2 + random.normal(size=200)
    # The meta-model scales the rows itself, so that it does not matter that they come scaled.
    neighbors = make_pipeline(StandardScaler(), KNeighborsRegressor(7))
    models = {"line": LinearRegression(), "kNN": neighbors}
    task = Task("curve", X, y, make_models=lambda n_columns: models)

    losses, baseline = one_round(task, 4)

    first, second, test = parts(task.splits(), 4)
    public = IndividualErrorRegressor(
        LinearRegression(), neighbors, indicators=[], passthrough=True, cv=[(first, second)]
    ).fit(X, y)
    true = y[test] - public.predict(X[test])
    assert baseline[0] == pytest.approx(np.sqrt(np.mean(true**2)))
    assert losses[0, 1] == pytest.approx(
        np.sqrt(np.mean((true - public.predict_residual(X[test])) ** 2))
    )


@pytest.mark.slow
def test_quick_run(tmp_path, monkeypatch):
    write_data(tmp_path)
    monkeypatch.setenv("SUREFOOT_DATA", str(tmp_path))
    monkeypatch.setattr(buza_figure_4, "QUICK_ROWS", 60)

    text = run(tmp_path, quick=True)

    assert "Parkinson, motor, by patient: rounds of 1" in text
    assert "seem to work generally well" in text
    rounds = pd.read_csv(tmp_path / "buza-figure-4-rounds.csv")
    counts = pd.read_csv(tmp_path / "buza-figure-4.csv")
    assert len(rounds) == len(counts) == 3 * 11 * 11
    assert ((rounds.rmse < rounds.baseline_rmse) == (counts.rounds_better == 1)).all()
    assert {path.name for path in tmp_path.glob("*.png")} == {
        f"buza-figure-4-{name}.png"
        for name in ("communities", "parkinson-motor", "parkinson-motor-by-patient")
    }
