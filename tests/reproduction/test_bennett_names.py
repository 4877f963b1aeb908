"""Sensitivity Recalibrated, Stack-S and STRIVE-S are the paper's computations, written again in plain numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold

from reproduction.bennett_figure_2 import (
    OUR_STACK,
    OUR_STRIVE,
    STACK,
    STRIVE,
    SVM,
    decide,
    fit_base_models,
    meta_scores,
    metaclassifiers,
)
from reproduction.bennett_table_2 import RECALIBRATED, SENSITIVITY, make_models
from reproduction.texts import Corpus
from surefoot.datasets import make_friedman_problem


def paper_k(n):
    return 2 * int(np.ceil(np.log2(n))) + 1


def vote(x, rows, labels, k):
    """Equation 4 with a Gaussian kernel, σ = 1."""
    squares = ((rows - x) ** 2).sum(axis=1)
    near = np.argsort(squares, kind="stable")[:k]
    return (np.exp(-squares[near] / 2) * np.where(labels[near] == 1, 1, -1)).sum()


def bisected(x, neighbor, rows):
    """Largest step up to ½ at which no row is nearer to the sample than x is."""

    def inside(step):
        sample = x + step * (neighbor - x)
        nearest = np.sqrt(((rows - sample) ** 2).sum(axis=1)).min()
        return np.sqrt(((x - sample) ** 2).sum()) <= nearest + 1e-12

    if inside(0.5):
        return 0.5
    low, high = 0.0, 0.5
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) else (low, middle)
    return low


def paper_columns(x, rows, labels, k):
    """λ(x), and the mean and the root of the variance of λ(s) − λ(x) over the samples s in the cell of x."""
    own = vote(x, rows, labels, k)
    near = rows[np.argsort(((rows - x) ** 2).sum(axis=1))[:k]]
    samples = [x + bisected(x, n, rows) * (n - x) for n in near]
    changes = np.array([vote(s, rows, labels, k) for s in samples]) - own
    return own, changes.mean(), np.sqrt(changes.var())


def platt(columns, labels):
    """Function that gives the probabilities of a logistic regression with Platt's targets, fitted by Newton's steps."""
    middle, scale = columns.mean(axis=0), columns.std(axis=0)

    def table(columns):
        return np.column_stack([np.ones(len(columns)), (columns - middle) / scale])

    n_positive, n_negative = (labels == 1).sum(), (labels == 0).sum()
    targets = np.where(labels == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    X, weights = table(columns), np.zeros(columns.shape[1] + 1)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-X @ weights))
        curvature = X.T @ (X * (chance * (1 - chance))[:, None])
        weights = weights + np.linalg.solve(curvature, X.T @ (targets - chance))
    return lambda columns: 1 / (1 + np.exp(-table(columns) @ weights))


class Recorder(ClassifierMixin, BaseEstimator):
    """Calibrator that keeps the columns that it is fitted with."""

    def fit(self, X, y):
        self.columns_, self.classes_ = X, np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


def test_recalibrated_and_sensitivity_recalibrated():
    n_rows = 100
    k = paper_k(n_rows)  # 15, and for the 90 rows of a fold too
    assert k == paper_k(90)
    X, y = make_friedman_problem(4, n_rows, random_state=1)
    X_test, _ = make_friedman_problem(4, 40, random_state=2)
    held_out = np.empty((n_rows, 3))
    for train, test in StratifiedKFold(10).split(X, y):
        held_out[test] = [paper_columns(x, X[train], y[train], k) for x in X[test]]
    new = np.array([paper_columns(x, X, y, k) for x in X_test])
    models = make_models(n_rows)
    for name, n_columns in {RECALIBRATED: 1, SENSITIVITY: 3}.items():
        expected = platt(held_out[:, :n_columns], y)(new[:, :n_columns])
        found = models[name].fit(X, y).predict_proba(X_test)[:, 1]
        assert_allclose(found, expected, atol=5e-4)  # the tolerance of scikit-learn's solver
        assert expected.std() > 0.05
        recorded = models[name].set_params(calibrator=Recorder()).fit(X, y)
        assert_allclose(recorded.calibrators_[0].columns_, held_out[:, :n_columns], atol=1e-9)


def linear_svm(columns, labels, C=0.1):
    """Scores of a linear SVM with squared hinge loss on scaled columns: least squares over the rows in the margin."""
    low, high = columns.min(axis=0), columns.max(axis=0)
    width = np.where(high > low, high - low, 1.0)

    def clipped(columns):
        return np.clip((columns - low) / width, 0, 1)

    middle, scale = clipped(columns).mean(axis=0), clipped(columns).std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)

    def table(columns):
        return np.column_stack([(clipped(columns) - middle) / scale, np.ones(len(columns))])

    X, signs = table(columns), np.where(labels == 1, 1.0, -1.0)
    weights = np.zeros(X.shape[1])
    for _ in range(500):
        inside = signs * (X @ weights) < 1
        curvature = np.eye(len(weights)) + 2 * C * X[inside].T @ X[inside]
        best = np.linalg.solve(curvature, 2 * C * X[inside].T @ signs[inside])
        weights = weights + 0.5 * (best - weights)
    return lambda columns: table(columns) @ weights


def least_error_threshold(scores, truth):
    """Of the thresholds with the fewest wrong decisions the nearest to 0."""
    steps = np.unique(scores)
    cuts = [0.0, steps[0] - 1, steps[-1] + 1, *((steps[1:] + steps[:-1]) / 2)]
    wrong = np.array([((scores > cut) != truth).sum() for cut in cuts])
    best = [cut for cut, count in zip(cuts, wrong, strict=True) if count == wrong.min()]
    return min(best, key=lambda cut: (abs(cut), -cut))


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(320, 2))

    def documents(n_rows):
        X = rng.random((n_rows, 320)) * (rng.random((n_rows, 320)) < 0.08)
        y = (X @ topics + 0.3 * rng.normal(size=(n_rows, 2)) > 0.4).astype(np.int64)
        return csr_array(X / np.linalg.norm(X, axis=1, keepdims=True)), y

    train, test = documents(100), documents(60)
    return Corpus("small", *train, *test)


@pytest.fixture(scope="module")
def fitted(corpus):
    return fit_base_models(corpus)


def test_sensitivity_of_the_text_classifier(corpus, fitted):
    # Cosine kernel, and the k neighbours of a sample among the K = 2k of the document.
    strive, columns = fitted
    names = list(strive.feature_names_out_)
    train, test, k = corpus.X_train.toarray(), corpus.X_test.toarray(), paper_k(100)
    for topic, labels in enumerate(corpus.y_train.T):
        signs = np.where(labels == 1, 1, -1)
        for x, found in zip(test[:20], columns[:20, topic], strict=True):
            cached = np.argsort(-train @ x, kind="stable")[: 2 * k]
            near, own = train[cached], (signs * (train @ x))[cached[:k]].sum()
            changes = []
            for n in near[:k]:
                s = x + bisected(x, n, train) * (n - x)
                cosines = near @ s / np.linalg.norm(s)
                voting = np.argsort(-cosines, kind="stable")[:k]
                changes.append((signs[cached] * cosines)[voting].sum() - own)
            expected = own, np.mean(changes), np.sqrt(np.var(changes))
            places = [names.index(f"knn__{column}") for column in ("score", "shift_1", "spread_1")]
            assert_allclose(found[places], expected, atol=1e-9)


@pytest.mark.parametrize(("name", "n_columns"), [(STACK, 5), (STRIVE, None)])
def test_stack_s_and_strive_s(corpus, fitted, name, n_columns):
    # A linear SVM for each topic, on the five scores, or on these and the columns of the indicators.
    strive, columns = fitted
    scores = [f"{model}__score" for model in ("knn", "svm", "tree", "bernoulli", "multinomial")]
    assert strive.feature_names_out_[:5].tolist() == scores
    draw = 3
    combined = metaclassifiers(strive, draw)
    assigned = decide(strive, combined, columns)["error", name]
    held_out, known = strive.held_out_.columns[:, :, :n_columns], columns[:, :, :n_columns]
    seed = np.random.RandomState(draw).randint(np.iinfo(np.int32).max)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    for topic, truth in enumerate(corpus.y_train.T):
        own = linear_svm(held_out[:, topic], truth)(known[:, topic])
        assert_allclose(meta_scores(combined[name], known)[:, topic], own, atol=1e-3)
        seen = np.empty(len(truth))
        for train, test in folds.split(truth, truth):
            model = linear_svm(held_out[train, topic], truth[train])
            seen[test] = model(held_out[test, topic])
        assert_allclose(combined[name].held_out_scores_[:, topic], seen, atol=1e-3)
        cut = least_error_threshold(combined[name].held_out_scores_[:, topic], truth == 1)
        sure = np.abs(own - cut) > 2e-3
        assert_array_equal(assigned[sure, topic], (own > cut)[sure])
        assert sure.mean() > 0.9


def test_our_variants_have_names_of_their_own(fitted):
    combined = metaclassifiers(fitted[0], 0)
    assert list(combined) == [STACK, STRIVE, OUR_STACK, OUR_STRIVE]
    assert combined[STRIVE].final_estimator is not None
    assert combined[OUR_STRIVE].final_estimator is None
    assert len({SVM, *combined}) == 5
