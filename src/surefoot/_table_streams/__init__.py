"""Tables on disk of any size as streams of Arrow's batches; needs pyarrow."""

from surefoot._table_streams._csv import CsvSource
from surefoot._table_streams._kinds import is_number, kind_in_words, plain
from surefoot._table_streams._open import Source, open_source
from surefoot._table_streams._parquet import ParquetSource

__all__ = [
    "CsvSource",
    "ParquetSource",
    "Source",
    "is_number",
    "kind_in_words",
    "open_source",
    "plain",
]
