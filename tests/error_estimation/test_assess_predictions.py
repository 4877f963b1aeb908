"""Error estimators of predictions that were made elsewhere: as with the model, as far as outputs tell."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from surefoot import assess, assess_predictions, load, save
from surefoot.abstention import Promise
from surefoot.indicators import Confidence, NeighborDisagreement, SecondOpinion
from surefoot.monitoring import compare_rows, estimate_performance
from surefoot.scoring import score_batches

NAMES = np.array(["bad", "good", "so so"])


def rows_and_predictions(n_classes=2, n_rows=240):
    """Inputs, truth, and predictions and probabilities of a model that was fitted on other rows."""
    X, y = make_classification(
        n_rows + 100,
        5,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        flip_y=0.2,
        random_state=0,
    )
    model = LogisticRegression().fit(X[:100], y[:100])
    X, y = X[100:], y[100:]
    return X, y, model.predict(X), model.predict_proba(X), model


def columns_of(judgement, names):
    return np.hstack([judgement.columns[name] for name in names])


def test_outputs_without_a_model_are_judged_like_those_of_a_model():
    X, y, predictions, probabilities, model = rows_and_predictions()
    indicators = [NeighborDisagreement(), SecondOpinion(random_state=0)]
    known, new = slice(0, 160), slice(160, None)
    expected = assess(
        model,
        X[known],
        y[known],
        indicators=[Confidence(response="predict_proba"), *indicators],
        random_state=0,
    ).judge(X[new])
    found = assess_predictions(
        X[known],
        y[known],
        predictions[known],
        probabilities[known],
        indicators=[Confidence(), *indicators],
        random_state=0,
    ).judge(X[new], predictions[new], probabilities[new])

    assert_array_equal(found.prediction, expected.prediction)
    names = ["Confidence", "NeighborDisagreement", "SecondOpinion"]
    assert_allclose(columns_of(found, names), columns_of(expected, names), atol=1e-9)
    assert_allclose(found.error, expected.error, atol=1e-6)
    assert_array_equal(found.novel, expected.novel)


def test_stability_without_a_model_is_the_change_to_the_outputs_of_the_neighbours():
    X, y = make_regression(200, 3, noise=5, random_state=0)
    predictions = LinearRegression().fit(X[:80], y[:80]).predict(X)
    found = assess_predictions(X[80:], y[80:], predictions[80:], random_state=0).judge(
        X[:80], predictions[:80]
    )

    assert_array_equal(found.prediction, predictions[:80])
    scaled = X / X[80:].std(axis=0)
    near = NearestNeighbors(n_neighbors=10).fit(scaled[80:]).kneighbors(scaled[:80])[1]
    change = predictions[80:][near] - predictions[:80, None]
    assert list(found.stability) == ["neighbor_change", "neighbor_spread", "neighbor_worst"]
    assert_allclose(found.neighbor_change, change.mean(axis=1))
    assert_allclose(found.neighbor_worst, change.min(axis=1))
    assert found.shift is None


def test_classes_alone_are_judged_by_the_neighbours_that_have_the_same_and_others():
    X, y, predictions, _, _ = rows_and_predictions(3)
    model = assess_predictions(X[:160], y[:160], predictions[:160], random_state=0)
    found, own = model.judge(X[160:], predictions[160:]), predictions[160:, None]
    scaled = X / X[:160].std(axis=0)
    distances, near = NearestNeighbors(n_neighbors=30).fit(scaled[:160]).kneighbors(scaled[160:])
    said, wrong = predictions[near], predictions[near] != y[near]
    other = said[:, :10] != own
    assert_allclose(found.other_share, other.mean(axis=1))
    nearest = np.where(other, distances[:, :10], np.inf).min(axis=1)
    assert_allclose(found.other_distance, np.minimum(nearest, 2 * distances[:, 9]))
    # Of the neighbours with the same prediction, and five more with the rate of this prediction everywhere.
    mistakes, total = predictions[:160] != y[:160], 160
    everywhere = (mistakes.sum() + 2.5) / (total + 5)
    rates = np.array(
        [
            (mistakes[predictions[:160] == c].sum() + 5 * everywhere)
            / ((predictions[:160] == c).sum() + 5)
            for c in range(3)
        ]
    )[predictions[160:]]
    rates = ((wrong & (said == own)).sum(axis=1) + 5 * rates) / ((said == own).sum(axis=1) + 5)
    assert_allclose(found.columns["NeighborConfidence"][:, 3], 1 - rates)
    assert model.prior_ is not None


@pytest.mark.parametrize("kind", ["pandas", "polars", "named columns"])
def test_every_kind_of_table_gives_the_same_errors(kind):
    X, y, predictions, probabilities, _ = rows_and_predictions()
    expected = assess_predictions(
        X[:160], y[:160], predictions[:160], probabilities[:160], random_state=0
    )
    expected = expected.predict_error(X[160:], predictions[160:], probabilities[160:])
    X = np.round(X, 12)
    table = pd.DataFrame(X, columns=list("abcde"))
    labels, first = NAMES[predictions], probabilities
    if kind == "named columns":
        table.insert(2, "said", labels)
        table["p"], table["q"] = first.T
        model = assess_predictions(
            table[:160], NAMES[y[:160]], "said", {"good": "q", "bad": "p"}, random_state=0
        )
        found = model.predict_error(table[160:])
    else:
        table = pl.from_pandas(table) if kind == "polars" else table
        model = assess_predictions(
            table[:160], NAMES[y[:160]], labels[:160], first[:160], random_state=0
        )
        found = model.predict_error(table[160:], labels[160:], first[160:])
    assert_allclose(found, expected, atol=1e-6)


def test_outputs_of_sparse_rows_are_their_last_columns():
    X, y, predictions, probabilities, _ = rows_and_predictions()
    rows = csr_array(np.abs(np.where(np.abs(X) > 1, X, 0)))
    model = assess_predictions(rows, NAMES[y], NAMES[predictions], probabilities, random_state=0)
    judgement = model.judge(rows[:20], NAMES[predictions[:20]], probabilities[:20])
    assert_array_equal(judgement.prediction, NAMES[predictions[:20]])
    assert_array_equal(judgement.probabilities, probabilities[:20])
    assert model.input_sample_.coordinates.shape[1] == rows.shape[1]


def test_categories_dates_of_birth_and_missing_values_are_inputs_like_any_other():
    X, y, predictions, _, _ = rows_and_predictions(3)
    table = pd.DataFrame(X, columns=list("abcde"))
    table["f"] = np.where(X[:, 0] > 0, "up", "down")
    table.loc[::7, "b"] = np.nan
    model = assess_predictions(
        table[:180], NAMES[y[:180]], NAMES[predictions[:180]], random_state=0
    )
    judgement = model.judge(table[180:], NAMES[predictions[180:]])
    assert_array_equal(judgement.prediction, NAMES[predictions[180:]])
    assert judgement.probabilities is None
    wrong = predictions[180:] != y[180:]
    assert judgement.error[wrong].mean() > judgement.error[~wrong].mean()


def test_a_probability_of_the_second_class_or_of_the_first_is_as_good_as_both():
    X, y, predictions, probabilities, _ = rows_and_predictions()
    known, new = slice(0, 160), slice(160, None)
    errors = [
        assess_predictions(
            X[known], y[known], predictions[known], given[known], random_state=0
        ).predict_error(X[new], predictions[new], given[new])
        for given in (probabilities, probabilities[:, 1], probabilities[:, 0])
    ]
    assert_allclose(errors[1], errors[0], atol=1e-9)
    assert_allclose(errors[2], errors[0], atol=1e-9)


def test_a_threshold_other_than_one_half_is_read_off_the_predictions():
    X, y, _, probabilities, _ = rows_and_predictions()
    predictions = (probabilities[:, 1] > 0.3).astype(int)
    model = assess_predictions(X, y, predictions, probabilities[:, 1], random_state=0)
    low, high = model.estimator.bounds
    assert low == probabilities[predictions == 0, 1].max()
    assert high == probabilities[predictions == 1, 1].min()
    held_out = model.held_out_
    assert_array_equal(held_out.prediction, predictions)
    assert_array_equal(held_out.scores[:, 0] > 0, predictions == 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_score_of_either_direction_is_no_probability(sign):
    X, y, predictions, probabilities, _ = rows_and_predictions()
    score = sign * (500 + 40 * np.log(probabilities[:, 1] / probabilities[:, 0]))
    model = assess_predictions(X, y, predictions, score, random_state=0)
    assert "a score (no probability) for " + str(int(sign > 0)) in model.estimator.describe()
    assert model.judge(X[:9], predictions[:9], score[:9]).probabilities is None
    found = model.held_out_.scores[:, 0]
    assert_array_equal(found > 0, predictions == 1)
    assert_allclose(np.diff(found) * score.std(), np.diff(sign * score), atol=1e-6)


def test_one_number_for_many_classes_is_how_sure_the_model_was():
    X, y, predictions, probabilities, _ = rows_and_predictions(3)
    sureness = probabilities.max(axis=1)
    model = assess_predictions(X, y, predictions, sureness, random_state=0)
    scores = np.sort(model.held_out_.scores, axis=1)
    assert_array_equal(np.argsort(scores[:, 2] - scores[:, 1]), np.argsort(sureness))
    assert_array_equal(model.held_out_.scores.argmax(axis=1), predictions)


def test_a_confidence_that_is_the_same_everywhere_is_worth_nothing():
    X, y, predictions, _, _ = rows_and_predictions()
    stated = np.full(len(y), 0.95)
    model = assess_predictions(X, y, predictions, stated, random_state=0)
    assert "confidence in the class" in model.estimator.describe()
    alone = assess_predictions(X, y, predictions, random_state=0)
    wrong = predictions != y
    areas = [roc_auc_score(wrong, each.held_out_.error) for each in (model, alone)]
    assert abs(areas[0] - areas[1]) < 0.05


def test_rows_of_a_later_time_are_held_out():
    X, y, predictions, _, _ = rows_and_predictions()
    time = np.arange(len(y))[::-1]
    model = assess_predictions(X, y, predictions, time=time, random_state=0)
    for train, test in model.splits_:
        assert time[train].max() < time[test].min()


X, Y, SAID, SHARES, _ = rows_and_predictions(3)
TWO = rows_and_predictions()


def with_value(values, value, row=5):
    changed = np.array(values, dtype=object if isinstance(value, str) or value is None else float)
    changed[row] = value
    return changed


BAD = {
    "missing": ((X, Y, with_value(SAID, None)), "Row 5 has no prediction"),
    "nan among strings": (
        (X, NAMES[Y], [*NAMES[SAID[:5]].tolist(), float("nan"), *NAMES[SAID[6:]].tolist()]),
        "Row 5 has no prediction",
    ),
    "no rows": ((X, Y, SAID[1:]), "X has 240 rows, and there are outputs of 239"),
    "other classes": (
        (X, Y, np.array(["a", "b", "c"])[SAID]),
        "No prediction is a class of the truth",
    ),
    "constant": ((X, Y, np.zeros(240, dtype=int)), "Every prediction is 0"),
    "probabilities as predictions": ((TWO[0], TWO[1], TWO[3][:, 1]), "pass the predicted classes"),
    "sum": ((X, Y, SAID, 0.9 * SHARES), "Row 0 has probabilities that do not sum to one"),
    "nan": ((X, Y, SAID, with_value(SHARES, np.nan)), "Row 5 has no number in 'probability_0'"),
    "columns": ((X, Y, SAID, SHARES[:, :2]), "2 columns of probabilities and 3 classes"),
    "contradiction": (
        (X, Y, SAID, SHARES[:, ::-1]),
        "has a prediction that another class has a higher probability than",
    ),
    "two classes": (
        (TWO[0], TWO[1], TWO[2], np.roll(TWO[3][:, 1], 1)),
        "contradicts its prediction",
    ),
    "words": (
        (X, Y, SAID, with_value(SHARES, "much")),
        "probabilities hold values that are no numbers",
    ),
    "regression": ((X, Y + 0.5, SAID, SHARES), "No prediction is a class of the truth"),
    "texts": ((["a text"] * 240, Y, SAID), "a frame with a column of texts"),
    "input": ((pd.DataFrame({"prediction": SAID}), Y, SAID), "which would be an input"),
    "name": ((pd.DataFrame(X), Y, "said"), "X lacks the column 'said'"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_outputs_get_one_sentence(what):
    arguments, sentence = BAD[what]
    with pytest.raises((ValueError, TypeError), match=sentence):
        assess_predictions(*arguments)


def test_new_rows_with_bad_outputs_get_one_sentence():
    model = assess_predictions(X, Y, SAID, SHARES, random_state=0)
    with pytest.raises(ValueError, match="Row 5 has no prediction"):
        model.judge(X, with_value(SAID, None), SHARES)
    with pytest.raises(ValueError, match="Row 5 has a prediction that is none of the classes"):
        model.judge(X, with_value(SAID, 7.0), SHARES)
    with pytest.raises(ValueError, match="probabilities have 0 columns: there must be 3"):
        model.judge(X, SAID)
    at_hand = assess(LogisticRegression().fit(X[:50], Y[:50]), X, Y, random_state=0)
    with pytest.raises(ValueError, match="has a model that makes them"):
        at_hand.predict_error(X, SAID)


def test_a_model_that_is_far_better_than_others_is_suspected_to_have_seen_the_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    predictions = np.where(rng.random(200) < 0.05, 1 - y, y)
    with pytest.warns(UserWarning, match="Make sure that it has not learned from these rows"):
        assess_predictions(rng.normal(size=(200, 3)), y, predictions, random_state=0)


@pytest.mark.parametrize("form", [np.array, np.float32, str, "{:.6f}".format, bool])
def test_a_copy_of_the_target_in_another_form_promises_nothing(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    numbers = X[:, 0] + rng.normal(size=120)
    y = (numbers > 0).astype(int) if form in (str, bool) else numbers
    said = np.array([form(value) for value in y])
    said = said.astype(float) if said.dtype.kind == "U" and form is not str else said
    with pytest.warns(UserWarning, match="is their column the target, or a copy of it"):
        estimator = assess_predictions(X, y, said, random_state=0)
    assert not Promise.from_held_out(estimator.held_out_).kept


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_copy_of_the_target_is_asked_about_and_promises_nothing(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300)
    y = (y > 0).astype(int) if task == "classification" else y
    with pytest.warns(UserWarning, match="is their column the target, or a copy of it"):
        estimator = assess_predictions(X, y, y.copy(), task=task, random_state=0)
    promise = Promise.from_held_out(estimator.held_out_)
    assert estimator.held_out_.seen
    assert not promise.kept
    assert not promise.apply(estimator.judge(X[:20] + 0.01, y[:20])).accepted.any()
    said = y.copy()
    said[7] = 1 - said[7]  # a single mistake is one that a model makes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not assess_predictions(X, y, said, task=task, random_state=0).held_out_.seen


@pytest.mark.parametrize("given", ["classes", "probabilities", "numbers"])
def test_what_is_saved_judges_to_the_bit(given, tmp_path):
    table = pd.DataFrame(X, columns=list("abcde")).assign(f=np.where(X[:, 0] > 0, "up", "down"))
    truth, outputs = (X[:, 0] + 0.3 * Y, [X[:, 0]]) if given == "numbers" else (Y, [SAID])
    outputs += [SHARES] if given == "probabilities" else []
    model = assess_predictions(table, truth, *outputs, random_state=0)
    path = tmp_path / "trust.skops"
    save(model, path)
    new = [output[:40] for output in outputs]
    expected = model.judge(table[:40], *new).to_frame()
    pd.testing.assert_frame_equal(load(path).judge(table[:40], *new).to_frame(), expected)


def test_confidence_from_neighbours_knows_nothing_of_the_row_itself():
    rng = np.random.default_rng(0)
    truth, predictions = rng.integers(0, 2, (2, 600))
    model = assess_predictions(rng.normal(size=(600, 3)), truth, predictions, random_state=0)
    wrong = model.held_out_.losses
    for column in model.held_out_.columns["NeighborConfidence"].T:
        # Three standard errors of the area under the curve of a worthless column.
        assert abs(roc_auc_score(wrong, column) - 0.5) < 3 * np.sqrt(1 / (6 * 300))


def test_streams_and_monitoring_take_tables_of_inputs_and_outputs():
    table = pd.DataFrame(X, columns=list("abcde")).assign(said=NAMES[SAID])
    model = assess_predictions(table[:160], NAMES[Y[:160]], "said", random_state=0)
    expected = model.judge(table[160:])
    [scores] = score_batches(model, [pa.Table.from_pandas(table[160:], preserve_index=False)])
    assert scores["prediction"].to_pylist() == NAMES[SAID[160:]].tolist()
    assert_allclose(scores["estimated_error"].to_numpy(), expected.error)
    moved = table[160:].assign(a=table["a"][160:] + 3)
    names = [column.name for column in compare_rows(model, moved).columns]
    assert names[0] == "a"
    assert "said" not in names
    estimate = estimate_performance(model, table[160:]).estimate
    assert estimate == pytest.approx(expected.error.mean(), abs=0.1)


def test_probabilities_alone_are_refused_where_a_model_of_them_is_judged():
    X, y, predictions, probabilities, _ = rows_and_predictions()
    indicators = [NeighborDisagreement(), SecondOpinion(random_state=0)]
    error_estimator = assess_predictions(X, y, predictions, probabilities, indicators=indicators)
    with pytest.raises(ValueError, match="probabilities are given without predictions"):
        error_estimator.judge(X[:9], probabilities=probabilities[:9])
