"""Eighty-six tables of PMLB, as published: 66 for classification and 20 for regression."""

import gzip
import re
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from surefoot._validation import check_option
from surefoot.datasets._data_home import get_data_home
from surefoot.datasets._download import check_may_download, read_address, store, verify
from surefoot.datasets._pmlb_tables import TABLES
from surefoot.datasets._table import pack

# The parent of a commit of 2020-08-18: later versions have renamed some tables and changed others.
PMLB = (
    "https://github.com/EpistasisLab/pmlb/raw/e447f5657e001e73642756b664ea1421408aa967~1/datasets"
)
TARGET = "target"


def list_pmlb(task: Literal["classification", "regression"] | None = None) -> list[str]:
    """Names of all tables of `fetch_pmlb`, on disk or not, in order.

    Parameters
    ----------
    task : {"classification", "regression"}, default=None
        Task of the tables; None means both.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from surefoot.datasets import list_pmlb
    >>> list_pmlb("classification")[:3]
    ['analcatdata_authorship', 'analcatdata_dmft', 'analcatdata_germangss']
    """
    if task is not None:
        check_option(task, "task", ["classification", "regression"], "None")
    return [name for name, table in TABLES.items() if task in (None, table.task)]


def describe_pmlb(name: str) -> Bunch:
    """Size, task and family of a table of `fetch_pmlb`, which is neither read nor downloaded.

    Parameters
    ----------
    name : str
        One of :func:`list_pmlb`.

    Returns
    -------
    Bunch
        `name`, `task`, `n_rows`, `n_columns` (without the target), `n_classes` (None for regression) and `family`.
        Tables of one family have rows in common, or rows of one origin, so that what is learned on one of them is
        not tested on another. A table without such kin has its own name as family; `"splice"`, `"waveform"` and
        `"house"` are also families of tables of `fetch_tabular` (splice, waveform_40 and house_8L).

    Examples
    --------
    >>> from surefoot.datasets import describe_pmlb
    >>> monk = describe_pmlb("monk1")
    >>> monk.n_rows, monk.n_columns, monk.n_classes, monk.family
    (556, 6, 2, 'monk')
    """
    check_option(name, "name", list(TABLES))
    table = TABLES[name]
    return Bunch(
        name=name,
        task=table.task,
        n_rows=table.n_rows,
        n_columns=table.n_columns,
        n_classes=table.n_classes,
        family=table.family or name,
    )


def fetch_pmlb(
    name: str,
    *,
    data_home: str | Path | None = None,
    download: bool = True,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load one of 86 tables of PMLB; it is downloaded if it is not on disk.

    Reads `<data_home>/pmlb/<name>/<name>.tsv.gz`: tab separated, with a header and a column `target`. All cells are
    numbers (PMLB codes categories as integers); missing ones, which only `penguins` has, are NaN. If the file is not
    there, it is downloaded from the repository of PMLB as it was in August 2020, and its checksum verified.

    Parameters
    ----------
    name : str
        One of :func:`list_pmlb`.
    data_home : str or path, default=None
        Folder of the data sets; None means `$SUREFOOT_DATA`, else `~/surefoot_data`.
    download : bool, default=True
        Whether to download the table if it is not on disk.
    as_frame : bool, default=False
        Whether to return pandas objects.
    return_X_y : bool, default=False
        Whether to return `(data, target)` instead of a Bunch.

    Returns
    -------
    Bunch
        `data`, `target`, `frame` (both in one frame, or None), `feature_names`, `target_names`, `name`, `task` and
        `family` (see :func:`describe_pmlb`). Classes are ints, other targets floats.

    References
    ----------
    Romano et al., "PMLB v1.0: an open-source dataset collection for benchmarking machine learning
    methods", Bioinformatics 38(3), 2022.
    """
    about = describe_pmlb(name)
    file = get_data_home(data_home) / "pmlb" / name / f"{name}.tsv.gz"
    if not file.exists():
        _download(name, file, download=download)
    feature_names, data, target = parse_table(gzip.decompress(file.read_bytes()))
    return pack(
        data,
        target.astype(np.int64) if about.task == "classification" else target,
        feature_names=feature_names,
        target_name=TARGET,
        as_frame=as_frame,
        return_X_y=return_X_y,
        name=name,
        task=about.task,
        family=about.family,
    )


def parse_table(text: bytes) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Feature names, features and target of a table in text: the target is the first column of that name.

    In `schizo` another column has the name too; it is called "target.1" here, as pandas calls it.
    """
    header, body = text.decode().split("\n", 1)
    names = header.split("\t")
    rows = re.sub(r"\bNA\b", "nan", body).splitlines()
    cells = np.loadtxt(rows, delimiter="\t", ndmin=2)
    at = names.index(TARGET)
    features = [f"{name}.1" if name == TARGET else name for name in names[:at] + names[at + 1 :]]
    return features, np.delete(cells, at, axis=1), cells[:, at].copy()


def _download(name: str, file: Path, *, download: bool) -> None:
    """Download a table as it is published, if its text has the known checksum."""
    address = f"{PMLB}/{name}/{name}.tsv.gz"
    what, remedy = f"The PMLB table {name}", f"put {file.name} in {file.parent}"
    check_may_download(download, what=what, remedy=remedy)
    content = read_address(address, what=what, remedy=remedy)
    try:
        text = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise OSError(f"{what} is no table at {address}: {remedy}.") from error
    verify(text, TABLES[name].checksum, what=what)
    store(content, file)
