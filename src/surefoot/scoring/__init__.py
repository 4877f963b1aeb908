"""Scores of whole tables: in batches, streamed from files of any size, or spread over machines."""

from surefoot._optional import needed_for

with needed_for("surefoot.scoring", "cli"):
    from surefoot.scoring._batches import judge_table, output_schema, score_batches
    from surefoot.scoring._dask import score_dask
    from surefoot.scoring._table import score_table

__all__ = ["judge_table", "output_schema", "score_batches", "score_dask", "score_table"]
