"""A command imports what it needs: scoring a few rows needs neither a compiler nor what other models are made of."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from surefoot import IndividualErrorClassifier, save

SCORE = """
import sys
from surefoot.cli import main
sys.argv = ["surefoot", "score", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code
print("imported:", *sorted({"matplotlib", "numba", "polars", "skrub"} & {*sys.modules}))
"""


@pytest.mark.parametrize(
    "model", [LogisticRegression(), HistGradientBoostingClassifier(max_iter=5)]
)
def test_scoring_a_few_rows_imports_no_compiler(model, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    y = (X["a"] + rng.normal(size=200) > 0).astype(int)
    error_estimator = IndividualErrorClassifier(model, random_state=0).fit(X, y)
    save(error_estimator, tmp_path / "model.skops")
    new = X.iloc[:40] + 0.1
    new.to_csv(tmp_path / "new.csv", index=False)
    files = [str(tmp_path / name) for name in ("model.skops", "new.csv")]
    out = tmp_path / "scores.csv"
    ended = subprocess.run(
        [sys.executable, "-c", SCORE, *files, "--out", str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines()[-1] == "imported:"
    expected = error_estimator.judge(pd.read_csv(files[1])).error
    np.testing.assert_allclose(pd.read_csv(out)["estimated_error"], expected, rtol=1e-12)
