"""The service of the examples, over HTTP: what it answers is what the error estimator says."""

import json
import runpy
import threading
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import surefoot
from surefoot.abstention import Promise
from surefoot.indicators import Confidence

EXAMPLE = Path(__file__).parents[2] / "examples/serve_judgements.py"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """An error estimator, new rows, and the address of its service."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(40, 9, 400), "visits": rng.integers(0, 9, 400)})
    y = np.where(table["visits"] + rng.normal(0, 1, 400) > 4, "stays", "leaves")
    error_estimator = surefoot.IndividualErrorClassifier(
        LogisticRegression(max_iter=1000), indicators=Confidence(), cv=2, random_state=0
    ).fit(table[:300], y[:300])
    path = tmp_path_factory.mktemp("service") / "model.skops"
    surefoot.save(error_estimator, path)
    server = runpy.run_path(str(EXAMPLE))["service"](path, 0, 0.2)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield error_estimator, table[300:], f"http://127.0.0.1:{server.server_port}/judge"
    server.shutdown()
    thread.join()
    server.server_close()


def post(address, rows):
    kind = {"Content-Type": "application/json"}
    request = Request(address, json.dumps(rows).encode(), kind)  # noqa: S310 - on this machine
    with urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.loads(answer.read())


def test_the_answers_are_those_of_the_error_estimator(served):
    error_estimator, table, address = served
    promise = Promise.from_held_out(error_estimator.held_out_, 0.2)
    judgement = promise.apply(error_estimator.judge(table))
    rows = json.loads(table.to_json(orient="records"))
    answers = pd.DataFrame(post(address, rows))
    np.testing.assert_allclose(
        answers["error"], judgement.error, rtol=1e-9
    )  # JSON of pandas is rounded
    assert answers["prediction"].tolist() == judgement.prediction.tolist()
    assert answers["accepted"].tolist() == judgement.accepted.tolist()
    assert 0 < answers["accepted"].mean() < 1
    [one] = post(address, rows[0])
    expected = answers.iloc[0].to_dict()
    assert one.pop("error") == pytest.approx(
        expected.pop("error"), rel=1e-12
    )  # one row adds in another order
    assert one == expected


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"age": 3}, "X lacks 'visits', which the model was fitted on."),
        ({"age": 3, "visits": "many"}, "Column 'visits' holds strings where the model expects"),
    ],
)
def test_a_bad_row_gets_a_sentence(served, row, sentence):
    with pytest.raises(HTTPError) as caught:
        post(served[2], row)
    with caught.value as answer:
        assert answer.code == 422
        assert json.loads(answer.read())["detail"].startswith(sentence)
