import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from surefoot.datasets import make_cylinder_bell_funnel
from surefoot.time_series import (
    KNeighborsDTWClassifier,
    LocalKNeighborsDTWClassifier,
    dtw_distance,
)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("n_neighbors", [1, 4])
def test_same_as_scikit_learn_with_the_distance_as_metric(weights, n_neighbors):
    X, y = make_cylinder_bell_funnel(45, random_state=0)
    X = X[:, ::4]
    reference = KNeighborsClassifier(
        n_neighbors, weights=weights, metric=lambda a, b: dtw_distance(a, b, window=3)
    )

    expected = reference.fit(X[:30], y[:30]).predict_proba(X[30:])
    model = KNeighborsDTWClassifier(n_neighbors, weights=weights, window=3).fit(X[:30], y[:30])

    np.testing.assert_allclose(model.predict_proba(X[30:]), expected)
    np.testing.assert_array_equal(model.predict(X[30:]), reference.predict(X[30:]))


@pytest.mark.parametrize(
    ("weights", "series", "expected"),
    [
        ("rank", 0.0, [6 / 11, 5 / 11]),  # 1 against 1/2 + 1/3
        ("distance", 0.0, [4 / 7, 3 / 7]),  # 1 against 1/2 + 1/4
        ("distance", 2.0, [0.0, 1.0]),  # an equal series outvotes all others
        (lambda distances: distances, 0.0, [1 / 7, 6 / 7]),
    ],
)
def test_weights_of_votes_by_hand(weights, series, expected):
    model = KNeighborsDTWClassifier(3, weights=weights).fit([[1.0], [2.0], [4.0]], ["b", "c", "c"])

    np.testing.assert_allclose(model.predict_proba([[series]]), [expected])
    assert model.predict([[series]]) == model.classes_[np.argmax(expected)]


def test_channels_and_unequal_lengths():
    X = [np.zeros((2, 4)), np.ones((2, 6)), np.full((2, 5), 2.0)]

    model = KNeighborsDTWClassifier().fit(X, [10, 11, 12])

    assert model.predict([np.full((2, 9), 0.9), np.full((2, 3), 1.8)]).tolist() == [11, 12]


def test_more_neighbors_than_series_are_refused():
    model = KNeighborsDTWClassifier(4).fit(np.zeros((3, 5)), [0, 1, 1])

    with pytest.raises(ValueError, match=r"n_neighbors=4 .* it may be at most 3"):
        model.predict(np.zeros((1, 5)))


def test_wrong_weights_and_labels_get_one_sentence():
    with pytest.raises(ValueError, match="weights='equal' is not known: it may be 'uniform'"):
        KNeighborsDTWClassifier(weights="equal").fit(np.zeros((3, 5)), [0, 1, 1])
    with pytest.raises(ValueError, match="X has 3 series and y has 2 labels"):
        KNeighborsDTWClassifier().fit(np.zeros((3, 5)), [0, 1])


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (lambda d: 0 * d - 1.5, r"-1.5: it may return finite numbers of at least 0\.$"),
        (lambda d: np.nan * d, r"nan: it may return finite numbers of at least 0\.$"),
        (lambda d: d + np.inf, r"inf: it may return finite numbers of at least 0\.$"),
        (
            lambda d: 0 * d,
            "0 for the 2 nearest neighbours of a series: one of them must be above 0",
        ),
        (lambda d: d[:, :1], r"float64 of shape \(1, 1\) for distances of shape \(1, 2\)"),
        (
            lambda d: d.astype(str),
            r"<U32 of shape \(1, 2\).*it may return a number for each distance",
        ),
    ],
    ids=["negative", "NaN", "infinite", "zero", "shape", "strings"],
)
def test_weights_that_are_none_are_refused(weights, sentence):
    model = KNeighborsDTWClassifier(2, weights=weights).fit([[0, 1], [1, 0], [2, 2]], [0, 1, 0])
    with pytest.raises(ValueError, match=f"^weights returned {sentence}"):
        model.predict_proba([[0, 2]])


def test_a_local_choice_refuses_weights_that_are_none():
    X, y = make_cylinder_bell_funnel(24, random_state=0)
    with pytest.raises(ValueError, match="weights returned -"):
        LocalKNeighborsDTWClassifier((1, 3), weights=lambda d: -1 - d).fit(X, y)
