"""Trees as arrays predict as scikit-learn's, and trees that folds share have not seen the fold that they describe."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor

from surefoot._models import SharedTrees, VotingTrees


def drawn(n_rows=300, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    X[:, 1] = random.integers(0, 3, n_rows)
    X[:, 2] = np.round(X[:, 2], 1)  # halfway thresholds fall between numbers of 32 bits
    return X, 1e3 * X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n_rows)


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
def test_mean_and_spread_of_a_forest(kind):
    X, y = drawn()
    forest = kind(20, min_samples_leaf=2, random_state=0).fit(X[:200], y[:200])
    mean, spread = VotingTrees(forest.estimators_).mean_and_spread(X)
    members = [member.predict(X) for member in forest.estimators_]
    assert_allclose(mean[:, 0], forest.predict(X), rtol=1e-12)
    assert_allclose(spread[:, 0], np.std(members, axis=0), rtol=1e-9, atol=1e-12 * y.std())


def test_values_at_the_thresholds_go_the_same_way():
    X, y = drawn()
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    trees = [member.tree_ for member in forest.estimators_]
    limits = np.concatenate([tree.threshold[tree.feature == 0] for tree in trees])
    at = np.zeros((3 * len(limits), 4))
    single = limits.astype(np.float32)
    at[:, 0] = np.concatenate([single, np.nextafter(single, np.float32(9)), limits])
    assert_allclose(VotingTrees(forest.estimators_).predict(at), forest.predict(at), rtol=1e-12)


def test_classes_and_sparse_rows():
    X, y = drawn()
    labels = np.array(["high", "low", "mid"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    forest = ExtraTreesClassifier(15, random_state=0).fit(X[:200], labels[:200])
    trees = VotingTrees(forest.estimators_, forest.classes_)
    assert_allclose(trees.predict_proba(X), forest.predict_proba(X), atol=1e-12)
    assert_array_equal(trees.predict(X), forest.predict(X))
    assert_allclose(trees.predict_proba(csr_array(X)), trees.predict_proba(X))
    with pytest.raises(ValueError, match="X has 3 columns, and the trees take 4"):
        trees.predict(X[:, :3])


@pytest.mark.parametrize("n_folds", [2, 3, 5, 8])
@pytest.mark.parametrize("kind", [ExtraTreeClassifier, ExtraTreeRegressor])
def test_shared_trees_have_not_seen_the_fold_that_they_describe(kind, n_folds):
    X, y = drawn(80)
    folds = np.arange(80) % n_folds
    folds[:5] = -1
    target = (y > np.median(y)).astype(int) if kind is ExtraTreeClassifier else y
    shared = SharedTrees(kind(random_state=0), X, target, folds, 20)
    for fold in (0, n_folds - 1):
        # Other targets of the fold, of the same two classes, change nothing of what describes it.
        own = folds == fold
        other = np.where(own, target[::-1], target)
        again = SharedTrees(kind(random_state=0), X, other, folds, 20)
        assert (target[own] != other[own]).any()
        one, two = (trees.for_rows_of(fold).mean_and_spread(X)[0] for trees in (shared, again))
        assert_allclose(one, two)
        new, changed = (trees.for_rows_of(-1).mean_and_spread(X)[0] for trees in (shared, again))
        assert np.abs(new - changed).max() > 0


def test_held_out_means_come_from_the_trees_without_the_fold():
    X, y = drawn(60)
    folds = np.arange(60) % 3
    shared = SharedTrees(ExtraTreeRegressor(random_state=0), X, y, folds, 9)
    expected = [shared.for_rows_of(fold).predict(X)[row] for row, fold in enumerate(folds)]
    assert_allclose(shared.held_out(X, folds)[:, 0], expected)


@pytest.mark.parametrize(
    "broken",
    [
        {"columns": lambda a: np.where(a == 0, 9, a).astype(np.int32)},
        {"onward": np.zeros_like},
        {"onward": lambda a: a + len(a)},
        {"onward": lambda a: a.astype(np.int64)},
        {"roots": lambda a: a - 1},
        {"thresholds": lambda a: a[:-1]},
        {"columns": lambda a: np.where(np.arange(len(a)) == len(a) - 1, 0, a).astype(np.int32)},
    ],
)
def test_arrays_of_a_file_that_are_no_trees_are_refused(broken):
    X, y = drawn(40)
    trees = VotingTrees(ExtraTreesRegressor(3, random_state=0).fit(X, y).estimators_)
    state = dict(vars(trees))
    restored = VotingTrees.__new__(VotingTrees)
    restored.__setstate__(state)
    assert_array_equal(restored.predict(X), trees.predict(X))
    [(name, change)] = broken.items()
    state["forest"] = trees.forest._replace(**{name: change(getattr(trees.forest, name))})
    with pytest.raises(ValueError, match="no trees"):
        restored.__setstate__(state)


def test_a_tree_of_a_large_table_learns_from_ten_thousand_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(18_000, 1))
    folds = np.arange(len(X)) % 5  # three folds of five have 10,800 rows
    tree = ExtraTreeRegressor(random_state=0, max_depth=1)
    shared = SharedTrees(tree, X, X[:, 0], folds, 2)
    roots = [member.tree_.n_node_samples[0] for member in shared.trees]
    assert set(roots) == {10_000}
