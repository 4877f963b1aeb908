"""People who ask a labelling page by HTTP."""

from itertools import count
from urllib.parse import parse_qs, urlsplit

from surefoot.labeling._trainer import do_work

KEYS = count()


def new_key():
    return f"key {next(KEYS)}"


def learn(session):
    """Do a round of learning in this process; its result is taken as that of the other would be."""
    session._learned(do_work(*session.trainer._material, session._next_work()))
    assert session.failure is None


class Served:
    """A page being served, and a client that has its token."""

    def __init__(self, page, client):
        self.page, self.client = page, client
        self.base = page.url.partition("/?")[0]
        self.token = parse_qs(urlsplit(page.url).query)["token"][0]
        client.base_url = self.base
        client.headers["Authorization"] = f"Bearer {self.token}"

    @property
    def session(self):
        return self.page._session

    def next(self, person="ann", count=1, **query):
        reply = self.client.get("/api/next", params={"person": person, "count": count, **query})
        assert reply.status_code == 200, reply.text
        return reply.json()

    def items(self, person="ann", count=1, **query):
        return self.next(person, count, **query)["items"]

    def answer(self, item, label=None, person="ann", kind="label", key=None):
        return self.client.post(
            "/api/answers",
            json={
                "key": key or new_key(),
                "row": item["row"],
                "lease": item["lease"],
                "person": person,
                "kind": kind,
                "label": label,
            },
        )

    def undo(self, row, person="ann", key=None):
        return self.client.post(
            "/api/undo", json={"key": key or new_key(), "person": person, "row": row}
        )

    def label(self, n_rows, label_of, person="ann"):
        """Let a person label rows, one after the other."""
        for _ in range(n_rows):
            (item,) = self.items(person)
            assert self.answer(item, label_of(item["row"]), person).status_code == 200

    def progress(self):
        return self.client.get("/api/progress").json()

    def labels(self):
        """Label of each row in the export."""
        lines = self.client.get("/api/export.csv").text.splitlines()[1:]
        return {int(line.split(",")[0]): line.split(",")[1] for line in lines}

    def learn(self):
        learn(self.session)
