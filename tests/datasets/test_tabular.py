import gzip
import hashlib
import os
import sys
from dataclasses import replace
from io import BytesIO
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from surefoot.datasets import _download, _tabular, fetch_tabular, list_tabular

NUMBERS = b"width,height,target\n1.5,2,1\n3,4.25,0\n"
TEXTS = b"sex,length,target\nM,0.5,15\nF,0.25,7\n"


def write_table(home, task, name, text):
    folder = home / "tabular" / task
    folder.mkdir(parents=True)
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text))


def serve(monkeypatch, content):
    """Answer every address with the content, and note what was asked for."""
    asked = []

    def web(address, timeout):
        asked.append(address)
        return BytesIO(content)

    monkeypatch.setattr(_download, "urlopen", web)
    return asked


def expect(monkeypatch, name, table):
    """Let the checksum of a table that the test made up be the right one."""
    checksum = hashlib.sha256(table).hexdigest()[:32]
    source = replace(_tabular.SOURCES[name], checksum=checksum)
    monkeypatch.setitem(_tabular.SOURCES, name, source)


def test_numbers_are_arrays(tmp_path):
    write_table(tmp_path, "classification", "car", NUMBERS)

    table = fetch_tabular("car", data_home=tmp_path)

    np.testing.assert_array_equal(table.data, [[1.5, 2], [3, 4.25]])
    np.testing.assert_array_equal(table.target, [1, 0])
    assert (table.data.dtype, table.target.dtype) == (np.float64, np.int64)
    assert (table.feature_names, table.target_names) == (["width", "height"], ["target"])
    assert (table.frame, table.name, table.task) == (None, "car", "classification")


def test_texts_are_categories_of_a_frame(tmp_path):
    write_table(tmp_path, "regression", "abalone", TEXTS)

    table = fetch_tabular("abalone", data_home=tmp_path)

    assert table.data.columns.tolist() == ["sex", "length"]
    assert table.data["sex"].dtype == "category"
    assert table.data["sex"].tolist() == ["M", "F"]
    assert (table.data["length"].dtype, table.target.dtype) == (np.float64, np.float64)
    assert table.frame.columns.tolist() == ["sex", "length", "target"]
    assert table.target.tolist() == [15, 7]


def test_texts_fit_into_an_array_of_objects(tmp_path):
    write_table(tmp_path, "regression", "abalone", TEXTS)

    X, y = fetch_tabular("abalone", data_home=tmp_path, as_frame=False, return_X_y=True)

    assert X.tolist() == [["M", 0.5], ["F", 0.25]]
    assert y.tolist() == [15, 7]


def test_numbers_as_a_frame(tmp_path):
    write_table(tmp_path, "classification", "car", NUMBERS)

    X, y = fetch_tabular("car", data_home=tmp_path, as_frame=True, return_X_y=True)

    assert X.to_dict("list") == {"width": [1.5, 3], "height": [2, 4.25]}
    assert (y.name, y.tolist()) == ("target", [1, 0])


def test_a_frame_without_pandas_says_what_to_do(tmp_path, monkeypatch):
    write_table(tmp_path, "regression", "abalone", TEXTS)
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(ImportError, match=r"pip install .*\[report\]', or pass as_frame=False"):
        fetch_tabular("abalone", data_home=tmp_path)
    assert fetch_tabular("abalone", data_home=tmp_path, as_frame=False).data[0, 0] == "M"


