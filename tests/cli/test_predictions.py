"""Predictions that were made elsewhere, from the command line: judged as they are, or refused in one sentence."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

N_KNOWN = 120


def scored_table(n_rows=240):
    """Inputs of several kinds, the truth, and what a model said that was fitted on other rows."""
    draw = np.random.default_rng(0)
    numbers = draw.normal(size=(n_rows, 3))
    score = numbers @ [1.0, -1.0, 0.5] + draw.normal(size=n_rows)
    model = LogisticRegression().fit(numbers[:60], score[:60] > 0)
    shares = model.predict_proba(numbers)[:, 1].round(4)
    table = pd.DataFrame(numbers.round(4), columns=["a", "b", "c"])
    table["shop"] = np.where(draw.random(n_rows) < 0.5, "north", "south")
    table["day"] = pd.date_range("2026-01-01", periods=n_rows).astype(str)
    table["truth"] = np.where(score > 0, "yes", "no")
    table["said"] = np.where(shares > 0.5, "yes", "no")
    table["p_yes"], table["p_no"] = shares, (1 - shares).round(4)
    table["margin"] = (40 * np.log(shares / (1 - shares))).round(2)
    table["amount"], table["guess"] = score.round(3), (numbers @ [0.9, -0.8, 0.4]).round(3)
    return table


TABLE = scored_table()
CLASSES = ("--target", "truth", "--prediction", "said")


@pytest.fixture(scope="module")
def files(tmp_path_factory, command):
    """Tables of known and of new rows, and the errors that are learned from the first, for classes and for numbers."""
    folder = tmp_path_factory.mktemp("elsewhere")
    drop = [word for name in ("margin", "amount", "guess") for word in ("--drop", name)]
    TABLE[:N_KNOWN].to_csv(folder / "known.csv", index=False)
    TABLE[N_KNOWN:].to_csv(folder / "new.csv", index=False)
    both = ("--probability", "yes=p_yes", "--probability", "no=p_no")
    command("fit", folder / "known.csv", *CLASSES, *both, *drop, "--out", folder / "trust.skops")
    others = [
        word for name in ("margin", "truth", "said", "p_yes", "p_no") for word in ("--drop", name)
    ]
    target = ("--target", "amount", "--prediction", "guess")
    command("fit", folder / "known.csv", *target, *others, "--out", folder / "size.skops")
    return folder


def test_new_rows_are_scored_with_the_predictions_that_they_have(files, run, tmp_path):
    new = TABLE[N_KNOWN:].reset_index(drop=True)
    done = run("score", files / "trust.skops", files / "new.csv", "--out", tmp_path / "scores.csv")
    assert done.code == 0
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert (scores["prediction"] == new["said"]).all()
    assert (scores["probability_yes"] == new["p_yes"]).all()
    wrong = (new["said"] != new["truth"]).to_numpy()
    assert scores["estimated_error"][wrong].mean() > 1.3 * scores["estimated_error"][~wrong].mean()
    assert {"other_share", "other_distance", "neighbor_spread", "novel"} <= set(scores.columns)

    done = run("score", files / "size.skops", files / "new.csv", "--out", tmp_path / "sizes.csv")
    assert done.code == 0
    sizes = pd.read_csv(tmp_path / "sizes.csv")
    assert (sizes["prediction"] == new["guess"]).all()
    covered = (sizes["low"] <= new["amount"]) & (new["amount"] <= sizes["high"])
    assert 0.75 < covered.mean() <= 1


@pytest.mark.filterwarnings("default:The predictions equal the target")
def test_a_copy_of_the_target_is_asked_about_and_promises_nothing(run, tmp_path):
    columns = {"said": TABLE["truth"]}
    TABLE[["a", "b", "c", "truth"]].assign(**columns).to_csv(tmp_path / "copied.csv", index=False)
    done = run("report", tmp_path / "copied.csv", *CLASSES, "--json", "--quick")
    verdict = json.loads(done.out)["verdict"]
    assert verdict["headline"].endswith("?")
    assert "There is nothing to flag." not in verdict["sentences"]
    assert "Promised" not in " ".join([verdict["headline"], *verdict["sentences"]])
    done = run("fit", tmp_path / "copied.csv", *CLASSES, "--out", tmp_path / "trust.skops")
    assert "Nothing can be promised" in done.out + done.err


def test_watch_measures_the_error_of_the_predictions(files, run):
    done = run("watch", files / "trust.skops", files / "new.csv", "--json")
    new = TABLE[N_KNOWN:]
    measured = json.loads(done.out)["overall"]["measured"]["value"]
    assert measured == pytest.approx((new["said"] != new["truth"]).mean())


def test_audit_draws_rows_and_reads_their_answers(files, run, tmp_path):
    ask = tmp_path / "ask.csv"
    model, data = files / "trust.skops", files / "new.csv"
    assert run("audit", model, data, "--labels", "30", "--out", ask).code == 0
    asked = pd.read_csv(ask)
    asked["label"] = TABLE["truth"][N_KNOWN:].to_numpy()[asked["row"]]
    asked.to_csv(ask, index=False)
    result = json.loads(run("audit", model, data, "--answers", ask, "--json").out)
    assert result["low"] <= (TABLE["said"] != TABLE["truth"])[N_KNOWN:].mean() <= result["high"]


def test_the_report_is_on_the_predictions_as_they_were_made(files, run):
    done = run(
        "report",
        files / "known.csv",
        *CLASSES,
        "--probability",
        "p_yes",
        "--json",
    )
    known, summary = TABLE[:N_KNOWN], json.loads(done.out)
    assert summary["numbers"]["error"] == pytest.approx((known["said"] != known["truth"]).mean())
    assert "'p_yes' is read as the probability of yes" in done.err
    names = [each["name"] for each in summary["improvements"]]
    assert names == [
        "Recalibrated probabilities",
        "The other class where it is better",
        "A person for the most doubtful rows",
    ]
    assert "compare the error here" in summary["data"]["held_out"]


def test_a_score_that_is_no_probability_is_told(files, run, tmp_path):
    out = tmp_path / "trust.skops"
    done = run("fit", files / "known.csv", *CLASSES, "--probability", "margin", "--out", out)
    assert done.code == 0
    assert (
        "'margin' is read as a score (no probability) for yes; the prediction changes at"
        in done.err
    )


def test_columns_of_predictions_are_pointed_out_before_a_model_learns_from_them(
    run, write, tmp_path
):
    table = TABLE[["a", "truth", "said"]].assign(prediction=1.0, nearly=TABLE["truth"])
    path = write(table.to_csv(index=False))
    done = run("report", path, "--target", "truth", "--quick", "--json", "--estimator", "logistic")
    [line] = [line for line in done.err.splitlines() if "target leakage" in line]
    assert line.startswith("“nearly” and “said” each give the target away")
    assert "--prediction nearly" in line
    assert "--drop nearly" in line
    assert "prediction”" not in line  # a name is no evidence


def changed(column, value, rows=(5,)):
    """Known rows with another value in some cells of a column."""
    table = TABLE[:N_KNOWN].copy()
    values = table[column].astype(object)
    values.iloc[list(rows)] = value
    return table.assign(**{column: values})


def with_column(column, values):
    return TABLE[:N_KNOWN].assign(**{column: values})


def words(options):
    return [*CLASSES, *options.split()]


BOTH = "--probability yes=p_yes --probability no=p_no"
BAD_TABLES = {
    "no prediction": (changed("said", None), "", "Row 5 of table.csv has no prediction."),
    "two without": (
        changed("said", None, (3, 9)),
        "",
        "Row 3 of table.csv has no prediction, and so has 1 other row.",
    ),
    "all without": (changed("said", None, range(N_KNOWN)), "", "No row has a prediction."),
    "constant": (with_column("said", "yes"), "", "Every prediction is yes"),
    "other names": (
        with_column("said", np.tile(["Y", "N"], 60)),
        "",
        "No prediction is a class of the truth",
    ),
    "numbers": (
        with_column("said", np.tile([0.25, 1.5], 60)),
        "",
        "No prediction is a class of the truth",
    ),
    "no column": (TABLE[:N_KNOWN].drop(columns="said"), "", "table.csv has no column 'said'"),
    "no column of probabilities": (
        TABLE[:N_KNOWN],
        "--probability p_maybe",
        "has no column 'p_maybe'",
    ),
    "unknown class": (
        TABLE[:N_KNOWN],
        "--probability maybe=p_yes",
        "probabilities name the class 'maybe'",
    ),
    "class not named": (
        TABLE[:N_KNOWN],
        "--probability yes=p_yes --probability p_no",
        "Name the class of every",
    ),
    "sum": (with_column("p_no", 0.3), BOTH, "has probabilities that do not sum to one"),
    "contradiction": (
        with_column("p_yes", TABLE["p_no"][:N_KNOWN]),
        "--probability yes=p_yes",
        "contradicts its prediction",
    ),
    "one contradiction": (
        changed("said", "yes", [int(TABLE["p_yes"][:N_KNOWN].argmin())]),
        "--probability yes=p_yes",
        "contradicts its prediction",
    ),
    "no probability": (
        changed("p_yes", None),
        "--probability p_yes",
        "Row 5 of table.csv has no number in 'p_yes'.",
    ),
    "words": (
        with_column("p_yes", "high"),
        "--probability p_yes",
        "Column 'p_yes' holds values that are no numbers.",
    ),
    "infinite": (
        changed("p_yes", np.inf),
        "--probability p_yes",
        "Row 5 of table.csv has no number in 'p_yes'.",
    ),
    "twice": (TABLE[:N_KNOWN], "--probability yes=p_yes --probability no=p_yes", "is named twice"),
    "prediction twice": (TABLE[:N_KNOWN], "--probability said", "Column 'said' is named twice"),
    "three columns": (
        TABLE[:N_KNOWN],
        "--probability p_yes --probability p_no --probability margin",
        "3 columns of probabilities and 2 classes",
    ),
    "dropped": (TABLE[:N_KNOWN], "--drop truth", "cannot be both --target and --drop"),
    "grouped": (
        TABLE[:N_KNOWN],
        "--groups said",
        "cannot be both --groups and a column of predictions",
    ),
    "a model": (TABLE[:N_KNOWN], "--estimator forest", "leave out --estimator"),
    "regression": (
        TABLE[:N_KNOWN],
        "--task regression --probability p_yes",
        "--probability is for classes",
    ),
    "few rows": (TABLE[:12], "", "has a value in 12 rows, and 20 are needed"),
}


@pytest.mark.parametrize("what", BAD_TABLES)
def test_bad_tables_get_one_sentence_and_nothing_is_written(what, run, write, tmp_path):
    table, options, sentence = BAD_TABLES[what]
    path, out = write(table.to_csv(index=False)), tmp_path / "trust.skops"
    assert sentence in run("fit", path, *words(options), "--out", out).sentence
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--target", "truth", "--probability", "p_yes"), "--probability needs --prediction"),
        (
            ("--target", "truth", "--prediction", "truth"),
            "cannot be both --target and a column of predictions",
        ),
        (
            ("--target", "amount", "--prediction", "said", "--task", "regression"),
            "Column 'said' holds values that are no numbers",
        ),
        (
            ("--target", "amount", "--prediction", "flat", "--task", "regression"),
            "Every prediction is 1.0",
        ),
    ],
)
def test_bad_options_get_one_sentence(options, sentence, run, write, tmp_path):
    table = TABLE.assign(flat=1.0) if "flat" in options else TABLE
    path, page = write(table.to_csv(index=False)), tmp_path / "page.html"
    assert sentence in run("report", path, *options, "--out", page).sentence
    assert not page.exists()


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("said", None, "has no prediction"),
        ("said", "maybe", "that is none of the classes 'no' and 'yes'"),
        ("p_yes", None, "has no number in 'p_yes'"),
        ("p_yes", 0.9999, "has probabilities that do not sum to one"),
        ("p_yes", 7.0, "has a probability below 0 or above 1"),
        ("p_no", "much", "much"),
        ("said", "absent column", "lacks 'said'"),
    ],
)
def test_bad_new_rows_get_one_sentence_and_nothing_is_written(
    column, value, sentence, files, run, write, tmp_path
):
    new = TABLE[N_KNOWN:].reset_index(drop=True)
    row = int(new["p_yes"].argmin())
    new[column] = new[column].astype(object)
    new.loc[row, column] = value
    new = new.drop(columns=column) if value == "absent column" else new
    path, out = write(new.to_csv(index=False), "rows.csv"), tmp_path / "scores.csv"
    told = run("score", files / "trust.skops", path, "--out", out).sentence
    assert sentence in told
    assert "rows.csv" in told
    assert not out.exists()
    if value != "absent column":
        assert str(row + 2) in told or str(row) in told


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_boolean_predictions_of_a_truth_in_0_and_1(run, tmp_path, kind):
    table = TABLE[["a", "b", "c"]].assign(
        truth=(TABLE["truth"] == "yes").astype(int), said=TABLE["said"] == "yes"
    )
    booleans, numbers = tmp_path / f"booleans.{kind}", tmp_path / f"numbers.{kind}"
    for path, rows in ((booleans, table), (numbers, table.astype({"said": int}))):
        rows.to_csv(path, index=False) if kind == "csv" else rows.to_parquet(path)
    assert run("fit", numbers, *CLASSES, "--out", tmp_path / "m.skops").code == 0
    assert run("score", tmp_path / "m.skops", booleans, "--out", tmp_path / "s.csv").code == 0
    assert pd.read_csv(tmp_path / "s.csv")["prediction"].tolist() == table["said"].tolist()
    quick = ("--quick", "--json")
    reports = [
        json.loads(run("report", path, *CLASSES, *quick).out) for path in (booleans, numbers)
    ]
    assert reports[0]["verdict"] == reports[1]["verdict"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_blank_behind_a_class_is_no_part_of_its_name(run, tmp_path, kind):
    table = TABLE[["a", "b", "c", "truth", "said"]].copy()
    table.loc[::7, "truth"] += " "
    table.loc[::5, "said"] += " "
    path = tmp_path / f"table.{kind}"
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
    summary = json.loads(run("report", path, *CLASSES, "--quick", "--json").out)
    assert [each["label"] for each in summary["data"]["classes"]] == ["no", "yes"]
    wrong = (TABLE["truth"] != TABLE["said"]).mean()
    assert summary["numbers"]["error"] == pytest.approx(wrong)
    assert run("fit", path, *CLASSES, "--out", tmp_path / "m.skops").code == 0
    assert run("score", tmp_path / "m.skops", path, "--out", tmp_path / "s.csv").code == 0
    assert pd.read_csv(tmp_path / "s.csv")["prediction"].tolist() == TABLE["said"].tolist()
    assert run("watch", tmp_path / "m.skops", path, "--target", "truth").code == 0
