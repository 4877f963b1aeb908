"""A damaged or dishonest archive is refused before it is unpacked, in one sentence."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from forgeries import Forgery, zipped
from sklearn.linear_model import LogisticRegression
from skops.io import dumps

from surefoot import model_files
from surefoot.model_files import ModelFileError, model_content

BROKEN = "FILE is a broken skops file, or was saved by other versions."
TOO_LARGE = "FILE is not loaded: unpacked, it would be over 500 times as large."


@pytest.fixture(scope="module")
def stored(rows):
    return dumps(LogisticRegression().fit(*rows))


def declare(content, name, size):
    """The archive with another declared size of one member, in both of its directories."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        info = archive.getinfo(name)
    there = info.file_size.to_bytes(4, "little")
    start = content.index(name.encode()) - 30 + 22
    central = content.rindex(name.encode()) - 46 + 24
    for place in (start, central):
        assert content[place : place + 4] == there
        content = content[:place] + size.to_bytes(4, "little") + content[place + 4 :]
    return content


def bomb(n_bytes):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("schema.json", "{}")
        with file.open("1.npy", "w") as member:
            for _ in range(n_bytes >> 20):
                member.write(bytes(1 << 20))
    return archive.getvalue()


def peak(refusal, content):
    """Sentence with which a file is refused, and the most bytes that were in use meanwhile."""
    tracemalloc.start()
    try:
        return refusal(content), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_bomb_is_refused_before_it_is_unpacked(refusal):
    content = bomb(100 << 20)
    assert len(content) < 200_000
    sentence, n_bytes = peak(refusal, content)
    assert sentence == TOO_LARGE
    assert n_bytes < 10 << 20


def test_a_bomb_that_declares_little_is_not_unpacked_beyond_that(refusal):
    """`ZipFile.read` would unpack all of its 100 MiB before it looks at what it declares."""
    sentence, n_bytes = peak(refusal, declare(bomb(100 << 20), "1.npy", 1 << 20))
    assert sentence == BROKEN
    assert n_bytes < 10 << 20


def test_the_bounds_follow_the_file_and_the_memory(monkeypatch):
    """64 MiB are always unpacked, beyond that 500 times the file; never more than a third of the memory."""
    monkeypatch.setattr(model_files, "free_memory", lambda: 30e9)

    def refused(total, n_packed):
        member = zipfile.ZipInfo("1.npy")
        member.file_size = total
        try:
            model_files._check_sizes([member], n_packed)
        except model_files.Refusal as reason:
            return str(reason)
        return None

    assert refused(2**26, 1) is None
    assert refused(2**26 + 1, 1) == "is not loaded: unpacked, it would be over 500 times as large"
    assert refused(500 * 10**6, 10**6) is None
    assert refused(500 * 10**6 + 1, 10**6) is not None
    assert refused(10**10, 10**9) is None
    assert refused(10**10 + 10**9, 10**9) == (
        "is not loaded: it needs about 33 GB of memory, where 30 GB are free"
    )


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_blocks_that_unpack_as_a_whole_are_refused(refusal, method):
    assert refusal(zipped({"schema.json": "{}"}, method)) == BROKEN


def test_an_encrypted_part_is_refused(refusal, stored):
    place = stored.rindex(b"schema.json") - 46 + 8
    assert refusal(stored[:place] + b"\x01" + stored[place + 1 :]) == BROKEN


def test_an_archive_without_a_schema_is_no_model(refusal):
    assert refusal(zipped({"1.npy": b""})) == BROKEN


def test_a_part_that_is_missing(refusal, rows):
    forged = Forgery(LogisticRegression().fit(*rows))
    del forged.members[forged.attributes("LogisticRegression")["coef_"]["file"]]
    assert refusal(forged.content()) == BROKEN


def test_a_file_cut_off_anywhere_is_refused(refusal, stored):
    for share in range(100):
        assert refusal(stored[: len(stored) * share // 100]).startswith("FILE is ")


@pytest.mark.parametrize("kind", ["as skops writes it", "as we write it"])
def test_bytes_overwritten_anywhere_give_a_model_or_a_sentence(load, stored, rows, kind):
    ours = model_content(LogisticRegression().fit(*rows))
    content = stored if kind == "as skops writes it" else ours
    rng, refused = np.random.default_rng(0), 0
    for _ in range(150):
        place = int(rng.integers(len(content)))
        try:
            load(content[:place] + rng.bytes(64) + content[place + 64 :])
        except ModelFileError as error:
            refused += str(error).count("\n") == 0
    assert refused >= 140