def test_lists_the_tables_of_a_task():
    assert len(list_tabular("classification")) == 12
    assert "kin8nm" in list_tabular("regression")
    assert list_tabular() == list_tabular("classification") + list_tabular("regression")
    with pytest.raises(ValueError, match="task='clustering' is not known"):
        list_tabular("clustering")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": "cars"}, "name='cars' is not known: it may be 'car', 'cmc'"),
        ({"name": "car", "as_frame": "yes"}, "as_frame='yes' is not known: it may be 'auto' or"),
    ],
)
def test_refuses_what_it_does_not_know(tmp_path, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        fetch_tabular(**arguments, data_home=tmp_path)


def test_downloads_from_pmlb_once_and_puts_the_target_last(tmp_path, monkeypatch):
    asked = serve(monkeypatch, gzip.compress(b"a\ttarget\tb\r\n1\t0\t2.5\r\n3\t1\t4\r\n"))
    expect(monkeypatch, "segment", b"a,b,target\n1,2.5,0\n3,4,1\n")

    for _ in range(2):
        table = fetch_tabular("segment", data_home=tmp_path)

    np.testing.assert_array_equal(table.data, [[1, 2.5], [3, 4]])
    np.testing.assert_array_equal(table.target, [0, 1])
    [address] = asked
    assert address.startswith("https://github.com/EpistasisLab/pmlb/")
    assert address.endswith("/segmentation/segmentation.tsv.gz")


@pytest.mark.parametrize(
    ("name", "content", "row"),
    [
        (
            "abalone",
            b"M,0.5,0.4,0.1,0.6,0.2,0.1,0.15,15\r\n\r\n",
            "M,0.5,0.4,0.1,0.6,0.2,0.1,0.15,15",
        ),
        (
            "german_credit",
            b"A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1 \n",
            "A11,6,A34,A43,1169,A65,A75,4,A93,A101,4,A121,67,A143,A152,2,A173,1,A192,A201,1",
        ),
    ],
)
def test_downloads_from_uci_and_adds_a_header(tmp_path, monkeypatch, name, content, row):
    header = ",".join([*_tabular.SOURCES[name].columns.split(), "target"])
    asked = serve(monkeypatch, content)
    expect(monkeypatch, name, f"{header}\n{row}\n".encode())

    table = fetch_tabular(name, data_home=tmp_path, as_frame=False)

    assert asked == [_tabular.SOURCES[name].address]
    assert [str(cell).removesuffix(".0") for cell in table.data[0]] == row.split(",")[:-1]
    assert table.target[0] == int(row.split(",")[-1])


def test_a_changed_table_is_refused_and_not_kept(tmp_path, monkeypatch):
    serve(monkeypatch, gzip.compress(b"a\ttarget\n1\t0\n"))

    with pytest.raises(OSError, match=r"table car is damaged or has changed: .* begins with"):
        fetch_tabular("car", data_home=tmp_path)
    assert not list(tmp_path.rglob("*.gz*"))


@pytest.mark.parametrize("content", [b"<html>", gzip.compress(b"a\tb\n1\t0\n", mtime=0)])
def test_a_page_in_place_of_a_table_is_refused(tmp_path, monkeypatch, content):
    serve(monkeypatch, content)

    with pytest.raises(OSError, match=r"table car is no table at https:.*put car.csv.gz in"):
        fetch_tabular("car", data_home=tmp_path)


def test_offline_says_which_file_to_put_where(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise URLError("no route")

    monkeypatch.setattr(_download, "urlopen", unreachable)

    with pytest.raises(OSError, match=r"cannot be reached: put car.csv.gz in .*classification"):
        fetch_tabular("car", data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"car is not on disk: put car.csv.gz in"):
        fetch_tabular("car", data_home=tmp_path, download=False)


def test_a_table_without_a_simple_home_says_so(tmp_path, monkeypatch):
    asked = serve(monkeypatch, b"")

    with pytest.raises(FileNotFoundError, match=r"in another format: put kin8nm.csv.gz in"):
        fetch_tabular("kin8nm", data_home=tmp_path)
    assert asked == []


needs_data = pytest.mark.skipif(
    not ("SUREFOOT_DATA" in os.environ and (_tabular.get_data_home() / "tabular").exists()),
    reason="no tables in $SUREFOOT_DATA",
)


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("name", list_tabular())
def test_tables_on_disk_have_their_checksums(name):
    table = fetch_tabular(name, download=False)

    file = _tabular.get_data_home() / "tabular" / table.task / f"{name}.csv.gz"
    checksum = hashlib.sha256(gzip.decompress(file.read_bytes())).hexdigest()
    assert checksum.startswith(_tabular.SOURCES[name].checksum)
    assert table.data.shape == (len(table.target), len(table.feature_names))
    assert len(np.unique(table.target)) > 1


@pytest.mark.data
@needs_data
def test_a_pipeline_encodes_the_texts():
    X, y = fetch_tabular("german_credit", return_X_y=True, download=False)
    encoder = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_include="category")),
        remainder="drop",
    )

    model = make_pipeline(encoder, LogisticRegression()).fit(X, y)

    assert X.shape == (1000, 20)
    assert model.score(X, y) > 0.7  # the share of good credits
