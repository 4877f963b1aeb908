"""Tables as people have them need no option but the target."""

import gzip
import json
import os
from pathlib import Path

import pytest

HOME = Path(os.environ.get("SUREFOOT_DATA", ""))
needs_data = pytest.mark.skipif(
    not os.environ.get("SUREFOOT_DATA") or not (HOME / "tabular").is_dir(),
    reason="no tables in $SUREFOOT_DATA",
)


@needs_data
@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "target", "task", "n_columns"),
    [
        ("tabular/classification/german_credit.csv.gz", "target", "classification", 20),
        ("uci/winequality-red.csv", "quality", "regression", 11),
    ],
    ids=["german_credit", "wine"],
)
def test_the_target_is_all_that_is_asked_for(run, write, file, target, task, n_columns):
    content = (HOME / file).read_bytes()
    lines = (gzip.decompress(content) if file.endswith(".gz") else content).splitlines(True)
    few = [
        lines[0],
        *lines[1 :: len(lines) // 250],
    ]  # whole tables are for benchmarks/bench_report.py
    path = write(b"".join(few))
    result = run("report", path, "--target", target, "--json")
    assert result.code == 0
    summary = json.loads(result.out)
    assert (summary["task"], summary["target"]) == (task, target)
    assert (summary["data"]["n_rows"], summary["data"]["n_columns"]) == (len(few) - 1, n_columns)
    assert summary["answer"]["risk"]["surefoot"][-1] == pytest.approx(
        summary["answer"]["overall_risk"]
    )
