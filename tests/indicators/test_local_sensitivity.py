"""Sensitivity by brute force, fast paths against the general one, and every kind of model."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import NearestNeighbors, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from surefoot import KernelKNeighborsClassifier, LocalSensitivity
from surefoot.neighborhoods import voronoi_samples, voronoi_steps


def two_classes(n_rows=120, n_columns=4):
    return make_classification(n_rows, n_columns, n_redundant=0, random_state=0)


def samples_in_cells(X_train, X, n_neighbors):
    near = (
        NearestNeighbors(n_neighbors=n_neighbors).fit(X_train).kneighbors(X, return_distance=False)
    )
    return voronoi_samples(X, X_train[near])


class Opaque(ClassifierMixin, BaseEstimator):
    """A classifier that hides what it is, so that no fast path serves it."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def decision_function(self, X):
        return self.estimator_.decision_function(X)

    def predict(self, X):
        return self.estimator_.predict(X)


def test_two_classes_by_brute_force():
    X, y = two_classes()
    X_test = X[::7] + 0.01
    model = SVC().fit(X, y)
    found = LocalSensitivity(SVC(), n_neighbors=9).fit(X, y).transform(X_test)
    for row, x, samples in zip(found, X_test, samples_in_cells(X, X_test, 9), strict=True):
        at_x, around = model.decision_function([x])[0], model.decision_function(samples)
        change = np.sign(at_x) * (around - at_x)
        flips = (model.predict(samples) != model.predict([x])).mean()
        assert_allclose(row, [change.mean(), change.std(), change.min(), flips], atol=1e-9)


def test_three_classes_by_brute_force_from_clipped_log_odds():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=0.01, size=X.shape)
    X_test = X[::10] + 0.02
    forest = RandomForestClassifier(20, random_state=0)
    found = LocalSensitivity(forest, n_neighbors=7).fit(X, y).transform(X_test)
    model = clone(forest).fit(X, y)

    def log_odds(rows):
        return logit(np.clip(model.predict_proba(rows), 1 / 302, 1 - 1 / 302))

    for row, x, samples in zip(found, X_test, samples_in_cells(X, X_test, 7), strict=True):
        at_x, around = log_odds([x])[0], log_odds(samples)
        top = at_x.argmax()
        lead = [scores[top] - np.delete(scores, top).max() for scores in [at_x, *around]]
        change = np.array(lead[1:]) - lead[0]
        flips = (around.argmax(axis=1) != top).mean()
        assert_allclose(row, [change.mean(), change.std(), change.min(), flips], atol=1e-9)


def test_the_score_is_the_mean_lead_over_its_spread():
    X, y = two_classes()
    stability = LocalSensitivity(SVC()).fit(X, y)
    shift, spread, *_ = stability.transform(X[:20]).T
    lead = np.abs(SVC().fit(X, y).decision_function(X[:20]))
    assert_allclose(stability.score_samples(X[:20]), (lead + shift) / spread, rtol=1e-6)


def test_per_class_columns_are_signed_and_of_the_positive_class():
    X, y = two_classes()
    X_test = X[::11] + 0.01
    found = LocalSensitivity(SVC(), per_class=True, n_neighbors=5).fit(X, y).transform(X_test)
    model = SVC().fit(X, y)
    for row, x, samples in zip(found, X_test, samples_in_cells(X, X_test, 5), strict=True):
        change = model.decision_function(samples) - model.decision_function([x])
        assert_allclose(row, [change.mean(), change.std()], atol=1e-9)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), RidgeClassifier()])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_linear_path_is_exact(model, classes):
    X, y = load_iris(return_X_y=True)
    X, y = StandardScaler().fit_transform(X[y < classes]), y[y < classes]
    fast = LocalSensitivity(model).fit(X, y)
    assert fast.index_.is_affine
    general = LocalSensitivity(Opaque(model)).fit(X, y)
    assert not general.index_.is_affine
    assert_allclose(fast.transform(X + 0.05), general.transform(X + 0.05), atol=1e-9)


def test_the_exact_kernel_vote_is_that_of_its_samples():
    X, y = two_classes()
    knn = KernelKNeighborsClassifier(sample_neighbors="exact")
    assert_allclose(
        LocalSensitivity(knn).fit(X, y).transform(X[:30] + 0.01),
        LocalSensitivity(Opaque(knn)).fit(X, y).transform(X[:30] + 0.01),
        atol=1e-9,
    )


