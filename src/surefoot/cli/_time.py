"""Column of times: later rows are held out, by models that learned from earlier ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._splits import splits_in_time
from surefoot._typing import Floats, Split
from surefoot._words import listed
from surefoot.cli._mistakes import Mistake

# Parts in time that are held out, one after the other; the earliest part is only learned from.
N_FOLDS = 5


def times_of(column: Any, name: str) -> Floats:
    """Time of each row as a number; a `Mistake` unless the column holds numbers, dates, or texts that are dates."""
    import pandas as pd  # noqa: PLC0415 - keeps --help fast

    if column.isna().any():
        raise Mistake(f"Column {name!r} of --time has missing values: every row needs a time.")
    if column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)
    try:
        moments = pd.to_datetime(column, utc=True, format="mixed")
    except (TypeError, ValueError) as error:
        raise Mistake(
            f"Column {name!r} of --time holds values that are neither numbers nor dates."
        ) from error
    return moments.astype("int64").to_numpy(dtype=np.float64)


def later_folds(times: Floats, labels: NDArray[Any] | None, name: str) -> list[Split]:
    """Splits of rows in the order of their times; those whose training rows lack a class are left out."""
    try:
        splits = splits_in_time(times, N_FOLDS)
    except ValueError as error:
        raise Mistake(f"Column {name!r} of --time cannot be split: {error}") from error
    if labels is None:
        return splits
    known = np.unique(labels)
    complete = [split for split in splits if np.isin(known, labels[split[0]]).all()]
    if not complete:
        late = [label for label in known.tolist() if label not in labels[splits[-1][0]]]
        raise Mistake(
            f"By {name!r}, the class {listed(late)} comes only at the end: no earlier rows have it to learn from."
        )
    return complete
