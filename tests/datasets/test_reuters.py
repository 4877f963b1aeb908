"""The split and the topics that the collection is known by, and what odd documents become."""

import os
import tarfile
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest

from surefoot.datasets import _download, _reuters, fetch_reuters21578

HOME = Path(os.environ.get("SUREFOOT_DATA", "")) / "reuters21578" / "reuters21578.tar.gz"
needs_data = pytest.mark.skipif(
    not HOME.is_file() or not os.environ.get("SUREFOOT_DATA"),
    reason="no Reuters-21578 in $SUREFOOT_DATA",
)


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
    folder = home / "reuters21578"
    folder.mkdir()
    (folder / "reuters21578.tar.gz").write_bytes(content)


def test_odd_documents_are_read(tmp_path):
    put(tmp_path, SMALL)
    data = fetch_reuters21578(data_home=tmp_path, topics="all")
    assert data.target_names == ["gold", "oil", "zinc"]
    assert data.numbers_train.tolist() == [1, 2]
    assert data.X_train.tolist() == ["BRIEF ONE", "OPEC MEETS\n<XYZ.N> & Co.\x85\xfcend"]
    assert data.X_test.tolist() == ["OPEC MEETS\nThird", "UNPROCESSED\nTEXT"]
    np.testing.assert_array_equal(data.y_train.toarray(), [[1, 1, 0], [0, 1, 0]])
    np.testing.assert_array_equal(data.y_test.toarray(), [[0, 1, 0], [0, 0, 0]])


def test_topics_can_be_chosen(tmp_path):
    put(tmp_path, SMALL)
    shared = fetch_reuters21578(data_home=tmp_path)
    assert shared.target_names == ["oil"]
    assert shared.y_test.toarray().ravel().tolist() == [1, 0]
    counts = np.array([5, 1, 9, 0, 7, 2, 2, 8, 3, 4, 6, 2])
    assert _reuters.choose_topics("largest", counts, counts).tolist() == [
        0,
        2,
        4,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
    ]
    with pytest.raises(ValueError, match="topics='some' is not known: it may be 'shared', 'all'"):
        fetch_reuters21578(topics="some")


@contextmanager
def served(content):
    yield BytesIO(content)


def test_it_is_downloaded_verified_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(_download, "urlopen", lambda *_, **__: served(SMALL))
    with pytest.raises(OSError, match="Reuters-21578 is damaged or has changed"):
        fetch_reuters21578(data_home=tmp_path)
    monkeypatch.setattr(_reuters, "CHECKSUM", "")
    fetch_reuters21578(data_home=tmp_path)
    assert (tmp_path / "reuters21578" / "reuters21578.tar.gz").read_bytes() == SMALL


def test_what_is_no_archive_gets_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(_download, "urlopen", lambda *_, **__: served(b"<html>moved</html>"))
    with pytest.raises(OSError, match=r"is no archive at https.*: put reuters21578.tar.gz in"):
        fetch_reuters21578(data_home=tmp_path)
    put(tmp_path, SMALL[:200])
    with pytest.raises(OSError, match="is damaged: remove it to have it downloaded again"):
        fetch_reuters21578(data_home=tmp_path)


def test_offline_says_which_file_to_put_where(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise URLError("no route")

    monkeypatch.setattr(_download, "urlopen", unreachable)
    with pytest.raises(OSError, match=r"cannot be reached: put reuters21578.tar.gz in .*reuters"):
        fetch_reuters21578(data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"is not on disk: put reuters21578.tar.gz in"):
        fetch_reuters21578(data_home=tmp_path, download=False)


@pytest.mark.data
@needs_data
def test_published_counts():
    data = fetch_reuters21578(topics="all")
    assert (data.y_train.shape, data.y_test.shape) == ((9603, 135), (3299, 135))
    assert ((data.y_train.sum(axis=1) > 0).sum(), (data.y_test.sum(axis=1) > 0).sum()) == (
        7775,
        3019,
    )
    n_train = dict(zip(data.target_names, data.y_train.sum(axis=0).tolist(), strict=True))
    n_test = dict(zip(data.target_names, data.y_test.sum(axis=0).tolist(), strict=True))
    # The counts that Dumais and others (1998) and Joachims (1998) print.
    assert [n_train[name] for name in ("earn", "acq", "money-fx", "grain")] == [
        2877,
        1650,
        538,
        433,
    ]
    assert [n_test[name] for name in ("earn", "acq", "money-fx", "grain")] == [1087, 719, 179, 149]
    assert not any("&#" in text or "\x03" in text for text in data.X_train)


@pytest.mark.data
@needs_data
def test_ninety_topics_are_shared_and_ten_are_largest():
    assert len(fetch_reuters21578().target_names) == 90
    largest = fetch_reuters21578(topics="largest")
    expected = "acq corn crude earn grain interest money-fx ship trade wheat"
    assert largest.target_names == expected.split()
    assert len(largest.X_train) == 9603
