"""The commands on the page "My model lives elsewhere", as a newcomer copies them."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

PAGE = Path(__file__).parents[2] / "docs/guide/elsewhere.rst"
COMMANDS = [
    shlex.split(line)
    for line in re.findall(r"^   \$ surefoot (.+)$", PAGE.read_text(), re.MULTILINE)
    if "booster" not in line  # needs LightGBM: tests/boosters
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Folder with the files that the page names."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    age, spent = draw.normal(40, 10, 400).round(1), draw.normal(size=400).round(3)
    shares = (1 / (1 + np.exp(0.1 * (age - 40)))).round(3)
    leaves = 0.1 * (40 - age) + 2 * spent + draw.normal(size=400) > 0
    scored = pd.DataFrame({"age": age, "spent": spent, "p_leaves": shares})
    scored["said"] = np.where(shares > 0.5, "leaves", "stays")
    scored["churn"] = np.where(leaves, "leaves", "stays")
    scored[:250].to_csv("scored.csv", index=False)
    scored[250:].drop(columns="churn").to_csv("new.csv", index=False)
    topic = draw.integers(0, 2, 300)
    vectors = draw.normal(size=(2, 96))[topic] + 2 * draw.normal(size=(300, 96))
    label = np.where(draw.random(300) < 0.2, 1 - topic, topic)
    names = np.array(["billing", "login"])
    found = pa.array(names[topic].tolist(), mask=np.arange(300) >= 200)
    table = {"embedding": list(vectors), "label": names[label], "topic": found}
    parquet.write_table(pa.table(table), "tickets.parquet")
    return tmp_path


def test_every_command_of_the_page_runs(folder, run, monkeypatch):
    assert [words[0] for words in COMMANDS] == [
        *("report", "fit", "score", "watch", "audit", "label", "fit", "score")
    ]
    served = []

    class Page:
        url = "http://127.0.0.1/"

        def wait(self):
            served.append("waited")

        def stop(self):
            served.append("stopped")

    labeling = pytest.importorskip("surefoot.labeling", reason="the extra 'label' is not installed")
    monkeypatch.setattr(labeling, "serve", lambda *arguments, **options: Page())
    for words in COMMANDS:
        done = run(*words)
        assert done.code == 0, done.err
    assert served == ["waited", "stopped"]
    written = {path.name for path in folder.iterdir()}
    assert {"trust.skops", "scores.csv", "watch.html", "ask.csv", "checked.csv"} <= written
    assert len(pd.read_csv("scores.csv")) == 150
    asked = pd.read_csv("ask.csv")
    assert len(asked) == 100
    assert {"age", "spent"} < set(asked.columns)
    assert not {"said", "p_leaves"} & set(asked.columns)
    checked = pd.read_csv("checked.csv")
    assert checked["topic"].notna().sum() == 200
    assert checked["known"].sum() == 200  # rows of fit, which are not accepted
