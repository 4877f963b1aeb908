"""A short run of the readers' fuzzing, and the files that once broke one."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEEDS = sorted((Path(__file__).parent / "seeds").iterdir())


@pytest.fixture(scope="module")
def fuzz_tables():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import fuzz_tables  # noqa: PLC0415

    yield fuzz_tables
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.name)
def test_files_that_once_broke_a_reader_are_refused(fuzz_tables, path, capsys):
    assert fuzz_tables.read(path) in ("read", "refused")


@pytest.mark.slow
def test_ten_seconds_of_fuzzing_find_nothing(fuzz_tables):
    counts, defects = fuzz_tables.fuzz(10, seed=1)
    assert defects == []
    assert counts["read"] > 20
    assert counts["refused"] > 200