def test_regressors_have_no_flips_and_a_score_that_falls_with_the_change():
    X, y = make_regression(150, 3, random_state=0)
    stability = LocalSensitivity(RandomForestRegressor(20, random_state=0), n_neighbors=6).fit(X, y)
    assert_array_equal(stability.get_feature_names_out(), ["shift", "spread", "worst"])
    model, X_test = RandomForestRegressor(20, random_state=0).fit(X, y), X[:5] + 0.01
    samples = samples_in_cells(X, X_test, 6)
    change = model.predict(samples.reshape(-1, 3)).reshape(5, 6) - model.predict(X_test)[:, None]
    expected = np.column_stack([change.mean(axis=1), change.std(axis=1), change.min(axis=1)])
    assert_allclose(stability.transform(X_test), expected, atol=1e-9)
    assert_allclose(stability.score_samples(X_test), -np.sqrt((change**2).mean(axis=1)), atol=1e-9)
    assert LocalSensitivity(LinearRegression()).fit(X, y).index_.is_affine


def test_midpoints_ignore_the_cell():
    X, y = two_classes()
    found = LocalSensitivity(SVC(), sampling="midpoint", n_neighbors=5, per_class=True).fit(X, y)
    x = X[:1] + 0.01
    near = X[found.index_.search.kneighbors(x, 5)[1][0]]
    change = SVC().fit(X, y).decision_function((x + near) / 2) - SVC().fit(X, y).decision_function(
        x
    )
    assert_allclose(found.transform(x)[0], [change.mean(), change.std()], atol=1e-9)


def test_uniform_samples_lie_at_one_drawn_fraction_for_each_rank():
    X, y = two_classes()
    stability = LocalSensitivity(LogisticRegression(), sampling="uniform", random_state=3).fit(X, y)
    together, alone = stability.transform(X[:9]), [stability.transform(X[[i]])[0] for i in range(9)]
    assert_allclose(together, alone)
    assert_allclose(together, clone(stability).fit(X, y).transform(X[:9]))
    other = LocalSensitivity(LogisticRegression(), sampling="uniform", random_state=4).fit(X, y)
    assert not np.allclose(together, other.transform(X[:9]))
    border = LocalSensitivity(LogisticRegression()).fit(X, y).transform(X[:9])
    assert (np.abs(together[:, 2]) <= np.abs(border[:, 2]) + 1e-12).all()


def test_axis_samples_move_one_column_by_its_local_deviation():
    X, y = two_classes()
    found = LocalSensitivity(SVC(), sampling="axis", n_neighbors=8, per_class=True).fit(X, y)
    x = X[:1] + 0.01
    spread = X[found.index_.search.kneighbors(x, 8)[1][0]].std(axis=0)
    samples = np.concatenate([x + np.diag(spread), x - np.diag(spread)])
    model = SVC().fit(X, y)
    change = model.decision_function(samples) - model.decision_function(x)
    assert_allclose(found.transform(x)[0], [change.mean(), change.std()], atol=1e-9)


def customers(n_rows=160):
    """A table with numbers, gaps, categories and free text, in which the plan decides most."""
    rng = np.random.default_rng(0)
    plan, months = rng.choice(["basic", "gold", "team"], n_rows), rng.integers(1, 60, n_rows)
    gone = (months < 25) ^ (plan == "gold")
    words = np.where(gone, "slow bill angry", "fine thanks happy").astype(object)
    frame = pd.DataFrame(
        {
            "months": np.where(rng.random(n_rows) < 0.1, np.nan, months),
            "plan": pd.Series(plan).where(rng.random(n_rows) > 0.1, None),
            "note": words + rng.choice([" call", " mail", " chat"], n_rows),
            "fee": rng.gamma(2.0, 10.0, n_rows),
        }
    )
    return frame, np.where(gone, "left", "stays")


def customer_pipeline(model):
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["months", "fee"]),
        (OneHotEncoder(handle_unknown="ignore"), ["plan"]),
        (TfidfVectorizer(), "note"),
    )
    return make_pipeline(columns, model)


def frozen(model, X, y):
    return FrozenEstimator(clone(model).fit(X, y))


@pytest.mark.parametrize("freeze", [False, True])
@pytest.mark.parametrize(
    "model", [LogisticRegression(), RandomForestClassifier(20, random_state=0)]
)
def test_a_pipeline_on_a_frame_with_text_and_gaps(model, freeze):
    X, y = customers()
    pipeline = customer_pipeline(model)
    given = frozen(pipeline, X, y) if freeze else pipeline
    stability = LocalSensitivity(given).fit(X, y)
    columns = stability.set_output(transform="pandas").transform(X[:30])
    assert list(columns) == ["shift", "spread", "worst", "flips"]
    assert list(columns.index) == list(X.index[:30])
    seen = clone(pipeline[:-1]).fit(X, y).transform(X)
    by_hand = LocalSensitivity(model).fit(seen, y)
    assert_allclose(columns.to_numpy(), by_hand.transform(seen[:30]))
    assert_allclose(stability.score_samples(X[:30]), by_hand.score_samples(seen[:30]))


