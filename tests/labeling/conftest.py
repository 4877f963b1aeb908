"""A labelling page that is really served."""

import pandas as pd
import pytest
from serving import Served


@pytest.fixture
def does_not_learn(monkeypatch):
    """Leave out the process that learns, which a test of something else need not wait for."""
    monkeypatch.setattr("surefoot.labeling._trainer.Trainer.start", lambda trainer: None)


@pytest.fixture
def serve_pool(tmp_path):
    """Serve a pool; whatever is served is stopped at the end."""
    httpx = pytest.importorskip("httpx", reason="httpx is not installed")
    labeling = pytest.importorskip("surefoot.labeling", reason="the extra 'label' is not installed")
    started = []

    def start(pool=30, target="kind", classes=("a", "b"), **options):
        table = pool if isinstance(pool, pd.DataFrame) else pd.DataFrame({"x": range(pool)})
        options.setdefault("db", tmp_path / "answers.db")
        page = labeling.serve(table, target, classes=classes, **options)
        client = httpx.Client(timeout=30)
        started.append((page, client))
        return Served(page, client)

    yield start
    for page, client in started:
        client.close()
        page.stop()


@pytest.fixture
def served(serve_pool, does_not_learn):
    """Thirty rows, numbered by x, and the classes a and b."""
    return serve_pool(out=None)
