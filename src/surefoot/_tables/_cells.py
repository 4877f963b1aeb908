"""Cells of tables: which type a column has, and what is missing in it, wherever its table is read.

The type of a column is the one that it had in `fit` (`input_form`), or one that is inferred from all its cells. A cell
that cannot be read as the type of `fit` is an error that names its line or row; numbers that are infinite, or beyond
float32, count as missing.
"""

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from surefoot._tables._files import MISSING_CELLS, TableFileError
from surefoot._tables._frames import without_infinities
from surefoot._words import listed, plural

# Kinds of columns as `input_form` has them, and the values that a cell of each is expected to hold.
Form = dict[str, Any]
EXPECTED = {"b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers", "M": "times"}

NESTED = "lists, structures or bytes"


def plain(column: Any) -> Any:
    """Column of Arrow without a dictionary, in one piece."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def value_type(kind: pa.DataType) -> pa.DataType:
    """Type of the values of a column, which may be coded by a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


# Tests of Arrow's types, and the words for values that pass them.
KINDS = (
    (pa.types.is_null, "no values"),
    (pa.types.is_boolean, "booleans"),
    (pa.types.is_integer, "numbers"),
    (pa.types.is_floating, "numbers"),
    (pa.types.is_decimal, "numbers"),
    (pa.types.is_string, "strings"),
    (pa.types.is_large_string, "strings"),
    (pa.types.is_temporal, "times"),
)


def kind_in_words(kind: pa.DataType) -> str:
    """Kind of values that a column of a type holds, for a sentence."""
    return next((words for passes, words in KINDS if passes(value_type(kind))), NESTED)


# Cells

# Types that are tried for each kind, the narrowest first.
WHOLE = (pa.int64(), pa.float64())
TIMES = (pa.timestamp("us"), pa.timestamp("us", tz="UTC"))
TYPES = {"b": (pa.bool_(),), "i": WHOLE, "u": WHOLE, "f": (pa.float64(),), "M": TIMES}

BOOLEANS = pa.array(["True", "TRUE", "true", "False", "FALSE", "false"])

MISSING = pa.array(MISSING_CELLS)

# Whole numbers with a leading zero, such as the postcode "007", are names; "0x1A" is no number.
CODE = r"^[+-]?0\d+$"
HEXADECIMAL = r"^-?0[xX]"
WITH_DECIMAL_COMMA = r"^[+-]?\d+(,\d+)?$"


class CellError(ValueError):
    """Error for a value that does not fit its column; `row` is its position among the rows that were given.

    Parameters
    ----------
    column : str
        Name of the column.
    value : str
        The value.
    expected : str
        What is expected there, in the plural: "numbers".
    row : int
        Position of the row.
    """

    def __init__(self, column: str, value: str, expected: str, row: int) -> None:
        super().__init__(column, value, expected, row)
        self.column, self.value, self.expected, self.row = column, value, expected, row

    def __str__(self) -> str:
        return self.at(f"Row {self.row}")

    def at(self, place: str) -> str:
        """Sentence for the value at a place: "Line 7 of t.csv has 'old' in the column 'age', where …"."""
        where = f"in the column {self.column!r}, where the model knows {self.expected}"
        return f"{place} has {self.value!r} {where}."

    def behind(self, n_rows: int) -> "CellError":
        """Error for the same cell, if so many rows stand in front."""
        return CellError(self.column, self.value, self.expected, self.row + n_rows)

    def in_table(self, table: Any) -> TableFileError:
        """Error that names the place of the cell in a table."""
        return TableFileError(self.at(table.place(self.row)))


def without_missing(strings: Any) -> Any:
    """Strings with null in place of those that stand for a missing value."""
    return pc.if_else(pc.is_in(strings, value_set=MISSING), None, strings)


def matches(strings: Any, pattern: str, *, each: bool = False) -> bool:
    """Whether any string matches a pattern, or, if asked, each of them."""
    found = pc.match_substring_regex(strings, pattern)
    return bool((pc.all if each else pc.any)(found).as_py())


def parse(strings: Any, kind: str, name: str) -> Any:
    """Column of numbers, booleans or times from strings; `CellError` for a cell that is none, and is not missing."""
    cells = without_missing(pc.utf8_trim_whitespace(strings))
    has_hexadecimals = kind in "iu" and matches(cells, HEXADECIMAL)
    types = TYPES["f" if has_hexadecimals else kind]
    for wanted in types:
        if (column := cast_or_none(cells, wanted)) is not None:
            return column
    row = max(first_misfit(cells, wanted) for wanted in types)
    raise CellError(name, strings[row].as_py(), EXPECTED[kind], row)


def cast_or_none(strings: Any, wanted: pa.DataType) -> Any:
    """Column of another type; None if a string cannot be converted."""
    try:
        return strings.cast(wanted)
    except pa.ArrowInvalid:
        return None


