"""A damaged or dishonest archive is refused before it is unpacked, in one sentence."""

import io
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from skops.io import dumps

from surefoot._model_files import ModelFileError, model_content

BROKEN = "FILE is a broken skops file, or was saved by other versions."


def zipped(members, method=zipfile.ZIP_DEFLATED):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as file:
        for name, content in members:
            file.writestr(name, content)
    return archive.getvalue()


@pytest.fixture(scope="module")
def stored(rows):
    return dumps(LogisticRegression().fit(*rows))


def test_a_bomb_is_refused_by_its_declared_size(refusal, tmp_path):
    zeros = bytes(1 << 20)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("schema.json", "{}")
        with file.open("1.npy", "w", force_zip64=True) as member:
            for _ in range(100):
                member.write(zeros)
    assert len(archive.getvalue()) < 200_000
    assert refusal(archive.getvalue()) == (
        "FILE is not loaded: unpacked, it would be more than 500 times as large."
    )


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


def test_more_than_two_gibibytes_are_refused(refusal):
    content = zipped([("schema.json", "{}"), ("1.npy", np.random.default_rng(0).bytes(5 << 20))])
    big = declare(content, "1.npy", (1 << 31) + 1)
    assert refusal(big) == "FILE is not loaded: unpacked, it would be larger than 2 GiB."
    schema = declare(content, "schema.json", (1 << 28) + 1)
    assert refusal(schema) == (
        "FILE is not loaded: unpacked, its schema would be larger than 256 MiB."
    )


@pytest.mark.parametrize("size", [2, 10**6])
def test_a_member_is_never_read_beyond_what_it_declares(refusal, size):
    content = zipped([("schema.json", b" " * 200_000 + b"{}")])
    assert refusal(declare(content, "schema.json", size)).startswith("FILE is ")


def test_an_encrypted_part_is_refused(refusal, stored):
    place = stored.rindex(b"schema.json") - 46 + 8
    assert refusal(stored[:place] + b"\x01" + stored[place + 1 :]) == (
        "FILE is not loaded: its part 'schema.json' is encrypted."
    )


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_blocks_that_unpack_as_a_whole_are_refused(refusal, method):
    assert refusal(zipped([("schema.json", "{}")], method)) == (
        "FILE is not loaded: its part 'schema.json' is packed in a way that is not allowed."
    )


@pytest.mark.parametrize(
    "name", ["../1.npy", "/1.npy", "a/1.npy", "1.npz", "1.pkl", "\x1b[31m.npy"]
)
def test_odd_names_are_refused(refusal, name):
    content = zipped([("schema.json", "{}"), (name, b"")])
    assert refusal(content) == f"FILE is not loaded: it has a part called {name!r}."


def test_two_parts_of_one_name_are_refused(refusal):
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = zipped([("schema.json", "{}"), ("schema.json", "{}")])
    assert refusal(content) == "FILE is not loaded: two of its parts have the same name."


def test_an_archive_without_a_schema_is_no_model(refusal):
    assert refusal(zipped([("1.npy", b"")])) == "FILE is not loaded: it has no schema.json."


def test_a_part_that_many_arrays_are_read_from_is_refused(refusal, forge, rows):
    forged = forge(LogisticRegression().fit(*rows))
    coefficients, intercept = (
        forged.attributes("LogisticRegression")[n] for n in ("coef_", "intercept_")
    )
    intercept["file"] = coefficients["file"]
    assert refusal(forged.content()) == BROKEN


def test_a_part_that_is_missing(refusal, forge, rows):
    forged = forge(LogisticRegression().fit(*rows))
    del forged.members[forged.attributes("LogisticRegression")["coef_"]["file"]]
    assert refusal(forged.content()) == BROKEN


def test_an_archive_in_place_of_an_array(refusal, forge, rows):
    forged = forge(LogisticRegression().fit(*rows))
    arrays = io.BytesIO()
    np.savez_compressed(arrays, np.zeros(10))
    forged.members[forged.attributes("LogisticRegression")["coef_"]["file"]] = arrays.getvalue()
    sentence = refusal(forged.content())
    assert sentence.startswith("FILE is not loaded: it holds an object of type 'numpy.lib.")
    assert sentence.endswith("NpzFile'.")


@pytest.mark.parametrize(
    "shape",
    ["(10**15,)", "(1000000000000,)", "(-1, 3)", "(3, -1)", "(True,)", "(9223372036854775807, 8)"],
)
def test_shapes_that_cannot_be(refusal, forge, rows, shape):
    forged = forge(LogisticRegression().fit(*rows))
    name = forged.attributes("LogisticRegression")["coef_"]["file"]
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    forged.members[name] = (
        b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    )
    assert refusal(forged.content()) == BROKEN


def test_values_of_no_size_are_refused(refusal, forge, rows):
    forged = forge(LogisticRegression().fit(*rows))
    name = forged.attributes("LogisticRegression")["coef_"]["file"]
    header = "{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,)}".ljust(117) + "\n"
    forged.members[name] = (
        b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    )
    assert refusal(forged.content()) == "FILE is not loaded: an array in it has values of no size."


def test_a_file_cut_off_anywhere_is_refused(refusal, stored):
    for share in range(100):
        assert refusal(stored[: len(stored) * share // 100]).startswith("FILE is ")


@pytest.mark.parametrize("method", ["stored", "deflated"])
def test_bytes_overwritten_anywhere_give_a_model_or_a_sentence(load, stored, rows, method):
    content = stored if method == "stored" else model_content(LogisticRegression().fit(*rows))
    rng, refused = np.random.default_rng(0), 0
    for _ in range(150):
        place = int(rng.integers(len(content)))
        noise = rng.bytes(64)
        try:
            load(content[:place] + noise + content[place + 64 :])
        except ModelFileError as error:
            refused += str(error).count("\n") == 0
    assert refused >= 140
