"""Two tables of telecom churn: customers who left or stayed."""

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Ints
from surefoot._validation import check_option
from surefoot.datasets._data_home import get_data_home
from surefoot.datasets._download import download_text
from surefoot.datasets._table import pack


class Source(NamedTuple):
    """File and address of a table, its target, and the columns to leave out."""

    file: str
    target: str
    dropped: tuple[str, ...]
    address: str | None
    checksum: str


SOURCES = {
    "mlc": Source(
        "mlc_churn.csv",
        "churn",
        (),
        None,  # the site of MLC++ does not exist any more
        "977e9701c245abc90ea21b882ffafea6",
    ),
    "telco": Source(
        "WA_Fn-UseC_-Telco-Customer-Churn.csv",
        "Churn",
        ("customerID",),
        "https://raw.githubusercontent.com/IBM/telco-customer-churn-on-icp4d/master/data/Telco-Customer-Churn.csv",
        "16320c9c1ec72448db59aa0a26a0b954",
    ),
}


def fetch_churn(
    name: str = "mlc",
    *,
    data_home: str | Path | None = None,
    download: bool = True,
    as_frame: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load a table of customers who stayed or left; it is downloaded if it is not on disk.

    Reads `<data_home>/churn/mlc_churn.csv` or `WA_Fn-UseC_-Telco-Customer-Churn.csv`. The second is
    downloaded from IBM's repository if it is not there, and its checksum verified. The first cannot be
    downloaded, because its site does not exist any more: put `mlc_churn` of the R package modeldata there as CSV.

    Parameters
    ----------
    name : {"mlc", "telco"}, default="mlc"
        "mlc": 5,000 customers and 19 columns of the MLC++ library, artificial but much used; 707
        left. "telco": 7,043 and 19, IBM's sample data; 1,869 left, and 11 new ones have no total
        charges yet, which is NaN.
    data_home : str or path, default=None
        Folder of the data sets; None means `$SUREFOOT_DATA`, else `~/surefoot_data`.
    download : bool, default=True
        Whether to download the table if it is not on disk.
    as_frame : bool, default=True
        Whether to return pandas objects, with text as categories; an array of objects otherwise.
    return_X_y : bool, default=False
        Whether to return `(data, target)` instead of a Bunch.

    Returns
    -------
    Bunch
        `data`, `target` (1 for customers who left), `frame`, `feature_names`, `target_names` and
        `name`.

    References
    ----------
    Larose, "Discovering Knowledge in Data", 2005. IBM, "Telco Customer Churn".
    """
    check_option(name, "name", list(SOURCES))
    source = SOURCES[name]
    file = get_data_home(data_home) / "churn" / source.file
    if not file.exists():
        _download(name, file, download=download)
    names, data, left = read_churn(file, source)
    return pack(
        data,
        left,
        feature_names=names,
        target_name="left",
        as_frame=as_frame,
        return_X_y=return_X_y,
        name=name,
    )


def read_churn(file: Path, source: Source) -> tuple[list[str], NDArray[Any], Ints]:
    """Names and values of the columns, and a target of 1 for customers who left, else 0."""
    with file.open(newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    cells = dict(zip(header, zip(*rows, strict=True), strict=True))
    left = np.array([cell.lower() == "yes" for cell in cells.pop(source.target)], dtype=np.int64)
    for name in source.dropped:
        del cells[name]
    data = np.empty((len(rows), len(cells)), dtype=object)
    for i, column in enumerate(cells.values()):
        data[:, i] = parse(column)
    return list(cells), data, left


def parse(column: tuple[str, ...]) -> list[Any]:
    """Cells as floats, with NaN for blank ones; as texts if one cell is no number."""
    try:
        return [float(cell) if cell.strip() else np.nan for cell in column]
    except ValueError:
        return list(column)


def _download(name: str, file: Path, *, download: bool) -> None:
    """Download a table to disk, if it has an address."""
    source = SOURCES[name]
    what, remedy = f"The churn table {name}", f"put {file.name} in {file.parent}"
    if source.address is None:
        raise FileNotFoundError(f"{what} is not on disk and cannot be downloaded: {remedy}.")
    download_text(
        source.address, file, source.checksum, download=download, what=what, remedy=remedy
    )
