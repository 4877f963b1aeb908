"""Corpora of texts with topics, as far as they are at hand."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.datasets import fetch_20newsgroups, fetch_rcv1
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import KFold
from sklearn.preprocessing import label_binarize

from surefoot._typing import Ints
from surefoot.datasets import fetch_reuters21578, informative_tfidf

N_FOLDS = 5
QUICK_STEP, QUICK_TOPICS = 10, 5
# Of RCV1's 781,265 test documents, every sixteenth.
RCV1_STEP = 16


@dataclass(frozen=True)
class Corpus:
    """Weighted terms and topics of training and test documents."""

    name: str
    X_train: Any
    y_train: Ints
    X_test: Any
    y_test: Ints

    @property
    def n_topics(self) -> int:
        """How many topics there are."""
        return int(self.y_train.shape[1])

    def largest(self, n_topics: int) -> Ints:
        """The topics with the most training documents, in order."""
        return np.sort(np.argsort(-self.y_train.sum(axis=0), kind="stable")[:n_topics])

    def only(self, topics: Ints) -> "Corpus":
        """The same documents with some of the topics."""
        return replace(self, y_train=self.y_train[:, topics], y_test=self.y_test[:, topics])

    def thinned(self, step: int) -> "Corpus":
        """One of `step` documents."""
        some = slice(None, None, step)
        return replace(
            self,
            X_train=self.X_train[some],
            y_train=self.y_train[some],
            X_test=self.X_test[some],
            y_test=self.y_test[some],
        )

    def folds(self) -> KFold:
        """How training documents are held out: whole stretches of time, as the test documents are."""
        return KFold(N_FOLDS)


def find_corpora(*, quick: bool) -> tuple[list[Corpus], list[str]]:
    """The corpora whose files are there, and a sentence for each that is not."""
    corpora, skipped = [reuters(quick=quick)], []
    others: dict[str, Callable[[], Corpus]] = {"RCV1": rcv1, "20 newsgroups": newsgroups}
    for name, read in others.items() if not quick else ():
        try:
            corpora.append(read())
        except OSError:
            skipped.append(f"{name} skipped: its files are not in scikit-learn's data home.")
    return corpora, skipped


def reuters(*, quick: bool = False) -> Corpus:
    """Reuters-21578 in the ModApte split: the 90 topics with a training and a test document."""
    stories = fetch_reuters21578(topics="shared")
    tables = weighted_terms(stories.X_train, stories.X_test)
    y_train, y_test = stories.y_train.toarray(), stories.y_test.toarray()
    corpus = Corpus("Reuters", tables[0], y_train, tables[1], y_test)
    return corpus.thinned(QUICK_STEP).only(corpus.largest(QUICK_TOPICS)) if quick else corpus


def reuters_in_few_terms(n_topics: int, n_terms: int, step: int) -> Corpus:
    """Some of Reuters' documents in the terms that say most about its largest topics."""
    stories = fetch_reuters21578(topics="largest")
    tfidf = informative_tfidf(n_terms).fit(stories.X_train, stories.y_train)
    tables = tfidf.transform(stories.X_train), tfidf.transform(stories.X_test)
    y_train, y_test = stories.y_train.toarray(), stories.y_test.toarray()
    corpus = Corpus("Reuters", tables[0], y_train, tables[1], y_test).thinned(step)
    return corpus.only(corpus.largest(n_topics))


def rcv1() -> Corpus:
    """RCV1-v2 in the split of Lewis and others (2004), with a part of its test documents."""
    train = fetch_rcv1(subset="train", download_if_missing=False)
    test = fetch_rcv1(subset="test", download_if_missing=False)
    y_train, y_test = train.target.toarray().astype(np.int64), test.target[::RCV1_STEP].toarray()
    shared = np.flatnonzero((y_train.sum(axis=0) > 0) & (y_test.sum(axis=0) > 0))
    y_test = y_test[:, shared].astype(np.int64)
    return Corpus("RCV1", train.data, y_train[:, shared], test.data[::RCV1_STEP], y_test)


def newsgroups() -> Corpus:
    """20 newsgroups, split by date, without what gives the group away."""
    options = {"remove": ("headers", "footers", "quotes"), "download_if_missing": False}
    train = fetch_20newsgroups(subset="train", shuffle=False, **options)
    test = fetch_20newsgroups(subset="test", shuffle=False, **options)
    tables = weighted_terms(train.data, test.data)
    groups = np.arange(len(train.target_names))
    y_train, y_test = (label_binarize(part.target, classes=groups) for part in (train, test))
    return Corpus("20 newsgroups", tables[0], y_train, tables[1], y_test)


def weighted_terms(train: Any, test: Any) -> tuple[Any, Any]:
    """TF-IDF of all terms that two training documents have; the test documents have no say in it."""
    tfidf = TfidfVectorizer(sublinear_tf=True, min_df=2)
    return tfidf.fit_transform(train), tfidf.transform(test)
