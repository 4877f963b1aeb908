"""Predictions without their model on the labelling page: doubtful rows come first, and answers teach their errors."""

import numpy as np
import pandas as pd
import pytest

from surefoot import assess_predictions

NAMES = np.array(["billing", "login"])
N_KNOWN = 160


@pytest.fixture(scope="module")
def tickets():
    """Rows whose given class is wrong on most rows with a high `x`, and hardly ever on others; and the truth."""
    draw = np.random.default_rng(0)
    x, truth = draw.uniform(size=260), draw.integers(0, 2, 260)
    wrong = draw.random(260) < np.where(x > 0.7, 0.8, 0.03)
    table = pd.DataFrame({"x": x, "noise": draw.normal(size=260)})
    table["said"] = NAMES[np.where(wrong, 1 - truth, truth)]
    table["sure"] = draw.uniform(0.6, 0.9, 260)
    directions = np.column_stack([np.cos(3 * x), np.sin(3 * x)]) @ draw.normal(size=(2, 64))
    return table.join(pd.DataFrame(directions).add_prefix("e_")), NAMES[truth]


@pytest.mark.parametrize("probabilities", [None, "sure"])
def test_doubtful_predictions_are_asked_about_first_and_are_not_shown(
    probabilities, tickets, serve_pool, does_not_learn
):
    table, truth = tickets
    known, new = table[:N_KNOWN], table[N_KNOWN:].reset_index(drop=True)
    error_estimator = assess_predictions(
        known, truth[:N_KNOWN], "said", probabilities, random_state=0
    )
    served = serve_pool(new, "truth", None, estimator=error_estimator, inputs=list(new.columns))
    served.learn()
    errors = error_estimator.predict_error(new)
    asked = [question.row for question in served.session.queue.ranking]
    assert asked == sorted(asked, key=lambda row: -errors[row])
    assert len(asked) > 10
    assert (new["x"][asked[:10]] > 0.7).mean() > 0.6  # 0.3 of all rows are such
    (item,) = served.items()
    shown = {"x", "noise"} if probabilities else {"x", "noise", "sure"}
    assert set(item["cells"]) == shown  # neither the prediction nor 64 numbers of an embedding
    assert {column["name"] for column in served.session.task()["columns"]} == shown


def test_answers_teach_the_errors_of_the_given_predictions(tickets, serve_pool, does_not_learn):
    table, truth = tickets
    error_estimator = assess_predictions(table[:N_KNOWN], truth[:N_KNOWN], "said", random_state=0)
    new = table[N_KNOWN:].reset_index(drop=True)
    served = serve_pool(new, "truth", None, estimator=error_estimator, inputs=list(new.columns))
    served.learn()
    served.label(50, lambda row: truth[N_KNOWN + row])
    served.session._seen = -1
    served.learn()
    drawn = served.session.queue.random_rows()
    labelled = [row for row in drawn if row in served.session.store.labels()]
    right = (new["said"].to_numpy() == truth[N_KNOWN:])[labelled]
    accuracy = served.progress()["accuracy"]
    assert accuracy["n_random"] == len(labelled) > 5
    assert accuracy["estimate"] == pytest.approx(right.mean())
    details = served.session.latest.details
    assert {row: each.guess for row, each in details.items()} == {
        row: new["said"][row] for row in details
    }
    doubts = {row: each.error for row, each in details.items()}
    high, low = (
        [error for row, error in doubts.items() if (new["x"][row] > 0.7) == is_high]
        for is_high in (True, False)
    )
    assert np.mean(high) > np.mean(low) + 0.1
