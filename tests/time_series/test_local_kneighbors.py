import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold

from surefoot.datasets import make_synthetic_control
from surefoot.resampling import HoldoutSplit
from surefoot.time_series import DTWNeighbors, KNeighborsDTWClassifier, LocalKNeighborsDTWClassifier

SIZES = [1, 3, 5, 7, 9]
PAPER = {
    "shrinkage": 0,
    "label_trust": np.inf,
    "weights": "uniform",
    "tie_break": "smallest",
    "window": 3,
}


@pytest.fixture(scope="module")
def data():
    X, y = make_synthetic_control(150, random_state=0)
    X = X[:, ::2] + np.random.default_rng(1).normal(scale=6, size=(150, 30))
    return X[:110], y[:110], X[110:], y[110:]


# Four series in two classes, at places where the two nearest others of each are 1 and 2, 0 and 2, 3 and 1, 2 and 1.
PLACES, CODES = np.array([[0.0], [1.0], [2.5], [3.2]]), np.array([0, 0, 1, 1])


def test_a_neighbor_votes_for_the_classes_it_has_been_near_by_hand():
    model = LocalKNeighborsDTWClassifier(2, label_trust=2.0, weights="uniform", error_neighbors=1)

    model.fit(PLACES, CODES)

    # Series 1 is the first neighbour of 0 and the second of 2 and 3: (1, 1/2 + 1/2), and 2 for its own label.
    # Series 0 is the first neighbour of 1: (1, 0), and 2 for its own label.
    np.testing.assert_allclose(model.predict_proba([[0.9]]), [[(3 / 4 + 1) / 2, 1 / 8]])


