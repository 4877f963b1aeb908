"""Stories of Reuters-21578, the split and the topics that it is known by, and terms from the training part alone."""

import tarfile
from io import BytesIO

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score
from sklearn.utils import Bunch

from reproduction import bennett_figure_2, texts
from reproduction.data import REGISTRY
from reproduction.texts import (
    Corpus,
    fetch_reuters21578,
    informative_tfidf,
    newsgroups,
    rcv1,
    term_information,
    weighted_terms,
)

ARCHIVE = "reuters21578/reuters21578.tar.gz"


def story(number, text, *, topics=(), part="TRAIN", indexed="YES"):
    items = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{indexed}" LEWISSPLIT="{part}" CSECS="1" NEWID="{number}">\n'
        f"<TOPICS>{items}</TOPICS>\n<PLACES><D>usa</D></PLACES>\n<TEXT>&#2;\n{text}&#3;</TEXT>\n</REUTERS>\n"
    )


def packed(*files):
    memory = BytesIO()
    with tarfile.open(fileobj=memory, mode="w:gz") as archive:
        for name, text in files:
            content = text.encode("latin-1")
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, BytesIO(content))
    return memory.getvalue()


BODY = "<TITLE>OPEC MEETS</TITLE>\n<DATELINE>VIENNA, </DATELINE><BODY>{}</BODY>"
SMALL = packed(
    ("reut2-001.sgm", story(3, BODY.format("Third"), topics=["oil"], part="TEST")),
    (
        "folder/reut2-000.sgm",
        story(2, BODY.format("&lt;XYZ.N> &amp; Co.\x85\xfc&#5;&#30;end&#127;"), topics=["oil"])
        + story(1, "<TITLE>BRIEF ONE</TITLE>", topics=["gold", "oil", "oil"])
        + story(4, "UNPROCESSED\nTEXT", part="TEST")
        + story(5, "nobody indexed this", topics=["tin"], indexed="NO")
        + story(6, "not used", topics=["tin"], part="NOT-USED"),
    ),
    ("all-topics-strings.lc.txt", "gold\nzinc\n"),
)


def put(home, content):
    (home / ARCHIVE).parent.mkdir()
    (home / ARCHIVE).write_bytes(content)


def test_odd_documents_are_read(tmp_path):
    put(tmp_path, SMALL)
    data = fetch_reuters21578("largest", tmp_path)
    assert data.target_names == ["gold", "oil"]
    assert data.X_train.tolist() == ["BRIEF ONE", "OPEC MEETS\n<XYZ.N> & Co.\x85\xfcend"]
    assert data.X_test.tolist() == ["OPEC MEETS\nThird", "UNPROCESSED\nTEXT"]
    np.testing.assert_array_equal(data.y_train, [[1, 1], [0, 1]])
    np.testing.assert_array_equal(data.y_test, [[0, 1], [0, 0]])


def test_shared_topics_have_a_training_and_a_test_story(tmp_path):
    put(tmp_path, SMALL)
    shared = fetch_reuters21578(data_home=tmp_path)
    assert shared.target_names == ["oil"]
    assert shared.y_test.ravel().tolist() == [1, 0]


def test_another_archive_is_refused(tmp_path, published):
    published[REGISTRY.url[ARCHIVE]] = SMALL
    with pytest.raises(OSError, match=r"put reuters21578.tar.gz, or .*SHA256"):
        fetch_reuters21578(data_home=tmp_path)


@pytest.mark.data("reuters21578")
def test_published_counts():
    data = fetch_reuters21578()
    assert (data.y_train.shape, data.y_test.shape) == ((9603, 90), (3299, 90))
    n_train = dict(zip(data.target_names, data.y_train.sum(axis=0).tolist(), strict=True))
    n_test = dict(zip(data.target_names, data.y_test.sum(axis=0).tolist(), strict=True))
    # The counts that Dumais and others (1998) and Joachims (1998) print.
    four = ("earn", "acq", "money-fx", "grain")
    assert [n_train[name] for name in four] == [2877, 1650, 538, 433]
    assert [n_test[name] for name in four] == [1087, 719, 179, 149]
    assert not any("&#" in text or "\x03" in text for text in data.X_train)
    largest = fetch_reuters21578("largest")
    expected = "acq corn crude earn grain interest money-fx ship trade wheat"
    assert largest.target_names == expected.split()
    assert len(largest.X_train) == 9603


TEXTS = ["wheat corn", "corn oats corn", "oil gas", "gas coal"]


