"""Answers, skips, undos and leases of several people, in any order, against a plain model of them."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine as Machine
from hypothesis.stateful import (
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)  # fmt: skip
from serving import new_key

N_ROWS, SECONDS = 5, 10.0
PEOPLE = st.sampled_from(["ann", "bob", "cy"])
ANSWERS = st.sampled_from([("label", "a"), ("label", "b"), ("skip", None), ("unsure", None)])


class People(Machine):
    """What people do, and what a list and a dict say must come of it."""

    session = None  # set by the test

    @initialize()
    def begin(self):
        self.store = self.session.store
        self.store.clear()
        self.store.add_classes(["a", "b"])
        self.now = 1000.0
        self.store.clock = lambda: self.now
        self.history = []  # dicts of answers, in their order
        self.leases = {}  # name: dict of row, person, until, is_open
        self.sent = []  # every answer that was accepted, to be sent again
        self.undone = []  # every undo that was accepted

    def in_force(self):
        """Answer in force of each row: the last that was not undone, and is no skip."""
        answers = [each for each in self.history if not each["undone"] and each["kind"] != "skip"]
        return {each["row"]: each for each in answers}

    def n_labels(self):
        return sum(each["kind"] == "label" for each in self.in_force().values())

    def refused(self, action):
        try:
            action()
        except Exception as error:  # noqa: BLE001 - a refusal; its class is private
            return error.status
        return None

    @rule(person=PEOPLE, count=st.integers(1, 4))
    def ask(self, person, count):
        reply = self.session.next_items(person, count, guess=False)
        assert reply["left"] == N_ROWS - len(self.in_force())
        rows = [item["row"] for item in reply["items"]]
        assert len(set(rows)) == len(rows)
        for item in reply["items"]:
            assert item["row"] not in self.in_force()
            self.note_lease(item, person)

    def note_lease(self, item, person):
        row, name = item["row"], item["lease"]
        for other, lease in self.leases.items():
            if lease["row"] == row and lease["is_open"] and other != name:
                assert lease["until"] <= self.now  # nobody loses a row before its time
                lease["is_open"] = False
        if name in self.leases:
            assert (self.leases[name]["row"], self.leases[name]["person"]) == (row, person)
            assert self.leases[name]["is_open"]
        until = self.now + SECONDS
        self.leases[name] = {"row": row, "person": person, "until": until, "is_open": True}

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), answer=ANSWERS)
    def answer(self, data, answer):
        name = data.draw(st.sampled_from(list(self.leases)))
        lease, (kind, label) = self.leases[name], answer
        row, person = lease["row"], lease["person"]
        taken = any(
            other["row"] == row and other["is_open"] and other["person"] != person
            for other in self.leases.values()
        )
        current = self.in_force().get(row)
        taken = taken or (current is not None and current["person"] != person)
        values = (new_key(), row, name, person, kind, label)
        if taken:
            assert self.refused(lambda: self.session.answer(*values)) == 409
            return
        given = {"row": row, "person": person, "kind": kind, "label": label}
        self.history.append({**given, "undone": False})
        for other in self.leases.values():
            other["is_open"] = other["is_open"] and other["row"] != row
        assert self.session.answer(*values) == self.n_labels()
        self.sent.append(values)

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def answer_again(self, data):
        values = data.draw(st.sampled_from(self.sent))
        assert self.session.answer(*values) == self.n_labels()

    @rule(person=PEOPLE, row=st.integers(0, N_ROWS - 1))
    def undo(self, person, row):
        wanted = (row, person, False)
        mine = [a for a in self.history if (a["row"], a["person"], a["undone"]) == wanted]
        values = (new_key(), row, person)
        if not mine:
            assert self.refused(lambda: self.session.undo(*values)) == 409
            return
        mine[-1]["undone"] = True
        n_labels, item = self.session.undo(*values)
        assert n_labels == self.n_labels()
        if item is not None:
            assert item["row"] == row
            assert row not in self.in_force()
            self.note_lease(item, person)
        self.undone.append(values)

    @precondition(lambda self: self.undone)
    @rule(data=st.data())
    def undo_again(self, data):
        values = data.draw(st.sampled_from(self.undone))
        n_labels, item = self.session.undo(*values)
        assert n_labels == self.n_labels()
        if item is not None:
            self.note_lease(item, values[2])

    @rule(seconds=st.sampled_from([1.0, 11.0]))
    def wait(self, seconds):
        self.now += seconds

    @invariant()
    def answers_in_force_are_those_of_the_model(self):
        stored = {each.row: (each.kind, each.label, each.person) for each in self.store.answers()}
        answers = self.in_force()
        assert stored == {r: (a["kind"], a["label"], a["person"]) for r, a in answers.items()}
        labels = [each for each in answers.values() if each["kind"] == "label"]
        progress = self.session.progress()
        assert progress["n_labels"] == len(labels)
        assert progress["n_unsure"] == len(answers) - len(labels)
        assert progress["left"] == N_ROWS - len(answers)
        counts = Counter(each["label"] for each in labels)
        assert progress["classes"] == {label: counts[label] for label in "ab"}
        assert progress["people"] == Counter(each["person"] for each in labels)

    @invariant()
    def nothing_leaves_the_history(self):
        query = "SELECT row, person, kind, label, undone IS NOT NULL FROM answers ORDER BY id"
        assert self.store.rows(query) == [
            (each["row"], each["person"], each["kind"], each["label"], int(each["undone"]))
            for each in self.history
        ]

    @invariant()
    def open_leases_are_those_of_the_model(self):
        query = "SELECT lease FROM leases WHERE open"
        expected = {name for name, lease in self.leases.items() if lease["is_open"]}
        assert {name for (name,) in self.store.rows(query)} == expected


@pytest.mark.usefixtures("does_not_learn")
@pytest.mark.parametrize("n_examples", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_whatever_people_do_the_database_says_what_a_plain_model_says(serve_pool, n_examples):
    served = serve_pool(N_ROWS, lease_seconds=SECONDS)
    served.session.store.rows("PRAGMA synchronous=OFF")  # a thousand states, none of them kept
    machine = type("OnThisPage", (People,), {"session": served.session})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=n_examples,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
