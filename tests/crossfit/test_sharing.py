"""Trees that the folds share: none has seen the fold it describes, and no label shaped the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.tree import ExtraTreeClassifier
from skrub import TableVectorizer

from surefoot._crossfit import cross_fit
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import SecondOpinion


def rows(n_rows=120):
    return make_classification(n_rows, 4, flip_y=0.2, random_state=0)


@pytest.fixture
def forests(monkeypatch):
    """Weights of the rows that trees have learned from, each once."""
    seen = []
    fit = ExtraTreeClassifier.fit

    def recorded_fit(self, X, y, sample_weight=None, check_input=True):
        weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight)
        if not any(np.array_equal(weight, other) for other in seen):
            seen.append(weight)
        return fit(self, X, y, sample_weight, check_input)

    monkeypatch.setattr(ExtraTreeClassifier, "fit", recorded_fit)
    return seen


def fit(model, X, y, **settings):
    opinion = SecondOpinion(n_trees=20, space=settings.pop("space", "scaled"), random_state=0)
    return IndividualErrorClassifier(model, indicators=[opinion], random_state=0, **settings).fit(
        X, y
    )


def test_each_tree_learns_from_three_of_five_folds(forests):
    X, y = rows()
    fit(GaussianNB(), X, y, cv=KFold(5))
    folds = np.repeat(np.arange(5), 24)
    choices = {tuple(np.unique(folds[weight > 0])) for weight in forests}
    assert len(forests) == len(choices) == 10
    assert {len(choice) for choice in choices} == {3}
    for weight in forests:
        assert_array_equal(weight, np.isin(folds, folds[weight > 0]))  # whole folds


@pytest.mark.parametrize(("n_folds", "n_choices"), [(2, 2), (3, 3), (4, 6), (7, 10), (40, 10)])
def test_any_number_of_folds(forests, n_folds, n_choices):
    X, y = rows()
    fit(GaussianNB(), X, y, cv=KFold(n_folds))
    assert len(forests) == n_choices
    for train, test in KFold(n_folds).split(X):
        unseen = [weight for weight in forests if not weight[test].any()]
        assert 1 / 3 <= len(unseen) / n_choices <= 1 / 2
        assert all(weight[train].any() for weight in unseen)


def test_columns_are_the_votes_of_the_trees_that_have_not_seen_the_fold():
    X, y = rows()
    opinion = SecondOpinion(n_trees=20, random_state=0)
    cross = cross_fit(GaussianNB(), [opinion], X, y, cv=KFold(5), opinions=True)
    (_, deployed), *_ = cross.deployed.panel.indicators["SecondOpinion"].opinions_
    assert deployed.n_members == 20
    found, trees = cross.held_out.columns["SecondOpinion"][:, 0], cross.held_out.opinions["trees"]
    number = np.repeat(np.arange(5), 24)
    random = np.random.default_rng(0)
    # Other labels in the first fold change no column of its rows, but those of other rows.
    changed = np.where(number == 0, random.permutation(y), y)
    other = cross_fit(GaussianNB(), [opinion], X, changed, cv=KFold(5)).held_out
    assert_allclose(other.columns["SecondOpinion"][:24, 0], found[:24])
    assert (other.columns["SecondOpinion"][24:, 0] != found[24:]).any()
    votes = 20  # five of each of the four choices without the fold, as many as for new rows
    counts = trees * (votes + 1) - 0.5
    assert_allclose(counts, np.round(counts), atol=1e-9)


class Named(TransformerMixin, BaseEstimator):
    """Transformer of somebody else: nobody knows whether it looks at labels."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X


SCALED = make_pipeline(StandardScaler(), PCA(), GaussianNB())


@pytest.mark.parametrize(
    ("model", "settings", "shares"),
    [
        (SCALED, {}, True),
        (make_pipeline(make_column_transformer((StandardScaler(), [0, 1])), GaussianNB()), {}, True),
        (make_pipeline(TableVectorizer(), GaussianNB()), {}, True),
        (make_pipeline(TableVectorizer(numeric=TargetEncoder()), GaussianNB()), {}, False),
        (GaussianNB(), {"space": PCA()}, True),
        (GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2), {}, True),
        (make_pipeline(SelectKBest(k=2), GaussianNB()), {}, False),
        (make_pipeline(TargetEncoder(), GaussianNB()), {}, False),
        (make_pipeline(make_column_transformer((TargetEncoder(), [0])), GaussianNB()), {}, False),
        (make_pipeline(Named(), GaussianNB()), {}, False),
        (GaussianNB(), {"space": NeighborhoodComponentsAnalysis(max_iter=2)}, False),
        (GridSearchCV(SCALED, {"pca__n_components": [1, 2]}, cv=2), {}, False),
        (GaussianNB(), {"cv": ShuffleSplit(3, random_state=0)}, False),
    ],
    ids=[
        "scaled", "columns", "vectorized", "vectorized by the target", "space", "search", "selected",
        "encoded", "encoded column", "unknown",
        "learned space", "searched pipeline", "overlapping splits",
    ],
)  # fmt: skip
def test_where_labels_may_have_shaped_the_rows_each_fold_has_its_own_trees(
    forests, model, settings, shares
):
    X, y = rows()
    fit(model, X, y, **settings)
    is_whole = [weight.all() for weight in forests]
    assert not any(is_whole) if shares else all(is_whole)


@pytest.mark.parametrize(
    "space", ["scaled", TargetEncoder(random_state=0)], ids=["scaled", "encoder"]
)
def test_on_random_labels_the_trees_know_nothing(space):
    found = []
    for seed in range(4):
        random = np.random.default_rng(seed)
        X = random.integers(0, 40, size=(800, 2)).astype(float)
        y = random.integers(0, 2, 800)
        error_estimator = fit(GaussianNB(), X, y, space=space)
        found.append(
            roc_auc_score(
                error_estimator.held_out_.losses,
                error_estimator.held_out_.columns["SecondOpinion"][:, 0],
            )
        )
    assert_allclose(np.mean(found), 0.5, atol=0.04)  # 0.02 a seed, 0.01 for four


def test_log_odds_of_unanimous_trees():
    X = np.array([[0.0], [1.0]] * 40)
    error_estimator = fit(GaussianNB(), X, np.tile([0, 1], 40), cv=KFold(5))
    trees = error_estimator.held_out_.opinions["trees"]
    assert_allclose(logit(trees.max(axis=1)), logit(20.5 / 21))
