"""Each planted fault of a table is found, with its evidence, and clean tables pass."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from scipy.stats import ttest_1samp
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from surefoot.checks import check_table


def found(X, y=None, **settings):
    """Findings by their code."""
    return {finding.code: finding for finding in check_table(X, y, **settings)}


def held_out(prediction, splits=None, **others):
    """Held-out predictions of all rows."""
    known = {"rows": np.arange(len(prediction)), "prediction": prediction, "splits": splits}
    missing = dict.fromkeys(("probabilities", "classes", "groups"))
    return SimpleNamespace(**known, **missing | others)


def clean_table(kind, n_rows=300):
    """Frame and target without a fault: whole numbers, categories, missing values; classes or numbers."""
    draw = np.random.default_rng([7, kind])
    X = pd.DataFrame(draw.normal(size=(n_rows, 5)) @ draw.normal(size=(5, 5))).add_prefix("c")
    X["count"] = draw.poisson(3, n_rows)
    X["age"] = draw.integers(18, 80, n_rows)
    X["city"] = draw.choice(["Graz", "Lyon", "Oslo", "Rome"], n_rows, p=[0.6, 0.25, 0.1, 0.05])
    X["income"] = draw.lognormal(9, 1, n_rows).round()
    X.loc[draw.random(n_rows) < 0.1, "c1"] = np.nan
    signal = X["c0"] / X["c0"].std() + X["age"] / 30 + (X["city"] == "Oslo") - 0.3 * X["count"]
    signal = np.asarray(signal - signal.mean())
    if kind % 2:
        return X, signal + draw.normal(size=n_rows)
    return X, np.where(draw.random(n_rows) < expit(2 * signal - kind % 3), "yes", "no")


@pytest.mark.parametrize("kind", range(20))
def test_a_clean_table_raises_no_alarm(kind):
    X, y = clean_table(kind)
    assert check_table(X, y) == []
    model = Ridge() if kind % 2 else DecisionTreeClassifier(max_depth=4, random_state=0)
    assert "order" not in found(X[["c0", "c2", "age", "count"]], y, estimator=model)


@pytest.mark.parametrize(("kind", "frame"), [(0, pl.from_pandas), (1, pd.DataFrame)])
def test_every_planted_column_is_named(kind, frame):
    X, y = clean_table(kind)
    draw = np.random.default_rng(0)
    codes = y if kind % 2 else (y == "yes").astype(float)
    X["after"] = np.exp(codes) + 0.01 * draw.normal(size=300)
    X["number"] = draw.permutation(300) + 5000
    X["code"] = [f"r{i:04}" for i in range(300)]
    X["town"] = X["city"].map({"Graz": 3, "Lyon": 1, "Oslo": 2, "Rome": 0})
    X["cm"] = -2.54 * X["c3"]
    X["copy"] = X["city"]
    findings = found(frame(X), y)
    assert list(findings) == ["leak", "identifier", "equal"]
    assert findings["leak"].columns == ("after",)
    assert findings["leak"].sentence.startswith("“after” gives the target away")
    assert findings["identifier"].columns == ("number", "code")
    assert findings["identifier"].evidence["follows_rows"] == [False, True]
    assert findings["equal"].columns == ("town", "cm", "copy")
    assert findings["equal"].evidence["same_as"] == ["city", "c3", "city"]
    assert findings["equal"].evidence["identical"] == [False, False, True]
    assert list(found(frame(X))) == ["identifier", "equal"]  # without a target
    assert list(found(frame(X), y, ignore=["leak", "equal"])) == ["identifier"]


LETTERS = str.maketrans("0123456789", "abcdefghij")


@pytest.mark.parametrize("kind", ["classes", "persons", "days"])
def test_names_of_columns_and_digits_in_values_are_no_evidence(kind):
    draw = np.random.default_rng(0)
    X, y = clean_table(0)
    if kind == "classes":
        X["customer_id"], X["code"] = (
            draw.permutation(10**6)[:300],
            [f"r{i:04}" for i in range(300)],
        )
        X["said"] = np.where(draw.random(300) < 0.15, "yes", y)
        assert set(found(X, y)) == {"leak", "identifier"}
    else:
        X, y, who = speakers()
        X = pd.DataFrame(X).add_prefix("m")
        days = pd.date_range("2026-01-01", periods=15).astype(str)
        X["user"] = days[who] if kind == "days" else [f"p{each:02}" for each in who]
        assert set(found(X, y, estimator=None)) == {"entity"}
    recoded = X.rename(columns={name: f"c{i}" for i, name in enumerate(X)})
    for name in recoded.columns:
        if recoded[name].dtype.kind not in "fi":
            recoded[name] = recoded[name].map(lambda value: value.translate(LETTERS))
    model = make_pipeline(
        FunctionTransformer(lambda table: table.iloc[:, :3].fillna(0.0)),
        DecisionTreeClassifier(random_state=0),
    )
    before, after = (found(table, y, estimator=model) for table in (X, recoded))
    assert list(before) == list(after)
    places = {f"c{i}": name for i, name in enumerate(X)}
    for code, finding in before.items():
        assert finding.columns == tuple(places[name] for name in after[code].columns)
        assert finding.evidence.keys() == after[code].evidence.keys()
        for name in finding.evidence.keys() - {"time_option"}:
            assert finding.evidence[name] == after[code].evidence[name]


def test_a_column_of_the_names_of_the_classes_may_be_a_prediction():
    draw = np.random.default_rng(0)
    X, y = clean_table(0)
    wrong = draw.random(300) < 0.2
    X["said"] = np.where(wrong, np.where(y == "yes", "no", "yes"), y)
    leak = found(X, y)["leak"]
    assert leak.columns == ("said",)
    assert "--prediction said" in leak.question
    X["said"] = draw.permutation(y)  # the same names, and nothing about these rows
    assert "leak" not in found(X, y)
    X["said"] = np.where(
        wrong, np.where(y == "yes", "high", "low"), np.where(y == "yes", "low", "high")
    )
    assert "leak" not in found(X, y)  # other names: a level that goes with the class


def test_how_many_new_rows_have_new_values_is_told_by_the_values_that_occur_once():
    X, sound, speaker = speakers()
    once = np.arange(30)
    X, sound = np.vstack([X, X[once * 15]]), np.append(sound, sound[once * 15])
    who = np.append(speaker, 100 + once)
    entity = found(pd.DataFrame(X).add_prefix("f").assign(who=who), sound, ignore=["duplicate"])[
        "entity"
    ]
    assert entity.evidence["new_values"] == pytest.approx(30 / 480)
    assert "--groups who" in entity.question


def test_numbers_or_classes_is_the_task_of_every_other_command():
    X, marks = clean_table(0)[0], np.arange(300) % 15
    with pytest.raises(ValueError, match="pass task="):
        check_table(X, marks)
    assert check_table(X, marks, task="regression") == check_table(X, marks, task="classification")
    assert check_table(X, marks, estimator=Ridge(), ignore=["order"]) == []


def test_the_score_of_a_column_by_hand():
    # Two halves; the column names the half, and each held-out fold sees 0 or 1 for all others but one row at the mean.
    y = np.repeat([0, 1], 100)
    X = np.column_stack([y, np.tile([0, 1], 100)])
    known = held_out(y, probabilities=np.column_stack([1 - y, y]), classes=np.array([0, 1]))
    leak = found(X, y, held_out=known)["leak"]
    # 80 of 81 rows have the class: (1 − 80/81)² of the spread is left.
    assert leak.evidence["score"] == pytest.approx(1 - (1 / 81) ** 2, abs=1e-4)
    assert leak.evidence["model_score"] == pytest.approx(1)
    assert leak.evidence["next_score"] < 0.01
    assert "and the whole model 100 %" in leak.sentence


def test_two_columns_may_agree_by_chance():
    few = pd.DataFrame({"a": [0, 0, 0, 1], "b": [0, 0, 0, 5]})
    persons = np.repeat(np.random.default_rng(0).normal(size=(30, 2)), 5, axis=0)
    for table in (few, np.ones((50, 3)), persons):  # two facts about a person have different orders
        assert "equal" not in found(table)


def test_different_numbers_may_be_a_coincidence():
    ids = np.random.default_rng(0).choice(10**9, 200, replace=False)
    assert check_table(pd.DataFrame({"customer_id": ids})) == []  # they may as well be prices
    time = found(pd.DataFrame({"time": 0.1 * np.arange(50)}))["identifier"]
    assert "It follows the order of the rows." in time.sentence
    names = pd.DataFrame({"text": [f"row number {i}" for i in range(50)]})
    assert check_table(names) == []  # sentences describe


def test_copies_on_both_sides_of_a_split_carry_the_accuracy():
    X = np.random.default_rng(0).normal(size=(120, 4))
    X[100:] = X[:20]
    y = np.arange(120) % 7 % 2
    prediction = np.r_[y[:20], 1 - y[20:100], y[100:]]  # only the copies are right
    splits = np.arange(120) % 3  # row i + 100 is in another fold than row i
    known = held_out(prediction, splits, classes=np.array([0, 1]))
    copies = found(X, y, held_out=known)["duplicate"]
    assert copies.rows == (*range(20), *range(100, 120))
    assert copies.evidence["copies"][:20] == list(range(100, 120))
    assert all(copies.evidence["exact"])
    assert copies.evidence["n_across"] == 40
    assert copies.evidence["loss"] == pytest.approx(80 / 120)
    assert copies.evidence["loss_without"] == 1
    assert copies.sentence.startswith("40 of 120 rows (33 %) have a copy in the table. 40 were")
    assert copies.sentence.endswith("right on 33 % of rows; without, right on 0 % of rows.")
    known.splits = np.arange(120) % 100 % 3
    together = found(X, y, held_out=known)["duplicate"].evidence
    assert together["n_across"] == 0
    assert together["loss"] == together["loss_without"]


def test_near_copies_are_pairs_of_the_rows_they_were_made_from():
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.normal(size=(330, 5))).add_prefix("c")
    X["city"] = draw.choice(["Graz", "Lyon"], 330)
    X.iloc[300:] = X.iloc[:30]
    X.loc[300:, "c0":"c4"] += 0.001 * draw.normal(size=(30, 5))
    copies = found(X)["duplicate"]
    assert not any(copies.evidence["exact"])
    assert copies.rows == (*range(30), *range(300, 330))
    assert copies.evidence["copies"] == [*range(300, 330), *range(30)]
    X.loc[300:, "city"] = X["city"].map({"Graz": "Lyon", "Lyon": "Graz"})[300:]
    assert check_table(X) == []  # another category is another row


def test_rows_of_a_small_grid_agree_by_coincidence():
    draw = np.random.default_rng(0)
    assert check_table(draw.integers(0, 3, size=(400, 4))) == []
    assert check_table((draw.random((300, 6)) < 0.01).astype(int)) == []


def test_entities_are_told_from_categories_and_sizes():
    draw = np.random.default_rng(0)
    person = draw.permutation(np.repeat(np.arange(60), 10))
    X = pd.DataFrame({"x": draw.normal(size=600), "age": draw.integers(18, 80, 600)})
    X["person"] = [f"p{7 * i % 60:02}" for i in person]
    y = draw.normal(size=60)[person] + X["age"] / 20 + 0.5 * draw.normal(size=600)
    entity = found(X, y)["entity"]
    assert entity.columns == ("person",)
    assert entity.evidence["grouped"] > 1.3 * entity.evidence["shuffled"]
    assert entity.evidence["p_value"] < 0.002
    assert "entity" not in found(X, y, held_out=held_out(np.zeros(600), groups=person))
    assert check_table(X, X["age"] / 20 + draw.normal(size=600)) == []


def speakers(n_speakers=15, n_rows=30):
    """Sounds of eight kinds: each speaker has a voice of their own, and says every sound equally often."""
    draw = np.random.default_rng(3)
    speaker = np.repeat(np.arange(n_speakers), n_rows)
    sound = draw.integers(0, 8, len(speaker))
    voice = draw.normal(size=(n_speakers, 5)) + 0.7 * draw.normal(size=(8, n_speakers, 5))
    X = (
        draw.normal(size=(8, 5))[sound]
        + voice[sound, speaker]
        + 0.3 * draw.normal(size=(len(speaker), 5))
    )
    return X, sound, speaker


@pytest.mark.parametrize("names", [None, "abcdefghijklmno"], ids=["numbers", "letters"])
def test_speakers_who_say_the_same_are_entities(names):
    X, sound, speaker = speakers()
    splits = KFold(5, shuffle=True, random_state=0).split(X), GroupKFold(5).split(X, groups=speaker)
    accuracy = [
        cross_val_score(KNeighborsClassifier(1), X, sound, cv=[*each]).mean() for each in splits
    ]
    assert accuracy[0] > accuracy[1] + 0.3
    who = speaker if names is None else np.array(list(names))[speaker]
    entity = found(pd.DataFrame(X).add_prefix("f").assign(who=who), sound)["entity"]
    assert entity.columns == ("who",)
    rise = entity.evidence["grouped"] - entity.evidence["shuffled"]
    assert 0.2 < entity.evidence["low"] < rise
    assert entity.sentence.endswith(" points, with 95 % confidence.")


@pytest.mark.parametrize("kind", ["category", "height", "count", "place", "time"])
def test_columns_whose_rows_do_not_depend_on_each_other_are_no_entities(kind):
    draw = np.random.default_rng(1)
    X, sound, speaker = speakers()
    value = draw.integers(0, 9, 600)
    table = pd.DataFrame(draw.normal(size=(600, 3))).add_prefix("x")
    signal = table["x0"]
    if kind == "category":  # holding it out would hurt, had the model nothing but the column
        table["color"], signal = np.array(list("abcdefghi"))[value], draw.normal(size=9)[value] * 3
    elif kind == "height":  # many values that other columns almost give
        table["pixels"] = (20 * np.exp(0.5 * draw.normal(size=600))).round()
        table["area"] = table["pixels"] * draw.integers(5, 9, 600)
        signal = np.sin(table["pixels"] / 5) + (table["pixels"] < 10)
    elif kind == "count":
        table["children"], signal = value, value / 2 + table["x1"]
        table["cost"] = value + draw.normal(size=600)
    elif kind == "place":
        table["postcode"] = 10_000 + draw.integers(0, 100, 600)
    else:  # those of a day are alike, as of a speaker: a matter of time
        table = pd.DataFrame(X).add_prefix("f")
        days = pd.date_range("2026-01-01", periods=15)[speaker]
        assert "entity" not in found(table.assign(when=days), sound)
        asked = found(table.assign(when=days.astype(str)), sound)["entity"].question
        assert "--time when" in asked
        return
    assert "entity" not in found(table, np.asarray(signal + 0.3 * draw.normal(size=600) > 0.5))


@pytest.mark.parametrize(("n_speakers", "n_rows"), [(6, 1000), (300, 20)])
def test_entities_of_a_long_table_are_found_on_some_of_its_rows(n_speakers, n_rows):
    X, sound, speaker = speakers(n_speakers, n_rows)
    entity = found(pd.DataFrame(X).add_prefix("f").assign(who=speaker), sound)["entity"]
    assert entity.columns == ("who",)
    assert f"({n_speakers} values)" in entity.sentence


@pytest.mark.parametrize(
    ("columns", "option"),
    [
        ({"when": pd.date_range("2026-01-01", periods=40)}, "--time when"),
        ({"when": [f"2026-01-{1 + i // 2:02}" for i in range(40)]}, "--time when"),
        ({"step": np.arange(40) // 3}, "--time step"),
        ({"year": np.arange(40) % 4 + 2020, "size": np.arange(40) % 5}, "--time COLUMN"),
    ],
)
def test_time_is_proposed_where_there_is_one(columns, option):
    level = np.repeat(np.random.default_rng(0).normal(size=8), 5)
    model = make_pipeline(FunctionTransformer(lambda X: X[["x"]]), KNeighborsRegressor(1))
    order = found(pd.DataFrame({"x": level, **columns}), level, estimator=model)["order"]
    assert order.evidence["time_option"] == option
    assert option in order.question


def test_rows_of_persons_that_stand_together_are_noticed():
    draw = np.random.default_rng(0)
    person = np.repeat(np.arange(50), 8)
    X = draw.normal(size=(50, 3))[person] + 0.05 * draw.normal(size=(400, 3))
    y = (draw.normal(size=50) > 0)[person]
    model = KNeighborsClassifier(3)
    order = found(X, y, estimator=model)["order"].evidence
    assert order["shuffled"] < 0.05
    assert order["ordered"] > 0.3
    assert not order["sorted_by_target"]
    shuffled = draw.permutation(400)
    assert "order" not in found(X[shuffled], y[shuffled], estimator=model)
    assert "order" not in found(X, y, estimator=FrozenEstimator(model.fit(X, y)))
    grouped = held_out(y, groups=person, classes=np.array([False, True]))
    assert "order" not in found(X, y, estimator=model, held_out=grouped)


def test_a_class_that_a_fold_lacks_is_wrong_in_every_row():
    X = np.repeat(np.arange(5.0), 40)[:, None]
    y = np.repeat(["a", "b", "c", "d", "e"], 40)
    order = found(X, y, estimator=LogisticRegression(max_iter=1000))["order"]
    assert order.evidence["ordered"] == 1
    assert order.evidence["sorted_by_target"]
    two = held_out(y[:80], np.tile([0, 1], 40), classes=np.array(["a", "b"]))
    halves = found(X[:80], y[:80], held_out=two, estimator=LogisticRegression())["order"]
    assert halves.evidence["ordered"] == 1  # each half has one class only, and nothing is fitted


@pytest.mark.parametrize("n_rows", [100, 40])
def test_losses_are_those_of_cross_validation(n_rows):
    X = np.sort(np.random.default_rng(0).normal(size=(n_rows, 1)), axis=0)
    y, model = np.exp(X[:, 0]), KNeighborsRegressor(3)
    folds = KFold(5, shuffle=True, random_state=1)
    splits = np.empty(n_rows, dtype=int)
    for fold, (_, test) in enumerate(folds.split(X)):
        splits[test] = fold
    prediction = y + 1e-3 * cross_val_predict(model, X, y, cv=folds)
    order = found(X, y, held_out=held_out(prediction, splits), estimator=model)["order"].evidence
    losses = np.abs(y - prediction)
    in_order = np.abs(y - cross_val_predict(model, X, y, cv=KFold(5)))
    assert order["shuffled"] == pytest.approx(losses.mean())
    assert order["ordered"] == pytest.approx(in_order.mean())
    if n_rows <= 50:  # each row is a block of its own
        expected = ttest_1samp(in_order - losses, 0, alternative="greater").pvalue
        assert order["p_value"] == pytest.approx(expected)


def test_a_long_table_is_compared_in_blocks():
    rows = []

    class Remembering(Ridge):
        def predict(self, X):
            rows.extend(X[:, 0].astype(int).tolist())
            return super().predict(X)

    X = np.arange(20_000.0)[:, None]
    settings = {"estimator": Remembering(), "ignore": ["leak", "entity", "identifier"]}
    order = found(X, np.abs(X[:, 0] - 10_000), **settings)["order"]
    assert "on 3,000 rows" in order.sentence
    assert sorted(rows[:3000]) == rows[:3000]  # folds of rows that stand together
    assert rows[:60] == list(range(60))
    assert rows[2999] == 19_999
    assert np.diff(rows[:3000]).max() < 400  # from everywhere in the table


@pytest.mark.parametrize(
    "table",
    [
        csr_array(np.eye(60)),
        np.array([f"a text {i}" for i in range(60)], dtype=object),
        np.full((60, 3), np.nan),
        np.ones((60, 1)),
        pd.DataFrame({"when": pd.date_range("2024-01-01", periods=60), "flag": [True, None] * 30}),
        pl.DataFrame({"a": [None] * 60, "b": [[1, 2]] * 60}),
        pd.DataFrame({1: range(60), "1": pd.Categorical(["x", None] * 30)}),
        np.array([[np.inf, 1.0], [-np.inf, 2.0]] * 30),
    ],
    ids=["sparse", "texts", "missing", "constant", "dates", "lists", "names", "infinite"],
)
@pytest.mark.parametrize(
    "y", [np.arange(60) % 2, np.linspace(0, 1, 60), np.array(["a", 1] * 30, dtype=object)]
)
def test_any_table_is_taken(table, y):
    classes = None if y.dtype.kind == "f" else np.unique(y.astype(str))
    known = held_out(y, np.arange(60) % 5, classes=classes)
    assert not {"entity", "order"} & found(table, y, held_out=known).keys()


def test_an_unknown_code_is_one_sentence():
    with pytest.raises(ValueError, match="ignore names 'leaks': the checks are 'leak', 'dup"):
        check_table(np.zeros((30, 2)), ignore=["leaks"])


def test_too_few_rows_have_no_order():
    assert "order" not in found(np.zeros((9, 1)), np.arange(9.0), estimator=Ridge())
