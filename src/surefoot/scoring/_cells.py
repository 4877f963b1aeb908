"""Texts as numbers and times, and the first one that is neither."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from surefoot._table_files import GAPS

# What cannot be converted, and what the model expects there.
EXPECTED = {"b": "truth values", "i": "numbers", "u": "numbers", "f": "numbers", "M": "times"}

# Types that are tried for each kind, the narrowest first; floats for all others.
WHOLE = [pa.int64(), pa.float64()]
TIMES = [pa.timestamp("us"), pa.timestamp("us", tz="UTC")]
TYPES = {"b": [pa.bool_()], "M": TIMES, "i": WHOLE, "u": WHOLE}


class CellError(ValueError):
    """Error for a value that does not fit its column; `row` is its position among the rows that were given.

    Parameters
    ----------
    column : str
        Name of the column.
    value : str
        The value.
    expected : str
        What the model expects there, in the plural: "numbers".
    row : int
        Position of the row.
    """

    def __init__(self, column: str, value: str, expected: str, row: int) -> None:
        super().__init__(column, value, expected, row)
        self.column, self.value, self.expected, self.row = column, value, expected, row

    def behind(self, n_rows: int) -> "CellError":
        """Error for the same cell, if so many rows stand in front."""
        return CellError(self.column, self.value, self.expected, self.row + n_rows)

    def __str__(self) -> str:
        return f"Row {self.row} has {self.words}."

    @property
    def words(self) -> str:
        """What is wrong, after the words for the row: "'old' in the column 'age', where the model knows numbers"."""
        return (
            f"{self.value!r} in the column {self.column!r}, where the model knows {self.expected}"
        )


def parse_texts(texts: Any, kind: str, name: str) -> Any:
    """Array of numbers, truth values or times from texts; `CellError` for one that is none and stands for no gap."""
    trimmed = pc.utf8_trim_whitespace(texts)
    filled = pc.if_else(pc.is_in(trimmed, value_set=pa.array(GAPS)), None, trimmed)
    for wanted in TYPES.get(kind, [pa.float64()]):
        try:
            return filled.cast(wanted)
        except pa.ArrowInvalid:
            continue
    row = first_misfit(filled, wanted)
    raise CellError(name, texts[row].as_py(), EXPECTED[kind], row)


def first_misfit(texts: Any, wanted: Any) -> int:
    """Position of the first text that cannot be converted; there is one."""
    start, end = 0, len(texts)
    while end - start > 1:
        middle = (start + end) // 2
        try:
            texts.slice(start, middle - start).cast(wanted)
        except pa.ArrowInvalid:
            end = middle
        else:
            start = middle
    return start
