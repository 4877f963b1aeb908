"""A folder with good files and many bad ones, which no command may change."""

from zipfile import ZipFile

import pytest
from bad_files import bad_models, bad_tables, good_table
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from skops.io import dump

from surefoot import IndividualErrorClassifier, save
from surefoot.indicators import Confidence


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder, with `good.csv`, `good.parquet`, `good.skops` and all that is bad."""
    place, table = tmp_path_factory.mktemp("bad"), good_table()
    table.to_csv(place / "good.csv", index=False)
    table.to_parquet(place / "good.parquet", index=False)
    for name, (content, _) in (bad_tables(table) | bad_models()).items():
        data = content.encode() if isinstance(content, str) else content
        (place / name).write_bytes(data)
    with ZipFile(place / "no-schema.skops", "w") as archive:
        archive.writestr("schema.json", "{}")
    X = table[["x", "z"]]
    sure = IndividualErrorClassifier(LogisticRegression(), indicators=Confidence(), random_state=0)
    save(sure.fit(X, table["y"].to_numpy().astype(str)), place / "good.skops")
    dump(sure.__class__(LogisticRegression()), place / "unfitted.skops")
    dump(KMeans(2, random_state=0).fit(X), place / "clusters.skops")
    dump({"a": 1}, place / "dict.skops")
    dump(LogisticRegression().fit(X, table["y"]), place / "plain.skops")
    (place / "a-folder").mkdir()
    (place / "link.csv").symlink_to(place / "good.csv")
    for ending in (".skops", ".html", ".csv"):
        (place / f"stdout{ending}").symlink_to("/dev/stdout")
        (place / f"null{ending}").symlink_to("/dev/null")
    return place


@pytest.fixture(scope="session")
def snapshot(folder):
    """A function that tells the names and contents of all files in the folder."""

    def take():
        paths = sorted(
            path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()
        )
        return {path.name: path.read_bytes() for path in paths}

    return take
