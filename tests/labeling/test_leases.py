"""A row belongs to one person at a time, comes back after a while, and is never asked of two at once."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from serving import new_key


@pytest.fixture
def timed(serve_pool, does_not_learn):
    """Four rows, leases of a minute, and a clock to turn."""
    served = serve_pool(4, lease_seconds=60)
    served.now = 1000.0
    served.session.store.clock = lambda: served.now
    return served


def rows(items):
    return {item["row"] for item in items}


def test_a_row_is_leased_to_one_person_until_its_time_is_over(timed):
    ann = timed.items("ann", 3)
    bob = timed.items("bob", 3)
    assert len(ann) == 3
    assert len(bob) == 1
    assert rows(ann).isdisjoint(rows(bob))
    timed.now += 59.9
    assert timed.items("cy", 4) == []
    timed.now += 0.1
    assert rows(timed.items("cy", 4)) == {0, 1, 2, 3}


def test_a_row_that_went_to_somebody_else_is_refused_with_the_reason(timed):
    ann = timed.items("ann", 4)
    timed.now += 61
    (bobs,) = timed.items("bob", 1)
    (mine,) = [item for item in ann if item["row"] == bobs["row"]]
    reply = timed.answer(mine, "a", "ann")
    assert reply.status_code == 409
    assert reply.json() == {"error": f"Row {mine['row']} came back after a while and went to bob."}
    assert timed.answer(bobs, "b", "bob").status_code == 200
    reply = timed.answer(mine, "a", "ann")
    assert reply.status_code == 409
    assert reply.json() == {"error": f"Row {mine['row']} was answered by bob in the meantime."}
    assert timed.labels() == {mine["row"]: "b"}


def test_leases_last_over_a_restart(serve_pool, does_not_learn):
    served = serve_pool(4)
    ann = served.items("ann", 2)
    served.page.stop()
    again = serve_pool(4)
    assert again.items("ann", 2) == ann
    assert rows(again.items("bob", 4)).isdisjoint(rows(ann))
    assert again.answer(ann[0], "a").status_code == 200


def test_many_people_at_once_never_have_the_same_row(serve_pool, does_not_learn):
    served = serve_pool(60)
    begin = threading.Barrier(6)
    holders, answered = Counter(), Counter()
    lock = threading.Lock()

    def work(person):
        begin.wait(30)
        for _ in range(10):
            items = served.items(person, 2)
            with lock:
                for item in items:
                    holders[item["row"], person] += 1
            if not items:
                return
            reply = served.answer(items[0], "a", person)
            assert reply.status_code == 200
            with lock:
                answered[items[0]["row"]] += 1

    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(work, f"person {i}") for i in range(6)]:
            done.result(60)
    assert max(Counter(row for row, _ in holders).values()) == 1
    assert max(answered.values()) == 1
    assert set(served.labels()) == set(answered)


def test_one_answer_sent_by_many_threads_at_once_counts_once(served):
    (item,) = served.items()
    key, begin = new_key(), threading.Barrier(5)

    def send(_):
        begin.wait(30)
        return served.answer(item, "a", key=key).json()

    with ThreadPoolExecutor(5) as pool:
        replies = list(pool.map(send, range(5)))
    assert replies == [{"saved": True, "n_labels": 1}] * 5
    assert served.session.store.rows("SELECT count(*) FROM answers") == [(1,)]
