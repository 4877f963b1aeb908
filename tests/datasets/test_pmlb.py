import gzip
import hashlib
import os
from io import BytesIO
from urllib.error import URLError

import numpy as np
import pytest

from surefoot.datasets import (
    _download,
    _pmlb,
    describe_pmlb,
    fetch_pmlb,
    list_pmlb,
    list_tabular,
)

TEXT = b"width\theight\ttarget\n1.5\t2\t1\n3\t4.25\t0\n"


def write_table(home, name, text):
    folder = home / "pmlb" / name
    folder.mkdir(parents=True)
    (folder / f"{name}.tsv.gz").write_bytes(gzip.compress(text))


def serve(monkeypatch, content):
    """Answer every address with the content, and note what was asked for."""
    asked = []

    def web(address, timeout):
        asked.append(address)
        return BytesIO(content)

    monkeypatch.setattr(_download, "urlopen", web)
    return asked


def expect(monkeypatch, name, text):
    """Let the checksum of a table that the test made up be the right one."""
    checksum = hashlib.sha256(text).hexdigest()[:32]
    monkeypatch.setitem(_pmlb.TABLES, name, _pmlb.TABLES[name]._replace(checksum=checksum))


def test_reads_a_table_from_disk(tmp_path):
    write_table(tmp_path, "monk1", TEXT)

    table = fetch_pmlb("monk1", data_home=tmp_path, download=False)

    np.testing.assert_array_equal(table.data, [[1.5, 2], [3, 4.25]])
    np.testing.assert_array_equal(table.target, [1, 0])
    assert table.target.dtype == np.int64
    assert (table.feature_names, table.frame) == (["width", "height"], None)
    assert (table.name, table.task, table.family) == ("monk1", "classification", "monk")


def test_a_regression_target_is_a_number(tmp_path):
    write_table(tmp_path, "1027_ESL", TEXT)

    X, y = fetch_pmlb("1027_ESL", data_home=tmp_path, as_frame=True, return_X_y=True)

    assert X.to_dict("list") == {"width": [1.5, 3], "height": [2, 4.25]}
    assert (y.name, y.dtype) == ("target", np.float64)


def test_a_missing_cell_is_nan_and_a_second_target_is_a_feature(tmp_path):
    write_table(tmp_path, "schizo", b"ID\ttarget\tsex\ttarget\n7\t1\tNA\t0\n8\t3\t1\t1\n")

    table = fetch_pmlb("schizo", data_home=tmp_path)

    assert table.feature_names == ["ID", "sex", "target.1"]
    np.testing.assert_array_equal(table.data, [[7, np.nan, 0], [8, 1, 1]])
    np.testing.assert_array_equal(table.target, [1, 3])


def test_lists_the_tables_of_a_task():
    assert (len(list_pmlb("classification")), len(list_pmlb("regression"))) == (66, 20)
    assert list_pmlb() == list_pmlb("classification") + list_pmlb("regression")
    assert not set(list_pmlb()) & set(list_tabular())
    with pytest.raises(ValueError, match="task='clustering' is not known"):
        list_pmlb("clustering")


def test_kin_are_one_family_and_others_are_their_own():
    kin = [
        ["flare", "solar_flare_2"],
        ["clean1", "clean2"],
        ["monk1", "monk2", "monk3"],
        ["cleve", "cleveland", "heart_h", "heart_statlog"],
        ["spect", "spectf"],
        ["led7", "led24"],
        [name for name in list_pmlb() if name.startswith("mfeat_")],
    ]
    for names in kin:
        assert len({describe_pmlb(name).family for name in names}) == 1
    related = {name for names in kin for name in names} | {"dna", "waveform_21", "574_house_16H"}
    for name in set(list_pmlb()) - related:
        assert describe_pmlb(name).family == name
    assert describe_pmlb("dna").family == "splice"
    assert describe_pmlb("saheart").family != describe_pmlb("heart_h").family


def test_downloads_once_and_keeps_the_file_as_published(tmp_path, monkeypatch):
    published = gzip.compress(TEXT, compresslevel=1)
    asked = serve(monkeypatch, published)
    expect(monkeypatch, "xd6", TEXT)

    for _ in range(2):
        table = fetch_pmlb("xd6", data_home=tmp_path)

    np.testing.assert_array_equal(table.target, [1, 0])
    [address] = asked
    assert address.startswith("https://github.com/EpistasisLab/pmlb/raw/e447f565")
    assert address.endswith("/datasets/xd6/xd6.tsv.gz")
    assert (tmp_path / "pmlb/xd6/xd6.tsv.gz").read_bytes() == published


def test_a_changed_table_is_refused_and_not_kept(tmp_path, monkeypatch):
    serve(monkeypatch, gzip.compress(TEXT))

    with pytest.raises(OSError, match=r"table xd6 is damaged or has changed: .* begins with"):
        fetch_pmlb("xd6", data_home=tmp_path)
    assert not list(tmp_path.rglob("*.gz*"))


def test_a_page_in_place_of_a_table_is_refused(tmp_path, monkeypatch):
    serve(monkeypatch, b"<html>")

    with pytest.raises(OSError, match=r"table xd6 is no table at https:.*put xd6.tsv.gz in"):
        fetch_pmlb("xd6", data_home=tmp_path)


def test_offline_says_which_file_to_put_where(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise URLError("no route")

    monkeypatch.setattr(_download, "urlopen", unreachable)

    with pytest.raises(OSError, match=r"cannot be reached: put xd6.tsv.gz in .*pmlb"):
        fetch_pmlb("xd6", data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"xd6 is not on disk: put xd6.tsv.gz in"):
        fetch_pmlb("xd6", data_home=tmp_path, download=False)


@pytest.mark.parametrize("function", [fetch_pmlb, describe_pmlb])
def test_an_unknown_name_is_refused(function):
    with pytest.raises(ValueError, match="name='iris' is not known: it may be 'analcatdata_auth"):
        function("iris")


needs_data = pytest.mark.skipif(
    not ("SUREFOOT_DATA" in os.environ and (_pmlb.get_data_home() / "pmlb").exists()),
    reason="no PMLB tables in $SUREFOOT_DATA",
)


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(
    "name", [name for name in list_pmlb() if describe_pmlb(name).n_rows < 20_000]
)
def test_tables_on_disk_are_as_described(name):
    table, about = fetch_pmlb(name, download=False), describe_pmlb(name)

    file = _pmlb.get_data_home() / "pmlb" / name / f"{name}.tsv.gz"
    checksum = hashlib.sha256(gzip.decompress(file.read_bytes())).hexdigest()
    assert checksum.startswith(_pmlb.TABLES[name].checksum)
    assert table.data.shape == (about.n_rows, about.n_columns)
    assert np.isnan(table.data).any() == (name == "penguins")
    if about.n_classes is not None:
        assert len(np.unique(table.target)) == about.n_classes
