"""The report from Python: what it promises around the page itself."""

import errno
import json
import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import binomtest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot._files import write_whole
from surefoot.metrics import augrc_loss
from surefoot.report import ReliabilityReport


@pytest.fixture(scope="module")
def report():
    X, y = make_classification(300, 4, flip_y=0.2, random_state=0)
    return ReliabilityReport(GaussianNB(), X, y, target="kind", name="blobs.csv")


def test_a_summary_is_plain_json(report):
    summary = report.summarize()
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["data"]["name"] == "blobs.csv"
    assert sum(kind["share"] for kind in summary["data"]["classes"]) == pytest.approx(1)


def test_a_frame_has_every_row(report):
    frame = report.to_frame()
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)  # that of the error estimator
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    told = cross_val_predict(GaussianNB(), report.X, report.y, method="predict_proba", cv=folds)
    assert_array_equal(frame["row"], np.arange(300))
    assert_array_equal(frame["prediction"], told.argmax(axis=1))
    assert_array_equal(frame["loss"], told.argmax(axis=1) != report.y)
    assert_allclose(frame["own_error"], 1 - told.max(axis=1))


def test_rows_are_called_by_the_index_of_the_table():
    X, y = make_classification(60, 4, flip_y=0.2, random_state=0)
    frame = pd.DataFrame(X, index=np.arange(1000, 1060), columns=list("abcd"))
    more = frame.sample(20, random_state=0).set_axis(np.arange(5000, 5020))
    report = ReliabilityReport(GaussianNB(), frame, y, X_unlabelled=more)
    assert_array_equal(report.to_frame()["row"], frame.index)
    summary = report.summarize()
    item = summary["rows"]["items"][0]
    assert item["values"] == frame.loc[item["row"]].tolist()
    assert item["near"][0]["values"] == frame.loc[item["near"][0]["row"]].tolist()
    asked = [row for found in summary["improvements"] for row in found["rows"]]
    assert len(asked) == 10
    assert set(asked) <= set(more.index)


def test_a_frozen_model_is_judged_as_it_is():
    X, y = make_classification(400, 4, flip_y=0.2, random_state=0)
    model = GaussianNB().fit(X[:200], y[:200])
    frame = ReliabilityReport(FrozenEstimator(model), X[200:], y[200:]).to_frame()
    assert_array_equal(frame["prediction"], model.predict(X[200:]))


def test_sparse_rows_have_a_page():
    X, y = make_classification(120, 6, random_state=0)
    summary = ReliabilityReport(LogisticRegression(), csr_array(np.maximum(X, 0)), y).summarize()
    assert summary["rows"]["columns"] == []
    assert summary["regions"]["items"] == []


def test_texts_have_a_page():
    draw = np.random.default_rng(0)
    texts = [" ".join(draw.choice(["good", "bad", "odd", "old"], 5)) for _ in range(80)]
    labels = np.array(["bad" in text for text in texts])
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    summary = ReliabilityReport(model, texts, labels.tolist()).summarize()
    assert summary["data"]["n_columns"] == 1
    assert "not in texts" in summary["regions"]["sentence"]


def test_labels_that_javascript_cannot_tell_apart_become_positions():
    X, y = make_classification(60, 4, flip_y=0.2, random_state=0)
    frame = pd.DataFrame(X, index=2**60 + np.arange(60))
    assert_array_equal(ReliabilityReport(GaussianNB(), frame, y).to_frame()["row"], np.arange(60))


def test_gaps_of_nullable_columns_are_gaps():
    X, y = make_classification(100, 3, n_redundant=0, flip_y=0.2, random_state=0)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    frame["n"] = pd.Series(np.arange(100), dtype="Int64").mask(np.arange(100) < 9)
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    assert len(ReliabilityReport(model, frame, y).to_frame()) == 100


def test_the_page_in_a_notebook_is_a_frame_of_its_own(report):
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script" not in shown  # escaped: nothing runs in the notebook itself


