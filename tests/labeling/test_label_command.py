"""Bad inputs of `surefoot label`: one clear sentence, exit code 2, and nothing on disk is lost."""

import os
import socket
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from skops.io import dump

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.cli import main
from surefoot.indicators import Confidence, NeighborDistance
from surefoot.model_files import save

pytest.importorskip("fastapi", reason="the extra 'label' is not installed")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Folder with a pool of thirty rows, of which ten are labelled."""
    monkeypatch.chdir(tmp_path)
    kinds = ["a", "b"] * 5 + [None] * 20
    pool = pd.DataFrame({"x": np.arange(30) % 7, "word": ["u", "v"] * 15, "kind": kinds})
    pool.to_csv("pool.csv", index=False)
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def refused(folder, capsys):
    """Sentence that a command is refused with; no file has changed."""

    def run(*arguments, new=()):
        before = {name: data for name, data in contents(folder).items() if name not in new}
        with pytest.raises(SystemExit) as left:
            main(["label", *map(str, arguments)])
        out, err = capsys.readouterr()
        after = {name: data for name, data in contents(folder).items() if name not in new}
        assert (left.value.code, out, after) == (2, "", before)
        assert err.count("\n") == 1, err
        assert err.endswith((".\n", "?\n"))
        return err.strip()

    return run


BASIC = ("pool.csv", "--target", "kind")

BAD_OPTIONS = {
    "missing column": (("pool.csv", "--target", "kinds"), "is it 'kind'?"),
    "missing file": (("nothing.csv", "--target", "kind"), "nothing.csv cannot be read: no such file"),
    "one class": (("pool.csv", "--target", "new", "--classes", "a"), "two are needed"),
    "empty class": ((*BASIC, "--classes", "a,,b"), "has an empty name"),
    "class twice": ((*BASIC, "--classes", "a,b,a"), "names 'a' more than once"),
    "class missing": ((*BASIC, "--classes", "a,c"), "has 'b', not among the classes"),
    "class like a missing value": ((*BASIC, "--classes", "a,b,NA"), "'NA' cannot be a class"),
    "class with a control": ((*BASIC, "--classes", "a,b,c\x07"), "no line breaks or other controls"),
    "long class": ((*BASIC, "--classes", "a,b," + "x" * 201), "at most 200 characters"),
    "strategy": ((*BASIC, "--strategy", "entropy"), "strategy='entropy' is not known"),
    "lease of nothing": ((*BASIC, "--lease", "0"), "--lease 0 must be a number of seconds"),
    "lease without end": ((*BASIC, "--lease", "inf"), "--lease inf must be"),
    "all addresses": ((*BASIC, "--host", "0.0.0.0"), "pass --allow-remote if that is meant"),  # noqa: S104
    "no csv": ((*BASIC, "--out", "labels.parquet"), "must end in .csv"),
    "no folder": ((*BASIC, "--out", "nowhere/labels.csv"), "There is no folder nowhere"),
    "no folder for the database": ((*BASIC, "--db", "nowhere/x.db"), "There is no folder nowhere"),
    "the pool as output": ((*BASIC, "--out", "pool.csv"), "which is read: name another file"),
    "the pool as database": ((*BASIC, "--db", "pool.csv"), "which is read: name another file"),
    "a folder as database": ((*BASIC, "--db", "."), "is a folder"),
    "no model": ((*BASIC, "--model", "nothing.skops"), "nothing.skops"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_bad_options_get_one_sentence(refused, name):
    arguments, words = BAD_OPTIONS[name]
    assert words in refused(*arguments)


def test_an_address_of_nobody_is_told_after_a_warning(folder, capsys):
    with pytest.raises(SystemExit) as left:
        main(["label", *BASIC, "--host", "192.0.2.1", "--allow-remote"])
    warning, sentence = capsys.readouterr().err.splitlines()
    assert left.value.code == 2
    assert "not encrypted" in warning
    assert "cannot be served at 192.0.2.1" in sentence


def lines(values):
    return "x,kind\n" + "".join(f"{(3 * i + 1) % 7},{value}\n" for i, value in enumerate(values))


POOLS = {
    "empty": ("x,kind\n", "has column names but no rows"),
    "all labelled": (lines("abb"), "Every row of bad.csv has a label already"),
    "numbers": (lines([*(i + 0.5 for i in range(150)), ""]), "150 different numbers: people can"),
    "many classes": (lines([*(f"c{i}" for i in range(501)), ""]), "501 classes, and at most 500"),
    "twice the same column": ("x,x,kind\n1,2,a\n", "more than one column 'x'"),
    "one class": (lines(["a", "", ""]), "has 1 class, and two are needed"),
}


@pytest.mark.parametrize("name", POOLS)
def test_bad_pools_get_one_sentence(folder, refused, name):
    text, words = POOLS[name]
    (folder / "bad.csv").write_text(text)
    assert words in refused("bad.csv", "--target", "kind")


def test_a_port_in_use_is_told(refused):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        sentence = refused(*BASIC, "--port", port)
    assert f"cannot be served at 127.0.0.1, port {port}: address already in use" in sentence


def make_database(folder, serve_pool, **options):
    """Database with one answer to the pool; its name, and the answer's row."""
    pool = pd.read_csv(folder / "pool.csv")
    served = serve_pool(pool, db=folder / "pool.labels.db", name="pool.csv", **options)
    (item,) = served.items()
    assert served.answer(item, "a").status_code == 200
    served.page.stop()
    return item["row"]


