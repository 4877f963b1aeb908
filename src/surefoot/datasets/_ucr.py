"""Sets of the UCR time series classification archive."""

import gzip
import shutil
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from sklearn.utils import Bunch

from surefoot._typing import Ints
from surefoot.datasets._data_home import get_data_home
from surefoot.datasets._download import check_may_download, reach, store, verify
from surefoot.datasets._ucr_checksums import CHECKSUMS

HOME = "https://www.cs.ucr.edu/~eamonn/time_series_data_2018"
ARCHIVE = "UCRArchive_2018.zip"
# Published in the archive's briefing document, for readers of that document: not a secret.
ARCHIVE_KEY = b"someone"
PARTS = ("TRAIN", "TEST")


def fetch_ucr(name: str, *, data_home: str | Path | None = None, download: bool = True) -> Bunch:
    """Load one set of the UCR archive; it is downloaded if it is not on disk.

    Reads `<data_home>/ucr/<name>/<name>_TRAIN.tsv.gz` and `_TEST.tsv.gz`. If they are not there,
    they are taken from `<data_home>/ucr/UCRArchive_2018.zip`, which is downloaded (316 MB) from
    the archive's site if necessary, and verified by known checksums.

    Parameters
    ----------
    name : str
        Name of the set in the archive of 2018, such as `"CBF"`.
    data_home : str or path, default=None
        Folder of the data sets; None means `$SUREFOOT_DATA`, else `~/surefoot_data`.
    download : bool, default=True
        Whether to download the archive if the set is not on disk.

    Returns
    -------
    Bunch
        `X_train`, `y_train`, `X_test`, `y_test` and `name`. Series are the rows of a 2-D array, or
        a list of arrays if their lengths differ; labels are ints.

    References
    ----------
    Dau et al., "The UCR time series archive", IEEE/CAA Journal of Automatica Sinica 6(6), 2019.
    """
    folder = get_data_home(data_home) / "ucr"
    files = [folder / name / f"{name}_{part}.tsv.gz" for part in PARTS]
    if not all(file.exists() for file in files):
        _unpack(name, files, _archive(name, folder, download=download))
    (X_train, y_train), (X_test, y_test) = (read_series(file) for file in files)
    return Bunch(X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test, name=name)


def list_ucr(data_home: str | Path | None = None, *, on_disk: bool = True) -> list[str]:
    """Names of UCR sets, in order.

    Parameters
    ----------
    data_home : str or path, default=None
        Folder of the data sets; None means `$SUREFOOT_DATA`, else `~/surefoot_data`.
    on_disk : bool, default=True
        True lists the sets whose train and test files are on disk, False all sets with known checksums.

    Returns
    -------
    list of str
    """
    if not on_disk:
        return sorted(CHECKSUMS)
    folder = get_data_home(data_home) / "ucr"
    names = sorted(path.name for path in folder.glob("*") if path.is_dir())
    return [
        name
        for name in names
        if all((folder / name / f"{name}_{part}.tsv.gz").exists() for part in PARTS)
    ]


def read_series(file: Path) -> tuple[Any, Ints]:
    """Series and labels of a file with one series in each line: the label, then the values, separated by tabs."""
    with gzip.open(file, "rt") as lines:
        table = np.loadtxt(lines, delimiter="\t", ndmin=2)
    labels, values = table[:, 0].astype(np.int64), table[:, 1:].copy()
    if not np.isnan(values[:, -1]).any():
        return values, labels
    # In the archive, shorter series are padded with NaN at the end.
    return [row[: np.flatnonzero(~np.isnan(row))[-1] + 1] for row in values], labels


def _archive(name: str, folder: Path, *, download: bool) -> Path:
    """Path of the archive on disk, which is downloaded if that is allowed."""
    archive = folder / ARCHIVE
    if archive.exists():
        return archive
    what = f"The UCR set {name}"
    where = f"put {name}_TRAIN.tsv.gz and {name}_TEST.tsv.gz in {folder / name}"
    check_may_download(download, what=what, remedy=where)
    folder.mkdir(parents=True, exist_ok=True)
    partial = archive.with_suffix(".part")
    remedy = f"{where}, or {ARCHIVE} in {folder}"
    try:
        with (
            reach(f"{HOME}/{ARCHIVE}", what=what, remedy=remedy) as source,
            partial.open("wb") as target,
        ):
            shutil.copyfileobj(source, target)
        return partial.rename(archive)
    finally:
        partial.unlink(missing_ok=True)


def _unpack(name: str, files: list[Path], archive: Path) -> None:
    """Take a set's two files out of the archive, verify and compress them."""
    checksums = CHECKSUMS.get(name, (None, None))
    with ZipFile(archive) as zipped:
        for part, file, checksum in zip(PARTS, files, checksums, strict=True):
            member = f"UCRArchive_2018/{name}/{name}_{part}.tsv"
            if member not in zipped.namelist():
                raise ValueError(f"name={name!r} is not a set of the UCR archive of 2018.")
            text = zipped.read(member, pwd=ARCHIVE_KEY).replace(b"\r\n", b"\n")
            verify(text, checksum, what=f"The file {name}_{part}.tsv of the UCR archive")
            store(gzip.compress(text, mtime=0), file)