def test_progress_is_told_step_by_step():
    X, y = make_classification(100, 4, random_state=0)
    steps = []
    ReliabilityReport(GaussianNB(), X, y, progress=lambda *step: steps.append(step)).summarize()
    assert steps[0] == (0.0, "Fitting the model on folds", None)
    assert steps[-1] == (1.0, "", 0.0)
    fits = [words for _, words, _ in steps if words == "Trying what would help"]
    assert len(fits) == 1 + 8  # before and after two halves and two further fits, on two folds


def test_a_full_disk_leaves_the_old_page(tmp_path, monkeypatch):
    old = tmp_path / "report.html"
    old.write_bytes(b"old")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(old, b"new")
    assert old.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [old]  # and no litter


@pytest.mark.parametrize(
    ("name", "number"),
    [(".", errno.EISDIR), ("n" * 300, errno.ENAMETOOLONG), ("missing/page.html", errno.ENOENT)],
)
def test_whatever_is_refused_is_refused_of_the_path_that_was_given(tmp_path, name, number):
    path = tmp_path / name
    with pytest.raises(OSError, match=r"^\[Errno") as refused:
        write_whole(path, b"new")
    assert (refused.value.errno, refused.value.filename) == (number, str(path))
    assert list(tmp_path.iterdir()) == []  # and no litter


def test_a_page_has_the_rights_of_the_old_one_or_of_new_files(tmp_path):
    old, new = tmp_path / "old.html", tmp_path / ("n" * 255)  # as long as the system allows
    old.write_bytes(b"old")
    old.chmod(0o600)
    assert write_whole(old, b"new").read_bytes() == b"new"
    assert old.stat().st_mode & 0o777 == 0o600
    before = os.umask(0o027)
    write_whole(new, b"new")
    os.umask(before)
    assert new.stat().st_mode & 0o777 == 0o640


def test_the_numbers_of_a_classifier_are_those_of_its_rows(report):
    report = ReliabilityReport(GaussianNB(), report.X, report.y, max_risk=0.3, quick=True)
    numbers, frame = report.summarize()["numbers"], report.to_frame()
    wrong = frame["prediction"] != frame["truth"]
    assert (numbers["n_rows"], numbers["n_held_out"]) == (300, 300)
    assert numbers["accuracy"] == pytest.approx(1 - wrong.mean())
    test = binomtest(int(wrong.sum()), 300).proportion_ci(method="wilson")
    assert (numbers["error_low"], numbers["error_high"]) == pytest.approx((test.low, test.high))
    brier = brier_score_loss(frame["truth"], frame["probability_1"])
    assert numbers["brier"] == pytest.approx(brier)
    assert numbers["augrc"] == pytest.approx(augrc_loss(wrong, frame["estimated_error"]))
    own = augrc_loss(wrong, frame["own_error"])
    assert numbers["augrc_ratio"] == pytest.approx(numbers["augrc"] / own)
    answered = (frame["estimated_error"] <= numbers["limit"]) & ~frame["novel"]
    assert numbers["coverage"] == pytest.approx(answered.mean())
    assert wrong[answered].mean() <= numbers["max_risk"]
    assert numbers["interval_coverage"] is None


def test_a_fitted_model_is_fitted_again_and_a_sentence_says_so():
    X, y = make_classification(120, random_state=0)
    model = GaussianNB().fit(X, y)
    with pytest.warns(UserWarning, match=r"This GaussianNB is fitted, .* pass FrozenEstimator"):
        ReliabilityReport(model, X, y, quick=True).to_frame()


def test_the_seed_of_the_report_is_that_of_its_model():
    X, y = make_classification(120, class_sep=0.3, random_state=0)
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(5))
    first, second = (ReliabilityReport(forest, X, y, random_state=3).to_frame() for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    assert forest[-1].random_state is None