@pytest.mark.usefixtures("does_not_learn")
def test_a_database_of_another_pool_is_left_alone(folder, refused, serve_pool):
    make_database(folder, serve_pool)
    pool = pd.read_csv(folder / "pool.csv")
    changes = {
        "cell": pool.assign(x=pool["x"].where(pool.index != 20, 99)),
        "row": pool.iloc[:-1],
        "order": pool.iloc[::-1],
        "name": pool.rename(columns={"x": "y"}),
        "label": pool.assign(kind=pool["kind"].where(pool.index != 20, "b")),
    }
    for name, table in changes.items():
        table.to_csv(folder / f"{name}.csv", index=False)
        sentence = refused(
            *(f"{name}.csv", "--target", "kind", "--db", "pool.labels.db", "--out", "new.csv"),
            new=("pool.labels.db-shm", "pool.labels.db-wal"),
        )
        assert "has the answers to another pool (pool.csv, target kind)" in sentence
        assert "name another file for the database" in sentence


@pytest.mark.usefixtures("does_not_learn")
def test_a_database_without_answers_takes_another_pool(folder, serve_pool):
    served = serve_pool(10, allow_new_classes=True)
    served.items("ann", 5)
    served.client.post("/api/classes", json={"label": "c"})
    served.page.stop()
    other = serve_pool(3, classes=("p", "q"))
    assert other.client.get("/api/task").json()["classes"] == ["p", "q"]
    assert {item["row"] for item in other.items("ann", 50)} == {0, 1, 2}


def change(statement):
    def spoil(path):
        with sqlite3.connect(path) as database:
            database.execute(statement)
        database.close()

    return spoil


def cut(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 + 77])


def scribble(path):
    data, middle = path.read_bytes(), 4096 * 3
    path.write_bytes(data[:middle] + b"\xa5" * 20_000 + data[middle + 20_000 :])


def rename_table(path):
    path.write_bytes(path.read_bytes().replace(b"curve", b"cu\xffve"))


