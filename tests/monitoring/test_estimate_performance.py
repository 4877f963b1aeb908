"""Figures of new rows without labels against generators whose truth is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import NeighborDistance
from surefoot.model_files import load, save
from surefoot.monitoring import NewRows, estimate_performance

N_NEW = 800


def flip_chance(X):
    """Chance that a label is flipped: it grows with the second column."""
    return 0.4 * X[:, 1] ** 2


def draw_classes(n_rows, random, *, shifted=False):
    """Rows whose labels follow the first column, but for flips; shifted rows have more of what is flipped often."""
    X = random.uniform([-1, 0, 0], [1, 1, 1], (n_rows, 3))
    if shifted:
        X[:, 1] **= 0.3
    y = (X[:, 0] > 0) ^ (random.uniform(size=n_rows) < flip_chance(X))
    return X, np.array(["no", "yes"])[y.astype(int)]


@pytest.fixture(scope="module")
def sure():
    X, y = draw_classes(2400, np.random.RandomState(0))
    return IndividualErrorClassifier(LogisticRegression(), cv=3, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def shifted():
    return draw_classes(N_NEW, np.random.RandomState(1), shifted=True)


def test_the_error_of_shifted_rows_is_estimated(sure, shifted):
    X, y = shifted
    truth = (sure.predict(X) != y).mean()
    result, accuracy = (estimate_performance(sure, X, metric=m) for m in ("error", "accuracy"))
    assert accuracy.estimate == pytest.approx(1 - result.estimate)
    assert result.baseline == pytest.approx(
        (sure.held_out_.prediction != sure.held_out_.truth).mean()
    )
    assert result.interval[0] <= result.estimate <= result.interval[1]
    # At least half of the change since the fit is seen.
    assert abs(result.estimate - truth) < 0.5 * abs(result.baseline - truth)
    assert result.shift.is_shifted
    assert result.reason is None
    assert result.n_rows == N_NEW
    assert result.effective_rows < len(sure.held_out_)
    assert "P(y|x)" in result.assumption


def test_the_confusion_matrix_has_the_expected_counts(sure, shifted):
    """The true counts are within three standard deviations of binomial counts and of what held-out rows leave open."""
    X, y = shifted
    result = estimate_performance(sure, X, metric="f1")
    predicted = sure.predict(X)
    for i, true in enumerate(result.classes):
        for j, given in enumerate(result.classes):
            count = np.sum((y == true) & (predicted == given))
            assert abs(result.confusion[i, j] - count) < 3 * np.sqrt(2 * count), (true, given)
    np.testing.assert_allclose(
        result.confusion.sum(axis=0), [np.sum(predicted == label) for label in result.classes]
    )


def test_figures_of_classes_follow_from_the_matrix(sure, shifted):
    result = estimate_performance(sure, shifted[0], metric="f1")
    (a, b), (c, d) = result.confusion
    np.testing.assert_allclose(result.per_class["precision"], [a / (a + c), d / (b + d)])
    np.testing.assert_allclose(result.per_class["recall"], [a / (a + b), d / (c + d)])
    np.testing.assert_allclose(
        result.per_class["f1"], [2 * a / (2 * a + b + c), 2 * d / (2 * d + b + c)]
    )
    assert result.estimate == pytest.approx(result.per_class["f1"][1])
    assert result.interval[0] < result.estimate < result.interval[1]


def test_a_cost_is_estimated_for_a_model_with_costs():
    random = np.random.RandomState(0)
    X, y = draw_classes(600, random)
    sure = IndividualErrorClassifier(
        LogisticRegression(), cv=2, loss=[[0, 1], [5, 0]], random_state=0
    ).fit(X, y)
    X_new, y_new = draw_classes(N_NEW, random)
    result = estimate_performance(sure, X_new, metric="cost")
    predicted = sure.predict(X_new)
    truth = np.mean((y_new != predicted) * np.where(y_new == "yes", 5, 1))
    assert result.interval[0] < truth < result.interval[1]
    costs = result.confusion * [[0, 1], [5, 0]]
    assert result.estimate == pytest.approx(costs.sum() / N_NEW)


def test_three_classes_without_probabilities_have_a_confusion_matrix():
    """Without probabilities the other classes are equally likely; predicted counts are exact."""
    random = np.random.RandomState(0)
    X = random.uniform(size=(400, 2))
    y = np.where(
        random.uniform(size=400) < 0.2, random.randint(3, size=400), (3 * X[:, 0]).astype(int)
    )

    sure = IndividualErrorClassifier(LinearSVC(), cv=2, random_state=0).fit(X[:250], y[:250])
    result = estimate_performance(sure, X[250:])
    predicted = sure.predict(X[250:])
    np.testing.assert_allclose(result.confusion.sum(axis=0), np.bincount(predicted, minlength=3))
    assert result.confusion.sum() - np.trace(result.confusion) == pytest.approx(
        150 * result.estimate
    )


def test_batches_give_what_one_batch_gives(sure, shifted):
    X = shifted[0]
    rows = NewRows(sure)
    for start in range(0, N_NEW, 300):
        batch = X[start : start + 300]
        rows.add(batch, sure.judge(batch))
    together, alone = rows.estimate(), estimate_performance(sure, X)
    assert together.estimate == pytest.approx(alone.estimate, rel=1e-9)
    assert together.interval == pytest.approx(alone.interval)
    assert together.shift.auc == pytest.approx(alone.shift.auc)


def test_many_rows_are_sampled_uniformly(sure, shifted):
    """A hundred copies of each row have the estimate of the rows, and counts that are a hundred times as large."""
    X, judgement = shifted[0], sure.judge(shifted[0])
    copies = np.repeat(np.arange(N_NEW), 10)
    parts = {
        name: getattr(judgement, name)[copies] for name in ("prediction", "error", "novel", "wrong")
    }
    columns = {name: block[copies] for name, block in judgement.columns.items()}
    many = replace(
        judgement, **parts, columns=columns, probabilities=judgement.probabilities[copies]
    )
    rows = NewRows(sure)
    for _ in range(10):
        rows.add(X[copies], many)
    result, alone = rows.estimate(), estimate_performance(sure, X)
    assert result.n_rows == 100 * N_NEW
    assert result.confusion.sum() == pytest.approx(100 * N_NEW)
    # The estimate is a mean of 20,000 sampled rows, and of a classifier on 5,000 of them.
    assert result.estimate == pytest.approx(alone.estimate, abs=0.01)
    assert rows.compare().novel.sum() == 100 * judgement.novel.sum()


def test_rows_outside_of_what_was_seen_get_a_reason(sure, shifted):
    result = estimate_performance(sure, shifted[0] + 3)
    assert "outside of the training data" in result.reason
    assert np.isnan([result.estimate, *result.interval]).all()
    assert result.confusion is None


def test_three_rows_get_a_reason(sure, shifted):
    result = estimate_performance(sure, shifted[0][:3])
    assert result.reason == "There are 3 new rows only, and an estimate needs at least 20."
    assert np.isnan(result.estimate)


def test_a_precision_that_is_not_defined_gets_a_reason(sure, shifted):
    """Without any row that is predicted as the second class it has no precision; its recall is 0."""
    rows = NewRows(sure).add(shifted[0][sure.predict(shifted[0]) == "no"])
    precision, recall = rows.estimate("precision"), rows.estimate("recall")
    assert precision.reason == "No new row is predicted as the class whose precision is asked for."
    assert np.isnan(precision.estimate)
    assert recall.estimate == 0


def test_wrong_calls_get_one_sentence(sure, shifted):
    X = shifted[0]
    with pytest.raises(ValueError, match="metric='auc' is not known"):
        estimate_performance(sure, X, metric="auc")
    with pytest.raises(ValueError, match="needs a model that was fitted with costs"):
        estimate_performance(sure, X, metric="cost")
    with pytest.raises(ValueError, match="confidence"):
        estimate_performance(sure, X, confidence=1.5)
    with pytest.raises(ValueError, match="features"):
        estimate_performance(sure, X[:, :2])
    with pytest.raises(ValueError, match="0 sample"):
        estimate_performance(sure, X[:0])
    with pytest.raises(ValueError, match="no new rows yet"):
        NewRows(sure).estimate()
    with pytest.raises(TypeError, match="error_estimator is a LogisticRegression"):
        estimate_performance(LogisticRegression(), X)


def test_a_stored_model_gives_the_same_figures(sure, shifted, tmp_path):
    file = Path(tmp_path / "model.skops")
    save(sure, file)
    stored, first = (estimate_performance(model, shifted[0]) for model in (load(file), sure))
    assert stored.estimate == pytest.approx(first.estimate)
    assert stored.interval == pytest.approx(first.interval)


def draw_numbers(n_rows, random, *, shifted=False):
    """Rows whose noise has a standard deviation of 1 + 2 x; shifted rows have a larger x."""
    x = random.uniform(size=n_rows)
    x = np.sqrt(x) if shifted else x
    return x[:, None], 5 * x + random.normal(size=n_rows) * (1 + 2 * x)


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_the_errors_of_a_regressor_are_estimated(loss):
    """With a normal error of deviation s, the mean absolute error is s √(2/π), and the squared one s²."""
    random = np.random.RandomState(0)
    sure = IndividualErrorRegressor(
        LinearRegression(), indicators=NeighborDistance(), cv=2, loss=loss, random_state=0
    )
    sure.fit(*draw_numbers(500, random))
    X, _ = draw_numbers(1000, random, shifted=True)
    widths = 1 + 2 * X[:, 0]
    truth = {
        "mean_absolute_error": np.sqrt(2 / np.pi) * widths.mean(),
        "mean_squared_error": np.mean(widths**2),
    }
    for metric, expected in truth.items():
        result = estimate_performance(sure, X, metric=metric)
        assert result.interval[0] < expected < result.interval[1]
        assert abs(result.estimate - expected) < abs(result.baseline - expected)
        assert result.confusion is None
    with pytest.raises(ValueError, match="metric='error' is not known"):
        estimate_performance(sure, X)
