"""Which rows are asked: one in five at random, and only those measure accuracy; reasons name no class."""

import re

import numpy as np
import pandas as pd
import pytest
from serving import new_key
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression


def leases(served):
    return served.session.store.rows("SELECT row, strategy, place FROM leases ORDER BY rowid")


@pytest.fixture
def ranked(serve_pool, does_not_learn):
    """A page whose model has ranked all rows by their number: the strategy's rows are 0, 1, 2 and so on."""
    served = serve_pool(200)
    question = type(
        served.session.queue._next(
            served.session.store._connection, {"person": "nobody", "now": 0.0}, set()
        )
    )
    served.session.queue.ranking = [question(row, "margin", "By number.") for row in range(200)]
    return served


def test_one_question_in_five_is_drawn_at_random(ranked):
    for _ in range(100):
        ranked.label(1, lambda row: "a")
    strategies = [strategy for _, strategy, _ in leases(ranked)]
    for start in range(0, 100, 5):
        assert sorted(strategies[start : start + 5]) == ["margin"] * 4 + ["random"]
    places = {strategies[start : start + 5].index("random") for start in range(0, 100, 5)}
    assert len(places) > 2  # nobody can know beforehand which of the five it is


def test_random_rows_follow_one_order_fixed_at_the_start(ranked, serve_pool):
    order = list(ranked.session.queue.order)
    assert sorted(order) == list(range(200))
    assert order != list(range(200))
    ranked.label(50, lambda row: "a", "ann")
    ranked.label(50, lambda row: "a", "bob")
    drawn = [(row, place) for row, strategy, place in leases(ranked) if strategy == "random"]
    assert [order[place] for _, place in drawn] == [row for row, _ in drawn]
    assert [place for _, place in drawn] == sorted(place for _, place in drawn)
    # Whatever of the order was passed over had been asked about by the strategy already.
    chosen = {row for row, strategy, _ in leases(ranked) if strategy == "margin"}
    last = drawn[-1][1]
    assert set(order[: last + 1]) <= chosen | {row for row, _ in drawn}
    assert ranked.session.queue.random_rows() == order[: last + 1]
    ranked.page.stop()
    assert serve_pool(200).session.queue.order == order


class Stubborn(ClassifierMixin, BaseEstimator):
    """Classifier that is right about the rows it learned from, and calls every other row "a"."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known_ = dict(zip(np.asarray(X)[:, 0].tolist(), y, strict=True))
        return self

    def predict_proba(self, X):
        labels = [self.known_.get(x, self.classes_[0]) for x in np.asarray(X)[:, 0].tolist()]
        return 0.8 * (np.array(labels)[:, None] == self.classes_) + 0.2 / len(self.classes_)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_accuracy_is_measured_out_of_fold_on_random_rows_only(serve_pool, does_not_learn):
    """The strategy's rows are all "b", which the model never predicts; of the others only one in ten is.

    On its own training rows the model is right always; on all labelled rows, held out, hardly ever.
    """
    served = serve_pool(400, estimator=Stubborn())
    served.learn()
    question = type(served.session.latest.questions[0])
    chosen = set(served.session.queue.order[300:360])  # far from the random rows
    served.session.queue.ranking = [question(row, "margin", "Doubtful.") for row in sorted(chosen)]
    truth = {row: "b" if row in chosen or row % 10 == 0 else "a" for row in range(400)}
    served.label(75, truth.get)
    served.session._seen = -1
    served.learn()
    labels = served.session.store.labels()
    random_rows = set(served.session.queue.random_rows())
    assert len(random_rows) == 15
    # Whatever the fold, the model calls a row that it has not seen "a": so it is right on the rows that are "a".
    right = [labels[row] == "a" for row in random_rows]
    everywhere = np.mean([label == "a" for label in labels.values()])
    assert everywhere < 0.25
    accuracy = served.progress()["accuracy"]
    assert accuracy["estimate"] == pytest.approx(np.mean(right))
    assert 0.6 < accuracy["estimate"] < 1.0
    assert accuracy["n_random"] == 15
    interval = wilson(sum(right), 15)
    assert (accuracy["low"], accuracy["high"]) == pytest.approx(interval)
    (point,) = served.progress()["curve"]
    assert (point["n_labels"], point["accuracy"]) == (75, accuracy["estimate"])


def wilson(n_right, n_rows, z=1.959964):
    """Interval of Wilson for a share, by its formula."""
    share = n_right / n_rows
    middle = (share + z**2 / (2 * n_rows)) / (1 + z**2 / n_rows)
    half = z * np.sqrt(share * (1 - share) / n_rows + z**2 / (4 * n_rows**2)) / (1 + z**2 / n_rows)
    return middle - half, middle + half


def test_the_guess_comes_only_on_request_and_reasons_name_no_class(serve_pool, does_not_learn):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2)).round(2)
    kind = np.where(x[:, 0] + 0.3 * rng.normal(size=120) > 0, "walrus", "zebra").astype(object)
    kind[40:] = None
    pool = pd.DataFrame({"u": x[:, 0], "v": x[:, 1], "kind": kind})
    served = serve_pool(pool, classes=("walrus", "zebra"), estimator=LogisticRegression())
    served.learn()
    plain = served.client.get("/api/next", params={"person": "ann", "count": 20}).text
    assert '"guess"' not in plain
    items = served.items("ann", 20)
    for item in items:
        assert not {"walrus", "zebra"} & set(re.findall(r"\w+", item["why"]))
        assert item["why"].endswith(".")
        for neighbor in item["neighbors"]:
            assert neighbor["label"] == kind[neighbor["row"]]
    guesses = [item["guess"] for item in served.items("ann", 20, guess=1)]
    known = [guess for guess in guesses if guess is not None]
    assert known
    assert {guess["label"] for guess in known} <= {"walrus", "zebra"}
    assert all(0.5 <= guess["probability"] <= 1 for guess in known)  # of two classes
    undone = served.answer(items[0], "walrus", key=new_key())
    assert undone.status_code == 200
    assert "guess" not in served.undo(items[0]["row"]).json()["item"]
