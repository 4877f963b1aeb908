import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproduction import buza_figure_4
from reproduction.buza_figure_4 import Result, Task, one_round, parts, render, run, summary
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


def test_rows_without_groups_are_shuffled_into_equal_splits():
    splits = Task("rows", np.zeros((100, 1)), np.zeros(100)).splits()

    assert np.bincount(splits).tolist() == [10] * 10
    assert (np.diff(splits) < 0).any()


def test_a_round_by_hand():
    random = np.random.RandomState(0)
    X = random.normal(size=(200, 1))
    y = 4 * X[:, 0] + 3
    models = {"mean": DummyRegressor(), "line": LinearRegression()}
    task = Task("line", X, y, make_models=lambda n_columns: models)

    losses, baseline = one_round(task, 2)

    first, second, test = parts(task.splits(), 2)
    # The mean of D_A errs by y minus it; on D_B that is on average the difference of the means.
    assert baseline[0] == pytest.approx(np.sqrt(np.mean((y[test] - y[first].mean()) ** 2)))
    assert losses[0, 0] == pytest.approx(np.sqrt(np.mean((y[test] - y[second].mean()) ** 2)))
    # A line foresees the errors of the mean, and errs nowhere itself.
    np.testing.assert_allclose([losses[0, 1], *losses[1], baseline[1]], 0, atol=1e-12)


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


@pytest.fixture
def result():
    baseline = np.array([[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    losses = np.array(
        [
            [[0.9, 0.9, 1.1, 1.0], [0.5, 0.5, 0.5, 0.5]],
            [[1.0, 1.0, 1.0, 4.0], [2.5, 2.5, 2.5, 2.5]],
        ]
    )
    return Result("Towns", ["RBF network", "SVM"], losses, baseline)


def test_equal_errors_are_no_win(result):
    assert result.counts.tolist() == [[2, 4], [3, 0]]


def test_relative_errors_are_geometric_means(result):
    expected = [[(0.9 * 0.9 * 1.1) ** 0.25, 0.5], [(0.5**3 * 2) ** 0.25, 1.25]]
    np.testing.assert_allclose(result.ratios, expected)


def test_matrix_as_text(result):
    title, header, *rows = render(result).splitlines()

    assert title.startswith("Towns: rounds of 4")
    assert header.split() == ["1", "2"]
    assert [row.split() for row in rows] == [
        ["1", "RBF", "network", "2", "4"],
        ["2", "SVM", "3", "0"],
    ]


def test_summary_counts_models_that_are_foreseen_well(result):
    row = next(line for line in summary([result]).splitlines() if line.startswith("Towns"))

    # Four rounds of four are at least 80 %, three are not.
    assert row.split() == ["Towns", "0", "1", "SVM:", "1", "of", "2"]


def test_summary_where_nothing_helps(result):
    hopeless = Result(result.task, result.names, result.losses + 9, result.baseline)

    assert "no meta-model: 0 of 2" in summary([hopeless])


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
