"""Data of the experiments: files of a local folder, which are downloaded and verified where they are missing.

`registry.csv` lists the files with their SHA-256 and their address, `tables.csv` the tables with their size and family.
"""

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pooch
from numpy.typing import NDArray
from sklearn.utils import Bunch

from reproduction.results import Floats, Ints

Task = Literal["classification", "regression"]
Home = str | Path | None

# The checksum is that of a file as it is kept: text is uncompressed, with line ends as LF. It is empty for an archive
# whose members have checksums, and for three files of UCR sets. `form` says how the file is published (see `FORMS`).
REGISTRY = pd.read_csv(
    Path(__file__).with_name("registry.csv"), index_col="file", keep_default_na=False
)
# Tables of one family have rows in common, or rows of one origin: what is learned on one of them is not tested on
# another. The tables of the collection "tabular" are those that surefoot is developed on.
TABLES = pd.read_csv(Path(__file__).with_name("tables.csv"), index_col="name")

UCR_ARCHIVE = "ucr/UCRArchive_2018.zip"
# Published in the archive's briefing document, for readers of that document: not a secret.
UCR_KEY = b"someone"

# Columns of the tables that are published without a header; the target is the last.
COLUMNS = {
    "german_credit": (
        "checking_status duration credit_history purpose credit_amount savings employment installment_rate "
        "personal_status other_parties residence_since property age other_plans housing existing_credits job "
        "num_dependents telephone foreign_worker target"
    ),
    "abalone": (
        "sex length diameter height whole_weight shucked_weight viscera_weight shell_weight target"
    ),
}

# File and target of the two churn tables.
CHURN = {
    "mlc": ("mlc_churn.csv", "churn"),
    "telco": ("WA_Fn-UseC_-Telco-Customer-Churn.csv", "Churn"),
}


def get_data_home(data_home: Home = None) -> Path:
    """Folder of the data: the argument, else `$SUREFOOT_DATA`, else `~/surefoot_data`."""
    return Path(data_home or os.environ.get("SUREFOOT_DATA") or "~/surefoot_data").expanduser()


def locate(file: str, data_home: Home = None) -> Path:
    """Path of a file in the data home; it may be compressed there (.gz), and is downloaded if it is missing.

    If it cannot be downloaded, the error says which file to put where.
    """
    home = get_data_home(data_home)
    for path in (home / f"{file}.gz", home / file):
        if path.exists():
            return path
    name = Path(file).name
    forms = name if name.endswith((".gz", ".zip")) else f"{name}, or {name}.gz,"
    remedy = f"{file} cannot be downloaded: put {forms} in {(home / file).parent}"
    if file not in REGISTRY.index:
        raise FileNotFoundError(f"{remedy}.")
    known = REGISTRY.loc[file]
    if known.form == "page":
        raise FileNotFoundError(
            f"{remedy}, comma separated with a header. It is published in another form: {known.url}"
        )
    store = pooch.create(
        path=home, base_url="", registry={file: known.sha256 or None}, urls={file: known.url}
    )
    try:
        return Path(store.fetch(file, downloader=downloader(file, home)))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise OSError(f"{remedy}. The attempt with {known.url} failed: {error}") from error


def downloader(file: str, home: Path) -> Callable[[str, str, Any], None]:
    """Function for pooch that writes a file as it is kept; pooch then compares its checksum."""

    def download(url: str, output: str, store: Any) -> None:
        form = REGISTRY.loc[file].form
        if form == "ucr":
            member = file.replace("ucr", "UCRArchive_2018", 1)
            with ZipFile(locate(UCR_ARCHIVE, home)) as archive:
                content = archive.read(member, pwd=UCR_KEY)
        else:
            pooch.HTTPDownloader()(url, output, store)
            content = Path(output).read_bytes()
        Path(output).write_bytes(FORMS[form](content, Path(file).stem))

    return download


def _from_pmlb(content: bytes, _name: str) -> bytes:
    """Comma-separated text with the target last, from compressed text with tabs."""
    rows = [line.split("\t") for line in gzip.decompress(content).decode().splitlines()]
    at = rows[0].index("target")
    return _as_csv([[*row[:at], *row[at + 1 :], row[at]] for row in rows])


def _from_words(content: bytes, name: str) -> bytes:
    """Comma-separated text with a header, from text without one whose cells have commas or blanks between them."""
    rows = [line.replace(",", " ").split() for line in content.decode().splitlines()]
    return _as_csv([COLUMNS[name].split(), *filter(None, rows)])


def _as_csv(rows: list[list[str]]) -> bytes:
    return "".join(",".join(row) + "\n" for row in rows).encode()


# From the published file and the name of the table, the file as it is kept.
FORMS: dict[str, Callable[[bytes, str], bytes]] = {
    "archive": lambda content, _: content,
    "gzip": lambda content, _: gzip.decompress(content),
    "pmlb": _from_pmlb,
    "text": lambda content, _: content.replace(b"\r\n", b"\n"),
    "ucr": lambda content, _: content.replace(b"\r\n", b"\n"),
    "words": _from_words,
}


