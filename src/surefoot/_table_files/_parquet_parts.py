"""Parquet files of a folder, and the values in the names of its subfolders (Hive partitions)."""

from pathlib import Path
from urllib.parse import unquote

from surefoot._table_files._errors import TableFileError

# Name that Hive gives to the folder of rows without a value.
MISSING = "__HIVE_DEFAULT_PARTITION__"


def parquet_files(folder: Path) -> list[Path]:
    """Parquet files in a folder and its subfolders; hidden ones and those that begin with _ are notes of a writer."""
    files = sorted(
        path
        for path in folder.rglob("*.parquet")
        if path.is_file()
        and not any(n.startswith((".", "_")) for n in path.relative_to(folder).parts)
    )
    if not files:
        raise TableFileError(
            f"{folder} is a folder without Parquet files: name a table in CSV or Parquet."
        )
    return files


def partition_values(path: Path) -> dict[str, str | None]:
    """Values in the names of the folders of a file, by column."""
    pairs = [part.split("=", 1) for part in path.parts[:-1] if "=" in part]
    return {unquote(name): None if text == MISSING else unquote(text) for name, text in pairs}
