"""A command as a user types it, without a new process."""

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from surefoot.cli import main


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def sentence(self):
        """What a user's mistake is told: one line on stderr, exit code 2, nothing on stdout."""
        assert (self.code, self.out) == (2, "")
        assert self.err.count("\n") == 1
        assert self.err.endswith((".\n", "?\n"))
        return self.err.strip()


@pytest.fixture
def run(capsys) -> Callable[..., Result]:
    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([os.fspath(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Result(left.value.code or 0, out, err)

    return call


@pytest.fixture(scope="session")
def command() -> Callable[..., None]:
    """A command that must succeed, for fixtures."""

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([os.fspath(argument) for argument in arguments])
        assert not left.value.code

    return call


@pytest.fixture
def write(tmp_path):
    """Write a file, and say where it is."""

    def call(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return call


@pytest.fixture(scope="session")
def customers():
    """120 rows with numbers, categories, texts, dates and gaps, a class and a number to predict."""
    rng = np.random.default_rng(0)
    n = 120
    age, plan = rng.normal(40, 10, n).round(1), rng.choice(["free", "paid"], n)
    leaves = rng.uniform(size=n) < 1 / (1 + np.exp(0.3 * (age - 40)))
    table = pd.DataFrame(
        {
            "age": age,
            "plan": plan,
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "spent": (2 * age + 10 * (plan == "paid") + rng.normal(size=n)).round(2),
            "leaves": np.where(leaves, "yes", "no"),
        }
    )
    table["note"] = [
        f"asked {i % 60} times for {word}" for i, word in enumerate(["help", "more"] * 60)
    ]
    table = table[["age", "plan", "since", "note", "spent", "leaves"]]
    table.loc[::7, "age"] = np.nan
    table.loc[::9, "plan"] = None
    return table
