"""The experiment on queries goes on where it was stopped, and prints what the runs in its file say."""

import csv
import json

import pytest

from reproduction.queries_and_the_oracle import run

STRATEGIES = ["random", "confidence", "margin", "votes", "sensitivity"]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Folder of a quick run, and the text that it printed."""
    out = tmp_path_factory.mktemp("queries")
    return out, run(out, quick=True)


@pytest.mark.slow
def test_queries_in_small(quick):
    out, text = quick
    with (out / "queries-and-the-oracle.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["table"], row["wrong"]) for row in rows} == {
        (table, wrong) for table in ("iris", "wine") for wrong in ("0.0", "0.1")
    }
    assert {row["strategy"] for row in rows} == set(STRATEGIES)
    assert "margin / confidence: " in text
    assert (out / "queries-and-the-oracle.png").exists()


def by_hand(run):
    """Run whose random questions need 10 + 10 · 5/6 labels, those by margin 15, and all others more than 20."""
    curves = {"random": [0.9, 0.96], "margin": [0.94, 0.96]}
    accuracy = {name: curves.get(name, [0.5, 0.6]) for name in run["accuracy"]}
    changed = {name: [1.0, 0.06 if name == "margin" else 0.08] for name in run["changed"]}
    return {**run, "full": 1.0, "accuracy": accuracy, "changed": changed}


def runs_by_hand(out):
    lines = (out / "queries-and-the-oracle.jsonl").read_text().splitlines()
    return [by_hand(json.loads(line)) for line in lines if line]


@pytest.mark.slow
def test_figures_by_hand_and_a_run_that_was_cut_off(quick, tmp_path):
    runs = runs_by_hand(quick[0])
    # The run of "error" on the second table was cut off while it was written.
    whole, last = [json.dumps(run) for run in runs[:-1]], json.dumps(runs[-1])
    path = tmp_path / "queries-and-the-oracle.jsonl"
    path.write_text("\n".join([*whole, last[:50]]))
    text = run(tmp_path, quick=True)
    # Two tables have no interval.
    assert "margin        mean   15.0 labels; 0.82 of random's; geometric mean 0.82" in text
    assert "confidence    mean   20.0 labels; 1.09 of random's" in text
    assert "margin / confidence: 0.75\n" in text
    again = [line for line in path.read_text().splitlines() if line]
    assert again[: len(whole)] == whole
    assert again[len(whole)] == last[:50]
    assert json.loads(again[-1])["strategies"] == ["error"]
    assert len(again) == len(whole) + 2


@pytest.mark.slow
def test_the_stops_are_counted(quick, tmp_path):
    """By margin: stop with 20 labels of 20 needed in whole steps. By votes no run stops: there is no share."""
    lines = "\n".join(json.dumps(run) for run in runs_by_hand(quick[0]))
    (tmp_path / "queries-and-the-oracle.jsonl").write_text(lines)
    text = run(tmp_path, quick=True)
    row = next(line for line in text.splitlines() if line.startswith("margin  ") and "%" in line)
    assert row.split() == ["margin", "100%", "96.0%", "100%", "1.00", "0%"]
    row = next(line for line in text.splitlines() if line.startswith("votes  ") and "%" in line)
    assert row.split() == ["votes", "–", "–", "–", "–", "100%"]
