"""Columns to leave out before fitting, and values to replace."""

from typing import Any

import numpy as np
from pandas.api.types import infer_dtype

from surefoot._words import listed
from surefoot.cli._console import remark


def leave_out_useless(X: Any) -> Any:
    """Table without columns that only name or number the rows, or are constant; print which ones."""
    reasons = {name: why_useless(X[name]) for name in X.columns}
    for reason in dict.fromkeys(filter(None, reasons.values())):
        names = [name for name, other in reasons.items() if other == reason]
        remark(f"Left out {listed(names)}: {reason}.")
    return X[[name for name, reason in reasons.items() if reason is None]]


def why_useless(column: Any) -> str | None:
    """Reason why a column is useless to a model; None if it may be useful."""
    kind, known = column.dtype.kind, column.dropna()
    if len(known) == 0:
        return "empty"
    if kind in "iu" and len(column) > 1 and (np.diff(column) == 1).all():
        return "row numbers"
    is_text = infer_dtype(known) == "string"
    if not (is_text or kind in "biuf") or len(known) < len(column):
        return None
    n_values = known.nunique()
    if n_values == 1:
        return "same value in every row"
    if is_text and n_values == len(column) and is_name(known):
        return "different name in every row"
    return None


def is_name(texts: Any) -> bool:
    """True if texts that all differ are names or ids, rather than sentences or dates."""
    words = texts.astype(str)
    if words.str.contains(r"\s").any():
        return False
    from skrub import to_datetime

    return bool(to_datetime(words).dtype.kind == "O")


def without_infinities(X: Any) -> Any:
    """Table with infinite numbers replaced by missing values, which all models of the command accept."""
    numbers = X.select_dtypes("float")
    infinite = np.isinf(numbers).any()
    names = list(numbers.columns[infinite])
    if not names:
        return X
    remark(f"Infinite values of {listed(names)} are treated as missing.")
    return X.assign(**{name: X[name].where(np.isfinite(X[name])) for name in names})
