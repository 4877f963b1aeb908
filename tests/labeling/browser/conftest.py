"""The labelling page in a browser, with the real server; the test fails if the page errs or asks another host."""

import json

import numpy as np
import pandas as pd
import pytest
from serving import learn
from sklearn.linear_model import LogisticRegression

N_ROWS = 120
SECONDS = 30_000  # in milliseconds: patience with a busy machine

# One string of each kind in turn: row i has the string i modulo their number.
TEXTS = (
    "<script>document.title = 'taken'</script><img src=x onerror=alert(1)>",
    """He said "yes" & 'no' {{ 7 * 7 }} </dd>""",
    "👩‍👩‍👧‍👦 🎉",
    "שלום עולם, זה טקסט",
    "empty",
    None,
    "  \t ",
    "wörd " * 20_000,
    "x" * 100_000,
)


@pytest.fixture(scope="session")
def pool():
    """Table with the columns that are hard to show: hostile strings, missing values, and names that are numbers."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": rng.gamma(2, size=N_ROWS).round(3),
            "2020": rng.integers(0, 2, size=N_ROWS),
            "note": [TEXTS[i % len(TEXTS)] for i in range(N_ROWS)],
            "10": rng.normal(size=N_ROWS),
            "color": rng.choice(["red", "blue"], size=N_ROWS),
            "<b>name</b>": [None if i % 2 else float(i) for i in range(N_ROWS)],
        }
    )


@pytest.fixture
def start_page(tmp_path, does_not_learn):
    """Start a page of a pool in a thread; all are stopped at the end."""
    labeling = pytest.importorskip("surefoot.labeling", reason="the extra 'label' is not installed")
    started = []

    def start(pool, classes=("a", "b", "c"), **options):
        options = {"inputs": ["size"], "estimator": LogisticRegression(), **options}
        options = {"db": tmp_path / "answers.db", "name": "pool.csv", **options}
        started.append(labeling.serve(pool, "kind of thing", classes=classes, **options))
        return started[-1]

    yield start
    for page in started:
        page.stop()


@pytest.fixture
def server(start_page, pool):
    """Rows, half of them with labels; people may add classes."""
    labels = [("a", "b", None, None)[i % 4] for i in range(N_ROWS)]
    return start_page(pool.assign(**{"kind of thing": labels}), allow_new_classes=True)


@pytest.fixture
def server_that_learned(server):
    """The same, after the model has learned from the labels of the pool."""
    learn(server._session)
    return server


@pytest.fixture
def crowded_server(start_page):
    """Few rows of many columns, and many classes."""
    table = pd.DataFrame(np.arange(30)[:, None] + np.arange(70)).add_prefix("column ")
    classes = [f"class {i:03}" for i in range(200)]
    return start_page(table, classes=classes, inputs=["column 0"])


@pytest.fixture
def open_label_page(browser):
    """Open the page at an address as a person, in a window of its own."""
    contexts, complaints = [], []

    def open_(url, person="Ana", context=None, **options):
        if context is None:
            context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
            contexts.append(context)
            context.set_default_timeout(SECONDS)
        page = context.new_page()
        watch(page, url, complaints)
        if person:
            script = f"localStorage.setItem('surefoot.person', {json.dumps(person)})"
            page.add_init_script(script)
        page.goto(url)
        page.wait_for_selector("html[data-ready]", state="attached")
        if person:
            page.wait_for_selector("dl.cells > div")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


def watch(page, url, complaints):
    """Note what no page should do: scripts that fail, messages, other hosts."""
    origin = url.split("?")[0]

    def note(message):
        if "Failed to load resource" not in message.text:  # the browser's own word for a refusal
            complaints.append(f"{message.type}: {message.text}")

    def note_request(request):
        if not request.url.startswith((origin, "data:", "blob:")):
            complaints.append(f"asked for {request.url}")

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", note_request)


class Work:
    """A person at the page: what is shown, keys, and which answers the server has acknowledged."""

    def __init__(self, page):
        self.page = page
        self.acknowledged = {}  # label of each row
        page.on("response", self._note)

    def _note(self, response):
        request = response.request
        if request.method != "POST" or response.status != 200:
            return
        sent = request.post_data_json
        if request.url.endswith("/api/answers") and sent["kind"] == "label":
            self.acknowledged[sent["row"]] = sent["label"]
        elif request.url.endswith(("/api/undo", "/api/answers")):
            self.acknowledged.pop(sent["row"], None)

    def text(self, name):
        return self.page.get_by_test_id(name).inner_text().replace("\xa0", " ")

    @property
    def row(self):
        return int(self.text("row-title").removeprefix("Row "))

    def press(self, *keys):
        """Press keys that show another row, each as soon as a row is shown."""
        for key in keys:
            row = self.row
            self.page.keyboard.press(key)
            self.page.wait_for_function(
                "row => /^Row \\d+$/.test(document.getElementById('row-title').textContent)"
                " && document.getElementById('row-title').textContent !== row",
                arg=f"Row {row}",
            )

    def wait_for(self, name, words):
        """Wait until an element shows words."""
        self.page.get_by_test_id(name).filter(has_text=words).wait_for()

    def wait_for_history(self):
        """Wait until earlier answers have come from the server."""
        self.page.locator("[data-test=back]:enabled").wait_for()

    def wait_until_saved(self):
        """Wait until no answer is on its way."""
        self.page.wait_for_function(
            "() => !Object.keys(sessionStorage).some(name => name.startsWith('surefoot.unsaved'))"
        )


@pytest.fixture
def work_at(open_label_page):
    return lambda url, *values, **options: Work(open_label_page(url, *values, **options))


@pytest.fixture
def work(work_at, server):
    """Ana, alone at the page of a server of her own."""
    return work_at(server.url)
