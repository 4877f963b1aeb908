"""Texts with topics: Reuters-21578 and other corpora, and the terms that are most informative about the topics."""

import re
import tarfile
from dataclasses import dataclass, replace
from html import unescape
from typing import Any, Literal

import numpy as np
from scipy.sparse import csc_array
from scipy.special import xlogy
from sklearn.datasets import fetch_20newsgroups, fetch_rcv1
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, Normalizer, label_binarize
from sklearn.utils import Bunch

from reproduction.data import Home, locate
from reproduction.results import Floats, Ints

# Documents that are indexed with topics, in one of the two parts of the ModApte split.
DOCUMENT = re.compile(
    r'<REUTERS TOPICS="YES" LEWISSPLIT="(TRAIN|TEST)"[^>]*NEWID="(\d+)">(.*?)</REUTERS>', re.DOTALL
)
TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
TOPIC = re.compile(r"<D>(.*?)</D>", re.DOTALL)
TEXT = re.compile(r"<TEXT.*?>(.*?)</TEXT>", re.DOTALL)
TITLE_OR_BODY = re.compile(r"<(TITLE|BODY)>(.*?)</\1>", re.DOTALL)

N_LARGEST = 10
# Of RCV1's 781,265 test documents, every sixteenth.
RCV1_STEP = 16


def fetch_reuters21578(
    topics: Literal["shared", "largest"] = "shared", data_home: Home = None
) -> Bunch:
    """Texts and topics of Reuters-21578 (Lewis 1997) in the ModApte split: 9,603 training and 3,299 test stories.

    `y_train` and `y_test` have a column for each of `target_names`: the 90 topics with a training and a test story, or
    the ten with the most training stories. `X_train` and `X_test` are arrays of texts.
    """
    stories = read_stories(locate("reuters21578/reuters21578.tar.gz", data_home))
    split = [[story for story in stories if story[1] == part] for part in ("TRAIN", "TEST")]
    binarizer = MultiLabelBinarizer().fit([names for _, _, names, _ in stories])
    y_train, y_test = (binarizer.transform([names for _, _, names, _ in part]) for part in split)
    n_train, n_test = y_train.sum(axis=0), y_test.sum(axis=0)
    kept = np.flatnonzero((n_train > 0) & (n_test > 0))
    if topics == "largest":
        kept = np.sort(np.argsort(-n_train, kind="stable")[:N_LARGEST])
    X_train, X_test = (np.array([text for *_, text in part], dtype=object) for part in split)
    return Bunch(
        X_train=X_train,
        y_train=y_train[:, kept],
        X_test=X_test,
        y_test=y_test[:, kept],
        target_names=list(binarizer.classes_[kept]),
    )


def read_stories(path: Any) -> list[tuple[int, str, list[str], str]]:
    """Number, part of the split, topics and text of the stories in an archive, by number."""
    stories = []
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.name.endswith(".sgm") else None
            # Latin-1, since a few bytes fit no encoding.
            marked = content.read().decode("latin-1") if content else ""
            for part, number, story in DOCUMENT.findall(marked):
                names = TOPIC.findall(TOPICS.findall(story)[0])
                topics = [unescape(name).strip() for name in names]
                stories.append((int(number), part, topics, plain_text(story)))
    return sorted(stories)


def plain_text(story: str) -> str:
    """Title and body without tags, entities and outer blanks; the whole text if they are not marked."""
    [marked] = TEXT.findall(story)
    parts = [part for _, part in TITLE_OR_BODY.findall(marked)] or [marked]
    # Entities are resolved last: a resolved "<" is no tag.
    return "\n".join(unescape(part).strip() for part in parts)


def informative_tfidf(n_features: int) -> Pipeline:
    """Transformer of texts into unit rows of TF-IDF, over the terms that are most informative about the topics."""
    # A term of a single document carries no information about other documents.
    terms = TfidfVectorizer(sublinear_tf=True, min_df=2, norm=None)
    return make_pipeline(terms, SelectKBest(term_information, k=n_features), Normalizer(copy=False))


def term_information(X: Any, y: Any) -> Floats:
    """Mutual information, in nats, of each term's presence and the topic that it is most informative about.

    `y` is 1 for each text and topic that belong together, and 0 elsewhere; a single topic may be one-dimensional.
    """
    present = (csc_array(X) != 0).astype(np.float64)
    topics = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    n_texts, with_topic, with_term = len(topics), topics.sum(axis=0), present.sum(axis=0)[:, None]
    both = present.T @ topics
    information = np.zeros_like(both)
    # Σ p(t, c) log p(t, c) / (p(t) p(c)) over presence and absence of the term t and the topic c.
    for n_term, joint in ((with_term, both), (n_texts - with_term, with_topic - both)):
        for n_topic, count in ((with_topic, joint), (n_texts - with_topic, n_term - joint)):
            expected = np.maximum(n_term * n_topic, 1.0)  # 0 only where the count is 0 too
            information += xlogy(count, np.maximum(count, 1.0) * n_texts / expected)
    return np.asarray(np.maximum(information / n_texts, 0.0).max(axis=1))


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
        """Number of topics."""
        return int(self.y_train.shape[1])

    @property
    def folds(self) -> KFold:
        """Folds of the training documents: periods of time, as the test documents are one."""
        return KFold(5)

    def largest(self, n_topics: int) -> Ints:
        """Columns of the topics with the most training documents, in order."""
        return np.sort(np.argsort(-self.y_train.sum(axis=0), kind="stable")[:n_topics])

    def thinned(self, step: int) -> "Corpus":
        """One of `step` documents."""
        arrays = ("X_train", "y_train", "X_test", "y_test")
        return replace(self, **{name: getattr(self, name)[::step] for name in arrays})

    def only(self, topics: Ints) -> "Corpus":
        """Documents with some of the topics."""
        return replace(self, y_train=self.y_train[:, topics], y_test=self.y_test[:, topics])


def reuters() -> Corpus:
    """Reuters-21578 with the 90 topics that have a training and a test document."""
    stories = fetch_reuters21578()
    X_train, X_test = weighted_terms(stories.X_train, stories.X_test)
    return Corpus("Reuters", X_train, stories.y_train, X_test, stories.y_test)


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
    train, test = (
        fetch_20newsgroups(
            subset=part,
            shuffle=False,
            remove=("headers", "footers", "quotes"),
            download_if_missing=False,
        )
        for part in ("train", "test")
    )
    X_train, X_test = weighted_terms(train.data, test.data)
    groups = np.arange(len(train.target_names))
    y_train, y_test = (label_binarize(part.target, classes=groups) for part in (train, test))
    return Corpus("20 newsgroups", X_train, y_train, X_test, y_test)


def weighted_terms(train: Any, test: Any) -> tuple[Any, Any]:
    """TF-IDF of all terms that two training documents have; test documents have no influence on them."""
    tfidf = TfidfVectorizer(sublinear_tf=True, min_df=2)
    return tfidf.fit_transform(train), tfidf.transform(test)
