"""Cases on disk: what an error estimator sees of one model on one table, one file a case."""

from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot._files import write_whole
from surefoot.experiments._case_tables import table_task

Arrays = dict[str, NDArray[Any]]


class Case(NamedTuple):
    """A model fitted to `n_train` rows of a table, which `random_state` draws."""

    table: str
    model: str
    n_train: int
    random_state: int

    def path(self, folder: Path) -> Path:
        """File of the case."""
        name = f"{self.table}-{self.model}-{self.n_train}-{self.random_state}.npz"
        return folder / table_task(self.table) / name


def write_case(path: Path, arrays: Arrays) -> None:
    """Write the arrays of a case completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = BytesIO()
    np.savez_compressed(content, **arrays)
    write_whole(path, content.getvalue())


def read_case(path: Path) -> dict[str, Any]:
    """Arrays of a case by name; what is one value (names, sizes) is a plain value."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return {name: array.item() if array.ndim == 0 else array for name, array in arrays.items()}
