"""A short run of the readers' fuzzing, and the files that once broke one."""

from pathlib import Path

import fuzz_tables
import pytest

SEEDS = sorted((Path(__file__).parent / "seeds").iterdir())


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.name)
def test_files_that_once_broke_a_reader_are_refused(path, capsys):
    assert fuzz_tables.read(path) in ("read", "refused")


@pytest.mark.slow
def test_ten_seconds_of_fuzzing_find_nothing():
    counts, defects = fuzz_tables.fuzz(10, seed=1)
    assert defects == []
    assert counts["read"] > 20
    assert counts["refused"] > 200
