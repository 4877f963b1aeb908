"""Forged contents are refused where compiled code would read or write beside them."""

import io

import numpy as np
import pandas as pd
import pytest
from array_changes import first, put
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import FeatureHasher, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, OneHotEncoder, SplineTransformer
from sklearn.svm import SVC, SVR, OneClassSVM

ALTERED = "FILE is not loaded: the support vectors in it do not fit its coefficients."
OTHER_ROWS = "FILE is not loaded: the stored rows in it do not fit each other."
KD_TREE = "FILE is not loaded: the KD-tree in it leads astray."
CATEGORIES = "FILE is not loaded: an encoder in it has columns that do not fit its categories."
SPLINE = "FILE is not loaded: a spline in it has knots that do not fit its coefficients."
BROKEN = "FILE is a broken skops file, or was saved by other versions."


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("support_", lambda values: values[:-1]),
        ("_n_support", first(10**6)),
        ("_n_support", lambda values: np.append(values, 1).astype("i4")),
        ("_dual_coef_", lambda values: values[:, :1]),
        ("_intercept_", lambda values: values[:0]),
        ("_probA", lambda values: np.zeros(9)),
        ("support_vectors_", lambda values: values[:, :1]),
        ("support_vectors_", lambda values: values.astype("f4")),
    ],
)
@pytest.mark.parametrize("model", [SVC(), SVR(), OneClassSVM()])
def test_support_vectors(refusal, forge, rows, model, name, change):
    forged = forge(model.fit(*rows))
    array = forged.attributes(type(model).__name__)[name]
    assert refusal(forged.change(array, change).content()) == ALTERED


def test_a_kernel_that_reads_elsewhere(refusal, forge, rows):
    forged = forge(SVC().fit(*rows)).set("SVC", kernel="precomputed")
    assert refusal(forged.content()) in (ALTERED, BROKEN)


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (1, first(10**9)),
        (1, first(-1)),
        (1, lambda values: values[:1]),
        (2, put("idx_end", 10**9)),
        (2, put("idx_start", -5)),
        (2, put("is_leaf", 0, -1)),
        (2, lambda nodes: nodes[:1]),
        (3, lambda bounds: bounds[:, :1]),
        (3, lambda bounds: bounds[:, :, :1].copy()),
    ],
)
def test_parts_of_a_kd_tree(refusal, forge, rows, place, change):
    model = KNeighborsClassifier(3, algorithm="kd_tree", leaf_size=5).fit(*rows)
    forged = forge(model)
    part = forged.state(__class__="KDTree")["content"]["content"][place]
    assert refusal(forged.change(part, change).content()) == KD_TREE


@pytest.mark.parametrize("place", range(13))
def test_a_kd_tree_without_one_of_its_parts(refusal, forge, rows, place):
    """Compiled code takes None for an array, and looks at its size."""
    forged = forge(KNeighborsClassifier(3, algorithm="kd_tree").fit(*rows))
    part = forged.state(__class__="KDTree")["content"]["content"][place]
    forged.replace(part, 1 if place == 12 else None)
    assert refusal(forged.content()) == "FILE is not loaded: the KD-tree in it is incomplete."


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_metric_without_one_of_its_parts(refusal, forge, rows, place):
    forged = forge(KNeighborsClassifier(3, algorithm="kd_tree").fit(*rows))
    part = forged.state(__class__="EuclideanDistance64")["content"]["content"][place]
    forged.replace(part, None)
    assert refusal(forged.content()) == (
        "FILE is not loaded: the metric of a KD-tree is incomplete."
    )


def test_a_kd_tree_that_is_made_of_objects(refusal, forge, rows):
    model = make_pipeline(SplineTransformer(), KNeighborsClassifier(3, algorithm="kd_tree")).fit(
        *rows
    )
    forged = forge(model)
    parts = forged.state(__class__="KDTree")["content"]["content"]
    parts[0] = forged.state(__class__="BSpline")
    assert refusal(forged.content()) == (
        "FILE is not loaded: a tree in it is made of something else than numbers."
    )


def test_a_kd_tree_of_other_rows(refusal, forge, rows):
    model = KNeighborsClassifier(3, algorithm="kd_tree").fit(*rows)
    forged = forge(model)
    forged.state(__class__="KDTree").pop("content")
    assert refusal(forged.content()) == BROKEN
    forged = forge(model)
    data = forged.state(__class__="KDTree")["content"]["content"][0]
    assert refusal(forged.change(data, lambda values: values[:5]).content()) == OTHER_ROWS
    forged = forge(model)
    stored = forged.attributes("KNeighborsClassifier")["_fit_X"]
    stored["file"] = "1.npy"
    forged.members["1.npy"] = array_bytes(np.zeros((99, 3)))
    forged.set("KNeighborsClassifier", n_samples_fit_=99)
    assert refusal(forged.content()) == OTHER_ROWS


def array_bytes(values):
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_y", first(10**9)),
        ("_y", first(-1)),
        ("_y", lambda y: y[:3]),
        ("_fit_X", lambda X: X[:, :1]),
    ],
)
def test_rows_and_labels_of_neighbours(refusal, forge, rows, name, change):
    forged = forge(KNeighborsClassifier(3, algorithm="brute").fit(*rows))
    part = forged.attributes("KNeighborsClassifier")[name]
    assert refusal(forged.change(part, change).content()) == OTHER_ROWS


def test_centres_of_clusters(refusal, forge, rows, load):
    forged = forge(KMeans(2, n_init=1).fit(rows[0])).set("KMeans", _n_threads=10**9)
    assert load(forged.content())._n_threads <= 1024
    part = forged.attributes("KMeans")["cluster_centers_"]
    assert refusal(forged.change(part, lambda values: values[:, :1]).content()) == OTHER_ROWS


