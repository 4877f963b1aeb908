"""The report on predictions that were made elsewhere: the same figures as with their model, as far as outputs tell."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from surefoot.report import ReliabilityReport

# Sections, and fields of others, that use estimated errors, neighbours, second opinions, or words about the model.
OF_ESTIMATES = {
    *(
        "answer",
        "checks",
        "estimates",
        "how",
        "improvements",
        "intervals",
        "model",
        "regions",
        "rows",
        "verdict",
    ),
    *("data/held_out", "slices"),
}
# Figures of the answered rows: which these are, estimated errors decide.
ANSWERED = ("answered", "augrc", "max_risk", "coverage", "n_answered", "promise", "limit")


def leaves(value, path=""):
    """Fields of a summary that depend on outputs and truth alone, by their path."""
    if path in OF_ESTIMATES or any(word in path.rpartition("/")[2] for word in ANSWERED):
        return {}
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else None
    )
    if parts is None:
        return {path: value}
    joined = [leaves(part, f"{path}/{name}".lstrip("/")) for name, part in parts]
    return {name: leaf for found in joined for name, leaf in found.items()}


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_figures_of_outputs_and_truth_are_those_of_the_model(kind):
    if kind == "classification":
        X, y = make_classification(
            360, 5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0
        )
        model = RandomForestClassifier(60, random_state=0)
    else:
        X, y = make_regression(300, 4, noise=20, random_state=0)
        model = RandomForestRegressor(30, random_state=0)
    X = pd.DataFrame(X, columns=list("abcde")[: X.shape[1]])
    model.fit(X[:120], y[:120])
    known, truth = X[120:], y[120:]
    outputs = [model.predict(known)]
    if kind == "classification":
        outputs.append(model.predict_proba(known))
    at_hand = leaves(
        ReliabilityReport(FrozenEstimator(model), known, truth, quick=True).summarize()
    )
    given = leaves(
        ReliabilityReport.from_predictions(known, truth, *outputs, quick=True).summarize()
    )
    at_hand = {name: value for name, value in at_hand.items() if not of_others(name, at_hand)}
    given = {name: value for name, value in given.items() if not of_others(name, given)}
    assert at_hand.keys() == given.keys()
    assert {
        name: (at_hand[name], given[name]) for name in given if at_hand[name] != given[name]
    } == {}
    sections = {name.partition("/")[0] for name in given}
    assert {
        "numbers",
        "data",
        "models",
        "predictions" if kind == "regression" else "probabilities",
    } <= sections
    assert len(given) > 60


def of_others(name, summary):
    """Whether a field is of another model in the table of models."""
    section, place, *_ = [*name.split("/"), ""]
    return section == "models" and summary[f"models/{place}/name"] != "this model"


def test_a_report_from_labels_alone_speaks_of_no_confidence_that_there_is_not():
    X, y = make_classification(300, 4, flip_y=0.2, random_state=0)
    said = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    truth = np.where(y == y[np.argmax(X[:, 0] + X[:, 1])], "a", "b")
    report = ReliabilityReport.from_predictions(X, truth, said)
    summary = report.summarize()
    assert "value" not in str(summary["probabilities"])
    assert summary["answer"]["risk"]["own"] is None
    assert [each["name"] for each in summary["improvements"]] == [
        "The other class where it is better",
        "A person for the most doubtful rows",
    ]
    assert summary["data"]["n_columns"] == 4
    columns = report.to_frame().columns
    assert {"neighbor_change", "neighbor_spread", "other_distance", "other_share"} <= set(columns)
    assert "shift" not in columns
    assert "compare the error here" in summary["data"]["held_out"]
