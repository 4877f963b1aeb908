import gzip
import os
from urllib.error import URLError
from zipfile import ZipFile

import numpy as np
import pytest

from surefoot.datasets import _download, fetch_ucr, list_ucr

TRAIN = b"1\t0.5\t1.5\n2\t1\t2\n"
TEST = b"2\t3\t4\n"


def write_set(home, name="Tiny", train=TRAIN, test=TEST):
    folder = home / "ucr" / name
    folder.mkdir(parents=True)
    (folder / f"{name}_TRAIN.tsv.gz").write_bytes(gzip.compress(train))
    (folder / f"{name}_TEST.tsv.gz").write_bytes(gzip.compress(test))


def write_archive(home, name, train, test):
    (home / "ucr").mkdir(parents=True, exist_ok=True)
    with ZipFile(home / "ucr" / "UCRArchive_2018.zip", "w") as zipped:
        zipped.writestr(f"UCRArchive_2018/{name}/{name}_TRAIN.tsv", train)
        zipped.writestr(f"UCRArchive_2018/{name}/{name}_TEST.tsv", test)


def test_reads_what_is_on_disk(tmp_path):
    write_set(tmp_path)

    data = fetch_ucr("Tiny", data_home=tmp_path)

    np.testing.assert_array_equal(data.X_train, [[0.5, 1.5], [1, 2]])
    np.testing.assert_array_equal(data.y_train, [1, 2])
    np.testing.assert_array_equal(data.X_test, [[3, 4]])
    assert list_ucr(tmp_path) == ["Tiny"]


def test_data_home_is_the_environment_s(tmp_path, monkeypatch):
    write_set(tmp_path)
    monkeypatch.setenv("SUREFOOT_DATA", str(tmp_path))

    assert fetch_ucr("Tiny").name == "Tiny"


def test_shorter_series_lose_their_filling(tmp_path):
    write_set(tmp_path, train=b"1\t1\t2\tNaN\n1\t1\t2\t3\n")

    X = fetch_ucr("Tiny", data_home=tmp_path).X_train

    assert [one.tolist() for one in X] == [[1, 2], [1, 2, 3]]


def test_takes_a_set_out_of_the_archive_once(tmp_path):
    write_archive(tmp_path, "Tiny", TRAIN.replace(b"\n", b"\r\n"), TEST)

    fetch_ucr("Tiny", data_home=tmp_path)
    (tmp_path / "ucr" / "UCRArchive_2018.zip").unlink()

    np.testing.assert_array_equal(fetch_ucr("Tiny", data_home=tmp_path).y_train, [1, 2])


def test_a_damaged_file_is_refused(tmp_path):
    write_archive(tmp_path, "CBF", TRAIN, TEST)

    with pytest.raises(OSError, match=r"CBF_TRAIN.tsv .* is damaged or has changed"):
        fetch_ucr("CBF", data_home=tmp_path)
    assert list_ucr(tmp_path) == []


def test_an_unknown_set_is_refused(tmp_path):
    write_archive(tmp_path, "Tiny", TRAIN, TEST)

    with pytest.raises(ValueError, match="name='Tinny' is not a set of the UCR archive"):
        fetch_ucr("Tinny", data_home=tmp_path)


def test_offline_says_which_file_to_put_where(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise URLError("no route")

    monkeypatch.setattr(_download, "urlopen", unreachable)

    with pytest.raises(OSError, match=r"put CBF_TRAIN.tsv.gz and CBF_TEST.tsv.gz in .*CBF"):
        fetch_ucr("CBF", data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"put CBF_TRAIN.tsv.gz and"):
        fetch_ucr("CBF", data_home=tmp_path, download=False)


def test_downloads_the_archive_where_it_is_missing(tmp_path, monkeypatch):
    elsewhere = tmp_path / "web"
    write_archive(elsewhere, "Tiny", TRAIN, TEST)
    asked = []

    def web(address, timeout):
        asked.append(address)
        return (elsewhere / "ucr" / "UCRArchive_2018.zip").open("rb")

    monkeypatch.setattr(_download, "urlopen", web)

    data = fetch_ucr("Tiny", data_home=tmp_path / "home")

    np.testing.assert_array_equal(data.y_test, [2])
    [address] = asked
    assert address.startswith("https://www.cs.ucr.edu/")


@pytest.mark.data
@pytest.mark.skipif(
    not (list_ucr() if "SUREFOOT_DATA" in os.environ else []),
    reason="no UCR sets in $SUREFOOT_DATA",
)
def test_published_sizes():
    data = fetch_ucr("CBF")

    assert (data.X_train.shape, data.X_test.shape) == ((30, 128), (900, 128))
    assert set(data.y_train) == {1, 2, 3}
