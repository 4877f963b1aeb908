"""Reuters-21578: news of 1987 with topics, in the ModApte split."""

import re
import tarfile
import zlib
from collections.abc import Iterator
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import Bunch

from surefoot._typing import Ints
from surefoot._validation import check_option
from surefoot.datasets._data_home import get_data_home
from surefoot.datasets._download import check_may_download, read_address, store, verify

HOME = "https://archive.ics.uci.edu/ml/machine-learning-databases/reuters21578-mld"
ARCHIVE = "reuters21578.tar.gz"
# Checksum of the SGML files in order, which does not depend on how they are packed.
CHECKSUM = "3764d62c6c42ea64f88199a398af0305"

DOCUMENT = re.compile(r"<REUTERS\s(.*?)>(.*?)</REUTERS>", re.DOTALL)
ATTRIBUTE = re.compile(r'(\w+)="(.*?)"')
TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
ITEM = re.compile(r"<D>(.*?)</D>", re.DOTALL)
TEXT = re.compile(r"<TEXT.*?>(.*?)</TEXT>", re.DOTALL)
PART = re.compile(r"<(TITLE|BODY)>(.*?)</\1>", re.DOTALL)

N_LARGEST = 10


class Document(NamedTuple):
    """One story, and the part of the split that it belongs to."""

    number: int
    part: str
    topics: list[str]
    text: str


def fetch_reuters21578(
    *,
    topics: str = "shared",
    data_home: str | Path | None = None,
    download: bool = True,
) -> Bunch:
    """Load Reuters-21578 in the ModApte split: 9,603 stories to train on and 3,299 to test.

    Reads `<data_home>/reuters21578/reuters21578.tar.gz`; if it is not there it is downloaded (8 MB)
    from the UCI repository and its checksum verified. A story may have several topics or none.

    Parameters
    ----------
    topics : {"shared", "all", "largest"}, default="shared"
        Columns of the targets: the 90 topics with a training and a test story; all 135 that the
        collection names; or the ten with the most training stories. The stories are the same.
    data_home : str or path, default=None
        Folder of the data sets; None means `$SUREFOOT_DATA`, else `~/surefoot_data`.
    download : bool, default=True
        Whether to download the archive if it is not on disk.

    Returns
    -------
    Bunch
        `X_train` and `X_test`, arrays of texts: title and body of each story, or its whole text if
        these are not marked; `y_train` and `y_test`, CSR of shape (n_stories, n_topics)
        with a 1 for each topic of a story; `target_names`, the topics in order; `numbers_train` and
        `numbers_test`, the stories' numbers in the collection (NEWID).

    See Also
    --------
    informative_tfidf : Turn the texts into weighted terms.

    References
    ----------
    Lewis, "Reuters-21578 text categorization test collection, Distribution 1.0", 1997. The copyright
    is that of Reuters Ltd. and Carnegie Group, Inc.; it is free for research.
    """
    check_option(topics, "topics", ["shared", "all", "largest"])
    file = get_data_home(data_home) / "reuters21578" / ARCHIVE
    if not file.exists():
        _download(file, download=download)
    names, documents = read_archive(file)
    train, test = (
        sorted(document for document in documents if document.part == part)
        for part in ("TRAIN", "TEST")
    )
    y_train, y_test = indicators(train, names), indicators(test, names)
    kept = choose_topics(topics, y_train.sum(axis=0), y_test.sum(axis=0))
    return Bunch(
        X_train=_texts(train),
        y_train=y_train[:, kept],
        X_test=_texts(test),
        y_test=y_test[:, kept],
        target_names=[names[i] for i in kept],
        numbers_train=np.array([document.number for document in train], dtype=np.int64),
        numbers_test=np.array([document.number for document in test], dtype=np.int64),
    )


def read_archive(file: Path) -> tuple[list[str], list[Document]]:
    """Names of all topics, and the documents of the ModApte split, in no order."""
    try:
        members = _members(file.read_bytes())
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise OSError(f"{file} is damaged: remove it to have it downloaded again.") from error
    documents = [document for text in _stories(members) for document in parse(text)]
    names = set(members.get("all-topics-strings.lc.txt", b"").decode("latin-1").split())
    return sorted(names.union(*(document.topics for document in documents))), documents


def parse(text: str) -> Iterator[Document]:
    """Documents of an SGML file that have been indexed with topics; the others are in no part of the split."""
    for attributes, content in DOCUMENT.findall(text):
        known = dict(ATTRIBUTE.findall(attributes))
        if known["TOPICS"] == "YES" and known["LEWISSPLIT"] in ("TRAIN", "TEST"):
            topics = [unescape(name).strip() for name in ITEM.findall(_inside(TOPICS, content))]
            number, part = int(known["NEWID"]), known["LEWISSPLIT"]
            yield Document(number, part, topics, plain_text(_inside(TEXT, content)))


def plain_text(marked: str) -> str:
    """Title and body without tags, entities and outer blanks; the whole text if they are not marked."""
    parts = [part for _, part in PART.findall(marked)] or [marked]
    # Entities are resolved last: a resolved "<" is no tag.
    return "\n".join(unescape(part).strip() for part in parts)


def indicators(documents: list[Document], names: list[str]) -> csr_array:
    """Indicator matrix (CSR) with a 1 for each topic of a document."""
    column = {name: i for i, name in enumerate(names)}
    columns = [sorted({column[name] for name in document.topics}) for document in documents]
    starts = np.cumsum([0, *map(len, columns)])
    cells = np.array([i for row in columns for i in row], dtype=np.int64)
    ones = np.ones(len(cells), dtype=np.int64)
    return csr_array((ones, cells, starts), shape=(len(documents), len(names)))


def choose_topics(topics: str, n_train: Ints, n_test: Ints) -> Ints:
    """Columns to keep, in order, from the numbers of training and test documents of each topic."""
    if topics == "all":
        return np.arange(len(n_train))
    if topics == "shared":
        return np.flatnonzero((n_train > 0) & (n_test > 0))
    return np.sort(np.argsort(-n_train, kind="stable")[:N_LARGEST])


def _inside(pattern: re.Pattern[str], text: str) -> str:
    """Text that the pattern's first group matches; empty without a match."""
    match = pattern.search(text)
    return match[1] if match else ""


def _texts(documents: list[Document]) -> NDArray[Any]:
    """Texts as an array of objects."""
    return np.array([document.text for document in documents], dtype=object)


def _members(archive: bytes) -> dict[str, bytes]:
    """Contents of the files in an archive, by name without folder."""
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        readers = {
            Path(entry.name).name: files.extractfile(entry) for entry in files if entry.isfile()
        }
        return {name: reader.read() for name, reader in readers.items() if reader is not None}


def _stories(members: dict[str, bytes]) -> list[str]:
    """Texts of the SGML files in order; read as Latin-1, because a few bytes fit no encoding."""
    return [members[name].decode("latin-1") for name in sorted(members) if name.endswith(".sgm")]


def _download(file: Path, *, download: bool) -> None:
    """Download the archive to disk, if its stories have the known checksum."""
    what, remedy = "Reuters-21578", f"put {ARCHIVE} in {file.parent}"
    check_may_download(download, what=what, remedy=remedy)
    content = read_address(f"{HOME}/{ARCHIVE}", what=what, remedy=remedy)
    try:
        stories = "".join(_stories(_members(content)))
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise OSError(f"{what} is no archive at {HOME}/{ARCHIVE}: {remedy}.") from error
    verify(stories.encode("latin-1"), CHECKSUM, what=what)
    store(content, file)