BAD_DATABASES = {
    "text": (None, lambda path: path.write_bytes(b"no answers" * 100), "it is damaged, or not a"),
    "foreign": (None, change("CREATE TABLE about (id INTEGER)"), "is not a database of surefoot"),
    "cut": (True, cut, "pool.labels.db"),
    "scribbled": (True, scribble, "is damaged: put a backup of it in its place"),
    "later": (True, change("UPDATE about SET value = 3 WHERE name = 'version'"), "by a later version"),
    "no version": (True, change("DELETE FROM about WHERE name = 'version'"), "is not a database of"),
    "codec": (True, rename_table, "it is damaged, or not a"),
    "label": (True, change("UPDATE answers SET label = CAST(x'ff41' AS TEXT)"), "it is damaged, or not a"),
    "seed": (True, change("UPDATE about SET value = 'x' WHERE name = 'random_state'"), "it is damaged, or not a"),
    "learned": (True, change("INSERT INTO about VALUES ('learned', '{\"measured_models\": 3}')"), "it is damaged"),
    "row": (True, change("UPDATE answers SET row = 999"), "it is damaged, or not a"),
    "time": (True, change("UPDATE answers SET time = 1e300"), "it is damaged, or not a"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_DATABASES)
@pytest.mark.usefixtures("does_not_learn")
def test_a_file_that_is_no_database_of_answers_stays_as_it_is(folder, refused, serve_pool, name):
    is_made, spoil, words = BAD_DATABASES[name]
    if is_made:
        make_database(folder, serve_pool)
    spoil(folder / "pool.labels.db")
    (folder / "new.csv").write_text("row,label,kind,person,time,seconds,strategy,error\n")
    assert words in refused(*BASIC, "--out", "new.csv")


@pytest.mark.usefixtures("does_not_learn")
def test_a_database_of_the_first_version_goes_on(folder, serve_pool):
    """It has the answers in force as a table, which is no longer kept."""
    row = make_database(folder, serve_pool)
    database = sqlite3.connect(folder / "pool.labels.db", isolation_level=None)
    database.executescript(
        "DROP VIEW in_force; DROP INDEX answers_in_force; CREATE TABLE current (row INTEGER PRIMARY KEY);"
        "UPDATE about SET value = 1 WHERE name = 'version'"
    )
    database.close()
    pool = pd.read_csv(folder / "pool.csv")
    served = serve_pool(pool, db=folder / "pool.labels.db", name="pool.csv")
    assert served.labels() == {row: "a"}
    assert served.session.store.rows("SELECT value FROM about WHERE name = 'version'") == [("2",)]


@pytest.mark.usefixtures("does_not_learn")
def test_a_locked_database_is_told_at_the_start(folder, refused, serve_pool, monkeypatch):
    make_database(folder, serve_pool)
    monkeypatch.setattr("surefoot.labeling._store.PATIENCE", 0.1)
    other = sqlite3.connect(folder / "pool.labels.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    sentence = refused(*BASIC, "--out", "new.csv", new=("pool.labels.db-shm", "pool.labels.db-wal"))
    assert "another program keeps the database locked" in sentence
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.usefixtures("does_not_learn")
def test_a_database_locked_during_labelling_refuses_and_loses_nothing(folder, serve_pool):
    served = serve_pool(30)
    one, two = served.items("ann", 2)
    assert served.answer(one, "a").status_code == 200
    served.session.store.rows("PRAGMA busy_timeout = 100")
    other = sqlite3.connect(served.session.store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    reply = served.answer(two, "b", key="later")
    assert reply.status_code == 503
    assert reply.json()["error"].endswith("another program keeps the database locked.")
    assert served.labels() == {one["row"]: "a"}  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    assert served.answer(two, "b", key="later").json() == {"saved": True, "n_labels": 2}


@pytest.mark.parametrize("how", ["full", "limit"])
@pytest.mark.usefixtures("does_not_learn")
def test_a_full_disk_refuses_an_answer_and_goes_on_when_there_is_room(serve_pool, how):
    resource = pytest.importorskip("resource", reason="the system has no limits of files")
    served = serve_pool(400)
    store = served.session.store
    ahead = served.items("ann", 50)
    saved = {}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if how == "full":
        n_pages = store.rows("PRAGMA page_count")[0][0]
        store.rows(f"PRAGMA max_page_count = {n_pages}")
    else:
        size = store.path.with_name(f"{store.path.name}-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20_000, before[1]))
    try:
        for item in ahead:
            reply = served.answer(item, "a", key=f"{item['row']:0199}")
            if reply.status_code != 200:
                break
            saved[item["row"]] = "a"
        refused = item
        assert reply.status_code == 507
        assert "the disk is full" in reply.json()["error"]
        assert served.answer(refused, "a", key="x" * 199).status_code == 507  # the server goes on
        assert served.progress()["n_labels"] == len(saved)
        assert served.labels() == saved
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        store.rows("PRAGMA max_page_count = 1000000")
    reply = served.answer(refused, "a", key=f"{refused['row']:0199}")
    assert reply.json() == {"saved": True, "n_labels": len(saved) + 1}
    served.page.stop()
    again = serve_pool(400)
    assert again.labels() == saved | {refused["row"]: "a"}


@pytest.mark.usefixtures("does_not_learn")
def test_a_file_of_labels_that_cannot_be_written_is_told_and_answers_stay(serve_pool, tmp_path):
    out = tmp_path / "gone" / "labels.csv"
    out.parent.mkdir()
    served = serve_pool(out=out)
    served.label(1, lambda row: "a")
    out.parent.rmdir()
    reply = served.client.get("/api/export.csv")
    assert reply.status_code == 507
    assert "All answers are in the database" in reply.json()["error"]
    out.parent.mkdir()
    assert len(served.labels()) == 1
    assert out.exists()


OUT = "row,label,kind,person,time,seconds,strategy,error\n"


@pytest.mark.parametrize(
    "content",
    ["my,own,table\n1,2,3\n", OUT + "3,a,label,ann,2026-11-16T10:00:00.000+00:00,1.000,random,\n"],
    ids=["another table", "labels without their database"],
)
def test_a_file_that_is_not_this_database_s_is_not_replaced(folder, refused, content):
    (folder / "labels.csv").write_text(content)
    sentence = refused(*BASIC, new=("pool.labels.db",))
    assert "labels.csv already exists, with lines that pool.labels.db does not have" in sentence


@pytest.mark.usefixtures("does_not_learn")
def test_a_file_of_labels_that_was_edited_is_not_replaced(folder, refused, serve_pool):
    make_database(folder, serve_pool, out=folder / "labels.csv")
    text = (folder / "labels.csv").read_text()
    pool = pd.read_csv(folder / "pool.csv")
    places = {"db": folder / "pool.labels.db", "out": folder / "labels.csv"}
    serve_pool(pool, name="pool.csv", **places).page.stop()
    assert (folder / "labels.csv").read_text() == text
    (folder / "labels.csv").write_text(text.replace(",a,label", ",b,label"))
    assert "does not have" in refused(*BASIC, new=("pool.labels.db-shm", "pool.labels.db-wal"))


def test_models_that_are_no_classifiers_of_surefoot_are_refused(folder, refused):
    X = pd.DataFrame({"x": np.arange(40.0) % 7})
    dump(LogisticRegression().fit(X, X["x"] > 3), folder / "plain.skops")
    (folder / "text.skops").write_text("no model")
    numbers = IndividualErrorRegressor(LinearRegression(), indicators=NeighborDistance())
    save(numbers.fit(X, 2.0 * X["x"] + np.arange(40) % 3), folder / "numbers.skops")
    sentence = refused(*BASIC, "--model", "plain.skops")
    assert "holds a LogisticRegression, not what `surefoot fit` saves" in sentence
    assert "text.skops" in refused(*BASIC, "--model", "text.skops")
    sentence = refused(*BASIC, "--model", "numbers.skops")
    assert "numbers.skops predicts numbers: people can be asked for classes only" in sentence


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told(folder, refused):
    (folder / "closed").mkdir(mode=0o500)
    assert "no permission" in refused(*BASIC, "--db", "closed/x.db", "--out", "new.csv")


def test_python_gets_a_value_error_of_one_sentence(serve_pool):
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["x", "x"])
    bad = {
        "no rows": (pd.DataFrame({"x": []}), {}, "has no rows to label"),
        "column twice": (twice, {}, "more than one column 'x'"),
        "lease": (3, {"lease_seconds": float("nan")}, "lease_seconds=nan must be a number"),
        "strategy": (3, {"strategy": "best"}, "strategy='best' is not known"),
        "inputs": (3, {"inputs": ["y"]}, "no column that a model could learn from"),
        "only the target": (pd.DataFrame({"kind": ["a", None]}), {}, "no column besides 'kind'"),
    }
    for pool, options, words in bad.values():
        with pytest.raises(ValueError, match=words):
            serve_pool(pool, **options)
    with pytest.raises(TypeError, match="is no classifier"):
        serve_pool(3, estimator=LinearRegression())


def test_a_target_is_needed_unless_the_file_is_an_audit(folder, refused):
    assert "Pass --target with the column of the labels: pool.csv has 'x'," in refused("pool.csv")
    names, cells = ["draw", "row", "audit", "answers", "label", "x"], [0, 3, "audit 1 0 none ab"]
    audit = pd.DataFrame([[*cells, '["a", "b"]', None, 1]], columns=names)
    audit.to_csv(folder / "ask.csv", index=False)
    X = np.arange(40.0)[:, None] % 7
    error_estimator = IndividualErrorClassifier(LogisticRegression(), indicators=Confidence())
    save(error_estimator.fit(X, X[:, 0] > np.arange(40) % 5), folder / "m.skops")
    sentence = refused("ask.csv", "--model", "m.skops")
    assert "in the order of their draws: leave out --model" in sentence
    assert "leave out the strategy" in refused("ask.csv", "--strategy", "margin")