def test_leave_one_out_errors_count_no_occurrence_in_the_row_s_own_list(data):
    X, y = data[0][:30], np.unique(data[1][:30], return_inverse=True)[1]
    local = LocalKNeighborsDTWClassifier(
        (1, 4), label_trust=1.5, weights="rank", window=3, error_neighbors=1
    ).fit(X, y)
    lists = DTWNeighbors(4, window=3).fit(X).kneighbors(return_distance=False)
    wrong = np.zeros((30, 2))
    for row in range(30):
        occurrences = np.zeros((30, y.max() + 1))
        for other in set(range(30)) - {row}:
            for rank, neighbor in enumerate(lists[other], 1):
                occurrences[neighbor, y[other]] += 1 / rank
        votes = np.zeros(y.max() + 1)
        for rank, neighbor in enumerate(lists[row], 1):
            ballot = occurrences[neighbor] + 1.5 * (np.arange(y.max() + 1) == y[neighbor])
            votes += ballot / ballot.sum() / rank
            if rank in (1, 4):
                wrong[row, rank // 4] = votes.round(12).argmax() != y[row]
    np.testing.assert_allclose(local.errors_, wrong.mean(axis=0))


def test_the_paper_s_rule_step_by_step(data):
    """Two parts, errors of each k on the second, mean over its five nearest, first minimum."""
    X, y, X_new, _ = data
    splitter = HoldoutSplit(4 / 9, random_state=0)
    [(part_a, part_b)] = splitter.split(X, y)
    errors = np.column_stack(
        [
            KNeighborsDTWClassifier(size, window=3).fit(X[part_a], y[part_a]).predict(X[part_b])
            != y[part_b]
            for size in SIZES
        ]
    )
    nearest = DTWNeighbors(5, window=3).fit(X[part_b]).kneighbors(X_new, return_distance=False)
    chosen = errors[nearest].mean(axis=1).argmin(axis=1)
    by_size = [KNeighborsDTWClassifier(size, window=3).fit(X, y).predict(X_new) for size in SIZES]

    model = LocalKNeighborsDTWClassifier(cv=splitter, **PAPER).fit(X, y)

    np.testing.assert_array_equal(model.predict_n_neighbors(X_new), np.array(SIZES)[chosen])
    np.testing.assert_array_equal(
        model.predict(X_new), np.column_stack(by_size)[np.arange(len(X_new)), chosen]
    )
    np.testing.assert_allclose(model.predict_error(X_new), errors[nearest].mean(axis=1).min(axis=1))


def test_infinite_shrinkage_is_a_grid_search(data):
    X, y, X_new, _ = data
    splitter = HoldoutSplit(4 / 9, random_state=0)
    search = GridSearchCV(KNeighborsDTWClassifier(window=3), {"n_neighbors": SIZES}, cv=splitter)

    model = LocalKNeighborsDTWClassifier(cv=splitter, **PAPER).set_params(shrinkage=np.inf)
    model.fit(X, y)

    search.fit(X, y)
    np.testing.assert_allclose(1 - model.errors_, search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(model.predict(X_new), search.predict(X_new))
    assert set(model.predict_n_neighbors(X_new)) == {search.best_params_["n_neighbors"]}


@pytest.mark.parametrize("splitter", [KFold(5), HoldoutSplit(0.9, random_state=0)])
def test_held_out_errors_are_those_of_the_plain_classifier(data, splitter):
    # Where nine tenths are held out, most of the first lists have fewer than nine of the rest, and are searched again.
    X, y, _, _ = data
    model = LocalKNeighborsDTWClassifier(cv=splitter, **PAPER).fit(X, y)
    wrong = []
    for train, test in splitter.split(X, y):
        plain = KNeighborsDTWClassifier(9, window=3).fit(X[train], y[train])
        wrong.extend(plain.predict(X[test]) != y[test])
    assert model.errors_[-1] == pytest.approx(np.mean(wrong))


def test_the_number_of_neighbors_suits_the_region():
    # On the left labels are noisy, so that many neighbours are better; on the right, series come
    # in tight pairs, every fifth of another class, so that only the nearest is right.
    random = np.random.default_rng(0)
    left = random.normal(size=(80, 1))
    noisy = (random.random(80) < 0.2).astype(int)
    centers = 100 + 10 * np.arange(60)[:, None]
    right = np.concatenate([centers, centers + 0.1])
    paired = np.tile(np.arange(60) % 5 == 0, 2)
    X, y = np.concatenate([left, right]), np.concatenate([noisy, paired])

    model = LocalKNeighborsDTWClassifier(
        (1, 9), error_neighbors=9, label_trust=np.inf, weights="uniform"
    ).fit(X, y)

    assert (model.predict_n_neighbors(left) == 9).mean() > 0.75
    assert (model.predict_n_neighbors(right[5:55] + 0.05) == 1).mean() > 0.9


def test_lists_of_unequal_lengths():
    random = np.random.default_rng(0)
    X = [np.full(random.integers(5, 9), float(i % 2)) for i in range(30)]

    model = LocalKNeighborsDTWClassifier(cv=HoldoutSplit(0.4, random_state=0))
    model.fit(X, [i % 2 for i in range(30)])

    assert model.predict([np.zeros(4), np.ones(12)]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": (1, 0)}, "n_neighbors=.* sequence of ints of at least 1"),
        ({"n_neighbors": ()}, "n_neighbors=.* sequence of ints of at least 1"),
        ({"n_neighbors": (1, 20)}, "n_neighbors=20 is more than the 11 series beside each"),
        ({"error_neighbors": 13}, "13 is more than the 12 series with a known error"),
        ({"error_neighbors": 0}, "error_neighbors"),
        ({"cv": 5}, "cv=5 is not known: it may be 'loo' or a splitter"),
        (
            {"cv": HoldoutSplit(0.5)},
            "n_neighbors=9 is more than the 6 series in a training part of cv",
        ),
        ({"label_trust": 0}, "label_trust=0 is not known: it may be a float above 0"),
        ({"label_trust": True}, "label_trust=True is not known: it may be a float above 0"),
        ({"label_trust": (1.0, np.nan)}, r"label_trust=\(1.0, nan\) is not known"),
        ({"shrinkage": -1}, "shrinkage"),
        ({"shrinkage": np.nan}, "shrinkage == nan, must be a number."),
        ({"tie_break": "first"}, "tie_break='first' is not known"),
        ({"weights": "equal"}, "weights='equal' is not known"),
    ],
)
def test_parameters_say_what_they_may_be(parameters, message):
    X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2

    with pytest.raises(ValueError, match=message):
        LocalKNeighborsDTWClassifier(**parameters).fit(X, y)
