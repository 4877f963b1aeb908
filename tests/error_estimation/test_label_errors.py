"""Flipped labels are ranked first, for every kind of model, and hard rows alone raise no alarm."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from surefoot.error_estimation import (
    HeldOut,
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    find_label_errors,
)


def flipped_table(n_classes=2, share=0.06, n_rows=300, spread=0.7):
    """Rows around one centre a class, and which of their labels were exchanged."""
    draw = np.random.default_rng(0)
    clean = np.arange(n_rows) % n_classes
    X = 3 * np.eye(n_classes)[clean] + spread * draw.normal(size=(n_rows, n_classes))
    flipped = np.zeros(n_rows, dtype=bool)
    flipped[draw.choice(n_rows, round(share * n_rows), replace=False)] = True
    y = np.where(flipped, (clean + draw.integers(1, n_classes, n_rows)) % n_classes, clean)
    return X, y, clean, flipped


def precision(errors, flipped):
    scores = np.zeros(len(flipped))
    scores[errors.rows] = errors.scores
    return average_precision_score(flipped, scores)


def fitted(model, X, y, **settings):
    return IndividualErrorClassifier(model, cv=3, random_state=0, **settings).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
def test_flipped_labels_come_first_with_the_label_they_had(model, n_classes):
    X, y, clean, flipped = flipped_table(n_classes)
    names = np.array([f"class {i}" for i in range(n_classes)])
    errors = find_label_errors(fitted(model, X, names[y]))
    assert precision(errors, flipped) > 0.8
    assert sorted(errors.rows) == list(range(300))
    assert (np.diff(errors.scores) <= 0).all()
    assert (errors.labels == names[y][errors.rows]).all()
    assert (errors.labels != errors.suggested).all()
    first = errors.rows[:15]
    assert (errors.suggested[:15] == names[clean[first]]).mean() > 0.9


def test_many_flipped_labels_raise_an_alarm():
    X, y, _, _ = flipped_table(n_rows=900)
    assert find_label_errors(fitted(GaussianNB(), X, y)).p_value < 0.002


def test_a_frozen_model_and_groups_are_taken():
    X, y, clean, flipped = flipped_table()
    frozen = FrozenEstimator(GaussianNB().fit(X, clean))
    assert precision(find_label_errors(fitted(frozen, X, y)), flipped) > 0.9
    grouped = IndividualErrorClassifier(GaussianNB(), cv=3, random_state=0)
    grouped.fit(X, y, groups=np.arange(300) // 10)
    assert precision(find_label_errors(grouped), flipped) > 0.9


def test_rows_that_are_held_out_twice_are_ranked_once():
    X, y, _, flipped = flipped_table()
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = IndividualErrorClassifier(GaussianNB(), cv=folds, random_state=0).fit(X, y)
    errors = find_label_errors(model)
    assert sorted(errors.rows) == list(range(300))
    assert precision(errors, flipped) > 0.9


def test_hard_rows_alone_raise_no_alarm():
    draw = np.random.default_rng(1)
    X = draw.normal(size=(600, 3))
    y = draw.random(600) < expit(2 * X[:, 0])  # a quarter of the labels cannot be known
    assert find_label_errors(fitted(LogisticRegression(), X, y)).p_value > 0.1
    X, y = load_iris(return_X_y=True)
    assert find_label_errors(fitted(GaussianNB(), X, y)).p_value > 0.1


def test_a_model_without_a_mistake_raises_no_alarm():
    X = np.r_[np.linspace(-2, -1, 50), np.linspace(1, 2, 50)][:, None]
    errors = find_label_errors(fitted(LogisticRegression(), X, X[:, 0] > 0))
    assert errors.p_value == 1
    assert errors.scores.max() < 0.5


def judged(probabilities, error, truth, predicted=None):
    """Error estimator whose held-out rows are given."""
    n_rows, zeros = len(truth), np.zeros(len(truth))
    top = probabilities.argmax(axis=1) if predicted is None else predicted
    model = IndividualErrorClassifier(GaussianNB())
    model.held_out_ = HeldOut(
        prediction=top,
        error=error,
        wrong=error,
        novel=zeros > 0,
        columns={},
        classes=np.arange(probabilities.shape[1]),
        probabilities=probabilities,
        rows=np.arange(n_rows),
        losses=(top != truth).astype(float),
        scores=np.log(probabilities),
        splits=zeros.astype(int),
        truth=truth,
    )
    return model


def test_probabilities_of_labels_by_hand():
    # The probabilities are the shares of the labels, and the error estimate agrees: 6, 3 and 1 of 10.
    truth = np.repeat([0, 1, 2], [6, 3, 1])
    errors = find_label_errors(judged(np.array([[0.6, 0.3, 0.1]] * 10), np.full(10, 0.4), truth))
    assert errors.labels.tolist() == [2, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    assert_allclose(errors.scores, np.repeat([0.9, 0.7, 0.4], [1, 3, 6]), atol=1e-4)
    assert errors.suggested.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]


def test_lapses_are_told_from_hard_rows():
    draw = np.random.default_rng(0)
    doubt = draw.normal(size=1500) * 3 - 5
    hard = draw.random(1500) < expit(doubt)
    lapses = hard | (draw.random(1500) < 0.05)
    top = draw.integers(0, 2, 1500)

    def p_value(wrong, sureness):
        other = expit(sureness * np.minimum(doubt, 0))
        probabilities = np.column_stack([other, other])
        probabilities[np.arange(1500), top] = 1 - other
        truth = np.where(wrong, 1 - top, top)
        return find_label_errors(judged(probabilities, expit(doubt), truth, top)).p_value

    assert p_value(hard, 1) > 0.1
    assert p_value(lapses, 1) < 1e-4
    assert (
        p_value(hard, 20) > 0.1
    )  # too sure, as the estimated errors know: no label is wrong for that


def test_a_class_that_is_never_found_contradicts_nothing():
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = np.random.default_rng(1).random(400) < 0.07
    assert find_label_errors(fitted(GaussianNB(), X, y)).p_value == 1


def test_what_has_no_labels_is_one_sentence():
    X, y = load_iris(return_X_y=True)
    model = IndividualErrorRegressor(LinearRegression(), cv=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="Labels are classes, and this is a regressor"):
        find_label_errors(model)
    with pytest.raises(TypeError, match="is no error estimator"):
        find_label_errors(GaussianNB().fit(X, y))
