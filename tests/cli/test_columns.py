"""Columns that only name or count the rows are left out, and everything else is left in."""

import numpy as np
import pandas as pd

from surefoot.cli._rows import leave_out_useless, with_missing

N = 30


def test_columns_without_information_are_left_out_and_named(capsys):
    useless = {
        "customer": [f"C-{i}" for i in range(N)],
        "row": range(7, 7 + N),
        "country": "DE",
        "version": 1.0,
        "note": None,
    }
    kept = leave_out_useless(pd.DataFrame({**useless, "age": np.arange(N) % 9}))
    assert list(kept.columns) == ["age"]
    assert capsys.readouterr().err.splitlines() == [
        "Left out 'customer': different name in every row.",
        "Left out 'row': row numbers.",
        "Left out 'country' and 'version': same value in every row.",
        "Left out 'note': empty.",
    ]


def test_columns_that_may_tell_something_are_kept(capsys):
    table = pd.DataFrame(
        {
            "text": [f"said {i} words" for i in range(N)],
            "day": pd.date_range("2024-01-01", periods=N).astype(str),
            "when": pd.date_range("2024-01-01", periods=N),
            "name": [f"C-{i // 2}" for i in range(N)],
            "falling": range(N, 0, -1),
            "sometimes": ["yes", None] * (N // 2),
            "lists": [[1]] * N,
            "price": np.linspace(0, 1, N),
        }
    )
    pd.testing.assert_frame_equal(leave_out_useless(table), table)
    assert capsys.readouterr().err == ""


def test_infinite_numbers_become_gaps(capsys):
    table = pd.DataFrame({"a": [1.0, np.inf, -np.inf], "b": [1.0, 2.0, np.nan], "c": [1, 2, 3]})
    found = with_missing(table)
    assert found["a"].isna().tolist() == [False, True, True]
    assert found[["b", "c"]].equals(table[["b", "c"]])
    assert (
        capsys.readouterr().err
        == "2 numbers that are infinite or above 3.4e+38 are treated as missing.\n"
    )
