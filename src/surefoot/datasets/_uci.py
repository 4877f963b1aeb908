"""Regression tables of the UCI repository: communities, wines and voices."""

from io import StringIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from surefoot._typing import Floats
from surefoot._validation import check_option
from surefoot.datasets._communities_columns import COLUMNS
from surefoot.datasets._data_home import get_data_home
from surefoot.datasets._download import download_text
from surefoot.datasets._table import pack

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
# Folder of each file in the repository, and the first 32 digits of its SHA-256, line ends as LF.
FILES = {
    "communities.data": ("communities", "d90d85bd66bad9a00fa0ed6c15ac017b"),
    "winequality-red.csv": ("wine-quality", "4a402cf041b025d4566d954c3b9ba863"),
    "winequality-white.csv": ("wine-quality", "76c3f809815c17c07212622f776311fa"),
    "parkinsons_updrs.data": (
        "parkinsons/telemonitoring",
        "f2c7d5025dec4e92e7feae367a5f7ccf",
    ),
}


def fetch_communities(
    *,
    data_home: str | Path | None = None,
    download: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load Communities and Crime: 1,994 communities, 122 columns, violent crimes per head.

    Reads `<data_home>/uci/communities.data`; if it is not there it is downloaded from the UCI
    repository and its checksum verified. The columns that only identify a community (state, county,
    community, its name, a fold) are left out; missing cells are NaN, in 23 columns. All values are
    scaled to the range from 0 to 1. Some columns describe race and ethnicity: use the table as a benchmark only, not
    for decisions about people.

    Parameters
    ----------
    data_home : str or path, default=None
        Folder of the data sets; None means `$SUREFOOT_DATA`, else `~/surefoot_data`.
    download : bool, default=True
        Whether to download the file if it is not on disk.
    as_frame : bool, default=False
        Whether to return pandas objects.
    return_X_y : bool, default=False
        Whether to return `(data, target)` instead of a Bunch.

    Returns
    -------
    Bunch
        `data`, `target`, `frame` (both in one frame, or None), `feature_names`, `target_names`
        and `fold`, the number from 1 to 10 that the file proposes for cross-validation.

    References
    ----------
    Redmond and Baveja, "A data-driven software tool for enabling cooperative information sharing
    among police departments", European Journal of Operational Research 141, 2002.
    """
    text = _read("communities.data", data_home, download=download).replace("?", "nan")
    # The fourth column is the community's name; the fifth its fold.
    fold_and_on = np.loadtxt(StringIO(text), delimiter=",", comments=None, usecols=range(4, 128))
    return pack(
        fold_and_on[:, 1:-1].copy(),
        fold_and_on[:, -1].copy(),
        feature_names=COLUMNS.split(),
        target_name="ViolentCrimesPerPop",
        as_frame=as_frame,
        return_X_y=return_X_y,
        fold=fold_and_on[:, 0].astype(np.int64),
    )


def fetch_wine_quality(
    color: Literal["red", "white"] = "red",
    *,
    data_home: str | Path | None = None,
    download: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load Wine Quality: 11 measurements of Vinho Verde wines, and their marks by tasters.

    Reads `<data_home>/uci/winequality-<color>.csv`; if it is not there it is downloaded from the
    UCI repository and its checksum verified.

    Parameters
    ----------
    color : {"red", "white"}, default="red"
        1,599 red or 4,898 white wines.
    data_home : str or path, default=None
        Folder of the data sets; None means `$SUREFOOT_DATA`, else `~/surefoot_data`.
    download : bool, default=True
        Whether to download the file if it is not on disk.
    as_frame : bool, default=False
        Whether to return pandas objects.
    return_X_y : bool, default=False
        Whether to return `(data, target)` instead of a Bunch.

    Returns
    -------
    Bunch
        `data`, `target`, `frame` (both in one frame, or None), `feature_names` and `target_names`.

    References
    ----------
    Cortez et al., "Modeling wine preferences by data mining from physicochemical properties",
    Decision Support Systems 47(4), 2009.
    """
    check_option(color, "color", ["red", "white"])
    text = _read(f"winequality-{color}.csv", data_home, download=download)
    names, table = _with_header(text, delimiter=";")
    return pack(
        table[:, :-1].copy(),
        table[:, -1].copy(),
        feature_names=names[:-1],
        target_name=names[-1],
        as_frame=as_frame,
        return_X_y=return_X_y,
    )


def fetch_parkinsons(
    target: Literal["motor", "total"] = "motor",
    *,
    data_home: str | Path | None = None,
    download: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load Parkinsons Telemonitoring: 5,875 voice recordings of 42 patients, and their scores.

    Reads `<data_home>/uci/parkinsons_updrs.data`; if it is not there it is downloaded from the UCI
    repository and its checksum verified. A patient has about 140 recordings with nearly equal
    scores: split by `groups`, or the error on new patients is badly underestimated.

    Parameters
    ----------
    target : {"motor", "total"}, default="motor"
        Score on the Unified Parkinson's Disease Rating Scale to predict. The other score and
        the patient's number are left out of the features.
    data_home : str or path, default=None
        Folder of the data sets; None means `$SUREFOOT_DATA`, else `~/surefoot_data`.
    download : bool, default=True
        Whether to download the file if it is not on disk.
    as_frame : bool, default=False
        Whether to return pandas objects.
    return_X_y : bool, default=False
        Whether to return `(data, target)` instead of a Bunch.

    Returns
    -------
    Bunch
        `data` (19 columns), `target`, `frame` (both in one frame, or None), `feature_names`,
        `target_names` and `groups`, the patient of each recording, from 1 to 42.

    References
    ----------
    Tsanas et al., "Accurate telemonitoring of Parkinson's disease progression by non-invasive
    speech tests", IEEE Transactions on Biomedical Engineering 57, 2010.
    """
    check_option(target, "target", ["motor", "total"])
    text = _read("parkinsons_updrs.data", data_home, download=download)
    names, table = _with_header(text, delimiter=",")
    no_features = ["subject#", "motor_UPDRS", "total_UPDRS"]
    features = [name for name in names if name not in no_features]
    return pack(
        table[:, [names.index(name) for name in features]],
        table[:, names.index(f"{target}_UPDRS")].copy(),
        feature_names=features,
        target_name=f"{target}_UPDRS",
        as_frame=as_frame,
        return_X_y=return_X_y,
        groups=table[:, names.index("subject#")].astype(np.int64),
    )


def _with_header(text: str, *, delimiter: str) -> tuple[list[str], Floats]:
    """Column names without quotes, and the values."""
    header, _, lines = text.partition("\n")
    names = [name.strip('"') for name in header.split(delimiter)]
    return names, np.loadtxt(StringIO(lines), delimiter=delimiter, comments=None, ndmin=2)


def _read(name: str, data_home: str | Path | None, *, download: bool) -> str:
    """Text of a file on disk, downloaded first if it is absent."""
    file = get_data_home(data_home) / "uci" / name
    if not file.exists():
        folder, checksum = FILES[name]
        what, remedy = f"The file {name}", f"put it in {file.parent}"
        address = f"{UCI}/{folder}/{name}"
        download_text(address, file, checksum, download=download, what=what, remedy=remedy)
    return file.read_text(encoding="latin-1")
