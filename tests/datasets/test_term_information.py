"""Mutual information against scikit-learn's, and terms that come from the training part alone."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from surefoot.datasets import informative_tfidf, term_information

TEXTS = ["wheat corn", "corn oats corn", "oil gas", "gas coal", "corn gas"]


def some_terms():
    rng = np.random.default_rng(0)
    return (rng.random((80, 12)) < rng.random(12)).astype(float) * 2.5


def test_it_is_scikit_learns_mutual_information():
    X, y = some_terms(), np.random.default_rng(1).integers(3, size=80)
    topics = (y[:, None] == np.arange(3)).astype(int)
    each = [[mutual_info_score(t, x) for t in topics.T] for x in (X > 0).T]
    np.testing.assert_allclose(term_information(X, topics), np.max(each, axis=1), atol=1e-12)
    np.testing.assert_allclose(
        term_information(csr_array(X), csr_array(topics), over="mean"),
        np.mean(each, axis=1),
        atol=1e-12,
    )
    np.testing.assert_allclose(term_information(X, y), np.max(each, axis=1), atol=1e-12)


def test_two_labels_are_one_topic():
    X, y = some_terms() > 0, np.random.default_rng(1).integers(2, size=80)
    expected = mutual_info_classif(X, y, discrete_features=True)
    np.testing.assert_allclose(term_information(X, y), expected, atol=1e-12)


def test_terms_and_topics_that_never_change_say_nothing():
    X = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1]])
    topics = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1]])
    third = mutual_info_score([1, 0, 1], [1, 0, 1])
    np.testing.assert_allclose(term_information(X, topics), [0, 0, third], atol=1e-15)


def test_the_training_part_alone_decides():
    tfidf = informative_tfidf(2).fit(TEXTS[:4], ["grain", "grain", "fuel", "fuel"])
    assert tfidf[:2].get_feature_names_out().tolist() == ["corn", "gas"]
    rows = tfidf.transform([*TEXTS, "", "never seen"])
    np.testing.assert_allclose(rows.toarray()[4], [np.sqrt(0.5)] * 2)
    assert np.diff(rows.indptr).tolist() == [1, 1, 1, 1, 2, 0, 0]


def test_it_clones_and_takes_what_the_vectoriser_takes():
    tfidf = clone(informative_tfidf(3, over="mean", min_df=1, ngram_range=(1, 2)))
    tfidf.fit(TEXTS, ["grain", "grain", "fuel", "fuel", "fuel"])
    assert "gas coal" in tfidf[0].get_feature_names_out()
    assert tfidf.transform(TEXTS).shape == (5, 3)


def test_wrong_options_get_one_sentence():
    with pytest.raises(ValueError, match="over='sum' is not known: it may be 'max', 'mean'"):
        informative_tfidf(over="sum")
    with pytest.raises(ValueError, match="n_features == 0, must be >= 1"):
        informative_tfidf(0)