def test_a_category_is_taken_at_both_values_and_a_gap_at_both_ends():
    X = pd.DataFrame({"size": [0.0, 10.0, np.nan], "kind": pd.Categorical(["a", "b", "b"])})

    class Rule(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            kind = np.where(X["kind"].to_numpy() == "b", 100.0, 0.0)
            return kind + X["size"].fillna(-50.0).to_numpy()

    stability = LocalSensitivity(Rule(), n_neighbors=3, sampling="midpoint", per_class=True)
    found = stability.fit(X, [0, 1, 1]).transform(X[:1])
    # From (0, a) half way to itself: 0. To (10, b): size 5, and kind half 0, half 100: 55.
    # To (gap, b): half (0, a) and half (gap, b): (0 + 50) / 2 = 25.
    assert_allclose(found[0], [np.mean([0, 55, 25]), np.std([0, 55, 25])])


def test_integer_coded_categories_are_never_interpolated():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 5, 200), rng.normal(size=200)]).astype(float)
    y = np.isin(X[:, 0], [1, 4]).astype(int)

    class Watching(HistGradientBoostingClassifier):
        def decision_function(self, X):
            assert set(np.unique(np.asarray(X)[:, 0])) <= {0.0, 1.0, 2.0, 3.0, 4.0}
            return super().decision_function(X)

    boosting = Watching(max_iter=10, categorical_features=[0], random_state=0)
    assert np.isfinite(LocalSensitivity(boosting).fit(X, y).transform(X[:20])).all()


def documents():
    rng = np.random.default_rng(1)
    words = {"sport": "ball goal team win match", "money": "bank rate loan cash fund"}
    labels = rng.choice(list(words), 90)
    shared = ["the", "a", "of", "city", "day"]
    texts = [" ".join([*rng.choice(words[c].split(), 4), *rng.choice(shared, 3)]) for c in labels]
    return texts, labels


@pytest.mark.parametrize(
    ("container", "freeze"), [(list, False), (np.array, True), (pd.Series, False)]
)
@pytest.mark.parametrize(
    "model", [LinearSVC(), MultinomialNB(), KernelKNeighborsClassifier(kernel="cosine")]
)
def test_a_text_pipeline_stays_sparse(model, container, freeze):
    texts, labels = documents()
    X = container(texts)
    pipeline = make_pipeline(TfidfVectorizer(), model)
    given = frozen(pipeline, X, labels) if freeze else pipeline
    stability = LocalSensitivity(given, n_neighbors=6).fit(X, labels)
    assert stability.index_.space.rows.format == "csr"
    assert stability.index_.metric == "cosine"
    assert (stability.index_.voter is not None) == isinstance(model, KernelKNeighborsClassifier)
    seen = TfidfVectorizer().fit(texts).transform(texts)
    by_hand = LocalSensitivity(model, n_neighbors=6).fit(seen, labels)
    assert_allclose(stability.transform(X[:20]), by_hand.transform(seen[:20]), atol=1e-9)


@pytest.mark.parametrize("threshold", [0.9, 0.2])
@pytest.mark.parametrize("labels", [None, 0])
def test_a_threshold_of_its_own_is_where_the_class_flips(threshold, labels):
    X, y = two_classes()
    model = FixedThresholdClassifier(GaussianNB(), threshold=threshold, pos_label=labels).fit(X, y)
    found = LocalSensitivity(FrozenEstimator(model), n_neighbors=9).fit(X, y).transform(X + 0.01)
    samples = samples_in_cells(X, X + 0.01, 9)
    predicted = model.predict(samples.reshape(-1, 4)).reshape(-1, 9)
    flips = (predicted != model.predict(X + 0.01)[:, None]).mean(axis=1)
    assert_allclose(found[:, 3], flips)
    assert flips.max() > 0


