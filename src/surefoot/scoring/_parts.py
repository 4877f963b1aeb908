"""Parts of a table: cut from a stream, judged, and turned into the content of a file."""

import os
from collections.abc import Iterator
from typing import Any
from warnings import catch_warnings, filterwarnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from joblib import parallel_config
from threadpoolctl import threadpool_limits

from surefoot._parallel import model_of
from surefoot._processes import end_with
from surefoot._table_files import no_rows
from surefoot._table_streams import Source
from surefoot.abstention import Promise
from surefoot.scoring._batches import score_batch
from surefoot.scoring._cells import CellError

# Name of the column with the number of each row.
ROW = "row"


def table_parts(
    table: Source, columns: list[str], size: int, n_done: int
) -> Iterator[tuple[pa.Table, int]]:
    """Parts of a table behind those that are done, each with the number of its first row."""
    first_row = n_done * size
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in table.batches(columns, first_row):
        waiting.append(batch)
        n_waiting += batch.num_rows
        while n_waiting >= size:
            whole = pa.Table.from_batches(waiting)
            yield whole.slice(0, size).combine_chunks(), first_row
            first_row, n_waiting = first_row + size, n_waiting - size
            waiting = whole.slice(size).to_batches()
    if n_waiting:
        yield pa.Table.from_batches(waiting).combine_chunks(), first_row
    elif first_row == 0:
        raise no_rows(table.path)


def judge_part(
    shared: Any, promise: Promise, kept: pa.Schema, starter: int, part: pa.Table, first_row: int
) -> tuple[bytes, dict[str, Any]]:
    """Content of the file of a part, and its figures; on one core, so that it has the same bytes everywhere.

    `shared` is the error estimator, or what `shared_model` made of it.
    """
    if os.getppid() == starter:
        end_with(starter)
    part, n_infinite = without_infinities(part)
    try:
        with threadpool_limits(1), parallel_config("sequential"), catch_warnings():
            filterwarnings("ignore", "Found unknown categories", UserWarning)
            scores = score_batch(model_of(shared), part, promise, kept)
    except CellError as error:
        raise error.behind(first_row) from None
    rows = pa.array(np.arange(first_row, first_row + part.num_rows))
    table = pa.Table.from_arrays([rows, *scores.columns], [ROW, *scores.schema.names])
    content = pa.BufferOutputStream()
    pq.write_table(table, content)
    figures = {
        "n_rows": part.num_rows,
        "error_sum": float(np.sum(scores["estimated_error"].to_numpy())),
        "n_accepted": pc.sum(scores["accepted"]).as_py(),
        "n_novel": pc.sum(scores["novel"]).as_py(),
        "n_infinite": n_infinite,
    }
    return content.getvalue().to_pybytes(), figures


def without_infinities(part: pa.Table) -> tuple[pa.Table, int]:
    """Table with gaps in place of infinite numbers, and how many there were."""
    n_infinite = 0
    for i, field in enumerate(part.schema):
        if pa.types.is_floating(field.type):
            infinite = pc.is_inf(part.column(i))
            count = pc.sum(infinite).as_py() or 0
            if count:
                part = part.set_column(i, field.name, pc.if_else(infinite, None, part.column(i)))
                n_infinite += count
    return part, n_infinite
