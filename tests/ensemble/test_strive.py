"""Striving against stacking by hand, against scikit-learn's, and on rows that are hard to meet."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot import KernelKNeighborsClassifier, LocalSensitivity
from surefoot.ensemble import StriveClassifier
from surefoot.ensemble._combination import learn_threshold
from surefoot.indicators import Confidence, NeighborDisagreement

TEXT_MODELS = [
    ("knn", KernelKNeighborsClassifier(7, kernel="cosine")),
    ("svm", LinearSVC(random_state=0)),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("bernoulli", BernoulliNB()),
    ("multinomial", MultinomialNB()),
]
SENSITIVITY = LocalSensitivity(per_class=True)

strive_classifier = partial(StriveClassifier, random_state=0)


def documents(n_rows=150, n_topics=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 20)) * (rng.random((n_rows, 20)) < 0.25)
    truth = np.random.default_rng(99).normal(size=(20, n_topics))
    return csr_array(X), (X @ truth + 0.2 * rng.normal(size=(n_rows, n_topics)) > 0.3).astype(int)


def two_classes(n_rows=300):
    return make_classification(n_rows, 6, n_informative=4, flip_y=0.1, random_state=0)


def linear_svm():
    """The metaclassifier of the paper."""
    svm = LinearSVC(C=0.1, dual=False, max_iter=10_000)
    return make_pipeline(MinMaxScaler(clip=True), StandardScaler(), svm)


def test_without_indicators_it_is_scikit_learns_stacking():
    X, y = two_classes()
    base = [("line", LogisticRegression()), ("svm", LinearSVC(random_state=0))]
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    ours = strive_classifier(base, final_estimator=linear_svm(), cv=folds, threshold=0.0)
    theirs = StackingClassifier(base, linear_svm(), cv=folds, stack_method="decision_function")
    scores, expected = (
        model.fit(X[:200], y[:200]).decision_function(X[200:]) for model in (ours, theirs)
    )
    assert_allclose(scores, expected, atol=1e-9)
    table = [
        cross_val_predict(m, X[:200], y[:200], cv=folds, method="decision_function")
        for _, m in base
    ]
    assert_allclose(ours.held_out_.columns[:, 0], np.column_stack(table))


def test_threshold_is_learned_on_scores_of_metaclassifiers_that_had_not_seen_the_row(monkeypatch):
    X, y = two_classes()
    base, folds = [("line", LogisticRegression())], StratifiedKFold(5)
    monkeypatch.setattr("surefoot.ensemble._combination.FOLDS", folds)
    for objective in ("error", "f1"):
        model = strive_classifier(
            base, final_estimator=linear_svm(), cv=4, threshold=objective
        ).fit(X, y)
        scores = cross_val_predict(
            linear_svm(), model.held_out_.columns[:, 0], y, cv=folds, method="decision_function"
        )
        assert_allclose(model.held_out_scores_[:, 0], scores)
        assert model.thresholds_[0] == pytest.approx(learn_threshold(scores, y, objective))


@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_topics_come_back_as_they_were_given(kind):
    X, y = documents()
    model = strive_classifier(TEXT_MODELS[1:3]).fit(X, kind(y))
    assigned = model.predict(X)
    assert issparse(assigned) == (kind is csr_array)
    dense = assigned.toarray() if issparse(assigned) else assigned
    assert_array_equal(dense, model.decision_function(X) > 0)
    assert (dense == y).mean() > 0.8


def test_empty_documents_and_words_nobody_knew():
    texts = ["wheat corn", "corn oats", "oil gas", "gas coal", "oil coal", "wheat oats"] * 5
    y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [1, 0]] * 5)
    model = make_pipeline(TfidfVectorizer(), strive_classifier(TEXT_MODELS, SENSITIVITY, cv=3))
    model.fit([*texts, "", ""], np.vstack([y, [[0, 0], [0, 0]]]))
    scores = model.decision_function(["corn", "", "zinc", "coal"])
    assert np.isfinite(scores).all()
    assert_allclose(scores[1], scores[2])  # a text of unknown words is an empty one
    assert_array_equal(model.predict(["corn", "", "coal"]), [[1, 0], [0, 0], [0, 1]])


def test_a_topic_with_one_document_is_answered_alike_and_disturbs_no_other():
    X, y = documents()
    y[:, 1] = 0
    y[7, 1] = 1
    cv = list(KFold(3).split(np.arange(100)))
    model = strive_classifier(TEXT_MODELS, SENSITIVITY, cv=cv).fit(X[:100], y[:100])
    assert [final is None for final in model.final_estimators_] == [False, True, False]
    scores = model.decision_function(X[100:])
    # One and a half rows of 101 have it: the odds are 1.5 to 99.5.
    assert_allclose(scores[:, 1], np.log(1.5 / 99.5))
    others = strive_classifier(TEXT_MODELS, SENSITIVITY, cv=cv).fit(X[:100], y[:100][:, [0, 2]])
    assert_allclose(scores[:, [0, 2]], others.decision_function(X[100:]), atol=1e-8)


def test_rows_of_a_fold_without_the_topic_are_not_learned_from():
    X, y = documents(n_topics=2)
    y[:, 1] = 0
    y[:20:2, 1] = 1  # all in the first of three folds, where nobody else could learn it
    y[[60, 61], 1] = 1
    model = strive_classifier(TEXT_MODELS[1:3], cv=KFold(3)).fit(X, y)
    missing = np.isnan(model.held_out_.columns[:, 1]).any(axis=1)
    assert not missing.any()
    y[[60, 61], 1] = 0
    model = strive_classifier(TEXT_MODELS[1:3], cv=KFold(3)).fit(X, y)
    missing = np.isnan(model.held_out_.columns[:, 1]).any(axis=1)
    assert_array_equal(missing, np.arange(150) < 50)
    assert_allclose(model.held_out_scores_[:, 1], np.log(10.5 / 140.5))  # ten rows of 150 have it
    assert model.final_estimators_[1] is None


def test_more_than_two_classes_have_a_metaclassifier_each():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    model = strive_classifier([("bayes", GaussianNB()), ("line", LogisticRegression())])
    model.fit(X[::2], labels[::2])
    assert model.decision_function(X).shape == (150, 3)
    assert len(model.final_estimators_) == 3
    assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    assert model.score(X[1::2], labels[1::2]) > 0.9
    assert_array_equal(model.thresholds_, 0.0)


def test_passthrough_shows_the_rows_themselves():
    X, y = documents()
    model = strive_classifier(TEXT_MODELS[1:2], passthrough=True, threshold=0.0).fit(X, y[:, 0])
    assert model.feature_names_out_.tolist() == ["svm__score", *(f"x{i}" for i in range(20))]
    table = np.hstack([model.meta_columns(X)[:, 0], X.toarray()])
    expected = model.final_estimators_[0].decision_function(csr_array(table))
    assert_allclose(model.decision_function(X), expected)


def test_fewer_columns_of_the_same_models():
    X, y = documents()
    full = strive_classifier(TEXT_MODELS[:3], SENSITIVITY).fit(X[:100], y[:100])
    scores = [name for name in full.feature_names_out_ if name.endswith("__score")]
    stack = full.with_columns(scores)
    alone = strive_classifier(TEXT_MODELS[:3]).fit(X[:100], y[:100])
    assert_array_equal(stack.feature_names_out_, alone.feature_names_out_)
    expected = alone.decision_function(X[100:])
    assert_allclose(stack.decision_function(X[100:]), expected, atol=1e-8)
    assert len(full.feature_names_out_) == 9  # the first keeps its own
    assert [step.dropped for step in stack.backward_selection()] == [None]
    with pytest.raises(ValueError, match="columns has 'knn__shift_1'"):
        stack.with_columns(["knn__shift_1"])
    with pytest.raises(ValueError, match="columns is empty"):
        full.with_columns([])


def test_an_indicator_that_knows_where_a_model_fails_carries_the_gain():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 1)).astype(int)
    base = [("line", LogisticRegression())]
    # The line misses the corner; the labels around a row do not.
    asked = {"line": [NeighborDisagreement(n_neighbors=15), Confidence()]}
    model = strive_classifier(
        base, asked, final_estimator=DecisionTreeClassifier(max_depth=4, random_state=0)
    )
    steps = model.fit(X, y).backward_selection()
    assert [step.dropped for step in steps] == [
        None,
        "line__Confidence",
        "line__NeighborDisagreement",
    ]
    assert steps[0].remaining == ("line__NeighborDisagreement", "line__Confidence")
    assert steps[1].score > steps[2].score + 0.03


def test_without_evidence_the_best_model_decides():
    # Labels follow the first model's score; a tree of two leaves and indicators of worthless scores add nothing.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + rng.logistic(scale=0.3, size=400) > 0).astype(int)
    base = [("tree", DecisionTreeClassifier(max_depth=1)), ("line", LogisticRegression())]
    model = strive_classifier(base, [SENSITIVITY, Confidence()]).fit(X[:200], y[:200])
    line = model.named_estimators_["line"][0]
    order = np.argsort(line.decision_function(X))
    scores = model.decision_function(X)[order]
    assert (np.diff(scores) >= 0).all()
    assert_array_equal(model.predict(X), line.predict(X))


def test_the_threshold_of_log_odds_is_zero_unless_another_saves_errors_or_is_given():
    X, y = two_classes()
    free, given, for_f1 = (
        strive_classifier([("line", LogisticRegression())], threshold=threshold).fit(X, y)
        for threshold in ("error", 0.7, "f1")
    )
    assert free.thresholds_[0] == 0.0
    assert given.thresholds_[0] == 0.7
    assert_allclose(free.decision_function(X) - given.decision_function(X), 0.7)
    assert_array_equal(given.predict(X), free.decision_function(X) > 0.7)
    expected = learn_threshold(for_f1.held_out_scores_[:, 0], y, "f1")
    assert for_f1.thresholds_[0] == pytest.approx(expected)


def test_worthless_labels_teach_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    base = [
        ("knn", KernelKNeighborsClassifier(5)),
        ("tree", DecisionTreeClassifier(random_state=0)),
    ]
    model = strive_classifier(base, [SENSITIVITY, NeighborDisagreement()]).fit(X, y)
    correlations = [
        abs(np.corrcoef(column, model.held_out_.targets[:, 0])[0, 1])
        for column in model.held_out_.columns[:, 0].T
    ]
    assert max(correlations) < 0.2  # three and a half standard errors of 300 rows


def test_groups_stay_together():
    X, y = documents()
    groups = np.random.default_rng(0).integers(0, 12, 150)
    model = strive_classifier(TEXT_MODELS[1:2], cv=3).fit(X, y, groups=groups)
    for train, test in GroupKFold(3).split(X, groups=groups):
        svm = LinearSVC(random_state=0).fit(X[train], y[train, 0])
        assert_allclose(model.held_out_.columns[test, 0, 0], svm.decision_function(X[test]))


@pytest.mark.parametrize(
    ("changes", "kind", "sentence"),
    [
        ({"threshold": "recall"}, ValueError, "threshold='recall' is not known"),
        ({"final_estimator": Ridge()}, TypeError, "final_estimator=Ridge.. is no classifier"),
        ({"indicators": {"nobody": SENSITIVITY}}, ValueError, "indicators names 'nobody'"),
        ({"indicators": GaussianNB()}, TypeError, "is no indicator"),
        ({"estimators": [("a", FrozenEstimator(GaussianNB()))]}, TypeError, "in FrozenEstimator"),
    ],
)
def test_wrong_parameters_get_one_sentence(changes, kind, sentence):
    X, y = two_classes()
    model = strive_classifier([("bayes", GaussianNB())]).set_params(**changes)
    with pytest.raises(kind, match=sentence):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([1, 1, 1], "one class only, 1"),
        ([0, 0, 1], "one class only with two rows or more, 0"),
        ([[0, 1], [0, 1], [0, 1]], "one class only in every column"),
        (csr_array(np.array([[0, 2], [1, 0], [1, 0]])), "other values than 0 and 1"),
        ([[1, 2], [3, 4], [5, 6]], "1d array"),
        ([], "no rows"),
    ],
)
def test_targets_that_cannot_be_learned_get_one_sentence(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        strive_classifier([("bayes", GaussianNB())]).fit(np.eye(3)[: np.shape(y)[0]], y)


# Learned thresholds against all cuts tried by hand.

SCORES = st.lists(
    st.tuples(st.integers(-3, 3), st.booleans(), st.integers(1, 3)), min_size=2, max_size=12
)


def errors(scores, truth, weight, threshold):
    return (weight * ((scores > threshold) != truth)).sum()


def weighted_f1(scores, truth, weight, threshold):
    return f1_score(truth, scores > threshold, sample_weight=weight, zero_division=0)


def test_a_topic_that_is_hardly_found_is_not_assigned():
    scores, truth = np.array([3.0, 2.0, 1.0, -1.0]), np.array([0, 0, 0, 1])
    # At best all are called positive: F1 is 2/5.
    assert learn_threshold(scores, truth, "f1") == -2.0
    assert learn_threshold(scores, truth, "f1", least_f1=0.39) == -2.0
    assert learn_threshold(scores, truth, "f1", least_f1=0.41) == 3.0
    assert learn_threshold(scores, truth, "error", least_f1=0.41) == 4.0


@settings(max_examples=25, deadline=None)
@given(SCORES)
def test_no_cut_is_better(rows):
    scores, truth, weight = map(np.array, zip(*rows, strict=True))
    scores, weight = scores.astype(float), weight.astype(float)
    cuts = np.arange(-4.5, 4.5, 1.0)
    found = learn_threshold(scores, truth.astype(int), "error", sample_weight=weight)
    least = min(errors(scores, truth, weight, cut) for cut in cuts)
    assert errors(scores, truth, weight, found) == least
    found = learn_threshold(scores, truth.astype(int), "f1", sample_weight=weight)
    best = max(weighted_f1(scores, truth, weight, cut) for cut in cuts)
    assert weighted_f1(scores, truth, weight, found) == pytest.approx(best)
