"""CSV files of any size as a stream of batches of texts; a broken line is named."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from surefoot._table_files import (
    GAPS,
    TableFileError,
    check_is_table,
    check_names,
    check_records,
    find_delimiter,
    find_encoding,
    line_of,
    unreadable,
)

# Bytes that are read at a time; no record may be longer.
BLOCK = 2**23

# A comma between digits, where commas do not separate fields.
DECIMAL_COMMA = r"^([+-]?\d+),(\d+\s*)$"

# Quotes around a cell are taken for letters of it if a space comes first.
SPACE_AND_QUOTE = r'^ +"'


class CsvSource:
    """Rows of a CSV file, whose cells are texts.

    Parameters
    ----------
    path : Path
        File.
    find_kinds : callable
        Gives the kinds of columns in `fit`, by name: where it is a number, a comma may be a decimal one.
    """

    n_rows = None  # known at the end only

    def __init__(self, path: Path, find_kinds: Callable[[list[str]], dict[str, str]]) -> None:
        check_is_table(path, path)
        self.path, self.files = path, [path]
        self.encoding = find_encoding(path)
        self.delimiter = find_delimiter(path, path, self.encoding)
        self.first_line, header = line_of(path, self.encoding, self.delimiter, 0)
        check_names(header, path)
        self.names = [name or f"Unnamed: {i}" for i, name in enumerate(header)]
        self.kinds = find_kinds(self.names)
        self._n_bytes = max(1, path.stat().st_size)
        self._position = self._n_read = 0

    def schema(self, names: Sequence[str], why: str) -> pa.Schema:
        """Types of columns: texts; an error if one is missing."""
        for name in names:
            if name not in self.names:
                raise TableFileError(f"{self.path} lacks {name!r}, {why}.")
        return pa.schema([(name, pa.string()) for name in names])

    def batches(self, names: Sequence[str], start: int = 0) -> Iterator[pa.RecordBatch]:
        """Batches of the columns with these names, from the row `start` on; those before it are read, too."""
        try:
            with self.path.open("rb") as content:
                for batch in self._reader(content, names):
                    self._position = content.tell()
                    self._n_read += batch.num_rows
                    if batch.num_rows > start:
                        yield self._cells(batch.slice(start))
                    start = max(0, start - batch.num_rows)
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            check_records(self.path, self.path, self.encoding, self.delimiter)
            words = str(error).splitlines()[0].rstrip(".")
            raise TableFileError(f"{self.path} cannot be read: {words}.") from error
        except OSError as error:
            raise unreadable(self.path, error, "cannot be read") from error

    def _reader(self, content: Any, names: Sequence[str]) -> Any:
        return csv.open_csv(
            content,
            csv.ReadOptions(
                use_threads=False,
                block_size=BLOCK,
                column_names=self.names,
                skip_rows=self.first_line - 1,
                skip_rows_after_names=1,
                encoding="utf8" if self.encoding == "utf-8-sig" else self.encoding,
            ),
            csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                include_columns=list(names),
                column_types=dict.fromkeys(names, pa.string()),
                null_values=list(GAPS),
                strings_can_be_null=True,
            ),
        )

    def _cells(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [
            self._column(name, column)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, batch.schema.names)

    def _column(self, name: str, texts: pa.Array) -> pa.Array:
        """Cells without spaces in front, as the commands read them; decimal commas as points."""
        if pc.any(pc.match_substring_regex(texts, SPACE_AND_QUOTE)).as_py():
            raise TableFileError(
                f"{self.path} has spaces before quotes, which a stream does not read: write it without them."
            )
        cells = pc.utf8_ltrim(texts, " ")
        cells = pc.if_else(pc.is_in(cells, value_set=pa.array(GAPS)), None, cells)
        if self.delimiter == "," or self.kinds.get(name, "O") not in "biuf":
            return cells
        return pc.replace_substring_regex(cells, DECIMAL_COMMA, r"\1.\2")

    def share(self, n_rows: int) -> float:
        """Share of the file that `n_rows` rows are, about; how many it has is not known before its end."""
        per_row = self._position / max(1, self._n_read)
        return min(1.0, n_rows * per_row / self._n_bytes)

    def place(self, row: int) -> str:
        """Where a row is, for the beginning of a sentence."""
        line, _ = line_of(self.path, self.encoding, self.delimiter, row + 1)
        return f"Line {line} of {self.path}"