def test_codes_that_a_wrapped_pipeline_decodes_are_never_interpolated():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"region": np.arange(120) % 6, "age": rng.normal(size=120)})
    y = (X["region"].isin([1, 4]) ^ (X["age"] > 1)).to_numpy()
    columns = make_column_transformer((OneHotEncoder(), ["region"]), remainder="passthrough")
    vote = VotingClassifier([("a", make_pipeline(columns, LogisticRegression()))], voting="soft")
    found = LocalSensitivity(vote, n_neighbors=5, sampling="midpoint", per_class=True).fit(X, y)
    x, near = X[:1], X.iloc[found.index_.search.kneighbors(found.index_.space(None, X[:1]))[1][0]]
    change = []
    for _, row in near.iterrows():
        ends = pd.DataFrame(
            {"region": [0, int(row["region"])], "age": (x["age"].iloc[0] + row["age"]) / 2}
        )
        chances = np.clip(
            vote.fit(X, y).predict_proba(pd.concat([x, ends]))[:, 1], 1 / 242, 241 / 242
        )
        scores = np.log(chances / (1 - chances))
        change.append(scores[1:].mean() - scores[0])
    assert_allclose(found.transform(x)[0], [np.mean(change), np.std(change)], atol=1e-9)


def test_a_learned_metric_finds_the_neighbours_and_the_model_gets_its_own_input():
    X, y = two_classes()
    noisy = np.column_stack([X, np.random.default_rng(0).normal(scale=30, size=len(X))])
    space = make_pipeline(StandardScaler(), NeighborhoodComponentsAnalysis(2, random_state=0))
    stability = LocalSensitivity(SVC(), space=space, n_neighbors=4).fit(noisy, y)
    coordinates = clone(space).fit(noisy, y).transform(noisy)
    near = (
        NearestNeighbors(n_neighbors=4)
        .fit(coordinates)
        .kneighbors(coordinates[:3], return_distance=False)
    )
    assert_array_equal(stability.index_.search.kneighbors(coordinates[:3])[1], near)
    steps = voronoi_steps(coordinates[:3], coordinates[near])
    samples = noisy[:3, None] + steps[:, :, None] * (noisy[near] - noisy[:3, None])
    model = SVC().fit(noisy, y)
    at_rows = model.decision_function(noisy[:3])
    around = model.decision_function(samples.reshape(-1, 5)).reshape(3, 4)
    change = np.sign(at_rows)[:, None] * (around - at_rows[:, None])
    assert_allclose(stability.transform(noisy[:3])[:, 0], change.mean(axis=1), atol=1e-9)


def test_rows_longer_than_one_are_sampled_on_the_way_between_them():
    # Under the cosine the cell is a cone: the sample must be on the segment between the rows as they are.
    X = np.array([[2.0, 0.0], [0.0, 6.0], [5.0, 5.0]])
    seen = []

    class Recording(GaussianNB):
        def predict_proba(self, X):
            seen.append(np.array(X))
            return super().predict_proba(X)

    model = FrozenEstimator(Recording().fit(np.vstack([X, X + 0.1]), [0, 1, 1, 0, 1, 1]))
    LocalSensitivity(model, metric="cosine", n_neighbors=2).fit(X).transform([[3.0, 1.0]])
    x, samples = np.array([3.0, 1.0]), next(rows[1:] for rows in seen if len(rows) == 3)
    for sample, neighbor in zip(samples, [X[0], X[2]], strict=True):
        way, part = neighbor - x, sample - x
        assert abs(way[0] * part[1] - way[1] * part[0]) < 1e-9
        cosines = X @ sample / np.linalg.norm(X, axis=1)
        assert_allclose(cosines.max(), x @ sample / np.linalg.norm(x))


def test_batches_and_threads_change_nothing(monkeypatch):
    X, y = two_classes()
    expected = LocalSensitivity(SVC()).fit(X, y).transform(X)
    monkeypatch.setattr("surefoot._parallel.SHARE_OF_WORKING_MEMORY", 1e-5)
    assert_allclose(LocalSensitivity(SVC(), n_jobs=2).fit(X, y).transform(X), expected)


@pytest.mark.parametrize(
    ("indicator", "error", "sentence"),
    [
        (
            LocalSensitivity(),
            ValueError,
            "LocalSensitivity.estimator=None. has no model: estimator may be",
        ),
        (LocalSensitivity("forest"), TypeError, "estimator='forest' is no model: it may be"),
        (LocalSensitivity(SVC), TypeError, "estimator=<class .* is no model: it may be"),
        (LocalSensitivity(StandardScaler()), ValueError, "is no classifier or regressor"),
        (
            LocalSensitivity(SVC(), metric="hamburg"),
            ValueError,
            "metric='hamburg' is not known: it may be",
        ),
        (
            LocalSensitivity(SVC(), space="flat"),
            ValueError,
            "space='flat' is not known: it may be 'auto', 'scaled' or a trans",
        ),
        (
            LocalSensitivity(SVC(), sampling="all"),
            ValueError,
            "sampling='all' is not known: it may be 'voronoi'",
        ),
        (
            LocalSensitivity(SVC(), response="score"),
            ValueError,
            "response='score' is not known: it may be 'auto'",
        ),
        (
            LocalSensitivity(SVC(), response="predict_proba"),
            ValueError,
            "SVC has no usable predict_proba: response may",
        ),
        (LocalSensitivity(SVC(), n_neighbors=0), ValueError, "n_neighbors == 0, must be >= 1"),
    ],
)
def test_wrong_parameters_get_one_sentence(indicator, error, sentence):
    X, y = two_classes()
    with pytest.raises(error, match=sentence):
        indicator.fit(X, y)


