"""Folder of downloaded data sets."""

import os
from pathlib import Path


def get_data_home(data_home: str | Path | None = None) -> Path:
    """Folder of the data sets: the argument, else `$SUREFOOT_DATA`, else `~/surefoot_data`."""
    if data_home is None:
        data_home = os.environ.get("SUREFOOT_DATA") or "~/surefoot_data"
    return Path(data_home).expanduser()