def first_misfit(strings: Any, wanted: pa.DataType) -> int:
    """Position of the first string that cannot be converted; there is one."""
    start, end = 0, len(strings)
    while end - start > 1:
        middle = (start + end) // 2
        if cast_or_none(strings.slice(start, middle - start), wanted) is None:
            end = middle
        else:
            start = middle
    return start


def infer(strings: Any, *, decimal_comma: bool = False) -> Any:
    """Column of numbers or booleans, if all strings are such and none is a code; else the strings themselves."""
    cells = without_missing(pc.utf8_rtrim_whitespace(strings))
    if decimal_comma and matches(cells, WITH_DECIMAL_COMMA, each=True):
        cells = pc.replace_substring(cells, ",", ".")
    floats = cast_or_none(cells, pa.float64())
    if floats is None:
        are_booleans = pc.all(pc.is_in(cells.drop_null(), value_set=BOOLEANS)).as_py()
        return cells.cast(pa.bool_()) if are_booleans else strings
    if matches(cells, CODE):
        return strings
    is_whole = not floats.null_count and pc.all(pc.equal(pc.floor(floats), floats)).as_py()
    whole = cast_or_none(cells, pa.int64()) if is_whole else None
    return floats if whole is None else whole


# Rows in the form that a model was fitted on


def kinds_in_fit(form: Form | None, names: Sequence[str]) -> dict[str, str]:
    """Kinds that the columns with these names had in `fit`, by name; none without a form."""
    if form is None:
        return {}
    return dict(form["kinds"]) if "kinds" in form else dict.fromkeys(names, str(form["kind"]))


def model_columns(model: Any, names: Sequence[str], table: str = "The table") -> list[str]:
    """Names of the columns that a fitted model takes, in its order; an error if the table lacks some."""
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        if len(names) != model.n_features_in_:
            raise TableFileError(
                f"The model was fitted on {plural(model.n_features_in_, 'column')}, but {table[0].lower()}{table[1:]} "
                f"has {len(names)}."
            )
        return list(names)
    if missing := [name for name in known if name not in set(names)]:
        raise TableFileError(f"{table} lacks {listed(missing)}, which the model was fitted on.")
    return [str(name) for name in known]


def check_kinds(table: Any, names: Sequence[str], form: Form) -> None:
    """Raise an error for columns that no model takes, and for times where the model knows numbers."""
    kinds = kinds_in_fit(form, names)
    for field in table.schema(names, "which the model was fitted on"):
        words = kind_in_words(field.type)
        if words == NESTED:
            raise TableFileError(
                f"{table.path} has {NESTED} in {field.name!r}, which no model here takes."
            )
        if words == "times" and kinds.get(field.name, "O") in "biuf":
            raise TableFileError(
                f"Column {field.name!r} of {table.path} holds times where the model knows numbers."
            )


def as_kind(column: Any, kind: str, name: str) -> Any:
    """Column of the kind that it had in `fit`, as far as that does not depend on the other rows."""
    column = plain(column)
    words = kind_in_words(column.type)
    if words == "strings" and kind in EXPECTED:
        return parse(column, kind, name)
    if kind == "M" and (words == "no values" or pa.types.is_date(column.type)):
        return column.cast(pa.timestamp("us"))
    is_exact = pa.types.is_decimal(column.type) or (words == "no values" and kind in EXPECTED)
    if is_exact or (kind == "f" and words in ("numbers", "booleans")):
        return column.cast(pa.float64(), safe=False)
    return column


def as_fitted(batch: Any, names: Sequence[str], form: Form) -> tuple[Any, int]:
    """Rows of an Arrow table in the form of `fit`, and how many infinite numbers became missing; see `input_form`."""
    kinds = kinds_in_fit(form, names)
    columns = {name: as_kind(batch.column(name), kinds[name], name) for name in names}
    if form["library"] == "numpy":
        rows = as_array(list(columns.values()))
    elif form["library"] == "pandas":
        rows = with_categories(pa.table(columns).to_pandas(), form)
    else:
        rows = nw.from_arrow(pa.table(columns), backend=form["library"]).to_native()
    return without_infinities(rows)


def as_array(columns: list[Any]) -> Any:
    """Array of columns: floats with NaN for missing values if all are numbers, else objects with None."""
    if all(
        kind_in_words(column.type) in ("numbers", "booleans", "no values") for column in columns
    ):
        floats = [column.cast(pa.float64(), safe=False) for column in columns]
        return np.column_stack([column.to_numpy(zero_copy_only=False) for column in floats])
    objects = np.empty((len(columns[0]), len(columns)), dtype=object)
    for i, column in enumerate(columns):
        objects[:, i] = column.to_pylist()
    return objects


def with_categories(frame: Any, form: Form) -> Any:
    """Pandas frame whose columns have the categories of `fit`, and new ones behind them."""
    import pandas as pd  # noqa: PLC0415 - the model was fitted on its frames

    for name, known in form["categories"].items():
        if name in frame.columns:
            values = frame[name]
            new = sorted(set(values.dropna()) - set(known["values"]), key=str)
            frame[name] = pd.Categorical(values, [*known["values"], *new], ordered=known["ordered"])
    return frame
