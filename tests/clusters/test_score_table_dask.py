"""Tables in files, judged by workers of Dask: the bytes of a local run, also if a worker is killed."""

import dask.dataframe as dd
import pandas as pd
import pytest

from surefoot.scoring import score_dask, score_table


@pytest.fixture
def table(rows, tmp_path):
    path = tmp_path / "rows.parquet"
    rows.to_parquet(path)
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def test_a_killed_worker_changes_no_byte(cluster, client, sure, table, tmp_path):
    seen = []

    def kill_in_the_middle(share, words, seconds):
        seen.append(share)
        if len(seen) == 4:
            cluster.kill_worker()

    local, spread = tmp_path / "local", tmp_path / "spread"
    expected = score_table(sure, table, local, rows_per_part=50)
    summary = score_table(
        sure, table, spread, rows_per_part=50, client=client, progress=kill_in_the_middle
    )
    assert summary == expected
    assert len(contents(local)) == 12
    assert contents(spread) == contents(local)
    assert 0 < seen[3] < 1


def test_a_cell_that_does_not_fit_is_named_with_its_line(client, sure, rows, tmp_path):
    odd = rows.reset_index(drop=True).astype({"age": object})
    odd.loc[250, "age"] = "old"
    odd.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match=r"Line 252 of .*rows\.csv has 'old' in the column 'age'"):
        score_table(sure, tmp_path / "rows.csv", tmp_path / "out", rows_per_part=100, client=client)
    finished = pd.concat(
        [pd.read_parquet(path) for path in sorted((tmp_path / "out").glob("*.parquet"))]
    )
    assert finished["row"].tolist() == list(range(200))


def test_the_model_is_sent_once_whatever_the_number_of_parts(
    client, sure, rows, table, tmp_path, monkeypatch
):
    packed, pack = [], type(sure).__getstate__
    monkeypatch.setattr(type(sure), "__getstate__", lambda self: packed.append(1) or pack(self))
    counts = []
    for n_parts in (2, 12):
        size = len(rows) // n_parts
        score_table(sure, table, tmp_path / f"{n_parts}", rows_per_part=size, client=client)
        counts.append(len(packed))
        client.compute(score_dask(sure, dd.from_pandas(rows, npartitions=n_parts))).result()
        counts.append(len(packed))
    assert 0 < counts[0] < counts[1]
    assert counts[2:] == [counts[1] + counts[0], 2 * counts[1]]