def kinds():
    return pd.DataFrame({"a": list("xyzx") * 9, "b": [1, 2, 3, 4] * 9})


@pytest.mark.parametrize(
    "forgery",
    [
        {"_n_features_outs": [1, 1]},
        {"_n_features_outs": [30, 40]},
        {"_n_features_outs": [3]},
        {"_drop_idx_after_grouping": [99, 0]},
    ],
)
def test_columns_of_an_encoder(refusal, forge, forgery):
    encoder = OneHotEncoder(drop="first").fit(kinds())
    sentence = refusal(forge(encoder).set("OneHotEncoder", **forgery).content())
    assert sentence in (CATEGORIES, BROKEN)


def test_categories_out_of_order(refusal, forge):
    forged = forge(OneHotEncoder().fit(kinds()[["b"]]))
    known = forged.attributes("OneHotEncoder")["categories_"]["content"][0]
    assert refusal(forged.change(known, lambda values: values[::-1].copy()).content()) == CATEGORIES


def test_rare_categories(load, refusal, forge):
    encoder = OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist").fit(kinds())
    np.testing.assert_array_equal(
        load(forge(encoder).content()).transform(kinds()).toarray(),
        encoder.transform(kinds()).toarray(),
    )
    forged = forge(encoder)
    groups = forged.attributes("OneHotEncoder")["_default_to_infrequent_mappings"]["content"][1]
    assert refusal(forged.change(groups, first(10**6)).content()) == CATEGORIES


@pytest.mark.parametrize("place", [10**6, -1, 0])
def test_words_beyond_the_columns(refusal, forge, place):
    forged = forge(TfidfVectorizer().fit(["good day", "bad night"]))
    words = forged.attributes("TfidfVectorizer")["vocabulary_"]["content"]
    for word in words.values():
        forged.replace(word, place)
    assert refusal(forged.content()) == (
        "FILE is not loaded: the words of a vectorizer in it do not fit its columns."
    )


@pytest.mark.parametrize("kind", [FeatureHasher, HashingVectorizer])
@pytest.mark.parametrize("n_features", [0, -1, 2**31])
def test_a_hasher_into_nothing(refusal, forge, kind, n_features):
    forged = forge(kind()).set(kind.__name__, n_features=n_features)
    assert refusal(forged.content()) == (
        "FILE is not loaded: a hasher in it has no columns, or too many."
    )


def test_labels_beyond_the_columns(refusal, forge):
    binarizer = MultiLabelBinarizer().fit([["a"], ["b"]])
    binarizer.transform([["a"]])
    forged = forge(binarizer)
    for place in forged.attributes("MultiLabelBinarizer")["_cached_dict"]["content"].values():
        forged.replace(place, 10**6)
    assert refusal(forged.content()) == (
        "FILE is not loaded: the labels of a binarizer in it do not fit its columns."
    )


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_t", lambda values: values[:3]),
        ("_t", first(np.nan)),
        ("_t", lambda values: values[::-1].copy()),
        ("_c", lambda values: values[:2]),
        ("_c", lambda values: values.astype("f4")),
    ],
)
def test_knots_of_a_spline(refusal, forge, rows, name, change):
    forged = forge(SplineTransformer(n_knots=4).fit(rows[0]))
    stored = forged.attributes(kind_of_spline(forged))
    part = stored[name if name in stored else name[1:]]  # without the underscore before scipy 1.16
    assert refusal(forged.change(part, change).content()) == SPLINE


def kind_of_spline(forged):
    """Name of the type with the numbers of a spline: from scipy 1.18 on, a part of it."""
    return "_BSpline" if any(forged.states(__class__="_BSpline")) else "BSpline"


def test_the_degree_of_a_spline(refusal, forge, rows):
    forged = forge(SplineTransformer().fit(rows[0]))
    forged.set(kind_of_spline(forged), k=90)
    assert refusal(forged.content()) == SPLINE


@pytest.mark.parametrize("position", [10**6, -1])
def test_a_random_generator_beside_its_state(refusal, forge, position):
    forged = forge(SGDClassifier(random_state=np.random.RandomState(0)))
    twister = forged.state(__loader__="RandomStateNode")["content"]["content"]["state"]["content"]
    forged.replace(twister["pos"], position)
    assert refusal(forged.content()) == (
        "FILE is not loaded: a random generator in it stands beside its state."
    )


def test_models_of_scikit_learn_are_loaded_as_before(load, forge, rows):
    X, y = rows
    models = [
        *(SVC(), SVR(), SVC(kernel="linear"), OneClassSVM(), KMeans(2, n_init=1)),
        *(KNeighborsClassifier(algorithm="kd_tree"), KNeighborsClassifier(algorithm="brute")),
        make_pipeline(SplineTransformer(), SGDClassifier(random_state=np.random.RandomState(1))),
    ]
    for model in models:
        model.fit(X, y)
        np.testing.assert_array_equal(load(forge(model).content()).predict(X), model.predict(X))


def test_a_precomputed_kernel_is_loaded_as_before(load, forge, rows):
    X, y = rows
    model = SVC(kernel="precomputed").fit(X @ X.T, y)
    again = load(forge(model).content())
    np.testing.assert_array_equal(again.predict(X @ X.T), model.predict(X @ X.T))


def test_masked_arrays_are_loaded_as_before(load, forge):
    model = LogisticRegression()
    model.parameters_ = np.ma.masked_array([1.0, 2.0], [False, True])
    again = load(forge(model).content())
    assert again.parameters_.tolist() == [1.0, None]
