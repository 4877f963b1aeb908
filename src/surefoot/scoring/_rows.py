"""Rows of a batch in the form that a model was fitted on: its columns, their kinds, and its kind of table."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from surefoot._table_files import TableFileError
from surefoot._table_streams import Source, is_number, kind_in_words, plain
from surefoot._tables import column_names, is_frame
from surefoot._typing import Floats
from surefoot._words import listed, plural
from surefoot.scoring._cells import parse_texts


def is_arrow(batch: Any) -> bool:
    """Whether a batch is one of Arrow, and no frame of pandas or polars."""
    return isinstance(batch, (pa.RecordBatch, pa.Table))


def model_columns(sure: Any, names: list[str], table: str = "The table") -> list[str]:
    """Names of the columns that a model takes, in its order; a ValueError if the table lacks some."""
    known = getattr(sure, "feature_names_in_", None)
    if known is None:
        if len(names) != sure.n_features_in_:
            raise TableFileError(
                f"The model was fitted on {plural(sure.n_features_in_, 'column')}, but {table[0].lower()}{table[1:]} "
                f"has {len(names)}."
            )
        return names
    if missing := [name for name in known if name not in set(names)]:
        raise TableFileError(f"{table} lacks {listed(missing)}, which the model was fitted on.")
    return [str(name) for name in known]


def rows_for(sure: Any, batch: Any) -> Any:
    """Rows of a batch as the model takes them; a frame keeps its types, a batch of Arrow gets those of `fit`."""
    if not is_arrow(batch) and not is_frame(batch):
        raise TypeError(
            f"A batch is a {type(batch).__name__}: it may be a batch of Arrow or a frame."
        )
    if not is_arrow(batch):
        names = model_columns(sure, column_names(batch))
        if hasattr(batch, "iloc"):
            return batch[names]
        return nw.from_native(batch, eager_only=True).select(names).to_native()
    names = model_columns(sure, batch.schema.names)
    kinds = kinds_in_fit(sure, names)
    columns = {name: as_kind(batch.column(name), kinds[name], name) for name in names}
    if sure.input_form_["library"] == "numpy":
        return as_array(list(columns.values()))
    return as_library(pa.table(columns), sure.input_form_)


def kinds_in_fit(sure: Any, names: list[str]) -> dict[str, str]:
    """Kinds that the columns with these names had in `fit`, by name."""
    form = sure.input_form_
    return form["kinds"] if "kinds" in form else dict.fromkeys(names, form["kind"])


def check_kinds(source: Source, names: list[str], kinds: dict[str, str]) -> None:
    """Raise an error for columns that no model takes, and for times where the model knows numbers."""
    schema = source.schema(names, "which the model was fitted on")
    nested = [
        field.name for field in schema if kind_in_words(field.type) == "lists, structures or bytes"
    ]
    if nested:
        raise TableFileError(
            f"{source.path} has lists, structures or bytes in {listed(nested)}, which no model here takes."
        )
    for field in schema:
        kind = kind_in_words(field.type)
        if kind == "times" and kinds.get(field.name, "O") in "biuf":
            raise TableFileError(
                f"Column {field.name!r} of {source.path} holds times where the model knows numbers."
            )


def as_kind(column: Any, kind: str, name: str) -> Any:
    """Column of the kind that the model was fitted on, as far as that does not depend on the other rows."""
    column = plain(column)
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if is_text and kind in "biufM":
        return parse_texts(column, kind, name)
    if kind == "f" and not pa.types.is_floating(column.type) and is_number(column.type):
        return column.cast(pa.float64(), safe=False)
    if pa.types.is_decimal(column.type) or (kind in "biufM" and pa.types.is_null(column.type)):
        return column.cast(pa.timestamp("us") if kind == "M" else pa.float64())
    if kind == "M" and pa.types.is_date(column.type):
        return column.cast(pa.timestamp("us"))
    return column


def as_array(columns: list[Any]) -> Any:
    """Array of columns: floats with NaN for gaps if all are numbers, else objects with None."""
    if all(is_number(column.type) or pa.types.is_null(column.type) for column in columns):
        return np.column_stack([as_floats(column) for column in columns])
    objects = np.empty((len(columns[0]), len(columns)), dtype=object)
    for i, column in enumerate(columns):
        objects[:, i] = column.to_pylist()
    return objects


def as_floats(column: Any) -> Floats:
    """Floats of a column of numbers, NaN for gaps."""
    floats = column.cast(pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def as_library(table: Any, form: dict[str, Any]) -> Any:
    """Frame of the library that the model was fitted with, its categories those of `fit`, and new ones behind them."""
    if form["library"] != "pandas":
        return nw.from_arrow(table, backend=form["library"]).to_native()
    import pandas as pd  # noqa: PLC0415 - the model was fitted on its frames

    frame = table.to_pandas()
    for name, known in form["categories"].items():
        values = frame[name]
        new = sorted(set(values.dropna()) - set(known["values"]), key=str)
        frame[name] = pd.Categorical(values, [*known["values"], *new], ordered=known["ordered"])
    return frame