def test_several_targets_and_no_rows_get_one_sentence():
    X, y = two_classes()
    both = np.column_stack([y, 1 - y])
    with pytest.raises(ValueError, match="y should be a 1d array"):
        LocalSensitivity(RandomForestRegressor(5)).fit(X, both)
    regressor = FrozenEstimator(RandomForestRegressor(5).fit(X, both))
    with pytest.raises(ValueError, match="estimator predicts 2 targets a row: it must predict one"):
        LocalSensitivity(regressor, n_neighbors=2).fit(X, y).transform(X)
    classifier = FrozenEstimator(RandomForestClassifier(5).fit(X, both))
    with pytest.raises(TypeError, match="estimator predicts several targets a row"):
        LocalSensitivity(classifier).fit(X, y)
    with pytest.raises(ValueError, match="0 sample"):
        LocalSensitivity(SVC()).fit(X, y).transform(X[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LocalSensitivity(FrozenEstimator(SVC().fit(X, y))).fit(X, y[:10])


def test_an_unfitted_frozen_model_is_named():
    X, y = two_classes()
    with pytest.raises(ValueError, match="This SVC instance is not fitted yet"):
        LocalSensitivity(FrozenEstimator(SVC())).fit(X, y)


def test_gaps_that_nothing_imputes_are_named():
    X, y = two_classes()
    stability = LocalSensitivity(SVC()).fit(X, y)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        stability.transform(X)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        LocalSensitivity(SVC()).fit(X, y)


def test_pairwise_decision_values_are_not_used():
    X, y = load_iris(return_X_y=True)
    pairwise = SVC(decision_function_shape="ovo")
    with pytest.raises(ValueError, match="SVC has no usable decision_function: response may"):
        LocalSensitivity(pairwise, response="decision_function").fit(X, y)
    stability = LocalSensitivity(pairwise).fit(X, y)
    assert stability.index_.model.method == "predict"


def test_predictions_alone_are_as_sure_as_the_rows_can_show():
    X, y = load_iris(return_X_y=True)
    vote = VotingClassifier([("a", SVC()), ("b", GaussianNB())])
    outputs = LocalSensitivity(vote).fit(X, y).index_.model
    scores, predicted = outputs(X), vote.fit(X, y).predict(X)
    sure = np.log(2 * len(X) + 1)  # log-odds with half a row of each side added
    assert_allclose(scores, np.where(predicted[:, None] == np.arange(3), sure, -sure))


@pytest.mark.parametrize("sampling", ["voronoi", "midpoint", "uniform", "axis"])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize(
    "model",
    [KernelKNeighborsClassifier(5, kernel="cosine"), LinearSVC(random_state=0), MultinomialNB()],
)
def test_dense_rows_with_the_same_values_get_the_same_columns(sampling, metric, model):
    rng = np.random.default_rng(0)
    X = csr_array(rng.random((150, 40)) * (rng.random((150, 40)) < 0.25))
    y = (X[:, :5].sum(axis=1) > X[:, 5:10].sum(axis=1)).astype(int)
    stability = LocalSensitivity(
        model, n_neighbors=6, sampling=sampling, metric=metric, random_state=0
    )
    sparse = clone(stability).fit(X[:100], y[:100]).transform(X[100:])
    dense = clone(stability).fit(X[:100].toarray(), y[:100]).transform(X[100:].toarray())
    assert_allclose(sparse, dense, atol=1e-9)


def test_axis_samples_of_mixed_columns_are_refused():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0] * 5, "kind": ["a", "b", "a", "a"] * 5})
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(columns, LogisticRegression())
    vote = VotingClassifier([("model", model)], voting="soft")
    stability = LocalSensitivity(vote, sampling="axis")
    with pytest.raises(ValueError, match="sampling='axis' needs a model whose input is a table"):
        stability.fit(frame, [0, 1, 0, 1] * 5).transform(frame[:3])
