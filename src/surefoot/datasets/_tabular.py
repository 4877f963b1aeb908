"""Eighteen well-known tables: twelve for classification and six for regression."""

import csv
import gzip
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefoot._validation import check_option
from surefoot.datasets._data_home import get_data_home
from surefoot.datasets._download import check_may_download, read_address, store, verify
from surefoot.datasets._table import pack
from surefoot.datasets._tabular_sources import PMLB, SOURCES, Source

TARGET = "target"


def list_tabular(task: Literal["classification", "regression"] | None = None) -> list[str]:
    """Names of all tables of `fetch_tabular`, on disk or not, in order.

    Parameters
    ----------
    task : {"classification", "regression"}, default=None
        Task of the tables; None means both.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from surefoot.datasets import list_tabular
    >>> list_tabular("regression")
    ['abalone', 'concrete', 'energy_heating', 'house_8L', 'kin8nm', 'power_plant_ccpp']
    """
    if task is not None:
        check_option(task, "task", ["classification", "regression"], "None")
    return [name for name, source in SOURCES.items() if task in (None, source.task)]


def fetch_tabular(
    name: str,
    *,
    data_home: str | Path | None = None,
    download: bool = True,
    as_frame: bool | Literal["auto"] = "auto",
    return_X_y: bool = False,
) -> Any:
    """Load one of eighteen tables; it is downloaded if it is not on disk.

    Reads `<data_home>/tabular/<task>/<name>.csv.gz`: comma separated, with a header, the target last.
    If it is not there, it is downloaded and its checksum verified: `german_credit` and `abalone`
    from the UCI repository, and the others from PMLB, a collection that codes categories as
    integers. Four tables cannot be downloaded in a simple format (`concrete`, `energy_heating`,
    `power_plant_ccpp`, `kin8nm`): for these the error says which file to put where.

    Parameters
    ----------
    name : str
        One of :func:`list_tabular`.
    data_home : str or path, default=None
        Folder of the data sets; None means `$SUREFOOT_DATA`, else `~/surefoot_data`.
    download : bool, default=True
        Whether to download the table if it is not on disk.
    as_frame : bool or "auto", default="auto"
        Whether to return pandas objects, with text as categories. `"auto"` does so for the two
        tables that hold text, `german_credit` and `abalone`, and returns arrays of floats for the
        others. With False those two are arrays of objects, with text as it is.
    return_X_y : bool, default=False
        Whether to return `(data, target)` instead of a Bunch.

    Returns
    -------
    Bunch
        `data`, `target`, `frame` (both in one frame, or None), `feature_names`, `target_names`,
        `name` and `task`. Classes are ints, other targets floats.

    References
    ----------
    Romano et al., "PMLB v1.0: an open-source dataset collection for benchmarking machine learning
    methods", Bioinformatics 38(3), 2022.
    """
    check_option(name, "name", list(SOURCES))
    if as_frame not in (True, False):
        check_option(as_frame, "as_frame", ["auto"], "a bool")
    source = SOURCES[name]
    file = get_data_home(data_home) / "tabular" / source.task / f"{name}.csv.gz"
    if not file.exists():
        _download(name, file, download=download)
    feature_names, data, cells = read_table(file)
    return pack(
        data,
        np.array(cells, dtype=np.float64).astype(
            np.int64 if source.task == "classification" else np.float64
        ),
        feature_names=feature_names,
        target_name=TARGET,
        as_frame=data.dtype == object if as_frame == "auto" else as_frame,
        return_X_y=return_X_y,
        name=name,
        task=source.task,
    )


def read_table(file: Path) -> tuple[list[str], NDArray[Any], tuple[str, ...]]:
    """Feature names, features (an array of objects if one is text) and the cells of the target."""
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    *columns, target = zip(*rows, strict=True)
    parsed = [parse_column(cells) for cells in columns]
    texts = any(column.dtype == object for column in parsed)
    data = np.empty((len(rows), len(parsed)), dtype=object if texts else np.float64)
    for i, column in enumerate(parsed):
        data[:, i] = column
    return header[:-1], data, target


def parse_column(cells: tuple[str, ...]) -> NDArray[Any]:
    """Cells as floats; as texts if one cell is no number."""
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        return np.array(cells, dtype=object)


def _download(name: str, file: Path, *, download: bool) -> None:
    """Download a table to disk in the layout of `read_table`, if it has an address in a simple format."""
    source = SOURCES[name]
    what, remedy = f"The table {name}", f"put {file.name} in {file.parent}"
    if source.page is not None:
        raise FileNotFoundError(
            f"{what} is not on disk, and {source.page} has it in another format: "
            f"{remedy}, comma separated, with a header and with the column {TARGET!r} last."
        )
    check_may_download(download, what=what, remedy=remedy)
    content = read_address(home(source), what=what, remedy=remedy)
    try:
        table = from_pmlb(content) if source.pmlb_name else from_uci(content, source.columns)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise OSError(f"{what} is no table at {home(source)}: {remedy}.") from error
    verify(table, source.checksum, what=what)
    store(gzip.compress(table, mtime=0), file)


def home(source: Source) -> str:
    """Address of the file that holds a table."""
    return source.address or f"{PMLB}/{source.pmlb_name}/{source.pmlb_name}.tsv.gz"


def from_pmlb(content: bytes) -> bytes:
    """Table in CSV with the target last, from a compressed table with tabs."""
    rows = [line.split("\t") for line in gzip.decompress(content).decode().splitlines()]
    at = rows[0].index(TARGET)
    return as_csv([[*row[:at], *row[at + 1 :], row[at]] for row in rows])


def from_uci(content: bytes, columns: str) -> bytes:
    """Table in CSV, from a text without a header whose cells are separated by commas or blanks."""
    rows = [line.replace(",", " ").split() for line in content.decode().splitlines()]
    return as_csv([[*columns.split(), TARGET], *filter(None, rows)])


def as_csv(rows: list[list[str]]) -> bytes:
    """Text in CSV; no cell may hold a comma."""
    return "".join(",".join(row) + "\n" for row in rows).encode()
