"""Tables as arrays or as frames, as scikit-learn's fetchers return them."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from surefoot._optional import needed_for


def pack(
    data: NDArray[Any],
    target: NDArray[Any],
    *,
    feature_names: Sequence[str],
    target_name: str,
    as_frame: bool,
    return_X_y: bool,
    **more: Any,
) -> Any:
    """Bunch as scikit-learn's fetchers return it, or its data and target alone.

    `data` is an array of floats, or of objects if a column holds text; `more` goes into the
    Bunch unchanged.
    """
    frame = None
    X: Any = data
    y: Any = target
    if as_frame:
        frame = to_frame(data, target, [*feature_names, target_name])
        X, y = frame[list(feature_names)], frame[target_name]
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        frame=frame,
        feature_names=list(feature_names),
        target_names=[target_name],
        **more,
    )


def to_frame(data: NDArray[Any], target: NDArray[Any], names: list[str]) -> Any:
    """Frame (pandas) of the columns, floats or categories, and of the target."""
    with needed_for("A frame", "report", otherwise=", or pass as_frame=False"):
        pandas = import_module("pandas")
    columns = [as_column(column, pandas) for column in data.T]
    return pandas.DataFrame(dict(zip(names, [*columns, target], strict=True)))


def as_column(values: NDArray[Any], pandas: Any) -> Any:
    """Column of a frame: numbers as floats, texts as categories."""
    if isinstance(values[0], str):
        return pandas.Categorical(values)
    return values.astype(np.float64)
