"""What the page claims of the model is true whenever one looks, and no later answer takes it back."""

from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from surefoot.labeling._claims import Measurement

N_ROWS = 60


def test_no_order_of_the_rows_makes_more_false_intervals_than_allowed():
    """Of all orders of ten rows, however many of them are wrong, at most 2.5 % give an interval that ever misses."""
    for n_wrong in range(11):
        n_false = 0
        for wrong in combinations(range(10), n_wrong):
            measurement = Measurement()
            ahead = list(range(10))
            common = {"n_labels": 40, "ahead": ahead}
            measurement.look(lambda rows: ["a"] * len(rows), labels={}, drawn=[], **common)
            labels = {row: "b" if row in wrong else "a" for row in ahead}
            for n_seen in range(11):
                drawn = ahead[:n_seen]
                known = {row: labels[row] for row in drawn}
                measurement.look(list, labels=known, drawn=drawn, n_labels=40 + n_seen, ahead=[])
            (model,) = measurement.models
            n_false += not model.low <= 1 - n_wrong / 10 + 1e-12 <= model.high + 2e-12
        assert n_false <= 0.025 * comb(10, n_wrong)


@given(
    st.lists(st.sampled_from(["right", "wrong", "unknown", "late", "changed"]), min_size=N_ROWS),
    st.integers(1, 7),
)
@settings(max_examples=40, deadline=None)
def test_whatever_is_answered_next_a_claim_stays(kinds, step):
    """Rows in their order, some never answered, some at the end only, some answered otherwise at the end."""
    measurement, rows = Measurement(), list(range(N_ROWS))
    measurement.look(lambda rows: ["a"] * len(rows), n_labels=40, labels={}, drawn=[], ahead=rows)
    answers = {"right": "a", "wrong": "b", "changed": "a"}
    seen = [
        {row: answers[kinds[row]] for row in rows[:n_drawn] if kinds[row] in answers}
        for n_drawn in range(0, N_ROWS + 1, step)
    ]
    seen.append({row: "b" for row in rows if kinds[row] in ("late", "changed", "wrong")} | seen[-1])
    seen.append(dict.fromkeys(rows, "b"))
    ends, made = [(0.0, 1.0)], False
    for labels in seen:
        # A restart in between changes nothing.
        measurement = Measurement(measurement.state)
        drawn = rows[: max(labels, default=-1) + 1]
        measurement.look(list, n_labels=50, labels=labels, drawn=drawn, ahead=[])
        (model,) = measurement.models
        assert ends[-1][0] <= model.low <= model.high <= ends[-1][1]
        ends.append((model.low, model.high))
        assert (measurement.claim is not None) >= made
        made = measurement.claim is not None


def test_a_later_model_replaces_a_claim_only_if_more_is_sure():
    state = {"n_rows": 500, "rows": [], "predictions": []}
    first = {**state, "n_labels": 40, "low": 0.75, "high": 0.9}
    worse = {**state, "n_labels": 80, "low": 0.7, "high": 0.85}
    wide = {**state, "n_labels": 160, "low": 0.79, "high": 1.0}
    best = {**state, "n_labels": 320, "low": 0.8414, "high": 0.9571}
    assert Measurement([wide]).claim is None
    assert Measurement([first, worse, wide]).claim["n_labels"] == 40
    claim = Measurement([first, worse, wide, best]).claim
    assert (claim["n_labels"], claim["low"], claim["high"]) == (320, 0.8414, 0.9571)
    assert claim["sentence"] == (
        "After 320 labels the model was right on 84 to 96 % of the other rows (95 % confidence, whenever you look): "
        "you may stop if that is good enough."
    )


def pool(n_rows, n_labelled=0):
    """Numbers, and labels that they determine; the first rows have theirs."""
    x = np.random.default_rng(0).normal(size=n_rows)
    kind = np.where(x > 0, "a", "b").astype(object)
    table = pd.DataFrame({"x": x, "kind": kind})
    table.loc[n_labelled:, "kind"] = None
    return table, kind


def test_the_page_claims_what_it_measured_and_goes_on_from_there(serve_pool, does_not_learn):
    table, kind = pool(200, n_labelled=20)
    served = serve_pool(table, estimator=LogisticRegression())
    claims = []
    for _ in range(8):
        served.label(20, kind.__getitem__)
        served.learn()
        claims.append(served.progress()["claim"])
    assert claims[1] is None  # at 40 labels nothing was measured yet
    made = [claim for claim in claims if claim is not None]
    assert made
    assert claims[-len(made) :] == sorted(made, key=lambda claim: claim["low"])
    answers = served.page.labels().sort_values("time")["row"].to_numpy()
    for claim in made:  # the model of so many labels, on the rows that had none
        known = [*range(20), *answers[: claim["n_labels"]]]
        model = LogisticRegression().fit(table.loc[known, ["x"]], kind[known].astype(str))
        others = table.drop(index=known)[["x"]]
        accuracy = np.mean(model.predict(others) == kind[others.index])
        assert claim["low"] <= accuracy <= claim["high"]
    assert served.progress()["changed"]["n_labels"] == 80
    served.page.stop()
    assert serve_pool(table).progress()["claim"] == made[-1]


def test_labels_and_rows_are_counted_in_one_way(serve_pool, does_not_learn):
    """Labels, rows that nobody could tell and rows that are left add up; those of the table are none of them."""
    table, kind = pool(80, n_labelled=10)
    served = serve_pool(table, estimator=LogisticRegression())
    (item,) = served.items()
    served.answer(item, kind="unsure")
    served.label(42, kind.__getitem__)
    served.learn()
    progress = served.progress()
    counts = [progress[name] for name in ("n_labels", "n_unsure", "left", "n_rows", "n_learned")]
    assert counts == [42, 1, 27, 70, 42]
    assert progress["curve"][-1]["n_labels"] == 42
    (model,) = Measurement(served.session.latest.measured_models).models
    assert model.n_labels == 42
    assert model.n_rows <= 27  # without rows that somebody has before them


@pytest.mark.slow
def test_claims_of_simulated_labelling_are_true(monkeypatch):
    """At most 5 % of the draws may be false: of 60, more than 8 have a probability of 0.2 %."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "research")
    claims_labelling = pytest.importorskip(
        "claims_labelling", reason="research is not in the sdist"
    )
    runs = [claims_labelling.label_pool(seed) for seed in range(1000, 1060)]
    assert sum(is_false for _, is_false, _ in runs) <= 8
    assert sum(np.isfinite(stop) for stop, _, _ in runs) >= 30