def some_terms():
    rng = np.random.default_rng(0)
    return (rng.random((80, 12)) < rng.random(12)).astype(float) * 2.5


def test_information_is_scikit_learns_mutual_information():
    X, y = some_terms(), np.random.default_rng(1).integers(3, size=80)
    topics = (y[:, None] == np.arange(3)).astype(int)
    each = [[mutual_info_score(t, x) for t in topics.T] for x in (X > 0).T]
    for terms in (X, csr_array(X)):
        np.testing.assert_allclose(
            term_information(terms, topics), np.max(each, axis=1), atol=1e-12
        )
    expected = mutual_info_classif(X > 0, topics[:, 0], discrete_features=True)
    np.testing.assert_allclose(term_information(X, topics[:, 0]), expected, atol=1e-12)


def test_terms_and_topics_that_never_change_are_not_informative():
    X = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1]])
    third = mutual_info_score([1, 0, 1], [1, 0, 1])
    np.testing.assert_allclose(term_information(X, X), [0, 0, third], atol=1e-15)


def test_training_texts_alone_decide_on_informative_terms():
    tfidf = informative_tfidf(2).fit(TEXTS, [0, 0, 1, 1])
    assert tfidf[:2].get_feature_names_out().tolist() == ["corn", "gas"]
    rows = tfidf.transform([*TEXTS, "corn gas", "", "never seen"])
    np.testing.assert_allclose(rows.toarray()[4], [np.sqrt(0.5)] * 2)
    assert np.diff(rows.indptr).tolist() == [1, 1, 1, 1, 2, 0, 0]


def test_test_documents_have_no_say_in_the_terms():
    train, test = weighted_terms(["oil gas", "oil coal gas"], ["oil zinc zinc", "zinc"])
    assert train.shape == (2, 2)  # coal is in one only, zinc in none
    np.testing.assert_allclose(test.toarray(), [[0.0, 1.0], [0.0, 0.0]])


def test_largest_topics_and_every_tenth_document():
    rng = np.random.default_rng(0)
    y = (rng.random((100, 7)) < np.array([0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.5])).astype(int)
    corpus = Corpus("some", csr_array(np.eye(100)), y, csr_array(np.eye(100)), y)
    np.testing.assert_array_equal(corpus.largest(3), [1, 3, 5])
    few = corpus.thinned(10).only(corpus.largest(5))
    assert few.X_train.shape == (10, 100)
    np.testing.assert_array_equal(few.y_test, y[::10][:, [1, 3, 4, 5, 6]])


def fake_news(*, subset, **_):
    texts = [f"oil word{i} gas" for i in range(6)] if subset == "train" else ["oil", "gas"]
    targets = [0, 1, 2, 0, 1, 2] if subset == "train" else [2, 0]
    return Bunch(data=texts, target=np.array(targets), target_names=["a", "b", "c"])


def fake_rcv1(*, subset, **_):
    n_rows = 20 if subset == "train" else 40
    topics = np.zeros((n_rows, 3), dtype=np.uint8)
    topics[::2, 0] = 1
    topics[1, 1] = 1  # of the test documents that are kept none has the second topic
    return Bunch(data=csr_array(np.eye(n_rows, 5)), target=csr_array(topics))


def test_further_corpora_as_scikit_learn_has_them(monkeypatch):
    monkeypatch.setattr(texts, "fetch_20newsgroups", fake_news)
    monkeypatch.setattr(texts, "fetch_rcv1", fake_rcv1)
    news = newsgroups()
    np.testing.assert_array_equal(news.y_train, np.tile(np.eye(3), (2, 1)))
    np.testing.assert_array_equal(news.y_test, [[0, 0, 1], [1, 0, 0]])
    assert news.X_train.shape == (6, 2)
    stories = rcv1()
    assert stories.X_test.shape == (3, 5)  # every sixteenth of forty
    assert stories.y_train.shape == (20, 1)


def test_corpora_that_are_absent_are_named(monkeypatch):
    def absent(**_):
        raise OSError

    monkeypatch.setattr(bennett_figure_2, "reuters", lambda: "Reuters")
    monkeypatch.setattr(texts, "fetch_20newsgroups", absent)
    monkeypatch.setattr(texts, "fetch_rcv1", absent)
    corpora, skipped = bennett_figure_2.find_corpora(quick=False)
    assert corpora == ["Reuters"]
    assert [sentence.split(" skipped")[0] for sentence in skipped] == ["RCV1", "20 newsgroups"]
