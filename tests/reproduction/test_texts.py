"""Stories of Reuters-21578, the split and the topics that it is known by, and terms from the training part alone."""

import tarfile
from io import BytesIO

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from reproduction.texts import (
    fetch_reuters21578,
    informative_tfidf,
    term_information,
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


@pytest.mark.slow
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


def test_training_texts_alone_decide_on_informative_terms():
    tfidf = informative_tfidf(2).fit(TEXTS, [0, 0, 1, 1])
    assert tfidf[:2].get_feature_names_out().tolist() == ["corn", "gas"]
    rows = tfidf.transform([*TEXTS, "corn gas", "", "never seen"])
    np.testing.assert_allclose(rows.toarray()[4], [np.sqrt(0.5)] * 2)
    assert np.diff(rows.indptr).tolist() == [1, 1, 1, 1, 2, 0, 0]
