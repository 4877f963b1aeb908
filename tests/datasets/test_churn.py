"""The counts that the tables are known by, and one sentence where they are absent."""

import os
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from surefoot.datasets import _churn, _download, fetch_churn

HOME = Path(os.environ.get("SUREFOOT_DATA", ""))
needs_data = pytest.mark.skipif(
    not (HOME / "churn").is_dir() or not os.environ.get("SUREFOOT_DATA"),
    reason="no churn tables in $SUREFOOT_DATA",
)


@pytest.mark.data
@needs_data
def test_mlc():
    data = fetch_churn()
    assert data.data.shape == (5000, 19)
    assert data.target.sum() == 707
    assert data.target[:3333].sum() == 483
    assert set(data.data["international_plan"]) == {"yes", "no"}
    assert data.data["total_day_minutes"].dtype == np.float64


@pytest.mark.data
@needs_data
def test_telco():
    X, y = fetch_churn("telco", return_X_y=True)
    assert X.shape == (7043, 19)
    assert "customerID" not in X
    assert y.sum() == 1869
    assert X["TotalCharges"].isna().sum() == 11


SMALL = b"customerID,tenure,Contract,TotalCharges,Churn\r\nA1,3,One year,9.5,Yes\r\nB2,0,Two year, ,No\r\n"


@contextmanager
def served(content):
    yield BytesIO(content)


def test_it_is_downloaded_verified_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(_download, "urlopen", lambda *_, **__: served(SMALL))
    with pytest.raises(OSError, match="is damaged or has changed"):
        fetch_churn("telco", data_home=tmp_path)
    monkeypatch.setitem(_churn.SOURCES, "telco", _churn.SOURCES["telco"]._replace(checksum=""))
    X, y = fetch_churn("telco", data_home=tmp_path, as_frame=False, return_X_y=True)
    assert X[0].tolist() == [3.0, "One year", 9.5]
    assert np.isnan(X[1, 2])
    assert y.tolist() == [1, 0]
    assert b"\r" not in (tmp_path / "churn" / _churn.SOURCES["telco"].file).read_bytes()


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("mlc", {}, "cannot be downloaded: put mlc_churn.csv in"),
        (
            "telco",
            {"download": False},
            "is not on disk: put WA_Fn-UseC_-Telco-Customer-Churn.csv in",
        ),
    ],
)
def test_an_absent_table_gets_one_sentence(tmp_path, name, options, sentence):
    with pytest.raises(FileNotFoundError, match=sentence):
        fetch_churn(name, data_home=tmp_path, **options)


def test_an_unknown_table_gets_one_sentence():
    with pytest.raises(ValueError, match="name='orange' is not known: it may be 'mlc', 'telco'"):
        fetch_churn("orange")
