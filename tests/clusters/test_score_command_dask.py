"""`surefoot score --dask`: the bytes of a local run, one sentence for a cluster that is not there or is lost."""

from threading import Thread

import dask
import pytest
from skops.io import dump

from surefoot.cli import main


@pytest.fixture
def files(sure, rows, tmp_path):
    """Model and table."""
    dump(sure, tmp_path / "model.skops")
    rows.reset_index(drop=True).to_parquet(tmp_path / "rows.parquet")
    return tmp_path / "model.skops", tmp_path / "rows.parquet"


def score(capsys, files, out, *options):
    """Exit code, and what is printed on stderr."""
    with pytest.raises(SystemExit) as left:
        main(["score", *map(str, files), "--out", str(out), "--json", *options])
    return left.value.code, capsys.readouterr().err


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def test_the_command_writes_the_bytes_of_a_local_run(capsys, cluster, files, tmp_path):
    local, spread = tmp_path / "local", tmp_path / "spread"
    assert not score(capsys, files, local)[0]
    assert not score(capsys, files, spread, "--dask", cluster.address)[0]
    assert contents(local)
    assert contents(spread) == contents(local)


@pytest.mark.parametrize(
    ("address", "out", "sentence"),
    [
        (
            "tcp://127.0.0.1:1",
            "scores",
            "No scheduler of Dask answers at tcp://127.0.0.1:1 within ",
        ),
        ("nonsense", "scores", "'nonsense' is no address of a scheduler of Dask: "),
        ("tcp://127.0.0.1:1", "scores.csv", "--dask writes parts: name a folder instead of "),
    ],
    ids=["nobody answers", "no address", "file"],
)
def test_a_cluster_that_is_not_there(capsys, files, tmp_path, address, out, sentence):
    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        code, printed = score(capsys, files, tmp_path / out, "--dask", address)
    assert code == 2
    assert printed.startswith(sentence)
    assert printed.count("\n") == 1
    assert not (tmp_path / out).exists()


def test_a_run_whose_cluster_is_lost_can_go_on(capsys, monkeypatch, own_cluster, files, tmp_path):
    whole, scores = tmp_path / "whole", tmp_path / "scores"
    monkeypatch.setattr("surefoot.scoring._table.ROWS_PER_PART", 10)
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        code, printed = score(capsys, files, scores, "--dask", own_cluster.address)
    assert (code, printed.count("\n")) == (2, 1)
    assert "has no worker: start one with dask worker tcp://127.0.0.1" in printed

    def end_in_the_middle():
        own_cluster.wait_until(lambda: contents(scores), "the first part")
        own_cluster.processes[0].kill()

    own_cluster.start_worker()
    ending = Thread(target=end_in_the_middle)
    ending.start()
    code, printed = score(capsys, files, scores, "--dask", own_cluster.address)
    ending.join()
    assert code == 2
    assert "was lost. Finished parts stay" in printed.splitlines()[-1]
    finished = contents(scores)
    assert not score(capsys, files, scores)[0]
    assert not score(capsys, files, whole)[0]
    assert contents(scores) == contents(whole)
    assert 0 < len(finished) < len(contents(whole))
