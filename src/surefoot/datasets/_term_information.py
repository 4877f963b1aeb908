"""TF-IDF of the terms that are most informative about the topics."""

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse
from scipy.special import xlogy
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import LabelBinarizer, Normalizer
from sklearn.utils import check_scalar

from surefoot._parallel import row_batches
from surefoot._typing import Floats
from surefoot._validation import check_option

# A term of a single document carries no information about other documents.
LEAST_DOCUMENTS = 2


def informative_tfidf(n_features: int = 900, *, over: str = "max", **vectorizer: Any) -> Pipeline:
    """Transformer of texts into unit rows of TF-IDF, over the terms that are most informative about `y`.

    It is a scikit-learn Pipeline of `TfidfVectorizer`, `SelectKBest` and `Normalizer`. Terms and
    their weights come from the texts given to `fit` alone. A text without any known term
    becomes a row of zeros.

    Parameters
    ----------
    n_features : int, default=900
        Number of terms to keep; if there are fewer, all are kept, with scikit-learn's warning.
    over : {"max", "mean"}, default="max"
        See `term_information`.
    **vectorizer : dict
        Parameters of `TfidfVectorizer`. By default a term frequency f counts as 1 + log f, and terms
        of a single text are left out.

    Returns
    -------
    Pipeline
        With `fit(texts, y)`, where `y` is a label for each text or an indicator matrix, and
        `transform(texts)`, which returns CSR.

    Examples
    --------
    >>> texts = ["wheat and corn", "corn and oats", "oil and gas", "gas and coal"]
    >>> tfidf = informative_tfidf(2).fit(texts, ["grain", "grain", "fuel", "fuel"])
    >>> tfidf[:2].get_feature_names_out()
    array(['corn', 'gas'], dtype=object)
    >>> tfidf.transform(["corn or no corn", "wheat or oil"]).toarray()
    array([[1., 0.],
           [0., 0.]])
    """
    check_scalar(n_features, "n_features", Integral, min_val=1)
    check_option(over, "over", ["max", "mean"])
    options = {"sublinear_tf": True, "min_df": LEAST_DOCUMENTS, "norm": None, **vectorizer}
    select = SelectKBest(partial(term_information, over=over), k=int(n_features))
    return make_pipeline(TfidfVectorizer(**options), select, Normalizer(copy=False))


def term_information(X: Any, y: Any, *, over: str = "max") -> Floats:
    """Mutual information, in nats, of a term's presence and the topics; higher is more informative.

    It can be the score function of `SelectKBest`, and takes sparse counts or weights.

    Parameters
    ----------
    X : array-like or CSR of shape (n_texts, n_terms)
        A term is present where this is not zero.
    y : array-like of shape (n_texts,) or array or CSR of shape (n_texts, n_topics)
        A label for each text, or the indicators of its topics.
    over : {"max", "mean"}, default="max"
        The information about the topic that a term is most informative about, or its mean over all topics, where
        large topics have most influence.

    Returns
    -------
    information : ndarray of shape (n_terms,)
        From 0, for a term that says nothing about the topics.

    Examples
    --------
    The first term determines which of two equally frequent labels a text has: log 2. The second is useless:

    >>> term_information([[1, 1], [1, 0], [0, 1], [0, 0]], ["a", "a", "b", "b"]).round(3)
    array([0.693, 0.   ])
    """
    check_option(over, "over", ["max", "mean"])
    present = (csc_array(X) != 0).astype(np.float64)
    topics = _topic_indicators(y)
    n_texts, n_topics = topics.shape
    with_topic = topics.sum(axis=0)
    with_term = present.sum(axis=0)
    information = np.empty(present.shape[1])
    for batch in row_batches(present.shape[1], 64 * n_topics):
        both = (present[:, batch].T @ topics).toarray()
        cells = _cell_information(both, with_term[batch, None], with_topic, n_texts)
        information[batch] = getattr(cells, over)(axis=1)
    return information


def _cell_information(both: Floats, term: Floats, topic: Floats, n_texts: int) -> Floats:
    """Mutual information from counts: Σ p(t, c) log p(t, c) / (p(t) p(c)) over presence and absence."""
    total = np.zeros_like(both)
    for n_term, sign in ((term, 1), (n_texts - term, -1)):
        joint = both if sign == 1 else topic - both
        for n_topic, count in ((topic, joint), (n_texts - topic, n_term - joint)):
            expected = np.maximum(n_term * n_topic, 1.0)  # 0 only where the count is 0 too
            total += xlogy(count, np.maximum(count, 1.0) * n_texts / expected)
    return np.maximum(total / n_texts, 0.0)


def _topic_indicators(y: Any) -> csr_array:
    if not issparse(y):
        y = np.asarray(y)
        if y.ndim == 1:
            y = LabelBinarizer(sparse_output=True).fit_transform(y)
    return csr_array(y, dtype=np.float64)