def list_tables(
    task: Task | None = None, collection: Literal["pmlb", "tabular"] | None = None
) -> list[str]:
    """Names of the tables of `fetch_table`, on disk or not; None stands for both tasks or both collections."""
    return [
        name
        for name, table in TABLES.iterrows()
        if task in (None, table.task) and collection in (None, table.collection)
    ]


def fetch_table(name: str, data_home: Home = None) -> tuple[Any, NDArray[Any]]:
    """Rows and target of a table; classes are integers.

    Rows are an array of floats, or a frame with categories if the table holds text (german_credit and abalone).
    """
    collection, task = TABLES.loc[name, ["collection", "task"]]
    folder, suffix = (name, "tsv") if collection == "pmlb" else (task, "csv")
    path = locate(f"{collection}/{folder}/{name}.{suffix}", data_home)
    frame = _read(path, sep="\t" if suffix == "tsv" else ",")
    target = frame.pop("target")
    return _as_rows(frame), target.to_numpy(np.int64 if task == "classification" else np.float64)


def fetch_communities(data_home: Home = None) -> tuple[Floats, Floats]:
    """Rows and target of Communities and Crime (Redmond and Baveja 2002): violent crimes per head.

    Columns that identify a community are left out; missing cells are NaN. Some columns describe race and ethnicity:
    use the table as a benchmark only.
    """
    frame = _read(locate("uci/communities.data", data_home), header=None, na_values="?")
    values = _as_rows(frame.iloc[:, 5:])
    return values[:, :-1].copy(), values[:, -1].copy()


def fetch_wine_quality(color: Literal["red", "white"], data_home: Home = None) -> Any:
    """Rows and target of Wine Quality (Cortez et al. 2009): measurements, and marks by tasters."""
    frame = _read(locate(f"uci/winequality-{color}.csv", data_home), sep=";")
    marks = frame.pop("quality").to_numpy(np.float64)
    return _as_rows(frame), marks


def fetch_parkinsons(
    target: Literal["motor", "total"], data_home: Home = None
) -> tuple[Floats, Floats, Ints]:
    """Rows, target and patients of Parkinsons Telemonitoring (Tsanas et al. 2010): recordings of voices, and scores.

    A patient has about 140 recordings with nearly equal scores: keep them together for the error on new patients.
    """
    frame = _read(locate("uci/parkinsons_updrs.data", data_home))
    scores = {name: frame.pop(f"{name}_UPDRS").to_numpy(np.float64) for name in ("motor", "total")}
    patients = frame.pop("subject#").to_numpy(np.int64)
    return _as_rows(frame), scores[target], patients


def fetch_churn(name: Literal["mlc", "telco"], data_home: Home = None) -> tuple[Any, Ints]:
    """Frame of customers, with text as categories, and 1 for each who left: of MLC++, artificial, or IBM's sample."""
    file, target = CHURN[name]
    frame = _read(locate(f"churn/{file}", data_home), na_values=" ")
    left = frame.pop(target).str.lower() == "yes"
    return _as_rows(frame.drop(columns="customerID", errors="ignore")), left.to_numpy(np.int64)


def fetch_ucr(name: str, data_home: Home = None) -> Bunch:
    """`X_train`, `y_train`, `X_test` and `y_test` of a set of the UCR archive (Dau et al. 2019) of equal lengths."""
    parts: dict[str, Any] = {}
    for part in ("train", "test"):
        path = locate(f"ucr/{name}/{name}_{part.upper()}.tsv", data_home)
        table = np.loadtxt(path, delimiter="\t", ndmin=2)
        parts |= {f"X_{part}": table[:, 1:].copy(), f"y_{part}": table[:, 0].astype(np.int64)}
    return Bunch(**parts)


def list_ucr(data_home: Home = None, *, on_disk: bool = True) -> list[str]:
    """Names of the UCR sets whose training and test part are on disk, or of all in the registry."""
    paths = get_data_home(data_home).glob("ucr/*/*.tsv*") if on_disk else map(Path, REGISTRY.index)
    parts = {path.name.split(".tsv")[0] for path in paths if path.parent.parent.name == "ucr"}
    names = {part.removesuffix("_TRAIN") for part in parts if part.endswith("_TRAIN")}
    return sorted(name for name in names if f"{name}_TEST" in parts)


def _read(path: Path, **options: Any) -> Any:
    """Frame of a text file."""
    return pd.read_csv(path, encoding="latin-1", **options)


def _as_rows(frame: Any) -> Any:
    """Array of floats; or, if a column holds text, the frame with floats and categories."""
    texts = set(frame.select_dtypes(exclude="number"))
    if not texts:
        return np.ascontiguousarray(frame, dtype=np.float64)
    return frame.astype({name: "category" if name in texts else np.float64 for name in frame})
